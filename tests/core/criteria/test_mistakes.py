"""Mistakes: sums, bounds and children of a node, against all rows one by one."""

from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from _support.extended import examples
from pellucid import EMN, IMM, BeamSearch
from pellucid._core.criteria import mistakes as module
from pellucid._core.criteria.base import Node, NodeRows
from pellucid._core.criteria.center_search import edge_sums
from pellucid._core.criteria.column_search import Split
from pellucid._core.criteria.mistakes import Mistakes, MistakesState
from pellucid._core.criteria.problem import Problem
from pellucid._core.data.arrays import Weights
from pellucid._core.data.dataset import Dataset


def make_problem(seed, n_samples=300, n_clusters=5, store=np.asarray):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 40, size=(n_samples, 3)) / 4
    data = Dataset(store(X), Weights.of(rng.integers(1, 4, n_samples).astype(float)))
    centers = X[rng.choice(n_samples, n_clusters, replace=False)]
    return Problem(data, centers, data.nearest(centers))


def dense(problem):
    return problem.X.toarray() if sparse.issparse(problem.X) else problem.X


def mistakes(problem, feature, threshold, rows):
    """Weight of the rows that a threshold separates from their centers."""
    left = dense(problem)[rows, feature] <= threshold
    center_left = problem.centers[problem.labels[rows], feature] <= threshold
    return int(problem.weights.units[rows][left != center_left].sum())


def count(problem, node):
    """The sums of a node, row by row: first the differences of the amounts, then the decreases."""
    bins = problem.bins
    sums = np.zeros((*bins.edges.shape, 2), dtype=np.int64)
    for row in node.rows.active:
        weight = problem.weights.units[row]
        for j, b in enumerate(bins.codes[:, row].tolist()):
            e = bins.center_code[j, problem.labels[row]]
            sums[j, min(b, e), 0] += weight
            sums[j, max(b, e), 0] -= weight
            sums[j, b, 1] += weight if b > e else 0
    return sums


def differences(sums):
    """Sums as `count` has them."""
    return np.stack([sums[:, :, 0] - sums[:, :, 1], sums[:, :, 1]], axis=2)


def node_of(problem, members):
    """A node with some of the centers and all rows of these centers."""
    root, ends = Mistakes(problem).root(), Mistakes(problem).start_state().ends
    rows = [root.rows.active[ends[c] : ends[c + 1]] for c in members]
    state = MistakesState(np.concatenate([[0], np.cumsum(list(map(len, rows)))]))
    return Node(NodeRows(np.concatenate(rows), root.rows.passive, np.array(members)), state)


@pytest.mark.slow
@pytest.mark.parametrize("rows_per_bin", [0, 1])
@given(st.integers(0, 10**6))
@settings(max_examples=20, deadline=None)
def test_the_sums_of_every_node_are_those_of_its_rows(rows_per_bin, seed):
    problem = make_problem(seed, n_samples=300)
    criterion = Mistakes(problem)
    waiting = [criterion.root()]
    # Sums of nodes with few rows per bin are not stored.
    with mock.patch.object(module, "_MANY_ROWS_PER_BIN", rows_per_bin):
        while waiting:
            node = waiting.pop()
            split = criterion.best_split(node)
            if split is None:
                continue
            expected = count(problem, node)
            np.testing.assert_array_equal(differences(criterion.sums(node)), expected)
            divided = criterion.divide_node(node, split)
            # The children have copies: the parent may be split in another way.
            np.testing.assert_array_equal(differences(criterion.sums(node)), expected)
            waiting += [divided.left, divided.right]


@pytest.mark.slow
@pytest.mark.parametrize("method", [IMM, EMN])
@given(st.integers(0, 10**6), st.sampled_from(["greedy", BeamSearch(3, 2)]), st.booleans())
@settings(max_examples=examples(36), deadline=None)
def test_stored_sums_and_sparse_data_give_the_same_tree(method, seed, search, has_weights):
    rng = np.random.default_rng(seed)
    X = rng.integers(-10, 10, size=(80, 3)) / 4 * (rng.random((80, 3)) < 0.7)
    X = X[:, : rng.integers(1, 4)] + (rng.random((80, 1)) if seed % 2 else 0)
    weight = rng.random(80) if has_weights else None
    trees = []
    for store, rows_per_bin in ((np.asarray, 0), (np.asarray, 10**9), (sparse.csc_array, 0)):
        with mock.patch.object(module, "_MANY_ROWS_PER_BIN", rows_per_bin):
            model = method(reference=np.unique(X[:9], axis=0), search=search)
            trees.append(model.fit(store(X), sample_weight=weight).tree_)
    assert trees[0] == trees[1] == trees[2]


