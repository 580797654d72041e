"""Distances against naive loops, for all supported inputs."""

import math
from itertools import product

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.spatial.distance import cdist

from _support.extended import examples
from pellucid.xclusters import between, check_matrix, pairwise
from pellucid.xclusters.distances import kinds as numeric
from pellucid.xclusters.distances.kinds import SCIPY_BOOLEAN_METRICS, SCIPY_METRICS
from pellucid.xclusters.distances.pairwise import METRICS, column_ranges


def naive_dtw(a, b, window=None):
    n, m = len(a), len(b)
    table = np.full((n + 1, m + 1), np.inf)
    table[0, 0] = 0
    for i, j in product(range(n), range(m)):
        if window is None or i - max(0, n - m) - window <= j <= i + max(0, m - n) + window:
            before = min(table[i, j], table[i, j + 1], table[i + 1, j])
            table[i + 1, j + 1] = (a[i] - b[j]) ** 2 + before
    return math.sqrt(table[n, m])


def naive_jaccard(a, b):
    one, other = (
        {(j, value) for j, value in enumerate(row) if value is not None and value == value}
        for row in (a, b)
    )
    return 1 - len(one & other) / len(one | other) if one | other else 0.0


def naive_gower(a, b, ranges):
    parts = []
    for x, y, span in zip(a, b, ranges):
        if x is None or y is None or x != x or y != y:
            continue
        if span != span:
            parts.append(float(x != y))
        else:
            parts.append(abs(x - y) / span if span else 0.0)
    return sum(parts) / len(parts) if parts else 1.0


def naive(X, Y, distance):
    return np.array([[distance(a, b) for b in Y] for a in X])


NAIVE = {
    "euclidean": lambda a, b: math.sqrt(((a - b) ** 2).sum()),
    "manhattan": lambda a, b: np.abs(a - b).sum(),
    "cosine": lambda a, b: 1 - a @ b / math.sqrt((a @ a) * (b @ b)),
    "dtw": naive_dtw,
}
NUMBERS = np.random.default_rng(0).normal(size=(23, 6))


@pytest.fixture
def small_tiles(monkeypatch):
    """Tiles of few rows, so that several tiles are computed."""
    monkeypatch.setattr(numeric, "_ENTRIES", 40)
    monkeypatch.setattr(numeric, "_HEIGHT", 3)
    monkeypatch.setattr(numeric, "_CELLS", 200)


@pytest.mark.slow
@pytest.mark.parametrize("metric", NAIVE)
@pytest.mark.parametrize("n_jobs", [1, 2, 3])
def test_numeric_distances_equal_naive_loops(metric, n_jobs, small_tiles):
    D = pairwise(NUMBERS, metric, n_jobs=n_jobs)
    np.testing.assert_allclose(D, naive(NUMBERS, NUMBERS, NAIVE[metric]), atol=1e-14)
    np.testing.assert_array_equal(D, D.T)
    assert not D.diagonal().any()
    np.testing.assert_array_equal(D, pairwise(NUMBERS, metric, n_jobs=1))
    E = between(NUMBERS[:9], NUMBERS[5:], metric, n_jobs=n_jobs)
    np.testing.assert_allclose(E, D[:9, 5:], atol=1e-15)


@given(st.integers(0, 10_000), st.sampled_from([None, 0, 1, 4]))
@settings(deadline=None, max_examples=examples(40))
def test_dtw_equals_brute_force(seed, window):
    random = np.random.default_rng(seed)
    series = [random.normal(size=random.integers(1, 12)).round(1) for _ in range(6)]
    D = pairwise(series, "dtw", window=window)
    expected = naive(series, series, lambda a, b: naive_dtw(a, b, window))
    np.testing.assert_allclose(D, expected, atol=1e-12)
    np.testing.assert_array_equal(D, D.T)
    E = between(series[:2], series, "dtw", window=window)
    np.testing.assert_allclose(E, expected[:2], atol=1e-12)


def test_dtw_with_window_zero_is_euclidean():
    np.testing.assert_allclose(
        pairwise(NUMBERS, "dtw", window=0), pairwise(NUMBERS, "euclidean"), atol=1e-12
    )


def test_dtw_is_finite_if_the_diagonal_alignment_is_best():
    """The package's pruning loses such pairs to rounding."""
    X = np.sort(np.random.default_rng(0).uniform(size=(60, 4)), axis=1)
    D = pairwise(X, "dtw")
    assert np.isfinite(D).all()
    assert (pairwise(X, "euclidean") * (1 + 1e-12) >= D).all()


