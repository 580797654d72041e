"""k-medoids against brute force: local optimality and initializations."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from _support.extended import examples
from pellucid._utils.threads import ThreadPool
from pellucid.xclusters import k_medoids, medoids


def integer_distances(n, seed, most=12):
    """Integer distances with many ties, which need not satisfy the triangle inequality."""
    random = np.random.default_rng(seed)
    D = np.triu(random.integers(0, most, size=(n, n)), 1).astype(float)
    return D + D.T


def plane_distances(n, seed):
    X = np.random.default_rng(seed).normal(size=(n, 2))
    return np.linalg.norm(X[:, None] - X, axis=2)


def loss_of(D, rows, weight=None):
    return (D[list(rows)].min(axis=0) * (1 if weight is None else weight)).sum()


def best_after_one_swap(D, rows, weight):
    candidates = [c for c in np.flatnonzero(weight > 0) if c not in rows]
    swapped = (
        [*rows[:i], c, *rows[i + 1 :]] for i, c in itertools.product(range(len(rows)), candidates)
    )
    return min((loss_of(D, rows, weight) for rows in swapped), default=np.inf)


def built(D, k, weight, start=()):
    """BUILD as Kaufman and Rousseeuw describe it, on all rows at every step."""
    rows = list(start)
    while len(rows) < k:
        rest = [c for c in np.flatnonzero(weight > 0) if c not in rows]
        rows.append(min(rest, key=lambda c: (loss_of(D, [*rows, c], weight), c)))
    return rows


cases = st.tuples(
    st.integers(2, 25),
    st.integers(0, 10_000),
    st.sampled_from([integer_distances, plane_distances]),
)


@given(cases, st.integers(1, 8), st.booleans(), st.sampled_from(["build", "k-medoids++", "rows"]))
@settings(deadline=None, max_examples=examples(60))
def test_no_single_swap_lowers_the_final_loss(case, k, weighted, init):
    n, seed, distances = case
    k, D = min(k, n), distances(n, seed)
    random = np.random.default_rng(seed)
    weight = np.ones(n)
    if weighted:
        weight = random.integers(0, 4, size=n) / random.choice([1.0, 3.0])
        weight[:k] += 1
    init = np.arange(k) if init == "rows" else init
    found = k_medoids(D, k, weights=weight, init=init, random_state=seed)
    rows = found.indices.tolist()
    assert len(set(rows)) == k
    assert (weight[rows] > 0).all()
    np.testing.assert_array_equal(found.labels, D[rows].argmin(axis=0))
    assert found.loss == pytest.approx(loss_of(D, rows, weight), rel=1e-12)
    assert best_after_one_swap(D, rows, weight) >= found.loss - 1e-9


@given(cases, st.integers(1, 8), st.integers(0, 3))
@settings(deadline=None, max_examples=examples(60))
def test_build_is_the_greedy_choice_at_every_step(case, k, n_given):
    n, seed, distances = case
    k, D = min(k, n), distances(n, seed)
    weight = np.random.default_rng(seed).integers(1, 4, size=n).astype(float)
    start = list(range(min(n_given, k)))
    search = medoids.MedoidSearch(D, weight, ThreadPool())
    if start:
        search.set_medoids(np.array(start))
    search.add_medoids(k)
    assert loss_of(D, search.medoids, weight) == pytest.approx(
        loss_of(D, built(D, k, weight, start), weight)
    )
    if distances is integer_distances:  # sums are exact here, and so are ties
        assert search.medoids.tolist() == built(D, k, weight, start)


@given(cases, st.integers(1, 5))
@settings(deadline=None, max_examples=examples(40))
def test_superfluous_medoids_with_the_smallest_cost_are_removed(case, k):
    n, seed, distances = case
    k, D, weight = min(k, n), distances(n, seed), np.ones(n)
    search = medoids.MedoidSearch(D, weight, ThreadPool())
    search.set_medoids(np.arange(n))
    rows = search.medoids.tolist()
    while len(rows) > k:
        search.remove_medoids(len(rows) - 1)
        least = min(loss_of(D, rows[:i] + rows[i + 1 :]) for i in range(len(rows)))
        assert set(search.medoids) < set(rows)
        rows = search.medoids.tolist()
        assert loss_of(D, rows) == pytest.approx(least)


def test_one_cluster_is_the_row_with_the_smallest_sum():
    D = plane_distances(60, 1)
    for init in ("build", "k-medoids++", [7]):
        found = k_medoids(D, 1, init=init, random_state=0)
        assert found.indices.tolist() == [D.sum(axis=1).argmin()]


def test_as_many_clusters_as_rows_have_loss_zero():
    found = k_medoids(plane_distances(9, 0), 9)
    assert sorted(found.indices) == list(range(9))
    assert (found.loss, found.n_swaps) == (0.0, 0)


def test_one_row():
    found = k_medoids([[0.0]], 1)
    assert (found.indices.tolist(), found.labels.tolist(), found.loss) == ([0], [0], 0.0)


def test_small_problems_are_near_the_optimum():
    ratios = []
    for seed in range(20):
        D = plane_distances(14, seed)
        best = min(loss_of(D, rows) for rows in itertools.combinations(range(14), 3))
        ratios.append(k_medoids(D, 3).loss / best)
    assert min(ratios) >= 1 - 1e-12
    assert np.mean(ratios) < 1.02


@pytest.mark.parametrize("init", ["build", "k-medoids++", [3, 50, 7]])
def test_result_does_not_depend_on_storage_and_threads(init, monkeypatch):
    D = plane_distances(300, 4)
    weight = np.random.default_rng(0).uniform(size=300)
    expected = k_medoids(D, 6, weights=weight, init=init, random_state=1, n_jobs=1)
    monkeypatch.setattr(medoids, "_CHUNK", 300 * 7)  # many blocks, for several threads
    for matrix, n_jobs in itertools.product((D, np.asfortranarray(D), D[::-1][::-1]), (1, 2, 5)):
        found = k_medoids(matrix, 6, weights=weight, init=init, random_state=1, n_jobs=n_jobs)
        np.testing.assert_array_equal(found.indices, expected.indices)
        np.testing.assert_array_equal(found.labels, expected.labels)
        assert found[2:] == expected[2:]


def test_float_matrices_are_not_copied(monkeypatch):
    seen = []
    search = medoids.MedoidSearch
    monkeypatch.setattr(
        medoids, "MedoidSearch", lambda D, *rest: seen.append(D) or search(D, *rest)
    )
    for dtype, order in itertools.product((np.float32, np.float64), "CF"):
        D = plane_distances(40, 0).astype(dtype, order=order)
        k_medoids(D, 3)
        assert np.shares_memory(seen[-1], D)


def test_float32_float64_equivalence():
    D = plane_distances(200, 2).astype(np.float32)
    single, double = k_medoids(D, 5), k_medoids(D.astype(np.float64), 5)
    np.testing.assert_array_equal(single.indices, double.indices)
    assert single.loss == double.loss


def test_result_does_not_depend_on_the_order_of_rows():
    D = plane_distances(200, 3)
    order = np.random.default_rng(0).permutation(200)
    found = k_medoids(D[np.ix_(order, order)], 8)
    expected = k_medoids(D, 8)
    assert set(order[found.indices]) == set(expected.indices)
    assert found.loss == expected.loss


@pytest.mark.parametrize("k", [1, 4, 7])
def test_integer_weights_equal_repeated_rows(k):
    D = plane_distances(80, 5)
    weight = np.arange(80) % 4
    rows = np.repeat(np.arange(80), weight)
    weighted = k_medoids(D, k, weights=weight)
    repeated = k_medoids(D[np.ix_(rows, rows)], k)
    np.testing.assert_array_equal(weighted.indices, rows[repeated.indices])
    np.testing.assert_array_equal(weighted.labels[rows], repeated.labels)
    assert weighted.loss == pytest.approx(repeated.loss, rel=1e-14)


def test_huge_integer_weights_keep_precision():
    D = plane_distances(60, 6)
    weight = np.random.default_rng(0).integers(10**9, 10**10, size=60).astype(float)
    found, scaled = k_medoids(D, 4, weights=weight), k_medoids(D, 4, weights=weight / 2.0**33)
    np.testing.assert_array_equal(found.indices, scaled.indices)
    assert best_after_one_swap(D, found.indices.tolist(), weight) >= found.loss * (1 - 1e-11)


@pytest.mark.parametrize("factor", [1e-270, 1e-30, 1e30, 1e300])
def test_tiny_and_huge_distances(factor):
    D = plane_distances(50, 7)
    for weight in (np.ones(50), np.random.default_rng(0).uniform(0, 1e6, size=50)):
        expected, found = k_medoids(D, 3, weights=weight), k_medoids(D * factor, 3, weights=weight)
        assert loss_of(D, found.indices, weight) == pytest.approx(expected.loss)


def test_random_state_determines_the_start():
    D = plane_distances(300, 8)
    first, again = (
        k_medoids(D, 9, init="k-medoids++", random_state=np.random.RandomState(3)) for _ in "ab"
    )
    np.testing.assert_array_equal(first.indices, again.indices)
    starts = {tuple(medoids.draw_rows(D, np.ones(300), 9, seed)) for seed in range(5)}
    assert len(starts) == 5


def test_drawn_rows_are_distinct_and_have_positive_weight():
    weight = np.array([1.0, 0.0, 2.0, 1.0, 0.0, 1.0])
    for seed in range(10):
        rows = medoids.draw_rows(np.zeros((6, 6)), weight, 4, seed)
        assert sorted(rows) == [0, 2, 3, 5]


def test_identical_rows():
    found = k_medoids(np.zeros((5, 5)), 3)
    assert sorted(found.indices) == [0, 1, 2]
    assert set(found.labels) == {0}
    assert found.loss == 0


def test_warm_start_from_a_local_optimum_makes_no_swap():
    D = plane_distances(200, 9)
    found = k_medoids(D, 6)
    again = k_medoids(D, 6, init=found.indices)
    np.testing.assert_array_equal(again.indices, found.indices)
    assert (again.n_swaps, again.n_iter) == (0, 1)
    assert (
        k_medoids(D, 7, init=found.indices).loss
        < found.loss
        < k_medoids(D, 5, init=found.indices).loss
    )


def test_init_is_not_modified():
    rows = np.array([1, 2, 3])
    k_medoids(plane_distances(50, 0), 3, init=rows)
    assert rows.tolist() == [1, 2, 3]


def test_max_iter_warns():
    D = plane_distances(300, 10)
    with pytest.warns(ConvergenceWarning, match="max_iter=1 passes") as record:
        found = k_medoids(D, 10, init=np.arange(10), max_iter=1)
    assert found.n_iter == 1
    assert record[0].filename == __file__


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_clusters": 0}, "n_clusters=0 is not between 1 and the number of rows, 4"),
        ({"n_clusters": 5}, "n_clusters=5 is not between 1 and the number of rows, 4"),
        ({"weights": [1, 0, 0, 0]}, "of positive weight, 1"),
        ({"weights": [1, 2]}, "one weight per row"),
        ({"init": "pam"}, "unknown init='pam'; use 'build'"),
        ({"init": [0, 4]}, r"init\[1\] is 4, but row indices range from 0 to 3"),
        ({"init": [1, 1]}, r"init\[1\] repeats row 1"),
        ({"init": [0.5, 1.0]}, "a list of row indices; got an array of float64"),
        ({"init": [], "weights": None}, "a list of row indices"),
        ({"init": [3], "weights": [1, 1, 1, 0]}, r"init\[0\] is row 3, which has weight 0"),
        ({"max_iter": 0}, "max_iter=0"),
        (
            {"distances": np.full((4, 4), 1e308) - np.diag([1e308] * 4)},
            "too large to sum .* multiply",
        ),
        ({"distances": integer_distances(4, 0) * 1e-310}, "too small to sum .* multiply"),
        ({"distances": np.zeros((4, 3))}, r"shape \(4, 3\); expected a square matrix"),
    ],
)
def test_error_messages(arguments, message):
    arguments = {"distances": integer_distances(4, 0), "n_clusters": 2, **arguments}
    with pytest.raises(ValueError, match=message):
        k_medoids(**arguments)
