"""Branch and bound over (k, α) on synthetic D and N."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from _support.extended import examples, seeds
from pellucid.xclusters.branch_and_bound import PairSearch


def branch_and_bound(parts, ks, **options):
    """The finished search."""
    return PairSearch(parts, ks, **options).run()


steps = st.floats(0, 1).map(lambda x: x if x > 0.4 else 0.0)


@st.composite
def monotone_tables(draw):
    """D decreases with k and increases with α, N does the opposite; both are at most 1."""
    shape = draw(st.tuples(st.integers(1, 9), st.integers(1, 12)))
    rises = [draw(arrays(float, shape, elements=steps)).cumsum(0).cumsum(1) for _ in range(2)]
    D, N = (table / max(table.max(), 1) for table in rises)
    return D[::-1], N[:, ::-1]


class Lookup:
    """Step functions of α: looks up D and N in tables, and records the calls."""

    def __init__(self, D, N):
        self.D, self.N = D, N
        self.ks = list(range(3, 3 + D.shape[0]))
        self.pairs = []

    def __call__(self, k, alpha):
        self.pairs.append((k, alpha))
        position = self.ks.index(k), self.column(alpha)
        return self.D[position], self.N[position]

    def column(self, alpha):
        return min(int(alpha * self.D.shape[1]), self.D.shape[1] - 1)


@settings(deadline=None, max_examples=examples(150))
@given(
    monotone_tables(),
    st.sampled_from([0.3, 1.0, 4.0]),
    st.sampled_from([0.0, 0.01, 0.05, 0.3]),
)
def test_bounds_and_tolerance_hold_for_monotone_d_and_n(tables, trade_off, tolerance):
    D, N = tables
    lookup = Lookup(D, N)
    options = {"trade_off": trade_off, "tolerance": tolerance}
    found = branch_and_bound(lookup, lookup.ks, **options)
    objective = D + trade_off * N
    assert found.best[0] == objective[lookup.ks.index(found.best[1]), lookup.column(found.best[2])]
    assert found.best[0] <= objective.min() + tolerance + 1e-12
    assert found.lower <= objective.min() + 1e-12
    least = min(b.lower for b in found.blocks if b.fate in ("pruned", "finished"))
    assert found.lower == min(least, found.best[0])
    assert found.is_complete
    for block in found.blocks:
        ks = slice(lookup.ks.index(block.k1), lookup.ks.index(block.k2) + 1)
        alphas = slice(lookup.column(block.alpha1), lookup.column(block.alpha2) + 1)
        inside = objective[ks, alphas]
        assert block.lower <= inside.min() + 1e-12
        assert block.upper >= inside.min()
        assert block.upper in inside or (block.upper == np.inf and block.fate == "pruned")
        width = block.alpha2 - block.alpha1
        assert block.fate != "finished" or (block.k1 == block.k2 and width <= 0.01)
    assert len(lookup.pairs) == len(set(lookup.pairs))


@settings(deadline=None, max_examples=examples(50))
@given(monotone_tables())
def test_every_pair_is_evaluated_or_in_an_unsplit_block(tables):
    lookup = Lookup(*tables)
    found = branch_and_bound(lookup, lookup.ks, tolerance=0.1)
    left = [block for block in found.blocks if block.fate in ("pruned", "finished")]
    for k in lookup.ks:
        for alpha in np.linspace(0, 1, 41):
            assert (k, alpha) in lookup.pairs or any(
                b.k1 <= k <= b.k2 and b.alpha1 <= alpha <= b.alpha2 for b in left
            )


@pytest.mark.parametrize(
    ("ks", "parts"),
    [
        (range(3, 12), [(3, 6), (6, 11)]),
        (range(1, 9), [(1, 4), (4, 8)]),
        (range(2, 7), [(2, 3), (3, 6)]),
        (range(4, 7), [(4, 5), (5, 6)]),
        (range(4, 6), [(4, 4), (5, 5)]),
    ],
)
def test_k_is_split_at_the_middle_value_of_the_paper(ks, parts):
    first, last = ks[0], ks[-1]
    found = branch_and_bound(lambda k, alpha: (last - k, k - first), ks, tolerance=0, reduce=False)
    root, *others = [block[:4] for block in found.blocks if block.alpha2 - block.alpha1 == 1]
    assert root == (first, 0.0, last, 1.0)
    assert sorted((k1, k2) for k1, _, k2, _ in others) == parts


def test_alpha_is_continuous_and_halved_down_to_its_tolerance():
    """The optimum is between 0.26 and 0.29, where a grid with steps of 0.05 has no value."""

    def parts(k, alpha):
        return float(alpha >= 0.29), float(alpha < 0.26)

    assert min(sum(parts(3, 0.05 * i)) for i in range(21)) == 1
    found = branch_and_bound(parts, [3])
    assert 0.26 <= found.best[2] < 0.29
    assert found.best[0] == 0
    for alpha_tol in (0.3, 0.05, 0.001):
        found = branch_and_bound(lambda k, a: (a, 1 - a), [3], tolerance=0, alpha_tol=alpha_tol)
        widths = {b.alpha2 - b.alpha1 for b in found.blocks if b.fate == "finished"}
        assert len(widths) == 1
        assert alpha_tol / 2 < widths.pop() <= alpha_tol


def test_pairs_without_penalty_are_preferred():
    """Pairs above a line in the plane have a penalty, which increases with k and decreases in α."""
    pairs = []

    def parts(k, alpha):
        pairs.append((k, alpha))
        return alpha * (12 - k) / 9, (k - 2) / 9 * (1 - alpha)

    def penalty(k, alpha):
        return 1e6 * max(k / 11 - alpha, 0.0)

    found = branch_and_bound(parts, range(3, 12), penalty=penalty, tolerance=0.05)
    feasible = [
        sum(parts(k, alpha))
        for k in range(3, 12)
        for alpha in np.linspace(0, 1, 101)
        if penalty(k, alpha) == 0
    ]
    assert penalty(*found.best[1:]) == 0
    assert found.lower - 1e-12 <= min(feasible)
    assert found.best[0] <= min(feasible) + 0.05


def test_all_pairs_are_searched_if_all_have_a_penalty():
    """Not monotone: the smallest penalty is inside, and only found by splitting all blocks."""
    pairs = []

    def parts(k, alpha):
        pairs.append((k, alpha))
        return alpha, 1 - alpha

    def penalty(k, alpha):
        return 1e6 * (1 + abs(k - 5) + abs(alpha - 0.3))

    options = {"penalty": penalty, "coarse_tol": 0.1, "alpha_tol": 0.001}
    found = branch_and_bound(parts, range(3, 12), **options)
    assert found.best[1:] == (5, 0.3125)
    assert len(pairs) == 9 * 17


@pytest.mark.parametrize("seed", seeds(5))
def test_search_ends_on_random_tables(seed):
    lookup = Lookup(*np.random.default_rng(seed).random((2, 9, 21)))
    found = branch_and_bound(lookup, lookup.ks, tolerance=0.0)
    assert len(lookup.pairs) == len(set(lookup.pairs)) <= 9 * 129
    values = [sum(lookup(*pair)) for pair in list(lookup.pairs)]
    assert found.best[0] == min(values)


def test_running_example_of_the_paper():
    """Its figure 2: k from 1 to 8, ε_b = 0.1."""
    # Monotone D and N with the bounds of the example.
    known = {
        (8, 0.0): (0.0, 1.0),
        (1, 1.0): (0.3, 0.1),
        (4, 0.0): (0.2, 0.9),
        (4, 1.0): (0.3, 0.2),
        (4, 0.5): (0.3, 0.5),
        (8, 0.5): (0.3, 0.7),
    }
    options = {"tolerance": 0.1, "reduce": False}
    found = branch_and_bound(lambda *pair: known.pop(pair), range(1, 9), **options)
    assert not known
    assert found.best == (0.4, 1, 1.0)
    b1, b3, *pruned = found.blocks
    assert (b1[:4], b1.fate) == ((1, 0.0, 8, 1.0), "split by k")
    # B2 has the better upper bound, but B3 has the smaller lower bound and is processed first.
    assert b3[:4] == (4, 0.0, 8, 1.0)
    assert b3[4:] == (pytest.approx(0.2), pytest.approx(0.5), "split by alpha")
    b2, b4, b5 = pruned
    assert b2[:4] == (1, 0.0, 4, 1.0)
    assert b2[4:] == (pytest.approx(0.3), pytest.approx(0.4), "pruned")
    assert b4[:4] == (4, 0.0, 8, 0.5)
    assert b5[:4] == (4, 0.5, 8, 1.0)
    assert [b.lower for b in (b4, b5)] == pytest.approx([0.5, 0.5])
    assert [b.fate for b in (b4, b5)] == ["pruned", "pruned"]


def test_reduction_removes_values_of_k_and_saves_evaluations():
    """D falls steeply at k = 6, so that smaller k are pruned as soon as D of one is known."""

    def parts(k, alpha):
        return float(k < 6) + 0.3 * alpha, (k - 3) / 16 + 0.2 * (1 - alpha)

    found, plain = (branch_and_bound(parts, range(3, 12), reduce=r) for r in (True, False))
    assert any(block.fate == "reduced" for block in found.blocks)
    assert len({b[:4] for b in found.blocks}) < len({b[:4] for b in plain.blocks})
    assert found.best[:2] == plain.best[:2]


@pytest.mark.parametrize("max_pairs", [0, 2, 3, 5, 11, 1000])
def test_stopped_search_returns_the_best_pair_and_a_bound(max_pairs):
    k, alpha = np.mgrid[0:9, 0:21]
    D, N = (alpha / 20) ** 2 * (1 - k / 20), (1 - alpha / 40) * k / 8
    lookup = Lookup(D, N)
    options = {"tolerance": 0.0, "stop": lambda: len(lookup.pairs) >= max_pairs}
    found = branch_and_bound(lookup, lookup.ks, **options)
    assert len(lookup.pairs) == max(max_pairs, 2) or found.is_complete
    assert found.best[0] == min(sum(lookup(*pair)) for pair in list(lookup.pairs))
    assert found.lower <= (D + N).min() + 1e-12
    assert found.is_complete == (max_pairs == 1000)


def test_progress_is_reported_and_the_bound_never_decreases():
    k, alpha = np.mgrid[0:9, 0:21]
    lookup = Lookup((alpha / 20) * (1 - k / 20), (1 - alpha / 40) * k / 8)
    seen = []
    branch_and_bound(lookup, lookup.ks, tolerance=0.0, report=lambda *state: seen.append(state))
    best, lower = np.array(seen).T
    assert (np.diff(best) <= 0).all()
    assert (np.diff(lower) >= -1e-12).all()
    assert (lower <= best).all()


def test_one_k():
    found = branch_and_bound(lambda k, alpha: (0.25, 0.5), [4])
    assert found.best == (0.75, 4, 0.0)
    assert [block.fate for block in found.blocks] == ["pruned"]


def test_lower_bound_if_all_open_blocks_have_a_penalty():
    found = PairSearch(lambda k, alpha: (1.0, 0.0), [2, 3], penalty=lambda k, alpha: alpha).run()
    assert found.best == (1.0, 3, 0.0)
    assert found.lower == 1.0