def test_dtw_of_read_only_series():
    frozen = NUMBERS.copy()
    frozen.flags.writeable = False
    np.testing.assert_array_equal(pairwise(frozen, "dtw"), pairwise(NUMBERS, "dtw"))


VALUES = st.sampled_from(["a", "b", "c", None])
MIXED_ROWS = st.lists(
    st.tuples(VALUES, VALUES, st.sampled_from([0.0, 1.5, -2.0, 4.0, float("nan")])),
    min_size=1,
    max_size=12,
)


@given(MIXED_ROWS)
@settings(deadline=None, max_examples=examples(60))
def test_jaccard_equals_sets(rows):
    D = pairwise(rows, "jaccard")
    np.testing.assert_allclose(D, naive(rows, rows, naive_jaccard), atol=1e-15)
    np.testing.assert_allclose(between(rows[:3], rows, "jaccard"), D[:3], atol=1e-15)


@given(MIXED_ROWS)
@settings(deadline=None, max_examples=examples(60))
def test_gower_equals_naive_loops(rows):
    frame = pd.DataFrame(rows, columns=["one", "two", "three"]).astype({"three": float})
    ranges = column_ranges(frame)
    known = frame["three"].dropna()
    assert ranges[2] == (known.max() - known.min() if len(known) else 0.0)
    D = pairwise(frame, "gower")
    expected = naive(rows, rows, lambda a, b: naive_gower(a, b, [math.nan, math.nan, ranges[2]]))
    np.fill_diagonal(expected, 0.0)
    np.testing.assert_allclose(D, expected, atol=1e-15)


@pytest.mark.parametrize("metric", ["jaccard", "gower"])
def test_all_table_types_give_the_same_distances(metric, small_tiles):
    columns = {"town": ["x", "y", "x", "z"] * 5, "age": list(range(20)), "in": [True, False] * 10}
    frame = pd.DataFrame(columns)
    expected = pairwise(frame, metric, n_jobs=1)
    others = [
        frame.astype({"town": "category"}),
        pl.DataFrame(columns),
        pl.DataFrame(columns, schema_overrides={"town": pl.Categorical}),
        frame.to_numpy(dtype=object),
        frame.to_numpy(dtype=object).tolist(),
    ]
    for table in others:
        np.testing.assert_array_equal(pairwise(table, metric, n_jobs=2), expected)


def test_gower_uses_given_ranges():
    X = pd.DataFrame({"a": [0.0, 10.0], "b": ["x", "y"]})
    new = pd.DataFrame({"a": [5.0], "b": ["y"]})
    np.testing.assert_allclose(between(new, X, "gower", ranges=column_ranges(X)), [[0.75, 0.25]])
    np.testing.assert_allclose(between(new, new, "gower", ranges=column_ranges(X)), [[0.0]])


def test_constant_columns_contribute_nothing():
    X = np.column_stack([np.full(4, 7.0), [0.0, 1.0, 2.0, 4.0]])
    np.testing.assert_allclose(pairwise(X, "gower")[0], np.array([0, 1, 2, 4]) / 8)
    for metric in ("euclidean", "manhattan", "dtw"):
        assert np.isfinite(pairwise(np.full((3, 2), 7.0), metric)).all()
        assert not pairwise(np.full((3, 2), 7.0), metric).any()


@pytest.mark.parametrize("metric", [*(m for m in METRICS if m != "precomputed"), math.dist])
def test_one_row(metric):
    np.testing.assert_array_equal(pairwise([[1.0, 2.0]], metric), [[0.0]])


def test_cosine_of_zero_rows():
    X = np.array([[0.0, 0.0], [3.0, 4.0], [0.0, 0.0], [-3.0, -4.0]])
    expected = [[0, 1, 0, 1], [1, 0, 1, 2], [0, 1, 0, 1], [1, 2, 1, 0]]
    np.testing.assert_allclose(pairwise(X, "cosine"), expected, atol=1e-15)
    np.testing.assert_allclose(pairwise(sparse.csr_array(X), "cosine"), expected, atol=1e-15)


def test_cosine_of_tiny_and_huge_rows():
    X = np.array([[1e-90, 0.0], [1e90, 1e90], [0.0, 5.0]])
    half = 1 - math.sqrt(0.5)
    np.testing.assert_allclose(
        pairwise(X, "cosine"), [[0, half, 1], [half, 0, half], [1, half, 0]], atol=1e-15
    )


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine"])
@pytest.mark.parametrize("convert", [sparse.csr_array, sparse.csc_matrix])
def test_sparse_rows(metric, convert, small_tiles):
    X = np.where(np.abs(NUMBERS) < 0.8, 0.0, NUMBERS)
    D = pairwise(convert(X), metric, n_jobs=2)
    np.testing.assert_allclose(D, pairwise(X, metric), atol=1e-7)
    np.testing.assert_array_equal(D, D.T)
    assert not D.diagonal().any()
    np.testing.assert_allclose(between(convert(X), X[:4], metric), D[:, :4], atol=1e-7)


