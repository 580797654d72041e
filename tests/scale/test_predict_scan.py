"""Clusters of the rows of a scan are those that the model predicts in memory."""

from __future__ import annotations

import numpy as np
import pytest

import pellucid
from pellucid import IMM, ExKMC
from pellucid._utils.notices import InputError

pa = pytest.importorskip("pyarrow")
polars = pytest.importorskip("polars")

COLUMNS = ["a", "b", "c", "d"]


@pytest.fixture(scope="module")
def frame():
    """float32, float64, integers and booleans, of which many are equal to thresholds."""
    random = np.random.default_rng(0)
    n = 3000
    return polars.DataFrame(
        {
            "id": [f"row {i}" for i in range(n)],
            "a": np.round(0.4 * random.normal(size=n), 1).astype(np.float32),
            "b": np.round(0.4 * random.normal(size=n), 1),
            "c": random.integers(0, 2, size=n),
            "d": random.random(n) < 0.5,
        }
    )


@pytest.fixture(scope="module", params=["round", "midpoint", "data"])
def model(request, frame):
    X = frame.select(COLUMNS).to_pandas().astype({"d": float})
    centers = X[:8].to_numpy()
    return ExKMC(reference=centers, n_leaves=40, threshold_style=request.param).fit(X)


@pytest.fixture(scope="module")
def expected(frame, model):
    return model.predict(frame.select(COLUMNS).to_pandas().astype({"d": float}))


@pytest.fixture
def files(frame, tmp_path):
    frame[:1000].write_parquet(tmp_path / "1.parquet")
    frame[1000:].select(reversed(frame.columns)).write_parquet(tmp_path / "2.parquet")
    return tmp_path


def test_rows_lie_on_thresholds(frame, model):
    tree = model.tree_
    splits = np.flatnonzero(~tree.is_leaf)
    if model.threshold_style == "data":
        for node in splits:
            values = frame[COLUMNS[tree.feature[node]]].to_numpy().astype(float)
            assert tree.threshold[node] in values
    assert set(tree.feature[splits]) == set(range(4))


def test_lazy_frame(frame, model, expected):
    found = model.predict(pellucid.scan(frame.lazy()))
    assert isinstance(found, polars.LazyFrame)
    table = found.collect()
    assert table.columns == [*frame.columns, "cluster"]
    assert table["cluster"].dtype == polars.Int64
    assert (table["cluster"].to_numpy() == expected).all()
    assert table.drop("cluster").equals(frame)


def test_parquet_files(files, model, expected):
    found = model.predict(pellucid.scan(files))
    assert (found.collect()["cluster"].to_numpy() == expected).all()


def test_parquet_files_without_polars(files, frame, model, expected, monkeypatch):
    monkeypatch.setattr("pellucid.scale.queries.find_spec", lambda name: None)
    found = model.predict(pellucid.scan(files))
    assert isinstance(found, pa.RecordBatchReader)
    table = polars.from_arrow(found.read_all())
    assert table.columns == [*frame.columns, "cluster"]
    assert (table["cluster"].to_numpy() == expected).all()


def test_dataset_and_parquet_file(files, frame, model, expected):
    import pyarrow.dataset as ds
    import pyarrow.parquet as pq

    table = model.predict(pellucid.scan(ds.dataset(files))).read_all()
    assert (table["cluster"].to_numpy() == expected).all()
    data = pellucid.scan(pq.ParquetFile(files / "1.parquet"))
    for _ in range(2):
        assert (model.predict(data).read_all()["cluster"].to_numpy() == expected[:1000]).all()


def test_duckdb(frame, model, expected):
    duckdb = pytest.importorskip("duckdb")
    relation = duckdb.from_arrow(frame.with_columns(i=polars.int_range(3000)).to_arrow())
    found = model.predict(pellucid.scan(relation, COLUMNS))
    assert found.columns == [*frame.columns, "i", "cluster"]
    assert (found.order("i").to_arrow_table()["cluster"].to_numpy() == expected).all()


def test_dask(frame, model, expected):
    dd = pytest.importorskip("dask.dataframe")
    data = dd.from_pandas(frame.to_pandas(), npartitions=3)
    found = model.predict(pellucid.scan(data))
    assert found.npartitions == 3
    assert found.dtypes.to_dict() == found.compute().dtypes.to_dict()
    assert (found["cluster"].compute().to_numpy() == expected).all()


def test_dask_array():
    da = pytest.importorskip("dask.array")
    X = np.random.default_rng(0).normal(size=(1000, 4))
    model = IMM(reference=X[:5]).fit(X)
    found = model.predict(pellucid.scan(da.from_array(X, chunks=(300, 2))))
    assert found.shape == (1000,)
    assert (found.compute() == model.predict(X)).all()


