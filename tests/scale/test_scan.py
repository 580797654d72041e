"""Sources of scans, labels and weights in columns, and errors that name the place."""

from __future__ import annotations

import os
import re
import tempfile

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import pellucid
from _support.fitting import assert_same_tree
from pellucid import IMM, ExKMC, ExShallow, ExShallowSearch, OptimalTree
from pellucid._core.batches.columns import to_keys
from pellucid._utils.notices import InputError

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
polars = pytest.importorskip("polars")


@pytest.fixture(scope="module")
def rows():
    random = np.random.default_rng(0)
    means = np.array([[0, 0, 0], [4, 1, 0], [0, 5, 2], [3, 3, 6]])
    labels = random.integers(4, size=5000)
    return means[labels] + random.normal(size=(5000, 3)), labels


CENTERS = np.array([[0, 0, 0], [4, 1, 0], [0, 5, 2], [3, 3, 6.0]])


@pytest.fixture(scope="module")
def frame(rows):
    X, labels = rows
    names = np.array(["low", "east", "north", "high"])[labels]
    columns = {f"x{j}": X[:, j] for j in range(3)}
    weight = 1.0 + np.arange(len(X)) % 3
    return polars.DataFrame(columns | {"segment": names, "w": weight, "group": labels})


@pytest.fixture
def files(frame, tmp_path):
    frame[:1700].write_parquet(tmp_path / "a.parquet", row_group_size=300)
    frame[1700:].write_parquet(tmp_path / "b.parquet", row_group_size=1000)
    return tmp_path


COLUMNS = ["x0", "x1", "x2"]


def sources(kind, files, frame):
    if kind == "glob":
        return str(files / "*.parquet")
    if kind == "folder":
        return files
    if kind == "lazy frame":
        return polars.scan_parquet(files / "*.parquet")
    if kind == "dataset":
        return pytest.importorskip("pyarrow.dataset").dataset(files)
    if kind == "file":
        frame.write_parquet(files / "all.parquet")
        return pq.ParquetFile(files / "all.parquet")
    if kind == "duckdb":
        duckdb = pytest.importorskip("duckdb")
        return duckdb.from_arrow(frame.to_arrow())
    if kind == "pandas":
        return lambda: [frame[:100].to_pandas(), frame[100:].to_pandas()]
    return lambda: iter([frame[:2000].to_arrow(), frame[2000:]])


@pytest.mark.parametrize(
    "kind",
    ["glob", "folder", "lazy frame", "dataset", "file", "duckdb", "pandas", "function"],
)
def test_sources(kind, files, frame, rows):
    data = pellucid.scan(sources(kind, files, frame), columns=COLUMNS)
    model = IMM(reference=CENTERS).fit(data)
    assert_same_tree(model, IMM(reference=CENTERS).fit(rows[0]))
    assert model.feature_names_in_.tolist() == COLUMNS
    assert not hasattr(model, "labels_")
    assert (
        model.predict(frame.select(COLUMNS)) == IMM(reference=CENTERS).fit_predict(rows[0])
    ).all()


def test_default_columns_are_the_numbers(files):
    data = pellucid.scan(files, weight="w", labels="group")
    assert data.columns == ("x0", "x1", "x2")


@pytest.mark.parametrize("labels", ["segment", "group"])
def test_label_column(labels, files, frame, rows):
    model = ExShallow().fit(pellucid.scan(files, COLUMNS, labels=labels))
    in_memory = ExShallow().fit(rows[0], frame[labels].to_numpy())
    assert_same_tree(model, in_memory)
    assert model.cluster_names_.tolist() == in_memory.cluster_names_.tolist()
    assert (model.reference_centers_ == in_memory.reference_centers_).all()
    assert str(model.explain()) == str(in_memory.explain())


def test_weight_column(files, frame, rows):
    model = ExKMC(reference=CENTERS, n_leaves=7).fit(pellucid.scan(files, COLUMNS, weight="w"))
    in_memory = ExKMC(reference=CENTERS, n_leaves=7)
    in_memory.fit(rows[0], sample_weight=frame["w"].to_numpy())
    assert_same_tree(model, in_memory)
    assert (model.surrogate_costs_ == in_memory.surrogate_costs_).all()
    assert [t.n_leaves for t in model.staged_trees()] == [4, 5, 6, 7]