def test_float32_and_column_major_numbers():
    X = NUMBERS.astype(np.float32)
    expected = pairwise(X.astype(float), "euclidean")
    for same in (X, np.asfortranarray(X), pd.DataFrame(X), pl.DataFrame(X), X.tolist()):
        np.testing.assert_array_equal(pairwise(same, "euclidean"), expected)


def test_function_is_called_once_per_pair():
    calls = []

    def apart(a, b):
        calls.append((a[0], b[0]))
        return abs(a[0] - b[0])

    D = pairwise(np.arange(4.0)[:, None], apart)
    np.testing.assert_array_equal(D, np.abs(np.arange(4.0)[:, None] - np.arange(4.0)))
    assert len(calls) == 6
    np.testing.assert_array_equal(between([[1.0]], [[0.0], [3.0]], apart), [[1.0, 2.0]])


def test_function_of_arbitrary_objects():
    words = ["a", "abc", "ab"]
    D = pairwise(words, lambda a, b: abs(len(a) - len(b)))
    np.testing.assert_array_equal(D, [[0, 2, 1], [2, 0, 1], [1, 1, 0]])
    frame = pd.DataFrame({"w": ["a", "b"], "n": [1, 2]})
    assert pairwise(frame, lambda a, b: float(a[0] != b[0]) + b[1])[0, 1] == 3.0
    series = [[1.0], [1.0, 2.0]]
    assert pairwise(series, lambda a, b: abs(a.sum() - b.sum()))[0, 1] == 2.0


def test_precomputed_is_checked_and_returned():
    D = pairwise(NUMBERS, "euclidean")
    assert pairwise(D, "precomputed") is D
    np.testing.assert_array_equal(between(D[:3], range(23), "precomputed"), D[:3])
    with pytest.raises(ValueError, match="square matrix"):
        pairwise(NUMBERS, "precomputed")
    with pytest.raises(ValueError, match="distances of new rows to the 5 fitted rows"):
        between(D[:3], range(5), "precomputed")
    with pytest.raises(ValueError, match=r"X\[0, 1\] is -1; distances must be finite"):
        between([[0.0, -1.0]], range(2), "precomputed")


def test_progress_is_printed(capsys):
    pairwise(NUMBERS, "dtw", verbose=1)
    lines = capsys.readouterr().err.splitlines()
    assert lines[-1] == "distances (dtw): 20 of 20"
    assert len(lines) == 20
    pairwise(NUMBERS, "dtw")
    assert capsys.readouterr().err == ""


def test_interrupt_between_tiles(small_tiles, monkeypatch):
    tile, seen = numeric.DTW.tile, []

    def interrupted(self, *arguments, **options):
        seen.append(1)
        if len(seen) == 2:
            raise KeyboardInterrupt
        return tile(self, *arguments, **options)

    monkeypatch.setattr(numeric.DTW, "tile", interrupted)
    with pytest.raises(KeyboardInterrupt):
        pairwise(NUMBERS, "dtw")
    assert len(seen) == 2


def short(*lengths):
    return [np.arange(float(length)) for length in lengths]