def test_functions(frame, model, expected):
    parts = [frame[:100].to_pandas(), frame[100:2000].to_arrow(), frame[2000:]]
    found = list(model.predict(pellucid.scan(lambda: parts)))
    assert [type(part) for part in found] == [type(part) for part in parts]
    clusters = [np.asarray(part["cluster"]) for part in found]
    assert (np.concatenate(clusters) == expected).all()
    X = np.random.default_rng(0).normal(size=(100, 2))
    by_position = IMM(2, random_state=0).fit(X)
    found = list(by_position.predict(pellucid.scan(lambda: [X[:40], X[40:]])))
    assert (np.concatenate(found) == by_position.predict(X)).all()


def test_labels_are_those_of_the_reference(frame):
    duckdb = pytest.importorskip("duckdb")
    names = np.where(frame["a"].to_numpy() > 0.3, "it's high", 'the "low"')
    table = frame.with_columns(cluster=polars.Series(names))
    data = pellucid.scan(table.lazy(), ["a", "b"], labels="cluster")
    model = IMM().fit(data)
    with pytest.raises(InputError, match=r"already have a column 'cluster'.*with_clusters"):
        model.predict(data)
    expected = model.predict(frame.select("a", "b"))
    found = data.with_clusters(model, column="by tree").collect()
    assert (found["by tree"].to_numpy() == expected).all()
    relation = pellucid.scan(duckdb.from_arrow(table.to_arrow()), ["a", "b"])
    found = relation.with_clusters(model, column="by tree").to_arrow_table()["by tree"]
    assert found.to_pylist() == expected.tolist()


@pytest.mark.parametrize("value", [None, float("nan"), float("inf")])
def test_missing_numbers(value):
    duckdb = pytest.importorskip("duckdb")
    X = np.repeat([[0.0, 5.0], [1.0, 6.0], [9.0, 7.0]], 3, axis=0)
    model = IMM(reference=[[0, 0], [1, 0], [9, 0]]).fit(X)
    table = polars.DataFrame({"x": [0.0, value, 9.0], "unused": [None, 1.0, None]})
    for source in (table.lazy(), duckdb.from_arrow(table.to_arrow())):
        found = model.predict(pellucid.scan(source))
        found = found.collect() if source is not found and hasattr(found, "collect") else found.pl()
        assert found["cluster"].to_list() == [0, None, 2]
    with pytest.raises(InputError, match="column 'x' contains NaN or infinities in batch 0"):
        list(model.predict(pellucid.scan(lambda: [table])))


def test_tree_of_one_leaf(frame):
    model = IMM(reference=[[0.0]]).fit(np.zeros((3, 1)))
    for source in (frame.lazy(), lambda: [frame]):
        found = model.predict(pellucid.scan(source, ["a"]))
        table = found.collect() if hasattr(found, "collect") else next(found)
        assert (table["cluster"].to_numpy() == 0).all()
    duckdb = pytest.importorskip("duckdb")
    found = model.predict(pellucid.scan(duckdb.from_arrow(frame.to_arrow()), ["a"]))
    assert set(found.to_arrow_table()["cluster"].to_pylist()) == {0}


def test_columns_that_do_not_match(frame, model):
    with pytest.raises(InputError, match=r"column '.' is not in the data; the tree needs it"):
        model.predict(pellucid.scan(frame.drop("b").lazy()))
    text = frame.with_columns(polars.col("b").cast(polars.String))
    with pytest.raises(InputError, match="column 'b' holds no numbers"):
        model.predict(pellucid.scan(text.lazy()))
    unnamed = IMM(2, random_state=0).fit(np.random.default_rng(0).normal(size=(20, 3)))
    with pytest.raises(InputError, match="the scan has 4 columns, but IMM was fitted on 3"):
        unnamed.predict(pellucid.scan(frame.lazy()))


def test_model_from_a_file(frame, model, expected):
    loaded = pellucid.from_json(model.to_json())
    found = loaded.predict(pellucid.scan(frame.lazy())).collect()
    assert (found["cluster"].to_numpy() == expected).all()
    unnamed = pellucid.Explanation(model.tree_)
    found = unnamed.predict(pellucid.scan(frame.lazy(), COLUMNS)).collect()
    assert (found["cluster"].to_numpy() == expected).all()


def test_categories_of_a_model_from_a_file(tmp_path):
    text = polars.DataFrame({"x": [0.0, 1.0] * 30, "city": ["Rome", "Oslo", "Oslo"] * 20})
    found = pellucid.explain(text, k=2, columns="city", categorical="city", verbose=False)
    with pytest.raises(InputError, match="uses column 'city' as a category"):
        found.explanation.predict(pellucid.scan(text.lazy()))
