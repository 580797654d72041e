"""Bounds on what centers can gain, and cuts found with their help, against all cuts one by one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from _support.strategies import tiny_data
from pellucid._core.criteria import surrogate_cost as surrogate
from pellucid._core.criteria import surrogate_pairs as pairs
from pellucid._core.criteria.problem import Problem
from pellucid._core.criteria.surrogate_bounds import Rivals, Standing
from pellucid._core.criteria.surrogate_cost import SurrogateCost
from pellucid._core.data.arrays import Weights
from pellucid._core.data.dataset import Dataset
from pellucid._utils.threads import SERIAL, ThreadPool


def stand(costs, star=None, pool=SERIAL):
    rows = np.arange(len(costs), dtype=np.int32)
    standing = Standing.of(rows, costs, pool, star)
    if star is None and standing.cheapest != standing.star:
        return stand(costs, standing.cheapest)
    return standing


def gain_of(costs, left, centers):
    """What a cut gains if its sides may go to some centers only."""
    before = costs.sum(axis=0).min()
    sides = costs[left][:, centers].sum(axis=0), costs[~left][:, centers].sum(axis=0)
    return int(before - sides[0].min() - sides[1].min())


whole_costs = st.integers(1, 6).flatmap(
    lambda k: (
        st.lists(st.lists(st.integers(0, 9), min_size=k, max_size=k), max_size=9)
        .filter(len)
        .map(lambda lines: np.array(lines, dtype=np.int64))
    )
)


@settings(deadline=None)
@given(whole_costs, st.integers(0, 5))
def test_sums_are_what_they_are_said_to_be(costs, star):
    n_rows, k = costs.shape
    star %= k
    standing = stand(costs, star)
    better = costs[:, [star]] - costs
    np.testing.assert_array_equal(standing.totals, costs.sum(axis=0))
    np.testing.assert_array_equal(standing.alone, np.maximum(better, 0).sum(axis=0))
    if k > 1:
        most = np.delete(better, star, axis=1).max(axis=1)
        mean = better.sum(axis=1) / (k - 1)
        assert standing.reach == most.sum()
        level = np.minimum(0, (mean + most) / 2).sum()
        assert abs(standing.base - level) <= n_rows * (1 + k)  # v is rounded, which does not matter
        assert (standing.paired >= standing.alone).all()


@settings(deadline=None)
@given(whole_costs, st.data())
def test_no_cut_gains_more_than_is_said_and_none_needs_a_center_that_is_left_out(costs, data):
    standing = stand(costs)
    rows, k = np.arange(len(costs), dtype=np.int32), costs.shape[1]
    every = np.arange(k)
    left = np.array(data.draw(st.lists(st.booleans(), min_size=len(costs), max_size=len(costs))))
    gain = gain_of(costs, left, every)
    assert gain <= standing.most_gain
    assert (standing.most_gain == 0) == (costs.sum(axis=0).min() == costs.min(axis=1).sum())
    for wanted in range(1, gain + 1):
        fewest = standing.fewest_rivals(wanted, rows, costs)
        assert set(fewest) <= set(standing.rivals(wanted))
        assert gain_of(costs, left, [standing.star, *fewest]) == gain
    if gain == 0:  # then star alone is as good as any center
        assert gain_of(costs, left, [standing.star]) == 0


@settings(deadline=None)
@given(whole_costs, st.integers(1, 60))
def test_pairs_are_counted(costs, gain):
    standing = stand(costs)
    paired = standing.paired[standing.rivals(gain)]
    pairs = [
        (a, b)
        for b in range(len(paired))
        for a in range(b)
        if standing.base + paired[a] + paired[b] >= gain
    ]
    assert standing.n_pairs(gain) == (len(pairs) if standing.reach >= gain else 0)
    first, second, bounds = standing.pairs(gain)
    assert len(first) == standing.n_pairs(gain)
    for a, b, bound in zip(first, second, bounds):
        larger = (costs[:, [standing.star]] - costs[:, [a, b]]).max(axis=1)
        assert larger.sum() <= bound


def test_sums_of_some_rows_can_be_taken_away():
    costs = np.random.default_rng(0).integers(0, 2**40, size=(500, 7))
    whole = stand(costs, 3)
    rest = whole.without(stand(costs[:200], 3))
    alone = stand(costs[200:], 3)
    for name in ("totals", "alone", "paired", "base", "reach", "most_gain"):
        np.testing.assert_array_equal(getattr(rest, name), getattr(alone, name))


def test_threads_do_not_matter():
    costs = np.random.default_rng(0).integers(0, 2**40, size=(20_000, 5))
    with ThreadPool(3) as pool:
        together = stand(costs, 1, pool)
    np.testing.assert_array_equal(together.table, stand(costs, 1).table)


def test_costs_as_large_as_can_be_do_not_overflow():
    costs = np.full((3, 6), 2**59)
    costs[[0, 1, 2], [0, 1, 2]] = 0
    standing = stand(costs)
    assert standing.most_gain == 2**59
    assert standing.totals.tolist() == [2**60] * 3 + [3 * 2**59] * 3


def test_lines_hold_gains_and_a_rounded_best():
    costs = np.array([[9, 2, 5, 0], [1, 4, 1, 0]])
    rivals = Rivals(costs, 0, np.array([1, 2]), 2)
    lines = rivals.lines_of(np.arange(2, dtype=np.int32))
    assert lines.tolist() == [[7, 4, 8 + 1], [-3, 0, 0 + 1]]
    assert rivals.include(0, np.array([2]))
    assert not rivals.include(0, np.array([1, 3]))
    assert not rivals.include(1, np.array([2]))


def best_by_hand(problem, rows):
    """Least cost over all cuts; the lowest feature of equals, then the lowest value."""
    costs = problem.costs[rows]
    if costs.sum(axis=0).min() == costs.min(axis=1).sum():
        return None
    found = []
    for j in range(problem.n_features):
        values = problem.values(j, rows)
        for value in np.unique(values)[:-1]:
            left = values <= value
            after = costs[left].sum(axis=0).min() + costs[~left].sum(axis=0).min()
            found.append((int(after), j, float(value)))
    return min(found, default=None)


def check(criterion, cell):
    expected, cut = best_by_hand(criterion.problem, cell.rows.active), criterion.best_split(cell)
    if expected is None:
        assert cut is None
        return None
    _, low, high, *_ = criterion.divide(cell, cut)
    assert (cut.objective, cut.feature, low) == expected
    assert cut.gain == criterion.paid(cell) - cut.objective <= criterion.gain_bound(cell)
    assert low < high
    return cut


def check_downwards(criterion, cell, depth):
    """The best cut of a cell, and of the cells that it makes."""
    cut = check(criterion, cell)
    if cut is not None and depth:
        divided = criterion.divide(cell, cut)
        for half in (divided.left, divided.right):
            check_downwards(criterion, half, depth - 1)


def problem_of(X, centers, weight=None):
    weight = np.ones(X.shape[0]) if weight is None else weight
    data = Dataset(X, Weights.of(weight))
    return Problem(data, centers, data.nearest(centers))


HOWEVER_MANY, NONE = np.inf, -1  # pairs of centers to look at one by one


@settings(max_examples=120, deadline=None)
@given(
    tiny_data(max_rows=14, max_clusters=6),
    st.booleans(),
    st.booleans(),
    st.sampled_from([NONE, 2, HOWEVER_MANY]),
)
def test_cuts_of_tiny_data(data, is_sparse, probes, n_pairs):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(surrogate, "_WORTH_PROBING", 0 if probes else np.inf)
        patch.setattr(pairs, "_MORE_PAIRS", n_pairs)
        X = sparse.csc_array(data.X) if is_sparse else data.X
        criterion = SurrogateCost(problem_of(X, data.centers, data.weight))
        check_downwards(criterion, criterion.root(), 2)


@pytest.mark.parametrize("n_pairs", [NONE, HOWEVER_MANY])
@pytest.mark.parametrize("probes", [True, False])
@pytest.mark.parametrize(
    "kind", ["plain", "rounded", "float32", "by column", "backwards", "weights", "sparse"]
)
def test_cuts_of_blobs(monkeypatch, kind, probes, n_pairs):
    monkeypatch.setattr(surrogate, "_WORTH_PROBING", 0 if probes else np.inf)
    monkeypatch.setattr(pairs, "_MORE_PAIRS", n_pairs)
    rng = np.random.default_rng(len(kind))
    centers = rng.normal(size=(12, 5)) * 4
    X = centers[rng.integers(12, size=400)] + 2 * rng.normal(size=(400, 5))
    weight = rng.integers(1, 5, size=400).astype(float) if kind == "weights" else None
    if kind == "rounded":
        X, centers = np.round(X), np.round(centers)
    elif kind == "float32":
        X = X.astype(np.float32)
    elif kind == "by column":
        X = np.asfortranarray(X)
    elif kind == "backwards":
        X = X[:, ::-1]
    elif kind == "sparse":
        X = sparse.csc_array(np.where(rng.random(X.shape) < 0.6, 0, X))
    criterion = SurrogateCost(problem_of(X, centers, weight))
    check_downwards(criterion, criterion.root(), 4)


def test_columns_of_large_cells_are_shared_out():
    rng = np.random.default_rng(0)
    centers = rng.normal(size=(5, 9)) * 2
    X = centers[rng.integers(5, size=40_000)] + rng.normal(size=(40_000, 9))
    found = []
    for n_threads in (1, 3):
        with ThreadPool(n_threads) as pool:
            data = Dataset(X, Weights.of(np.ones(len(X))), pool)
            criterion = SurrogateCost(Problem(data, centers, data.nearest(centers)))
            blocks = criterion.problem.feature_blocks(np.arange(9), len(X))
            assert len(blocks) == (1 if n_threads == 1 else 2)
            cell = criterion.root()
            standing = criterion._standing(cell)
            found.append(pairs.best_paired_cut(criterion.problem, cell.rows.active, standing).cut)
    assert found[0] is not None
    assert found[0] == found[1] == SurrogateCost(criterion.problem).best_splits(cell, 2)[0]


@pytest.mark.parametrize("is_sparse", [True, False])
def test_rivals_that_were_not_looked_at_first_are_looked_at_after_all(monkeypatch, is_sparse):
    """Seven centers promise much to every other row, one keeps its promise to neighbours."""
    searched = []
    original = SurrogateCost._search

    def search(self, cell, sums, n):
        searched.append(sums.rivals.rivals.tolist())
        return original(self, cell, sums, n)

    monkeypatch.setattr(SurrogateCost, "_search", search)
    monkeypatch.setattr(surrogate, "_WORTH_PROBING", np.inf)
    monkeypatch.setattr(pairs, "_MORE_PAIRS", NONE)
    X = np.arange(60.0)[:, None] + 1
    problem = problem_of(sparse.csc_array(X) if is_sparse else X, X[:9].copy())
    row, center = np.ogrid[:60, :9]
    better = np.where(row % 2 == 1, 10, -11) + 0 * center
    better[:, 0], better[:, 8] = 0, np.where(np.arange(60) < 20, -20, 3)
    criterion = SurrogateCost(problem.with_costs(problem.centers, 100 - better, 1.0))
    rows = np.arange(30, dtype=np.int32)
    cut = check(criterion, criterion.start_node(rows))
    assert cut.gain == 30
    assert len(searched) == 2
    assert 8 not in searched[0]
    assert 8 in searched[1]


def test_a_single_center_and_rows_that_are_all_alike_have_no_cut():
    X = np.random.default_rng(0).normal(size=(30, 3))
    criterion = SurrogateCost(problem_of(X, X[:1].copy()))
    assert criterion.gain_bound(criterion.root()) is None
    assert criterion.best_split(criterion.root()) is None
    criterion = SurrogateCost(problem_of(np.ones((30, 3)), X[:4].copy()))
    assert criterion.best_splits(criterion.root()) == []
    none = np.arange(0, dtype=np.int32)
    empty = criterion.start_node(none)
    assert criterion.gain_bound(empty) is None
    assert criterion.cluster(empty) == 0
    assert criterion.paid(empty) == 0


def test_several_cuts_are_those_of_all_centers():
    rng = np.random.default_rng(3)
    X = np.round(rng.normal(size=(200, 6)) * 3)
    problem = problem_of(X, X[:8].copy())
    criterion = SurrogateCost(problem)
    cuts = criterion.best_splits(criterion.root(), 6)
    best = []
    for j in range(6):
        left = [X[:, j] <= value for value in np.unique(X[:, j])[:-1]]
        gains = [gain_of(problem.costs, some, np.arange(8)) for some in left]
        best.append((-max(gains), j))
    assert [(-cut.gain, cut.feature) for cut in cuts] == sorted(best)
