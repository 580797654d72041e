"""Rows reach the right leaf in every storage, and values that are not finite are refused."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse
from sklearn.datasets import make_blobs
from sklearn.exceptions import NotFittedError

from _support.extended import examples
from pellucid import IMM
from pellucid.tree import TreeBuilder, predictor

pytestmark = pytest.mark.slow

# In float32, 0.1 is another number, on the other side of the threshold 0.1.
NUMBERS = st.sampled_from([-2.0, -0.5, -0.1, 0.0, 0.1, 0.5, 1.0, 3.0])


@pytest.fixture(params=["few", "many", "threads"])
def amount(request, monkeypatch):
    """The same rows, taken as few, as many, or as enough for several threads."""
    monkeypatch.setattr(predictor, "_MIN_COMPILED_WORK", np.inf if request.param == "few" else 0)
    monkeypatch.setattr(predictor, "_CHUNK_ROWS", 7)
    if request.param == "threads":
        monkeypatch.setattr(predictor, "_VALUES_PER_THREAD", 4)
    return request.param


def in_parts(X, seed=0):
    """CSR with every entry in two halves, zeros too, and those of a row in any order."""
    n, d = X.shape
    order = np.random.default_rng(seed).permuted(np.tile(np.arange(2 * d), (n, 1)), axis=1)
    halves = np.take_along_axis(np.hstack([X / 2, X / 2]), order, axis=1)
    columns, ends = (order % d).ravel(), np.arange(n + 1) * 2 * d
    parts = (halves.ravel(), columns.astype(np.int32), ends.astype(np.int32))
    return sparse.csr_array(parts, shape=(n, d))


def with_spare_room(X):
    """CSR whose arrays go on behind its last entry."""
    csr = sparse.csr_array(X)
    nonsense = np.full(3, np.nan if X.dtype.kind == "f" else 1, dtype=X.dtype)
    spare = (np.r_[csr.data, nonsense], np.r_[csr.indices, 0, 0, 0])
    return sparse.csr_array((*spare, csr.indptr), shape=X.shape)


def wide(X):
    """The same with indices of 64 bits."""
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return X


def read_only(X):
    X = X.copy()
    X.setflags(write=False)
    return X


DENSE = {
    "rows": np.ascontiguousarray,
    "columns": np.asfortranarray,
    "read-only": read_only,
    "every other row": lambda X: np.repeat(X, 2, axis=0)[::2],
    "backwards": lambda X: X[::-1, ::-1].copy()[::-1, ::-1],
    "some columns": lambda X: np.hstack([X, X])[:, : X.shape[1]],
}
SPARSE = {
    "csr": sparse.csr_array,
    "csr matrix": sparse.csr_matrix,
    "csc": sparse.csc_array,
    "coo": sparse.coo_array,
    "csr in parts": in_parts,
    "csc in parts": lambda X: in_parts(X.T).T,
    "csr with spare room": with_spare_room,
    "csr with wide indices": lambda X: wide(sparse.csr_array(X)),
    "csc with wide indices": lambda X: wide(sparse.csc_array(X)),
    "wide csc in parts": lambda X: wide(in_parts(X.T).T),
}
STORED = {**DENSE, **SPARSE}


@st.composite
def trees_and_rows(draw):
    n_features = draw(st.integers(1, 4))
    builder = TreeBuilder(n_features)
    for _ in range(draw(st.integers(0, 14))):
        # The latest leaf more often than not, for trees that are deep and lopsided.
        node = draw(st.sampled_from([*builder.leaves, *builder.leaves[-1:] * 20]))
        feature = draw(st.integers(0, n_features - 1))
        for child in builder.split(node, feature=feature, threshold=draw(NUMBERS)):
            builder.set_cluster(child, 100 - child)
    shape = (draw(st.integers(0, 20)), n_features)
    return builder.build(), draw(hnp.arrays(np.float64, shape, elements=NUMBERS))


def leaf_by_hand(tree, row):
    node = 0
    while tree.children_left[node] >= 0:
        goes_left = float(row[tree.feature[node]]) <= tree.threshold[node]
        node = (tree.children_left if goes_left else tree.children_right)[node]
    return node


@given(trees_and_rows(), st.sampled_from([np.float64, np.float32, np.int64, np.float16]))
@settings(
    max_examples=examples(60),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_every_storage_leads_to_the_leaf_found_by_hand(amount, case, dtype):
    tree, X = case
    X = X.astype(dtype)
    expected = np.array([leaf_by_hand(tree, row) for row in X], dtype=np.intp)
    for name, stored in STORED.items():
        if name in SPARSE and (dtype == np.float16 or (dtype == np.int64 and "parts" in name)):
            continue
        rows, untouched = stored(X), stored(X)
        np.testing.assert_array_equal(tree.apply(rows), expected, err_msg=name)
        for part in ("data", "indices", "indptr") if hasattr(rows, "indptr") else ():
            np.testing.assert_array_equal(getattr(rows, part), getattr(untouched, part), name)
        np.testing.assert_array_equal(tree.predict(rows), tree.cluster[expected], err_msg=name)


def test_nothing_is_compiled_before_there_were_many_rows_in_all(monkeypatch):
    compiled = []
    monkeypatch.setattr(predictor, "_MIN_COMPILED_WORK", 100)
    monkeypatch.setattr(predictor, "_work_by_kind", predictor.Counter())
    monkeypatch.setattr(predictor, "_route_dense", lambda *_: compiled.append(True) or (0, True))
    builder = TreeBuilder(1)
    builder.split(0, feature=0, threshold=0.0)
    for _ in range(3):
        builder.build().apply(np.zeros((11, 1)))
        assert not compiled
    builder.build().apply(np.zeros((11, 1), dtype=np.float32))
    assert not compiled
    builder.build().apply(np.zeros((1, 1)))
    assert len(compiled) == 1


def test_rows_without_columns_or_questions(amount):
    assert TreeBuilder(0).build().apply(np.zeros((9, 0))).tolist() == [0] * 9
    assert TreeBuilder(3).build().apply(np.zeros((9, 3))).tolist() == [0] * 9


def test_many_columns_and_more_levels_than_go_in_step(amount):
    X = np.random.default_rng(0).normal(size=(40, 9000))
    builder, node = TreeBuilder(9000), 0
    for feature in range(0, 9000, 300):
        _, node = builder.split(node, feature=feature, threshold=-1.5)
    tree = builder.build()
    expected = [leaf_by_hand(tree, row) for row in X]
    for stored in STORED.values():
        assert tree.apply(stored(X)).tolist() == expected


def test_values_that_are_not_finite_go_somewhere_if_nobody_asks(amount):
    """NaN is not below any threshold."""
    builder = TreeBuilder(2)
    builder.split(0, feature=0, threshold=0.5)
    X = np.array([[np.nan, 1.0], [np.inf, 1.0], [-np.inf, 1.0], [0.0, np.nan], [1.0, 0.0]] * 4)
    for stored in (np.asarray, np.asfortranarray, sparse.csr_array, sparse.csc_array):
        assert builder.build().apply(stored(X)).tolist() == [2, 2, 1, 1, 2] * 4
        found, is_finite = builder.build().leaf_values(stored(X), np.arange(3), check=True)
        assert found.tolist() == [2, 2, 1, 1, 2] * 4
        assert not is_finite


@pytest.fixture(scope="module")
def model():
    X, _ = make_blobs(60, 5, centers=3, random_state=0)
    return X, IMM(3, random_state=0).fit(X)


def message(call, X):
    with pytest.raises(ValueError, match="Input X contains") as caught:
        call(X)
    return str(caught.value)


NAMES = [f"c{i}" for i in range(5)]
FRAMES = {
    "pandas": lambda X: pd.DataFrame(X, columns=NAMES),
    "polars": lambda X: pl.DataFrame(X, schema=NAMES),
    "pyarrow": lambda X: pa.table(dict(zip(NAMES, X.T))),
}


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", [*STORED, *FRAMES])
def test_prediction_refuses_what_fitting_refuses_in_the_same_words(amount, name, dtype, model):
    X, fitted = model
    X = X.astype(dtype)
    stored = {**STORED, **FRAMES}[name]
    fitted = IMM(3, random_state=0).fit(stored(X)) if name in FRAMES else fitted
    place = "column 'c3'" if name in FRAMES else "column 3"
    for row, column in ((41, 3), (0, 3), (59, 3)):
        for value, what in ((np.nan, "NaN"), (np.inf, "infinity"), (-np.inf, "infinity")):
            wrong = X.copy()
            wrong[row, column] = value
            wrong[5, 4] = -value
            wrong[np.abs(wrong) < 1] = 0.0
            text = message(IMM(3).fit, stored(wrong))
            assert f"contains {what}" in text
            assert f"{place}, first at row {row}. IMM needs finite numbers" in text
            assert message(fitted.predict, stored(wrong)) == text
            assert message(fitted.apply, stored(wrong)) == text


def test_sums_of_parts_are_what_must_be_finite(amount, model):
    X, fitted = model
    huge = X.copy()
    huge[7, 2] = 1.7e308
    expected = fitted.predict(huge)
    np.testing.assert_array_equal(fitted.predict(in_parts(huge)), expected)
    parts = in_parts(huge)
    parts.data[np.abs(parts.data) > 1e300] = 1.7e308
    text = message(fitted.predict, parts)
    assert "infinity (inf): column 2, first at row 7" in text


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_values_too_large_to_add_up_are_finite(amount, dtype, model):
    X, fitted = model
    X = X.astype(dtype)
    X[:, 4] = np.finfo(dtype).max
    expected = [leaf_by_hand(fitted.tree_, row) for row in X]
    for name, stored in STORED.items():
        assert fitted.apply(stored(X)).tolist() == expected, name


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
def test_frames_of_one_type_are_read_like_arrays(amount, frame, dtype, model):
    X = (10 * model[0]).astype(dtype)
    fitted = IMM(3, random_state=0).fit(frame(X))
    leaves = [leaf_by_hand(fitted.tree_, row) for row in X]
    assert fitted.apply(frame(X)).tolist() == leaves
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        assert fitted.apply(X).tolist() == leaves


def test_frames_of_several_types_and_with_gaps(amount):
    columns = {"a": [1, 2, 30, 40], "b": [True, False, True, False], "c": [0.5, 1.5, 2.5, 3.5]}
    for frame in (pd.DataFrame, pl.DataFrame, pa.table):
        fitted = IMM(2, random_state=0).fit(frame(columns))
        assert fitted.predict(frame(columns)).tolist() == fitted.labels_.tolist()
        gap = frame({**columns, "c": [0.5, None, 2.5, 3.5]})
        assert "NaN: column 'c', first at row 1" in message(fitted.predict, gap)
        with pytest.raises(ValueError, match="feature names should match"):
            fitted.predict(frame(dict(reversed(columns.items()))))
        with pytest.raises(ValueError, match="column 'b' is not numeric"):
            fitted.predict(frame({**columns, "b": list("abcd")}))


def test_a_fitted_frame_is_not_shared(model):
    """What is fitted may not change with the table afterwards, nor the table with it."""
    frame = pd.DataFrame(model[0], columns=NAMES)
    before = frame.copy()
    IMM(3, random_state=0).fit(frame).predict(frame)
    pd.testing.assert_frame_equal(frame, before)


def test_width_and_fitting_come_first(model):
    X, fitted = model
    for stored in STORED.values():
        with pytest.raises(ValueError, match="X has 4 features, but IMM is expecting 5"):
            fitted.predict(stored(X[:, :4]))
    for wrong in (X[0], X[:0], X[None]):
        with pytest.raises(ValueError, match="1D array|0 sample|dim 3"):
            fitted.predict(wrong)
    with pytest.raises(NotFittedError, match="IMM instance is not fitted yet"):
        IMM(3).predict(X)
    with pytest.raises(NotFittedError, match="IMM instance is not fitted yet"):
        IMM(3).apply(X)


@pytest.mark.parametrize("stored", [np.asarray, sparse.csr_array])
def test_prediction_uses_as_many_threads_as_the_estimator_may(monkeypatch, stored, model):
    X, fitted = model
    used = []

    class Counted(predictor.ThreadPool):
        def __init__(self, n_threads):
            used.append(n_threads)
            super().__init__(n_threads)

    monkeypatch.setattr(predictor, "ThreadPool", Counted)
    monkeypatch.setattr(predictor, "_MIN_COMPILED_WORK", 0)
    monkeypatch.setattr(predictor, "_VALUES_PER_THREAD", 4)
    for n_jobs in (1, 3):
        fitted.set_params(n_jobs=n_jobs).predict(stored(X))
    assert used == [1, 3]
    fitted.set_params(n_jobs=None)


@pytest.mark.parametrize("labels", [["x", "y", "zzz"], [7, -3, 1000], [2.0, 0.0, 1.0]])
def test_labels_of_any_type_come_back(amount, labels):
    X = np.repeat([[0.0], [5.0], [9.0]], 4, axis=0)
    reference = np.repeat(labels, 4)
    fitted = IMM().fit(X, reference)
    found = fitted.predict(X)
    assert found.tolist() == reference.tolist()
    assert found.dtype == fitted.labels_.dtype