def test_noise_is_dropped(rows):
    X, labels = rows
    labels = np.where(labels == 3, -1, labels)
    frame = polars.DataFrame({f"x{j}": X[:, j] for j in range(3)} | {"y": labels})
    model = IMM(noise="drop").fit(pellucid.scan(lambda: [frame], labels="y"))
    assert_same_tree(model, IMM(noise="drop").fit(X, labels))


def test_fitted_estimator(rows):
    from sklearn.cluster import KMeans

    kmeans = KMeans(4, n_init=1, random_state=0).fit(rows[0])
    parts = np.array_split(rows[0], 7)
    model = IMM(reference=kmeans).fit(pellucid.scan(lambda: parts))
    assert_same_tree(model, IMM(reference=kmeans).fit(rows[0]))


def test_without_reference(rows):
    parts = np.array_split(rows[0], 7)
    model = ExShallow(4, random_state=0).fit(pellucid.scan(lambda: parts))
    in_memory = ExShallow(4, random_state=0).fit(rows[0])
    assert model.inertia_ == pytest.approx(in_memory.inertia_, rel=0.01)


def test_exports_of_a_scan(files, tmp_path):
    model = IMM(reference=CENTERS).fit(pellucid.scan(files, COLUMNS))
    assert "CASE" in model.to_sql()
    assert pellucid.from_json(model.to_json()).tree_.n_leaves == 4


def test_no_temporary_file_is_left(files, tmp_path, monkeypatch):
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    IMM(reference=CENTERS).fit(pellucid.scan(files / "a.parquet", COLUMNS))
    assert list(folder.iterdir()) == []


def fit_error(data):
    with pytest.raises(InputError) as caught:
        IMM(reference=CENTERS).fit(data)
    return str(caught.value)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e200])
def test_bad_numbers_are_named(value, frame, tmp_path):
    values = frame["x1"].to_numpy().copy()
    values[3210] = value
    bad = frame.with_columns(polars.Series("x1", values))
    bad[:3000].write_parquet(tmp_path / "a.parquet")
    bad[3000:].write_parquet(tmp_path / "b.parquet")
    message = fit_error(pellucid.scan(tmp_path, COLUMNS))
    assert re.search(r"column 'x1' contains .* in .*b\.parquet, rows 0 to", message)


def test_missing_values_are_named(frame, tmp_path):
    path = tmp_path / "gaps.parquet"
    frame.with_columns(x2=polars.when(polars.col("x2") > 3).then(None).otherwise(1)).write_parquet(
        path
    )
    message = fit_error(pellucid.scan(path, COLUMNS))
    assert re.search(r"column 'x2' .*missing values.* in .*gaps\.parquet", message)


def test_differing_schemas(frame, tmp_path):
    frame.write_parquet(tmp_path / "a.parquet")
    frame.drop("x1").write_parquet(tmp_path / "b.parquet")
    with pytest.raises(ValueError, match=r"b\.parquet has no column 'x1', which .*a\.parquet has"):
        pellucid.scan(tmp_path)
    frame.with_columns(polars.col("x1").cast(polars.String)).write_parquet(tmp_path / "b.parquet")
    with pytest.raises(ValueError, match=r"column 'x1' has the type large_string in .*b\.parquet"):
        pellucid.scan(tmp_path)


def test_a_file_that_changes(frame, tmp_path):
    path = tmp_path / "a.parquet"
    frame.write_parquet(path)
    data = pellucid.scan(path, COLUMNS)
    frame[:100].write_parquet(path)
    os.utime(path, (1, 1))
    assert "a.parquet has changed while it was read" in fit_error(data)


def test_a_connection_is_no_source():
    duckdb = pytest.importorskip("duckdb")
    with pytest.raises(ValueError, match="scan cannot read DuckDBPyConnection; give it a path"):
        pellucid.scan(duckdb.connect())


def test_unreadable_files(tmp_path):
    path = tmp_path / "broken.parquet"
    path.write_bytes(b"PAR1 no")
    with pytest.raises(ValueError, match=r"broken\.parquet is not a readable Parquet file"):
        pellucid.scan(path)
    with pytest.raises(ValueError, match="no file matches"):
        pellucid.scan(tmp_path / "none.parquet")


def test_no_rows(frame):
    empty = frame[:0].select(COLUMNS)
    assert "no rows" in fit_error(pellucid.scan(lambda: [empty]))