@given(st.integers(0, 10**6))
@settings(max_examples=20, deadline=None)
def test_mistakes_of_a_histogram_by_center(seed):
    problem = make_problem(seed)
    root, bins = Mistakes(problem).root(), problem.bins
    histogram = np.zeros((problem.n_features, problem.n_clusters, bins.edges.shape[1]), np.int64)
    for row in root.rows.active:
        weight, center = problem.weights.units[row], problem.labels[row]
        histogram[np.arange(problem.n_features), center, bins.codes[:, row]] += weight
    codes, features = Mistakes(problem).center_codes(root), np.arange(problem.n_features)
    found = edge_sums(features, histogram, histogram, histogram[0].sum(axis=1), codes)
    changes = count(problem, root)
    for j, last in enumerate(codes.ascending[:, -1].tolist()):
        edges = slice(last + 1)
        np.testing.assert_array_equal(found.amount[j, edges], changes[j, edges, 0].cumsum())
        np.testing.assert_array_equal(found.decrease[j, edges], changes[j, edges, 1])


@pytest.mark.slow
@pytest.mark.parametrize("store", [np.asarray, sparse.csc_array])
def test_a_center_for_every_fifth_row(store):
    X = np.arange(1.0, 1301.0)[:, None]
    model = IMM(reference=X[2::5]).fit(store(X))
    assert model.n_leaves_ == 260
    assert (model.labels_ == model.reference_labels_).all()


@pytest.mark.parametrize("store", [np.asarray, sparse.csc_array])
@given(st.integers(0, 10**6), st.lists(st.integers(0, 4), min_size=2, unique=True))
@settings(max_examples=examples(40), deadline=None)
def test_amounts_at_edges_and_bounds_inside_bins(store, seed, members):
    problem = make_problem(seed, store=store)
    node, bins = node_of(problem, sorted(members)), problem.bins
    rows, search = node.rows.active, module._MistakeSearch(Mistakes(problem), node, 1)
    gaps = search.codes.ascending
    found = np.empty((problem.n_features, gaps.shape[1] - 1, 3))
    search.scan(np.arange(problem.n_features), found)
    for j in range(problem.n_features):
        sums, _ = search.exact_sums(j)
        column = j, gaps[j], sums, bins.inside[j]
        of_column, candidates = search.terms.judge_column(*column, np.inf)
        np.testing.assert_array_equal(of_column, found[j])
        known = sums.amount
        for g, (first, last) in enumerate(zip(gaps[j, :-1].tolist(), gaps[j, 1:].tolist())):
            amounts = [mistakes(problem, j, bins.edges[j, t], rows) for t in range(first, last)]
            if not amounts:
                assert found[j, g].tolist() == [np.inf, -1, np.inf]
                continue
            assert found[j, g, :2].tolist() == [min(amounts), first + amounts.index(min(amounts))]
            assert known[first:last].tolist() == amounts
            values = np.unique(dense(problem)[rows, j])
            for b in range(first + 1, last + 1):
                inside = values[(values > bins.edges[j, b - 1]) & (values < bins.edges[j, b])]
                for threshold in inside.tolist():
                    amount = mistakes(problem, j, threshold, rows)
                    if candidates[b]:
                        assert amount >= found[j, g, 2]
                    else:
                        assert amount >= amounts[b - 1 - first]


@pytest.mark.parametrize("store", [np.asarray, sparse.csc_array])
@pytest.mark.parametrize("seed", range(10))
def test_the_children_of_a_split(seed, store):
    problem, rng = make_problem(seed, store=store), np.random.default_rng(seed)
    members, feature = [0, 2, 3], int(rng.integers(3))
    node, others = node_of(problem, members), node_of(problem, [1, 4]).rows.active
    passive = rng.permutation(others)[: len(others) // 2]
    node = Node(NodeRows(node.rows.active, passive, node.rows.centers), node.state)
    column, active = dense(problem)[:, feature], node.rows.active
    centers = problem.centers[:, feature]
    threshold = float(rng.choice(column)) + 0.1
    divided = Mistakes(problem).divide_node(node, Split(0.0, feature, threshold))
    seen = np.concatenate([column[active], centers[members]])
    low = seen[seen <= threshold].max(initial=-np.inf)
    high = min(
        seen[seen > threshold].min(initial=np.inf),
        column[passive][column[passive] > low].min(initial=np.inf),
    )
    assert (divided.low, divided.high) == (low, high)
    center_left = centers[problem.labels[active]] <= threshold
    for child, is_left in ((divided.left, True), (divided.right, False)):
        in_child = (column[active] <= threshold) == is_left
        kept, separated = in_child & (center_left == is_left), in_child & (center_left != is_left)
        np.testing.assert_array_equal(child.rows.active, active[kept])
        was_passive = passive[(column[passive] <= low) == is_left]
        assert sorted(child.rows.passive) == sorted([*active[separated], *was_passive])
        expected = [c for c in members if (centers[c] <= threshold) == is_left]
        assert child.rows.centers.tolist() == expected
        ends = child.state.ends
        for c, start, end in zip(expected, ends[:-1], ends[1:]):
            assert (problem.labels[child.rows.active[start:end]] == c).all()
        assert ends[-1] == len(child.rows.active)
