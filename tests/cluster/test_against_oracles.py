"""Every method grows the very tree that brute force over all cuts grows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from _support import oracles
from _support.extended import examples, seeds
from _support.fitting import fit_exactly as fit
from _support.strategies import tiny_data
from pellucid import IMM, ExGreedy, ExKMC, ExShallow


@pytest.mark.slow
@given(tiny_data())
@settings(max_examples=examples(200), deadline=None)
def test_imm_is_the_brute_force_tree(data):
    assert oracles.as_nested(fit(IMM(), data).tree_) == oracles.grow_imm(data)


@pytest.mark.slow
@given(tiny_data())
@settings(max_examples=examples(200), deadline=None)
def test_exgreedy_is_the_brute_force_tree(data):
    assert oracles.as_nested(fit(ExGreedy(), data).tree_) == oracles.grow_shallow(data, 0.0)


@pytest.mark.slow
@given(tiny_data(), st.sampled_from([0.03, 0.125, 0.5, 4.0]))
@settings(max_examples=examples(200), deadline=None)
def test_exshallow_is_the_brute_force_tree(data, penalty):
    tree = fit(ExShallow(depth_penalty=penalty), data).tree_
    assert oracles.as_nested(tree) == oracles.grow_shallow(data, penalty)


@pytest.mark.slow
@given(tiny_data(), st.integers(1, 7))
@settings(max_examples=examples(200), deadline=None)
def test_exkmc_is_the_brute_force_tree(data, n_leaves):
    model = fit(ExKMC(base=None, n_leaves=n_leaves), data)
    expected, curve = oracles.grow_exkmc(data, n_leaves)
    assert oracles.as_nested(model.tree_) == expected
    assert model.surrogate_costs_.tolist() == curve


@given(tiny_data())
@settings(max_examples=examples(100), deadline=None)
def test_depth_penalty_zero_is_exgreedy(data):
    assert fit(ExShallow(depth_penalty=0.0), data).tree_ == fit(ExGreedy(), data).tree_


@pytest.mark.parametrize("seed", seeds(5))
def test_every_node_of_real_valued_data_attains_the_optimum(seed):
    """On arbitrary floats ties are rare: the chosen cut must reach the brute-force minimum."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 3)) * [1.0, 100.0, 1e-3] + [0.0, 1e6, 5.0]
    centers = X[rng.choice(40, 5, replace=False)]
    data = oracles.Data(X, centers, oracles.nearest(X, centers), rng.uniform(0.5, 2.0, 40))
    for model, penalty in ((ExGreedy(), 0.0), (ExShallow(depth_penalty=0.2), 0.2)):
        tree = fit(model, data).tree_
        _check_optimal(tree, data, penalty)


def _check_optimal(tree, data, penalty):
    stack = [(0, list(range(len(data.X))), list(range(len(data.centers))), frozenset())]
    checked = 0
    while stack:
        node, rows, centers, above = stack.pop()
        if tree.children_left[node] < 0:
            continue
        feature, low = int(tree.feature[node]), tree.threshold[node]

        def objective(cut, rows=rows, centers=centers, above=above):
            return oracles.shallow_objective(data, rows, centers, *cut[:2], penalty, above)

        cuts = list(oracles.cuts_between_centers(data, rows, centers))
        allowed = [c for c in cuts if oracles.has_enough_rows(data, rows, centers, *c[:2])] or cuts
        least = min(map(objective, allowed))
        assert objective((feature, low)) == pytest.approx(least, rel=1e-9)
        left, right, near, far = oracles.sides(data, rows, centers, feature, low)
        stack.append((tree.children_left[node], left, near, above | {(feature, "left")}))
        stack.append((tree.children_right[node], right, far, above | {(feature, "right")}))
        checked += 1
    assert checked == len(data.centers) - 1