@pytest.mark.parametrize(
    ("X", "metric", "options", "message"),
    [
        (short(3, 3, 5), "euclidean", {}, "series 2 of X has 5 steps, series 0 has 3: .*'dtw'"),
        (short(3, 0), "dtw", {}, r"series 1 of X has shape \(0,\); a series is a non-empty list"),
        ([[1.0, np.nan], [2.0]], "dtw", {}, "series 0 of X is nan at step 1; impute"),
        ([[1.0, 2.0], ["a"]], "dtw", {}, "series 1 contains non-numeric values"),
        ([[1.0, np.nan]], "dtw", {}, r"X\[0, 1\] is nan; 'dtw' needs finite numbers"),
        ([[1.0], [np.inf]], "manhattan", {}, r"X\[1, 0\] is inf"),
        ([["a"], ["b"]], "euclidean", {}, "for categories use metric='jaccard' or 'gower'"),
        (pd.DataFrame({"t": ["a"]}), "cosine", {}, "column 't' is not numeric"),
        ([1.0, 2.0], "euclidean", {}, r"X has shape \(2,\); expected a matrix"),
        ([], "euclidean", {}, "X is empty; at least one row"),
        (["a", "b"], "jaccard", {}, r"X has shape \(2,\); expected a table"),
        ([["a"], ["b", "c"]], "jaccard", {}, "row 1 of X has 2 values, row 0 has 1; each row"),
        ([], "jaccard", {}, "X is empty; at least one row"),
        (np.empty((0, 3)), "gower", {}, "X is empty; at least one row"),
        (None, "dtw", {}, r"X has shape \(\); expected a matrix"),
        ([[np.inf]], "gower", {}, "column 0 of X is infinite at row 0"),
        (NUMBERS, "hemming", {}, r"unknown metric='hemming'; did you mean 'hamming'\?"),
        (NUMBERS, "Euclidean", {}, r"did you mean 'euclidean'\?"),
        (NUMBERS, "l1", {}, "unknown metric='l1'; 'manhattan' is the same"),
        (NUMBERS, "mahalanobis", {}, "whiten the columns"),
        (NUMBERS, "xyz", {}, "use 'braycurtis', .*'yule', or a function of two rows"),
        ([[1, -1]], "jensenshannon", {}, "X has negative values or rows of zeros; 'jensenshannon'"),
        ([[1, 2], [0, 0]], "jensenshannon", {}, "X has negative values or rows of zeros"),
        (NUMBERS, "euclidean", {"window": 3}, "window=3 is only used by metric='dtw'"),
        (NUMBERS, "dtw", {"window": -1}, "window=-1 must be a nonnegative integer"),
        (NUMBERS, "dtw", {"window": 0.5}, "window=0.5 must be a nonnegative integer"),
        (
            NUMBERS,
            lambda a, b: -1.0,
            {},
            r"returned -1.0 for rows 0 and 1; distances must be finite",
        ),
        (NUMBERS, lambda a, b: np.nan, {}, r"returned nan for rows 0 and 1"),
        (NUMBERS, "euclidean", {"n_jobs": 0}, "n_jobs=0"),
    ],
)
def test_value_errors(X, metric, options, message):
    with pytest.raises(ValueError, match=message):
        pairwise(X, metric, **options)


@pytest.mark.parametrize(
    ("X", "metric", "message"),
    [
        (sparse.csr_array(NUMBERS), "dtw", "X is sparse, but series must be dense"),
        (sparse.csr_array(NUMBERS), "gower", "X is sparse, but categories must be dense"),
        (
            NUMBERS,
            lambda a, b: "far",
            "returned 'far' for rows 0 and 1; a distance must be a number",
        ),
        (
            pd.DataFrame({"c": [[1], [2]]}),
            "jaccard",
            "column 'c' of X contains values that cannot be",
        ),
    ],
)
def test_type_errors(X, metric, message):
    with pytest.raises(TypeError, match=message):
        pairwise(X, metric)


def test_incompatible_rows():
    with pytest.raises(ValueError, match="Y has 1 column, but the other rows have 2"):
        between([["a", "b"]], [["a"]], "jaccard")
    with pytest.raises(ValueError, match="Y has 3 columns, but the other rows have 1"):
        between([[1.0]], [[1.0, 2.0, 3.0]], "gower")
    with pytest.raises(ValueError, match="column 0 of Y is categorical, but numeric in the"):
        between([[1.0]], [["a"]], "gower")
    with pytest.raises(ValueError, match="ranges has 2 entries, but X has 1 columns"):
        between([[1.0]], [[2.0]], "gower", ranges=np.ones(2))
    with pytest.raises(ValueError, match="Y has 3 columns, but the other rows have 2"):
        between([[1.0, 2.0]], [[1.0, 2.0, 3.0]], "euclidean")


@pytest.mark.parametrize("metric", SCIPY_METRICS)
def test_metrics_of_scipy_by_name(metric):
    rng = np.random.default_rng(0)
    X = rng.random((30, 5))
    X = X > 0.4 if metric in SCIPY_BOOLEAN_METRICS else X
    expected = cdist(X, X, metric)
    np.fill_diagonal(expected, 0)
    X = X.astype(float)
    np.testing.assert_allclose(pairwise(X, metric), expected, atol=1e-12)
    check_matrix(pairwise(X, metric))
    np.testing.assert_allclose(between(X[:4], X, metric)[:, 4:], expected[:4, 4:], atol=1e-12)


def test_undefined_distances_of_scipy():
    X = np.array([[1.0, 2, 3], [1, 1, 1], [1, 1, 1]])
    assert pairwise(X[1:], "correlation").tolist() == [[0, 0], [0, 0]]
    with pytest.raises(ValueError, match="'correlation' of rows 0 and 1 is not defined"):
        pairwise(X, "correlation")
    with pytest.raises(ValueError, match="other values than 0 and 1; 'dice' needs these"):
        pairwise(X, "dice")
