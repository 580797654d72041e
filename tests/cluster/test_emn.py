"""EMN: the brute-force tree, and shallower than IMM's."""

import pytest
from hypothesis import given, settings
from sklearn.datasets import load_digits

from _support import oracles
from _support.extended import examples
from _support.fitting import fit_exactly as fit
from _support.strategies import tiny_data
from pellucid import EMN, IMM
from pellucid._core.data import binning as bins


@pytest.fixture(scope="module", params=[2, 5, 256])
def bins_of_a_column(request):
    """With few bins, most thresholds lie inside them."""
    before, bins.N_BINS = bins.N_BINS, request.param
    yield
    bins.N_BINS = before


def grow_emn(data, rows, centers):
    """As `oracles.grow_imm`, with the mistakes of a cut divided by the fewer centers."""
    cuts = list(oracles.cuts_between_centers(data, rows, centers)) if len(centers) > 1 else []
    if not cuts:
        mine = [sum(data.weight[i] for i in rows if data.labels[i] == c) for c in centers]
        return centers[mine.index(max(mine))]

    def ratio(cut):
        _, _, near, far = oracles.sides(data, rows, centers, *cut[:2])
        return oracles.mistakes(data, rows, centers, *cut[:2]) / min(len(near), len(far))

    feature, low, _ = oracles.best(cuts, ratio)
    left, right, near, far = oracles.sides(data, rows, centers, feature, low)
    at_home = (
        [i for i in left if data.labels[i] in near],
        [i for i in right if data.labels[i] in far],
    )
    return feature, low, grow_emn(data, at_home[0], near), grow_emn(data, at_home[1], far)


@pytest.mark.usefixtures("bins_of_a_column")
@given(tiny_data(max_rows=14))
@settings(max_examples=examples(80), deadline=None)
def test_it_is_the_brute_force_tree(data):
    everything = list(range(len(data.X))), list(range(len(data.centers)))
    assert oracles.as_nested(fit(EMN(), data).tree_) == grow_emn(data, *everything)


def test_trees_are_less_deep_than_those_of_imm():
    X = load_digits().data
    assert (
        EMN(reference=X[:10]).fit(X).tree_.max_depth < IMM(reference=X[:10]).fit(X).tree_.max_depth
    )