def test_weights_that_cannot_be(frame):
    data = pellucid.scan(lambda: [frame.with_columns(w=-1.0)], COLUMNS, weight="w")
    assert "the weight column 'w' contains -1.0" in fit_error(data)
    data = pellucid.scan(lambda: [frame.with_columns(w=0.0)], COLUMNS, weight="w")
    with pytest.raises(ValueError, match="weight in column 'w'"):
        IMM(reference=CENTERS).fit(data)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"columns": ["x9"]}, "no column 'x9'"),
        ({"columns": ["segment"]}, "'segment' holds no numbers"),
        ({"weight": "segment"}, "'segment' holds no numbers"),
        ({"labels": "nothing"}, "no column 'nothing'"),
        ({"memory": "much"}, "memory='much'"),
    ],
)
def test_arguments_of_scan(arguments, message, frame):
    with pytest.raises(ValueError, match=message):
        pellucid.scan(lambda: [frame], **arguments)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (ExShallowSearch(4), "ExShallowSearch needs all rows in memory"),
        (OptimalTree(4), "OptimalTree needs all rows in memory"),
        (ExShallow(4, search="beam"), "searches a scan greedily"),
        (IMM(4, polish=True), "polish=True"),
        (IMM(4, objective="kmedians"), "medians"),
        (IMM(reference=np.zeros((2, 2))), r"shape \(2, 2\)"),
        (IMM(reference=np.full((2, 3), np.nan)), "finite"),
        (IMM(3, reference=CENTERS), "n_clusters=3"),
    ],
)
def test_parameters_that_need_memory(model, message, frame):
    data = pellucid.scan(lambda: [frame], COLUMNS)
    with pytest.raises(ValueError, match=message):
        model.fit(data)


def test_labels_and_weights_are_columns(frame):
    data = pellucid.scan(lambda: [frame], COLUMNS)
    with pytest.raises(ValueError, match="are columns"):
        IMM().fit(data, frame["group"].to_numpy())


def test_keys_have_the_order_of_numbers():
    random = np.random.default_rng(0)
    values = random.integers(-(2**63), 2**63 - 1, size=10_000).view(np.float64)
    values = np.sort(values[np.isfinite(values)])
    keys = to_keys(values)
    assert (np.diff(keys) >= 0).all()
    assert (np.diff(keys)[np.diff(values) > 0] > 0).all()
    assert (to_keys(np.nextafter(values, np.inf)) - keys == 1)[values != 0].all()


def test_a_new_fit_removes_attributes_of_the_last_one():
    X = np.random.default_rng(0).normal(size=(300, 2))
    model = IMM(reference=X[:3]).fit(X)
    model.fit(pellucid.scan(lambda: iter([X]), exact=False))
    assert model.scan_gap_ >= 0
    assert not hasattr(model, "labels_")
    assert not hasattr(model, "reference_labels_")
    model.fit(X)
    assert len(model.labels_) == 300
    assert not hasattr(model, "scan_gap_")


@pytest.mark.parametrize("kind", ["path", "file", "dataset"])
def test_what_was_read_does_not_stay_in_memory(kind, tmp_path):
    from pellucid.scale.queries import open_source

    n_rows, path = 2**20, tmp_path / "rows.parquet"
    values = np.random.default_rng(0).normal(size=n_rows)
    table = pa.table({"x": values, "y": values[::-1]})
    pq.write_table(table, path, row_group_size=n_rows // 16, use_dictionary=False)
    del table
    native = {
        "path": lambda: path,
        "file": lambda: pq.ParquetFile(path, pre_buffer=True),
        "dataset": lambda: pytest.importorskip("pyarrow.dataset").dataset(path),
    }[kind]()
    source = open_source(native)
    before, largest = pa.total_allocated_bytes(), 0
    for chunk in source.read(["x", "y"], n_rows // 64):
        largest = max(largest, pa.total_allocated_bytes() - before)
        assert chunk.n_rows
    assert 0 < largest < path.stat().st_size / 3


def test_centers_that_no_threshold_separates_are_a_warning():
    X = np.array([[0.0], [1.0], [2.0]])
    centers = np.array([[0.0], [0.0], [2.0]])
    with pytest.warns(ConvergenceWarning, match="2 leaves for 3 clusters"):
        IMM(reference=centers).fit(pellucid.scan(lambda: [X]))
