"""Scans read the rows that other readers of the same source see, or refuse in one line."""

from __future__ import annotations

import shutil
import sys

import numpy as np
import pytest

import pellucid
from pellucid import IMM
from pellucid._utils.notices import InputError

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
ds = pytest.importorskip("pyarrow.dataset")
fs = pytest.importorskip("pyarrow.fs")

CENTERS = [[-2.0, 0.0], [2.0, 0.0]]


def table_of(n_rows, seed=0):
    X = np.random.default_rng(seed).normal(size=(n_rows, 2)) * [3, 1]
    return pa.table({"x": X[:, 0], "y": X[:, 1]})


def n_rows_of(source, **arguments):
    model = IMM(reference=CENTERS).fit(pellucid.scan(source, ["x", "y"], **arguments))
    return model.tree_.n_node_samples[0]


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "table"
    folder.mkdir()
    pq.write_table(table_of(300), folder / "a.parquet")
    return folder


def test_filter_of_a_dataset(folder):
    data = ds.dataset(folder).filter(ds.field("x") > 1)
    assert 0 < data.count_rows() < 300
    assert n_rows_of(data) == data.count_rows()
    model = IMM(reference=CENTERS).fit(pellucid.scan(data))
    found = model.predict(pellucid.scan(data)).read_all()
    assert found.column("x").to_pylist() == data.to_table().column("x").to_pylist()


def test_partitions_and_file_system_of_a_dataset(tmp_path):
    table = table_of(300).append_column("year", pa.array([2020, 2021, 2022] * 100))
    pq.write_to_dataset(table, tmp_path, partition_cols=["year"])
    below = fs.SubTreeFileSystem(str(tmp_path), fs.LocalFileSystem())
    data = ds.dataset("", filesystem=below, format="parquet", partitioning="hive")
    assert pellucid.scan(data).columns == ("x", "y", "year")
    assert n_rows_of(data.filter(ds.field("year") > 2020)) == 200


def test_union_and_table_as_dataset(folder):
    both = ds.dataset([ds.dataset(folder), ds.dataset(table_of(50, 1))])
    assert n_rows_of(both) == 350


def test_tables_with_deleted_files_are_refused(folder):
    nested = folder / "year=2020"
    nested.mkdir()
    (folder / "a.parquet").rename(nested / "a.parquet")
    (folder / "_delta_log").mkdir()
    (folder / "_delta_log" / "0.json").write_text("{}")
    for path in (
        folder.parent,
        folder.parent / "*" / "*" / "a.parquet",
        nested,
        folder / "**" / "*.parquet",
    ):
        with pytest.raises(InputError, match=r"table is a Delta table; .*scan\('.*table'\)"):
            pellucid.scan(path)
    # One file is what it is.
    assert n_rows_of(nested / "a.parquet") == 300
    (folder / "_delta_log").rename(folder / "metadata")
    (folder / "metadata" / "v1.metadata.json").write_text("{}")
    with pytest.raises(InputError, match=r"is an Iceberg table; .*scan\('.*table'\)"):
        pellucid.scan(nested)


@pytest.mark.parametrize("kind", ["Delta", "Iceberg"])
def test_folders_of_tables_name_their_package(kind, folder, monkeypatch):
    (folder / "_delta_log" if kind == "Delta" else folder / "metadata").mkdir()
    if kind == "Iceberg":
        (folder / "metadata" / "v1.metadata.json").write_text("{}")
    module = {"Delta": "deltalake", "Iceberg": "pyiceberg.table"}[kind]
    monkeypatch.setitem(sys.modules, module, None)
    match = rf"table is an? {kind} table, which requires the package .*{kind.lower()}\]"
    with pytest.raises(ImportError, match=match):
        pellucid.scan(folder)


def test_hidden_files_are_left_out(folder):
    hidden = ["_temporary/0/b.parquet", ".staging/c.parquet", "_d.parquet", ".e.parquet"]
    for name in [*hidden, "_part=1/f.parquet"]:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(folder / "a.parquet", path)
    (folder / "_SUCCESS").touch()
    assert n_rows_of(folder) == 600
    assert n_rows_of(folder / "**" / "*.parquet") == 600
    # What the user spells out is read.
    assert n_rows_of(folder / "_temporary") == 300
    assert n_rows_of(folder / "_d.parquet") == 300
    assert n_rows_of(folder / "_temp*" / "*" / "*.parquet") == 300


def test_a_folder_with_the_name_of_a_file(folder):
    (folder / "b.parquet").mkdir()
    shutil.copy(folder / "a.parquet", folder / "b.parquet" / "part-0.parquet")
    assert n_rows_of(folder) == n_rows_of(folder / "*.parquet") == 600


@pytest.mark.parametrize("name", ["0.parquet", "z.parquet"])
def test_files_without_rows(name, folder):
    # Their types need not be known.
    pq.write_table(pa.table({"x": pa.nulls(0), "y": pa.nulls(0)}), folder / name)
    data = pellucid.scan(folder)
    assert data.columns == ("x", "y")
    assert n_rows_of(folder) == n_rows_of(ds.dataset(folder, schema=table_of(0).schema)) == 300
    model = IMM(2, random_state=0).fit(data)
    assert model.tree_.n_node_samples[0] == 300
    polars = pytest.importorskip("polars")
    assert model.predict(data).select(polars.len()).collect().item() == 300


@pytest.mark.parametrize("kind", ["folder", "dataset", "file", "lazy frame", "function"])
def test_no_rows_at_all(kind, tmp_path):
    empty = table_of(0).append_column("label", pa.array([], pa.int64()))
    path = tmp_path / "a.parquet"
    pq.write_table(empty, path)
    source = {
        "folder": lambda: tmp_path,
        "dataset": lambda: ds.dataset(tmp_path),
        "file": lambda: pq.ParquetFile(path),
        "lazy frame": lambda: pytest.importorskip("polars").scan_parquet(path),
        "function": lambda: lambda: [empty],
    }[kind]()
    for model, labels in ((IMM(reference=CENTERS), None), (IMM(2), None), (IMM(), "label")):
        with pytest.raises(InputError, match="the data have no rows"):
            model.fit(pellucid.scan(source, ["x", "y"], labels=labels))


def test_batches_without_rows_have_no_types():
    pd = pytest.importorskip("pandas")
    empty = pd.DataFrame({"x": [], "y": []}, dtype=object)
    batches = [empty, table_of(100).to_pandas(), empty]
    data = pellucid.scan(lambda: batches)
    model = IMM(reference=CENTERS).fit(data)
    assert [len(part) for part in model.predict(data)] == [0, 100, 0]


def repeated(kind, folder):
    columns = [pa.array([1.0, 2.0]), pa.array([3.0, 4.0]), pa.array(["a", "b"])]
    table = pa.table(columns, names=["x", "y", "x"])
    if kind == "function":
        return lambda: [table]
    if kind == "pandas":
        return lambda: [table.to_pandas()]
    if kind == "dataset":
        return ds.dataset(table)
    if kind == "duckdb":
        return pytest.importorskip("duckdb").sql("select 1.0 as x, 2.0 as y, 3.0 as X")
    if kind == "dask":
        dd = pytest.importorskip("dask.dataframe")
        pd = pytest.importorskip("pandas")
        return dd.from_pandas(pd.DataFrame([[1.0, 2]], columns=[1, "1"]), npartitions=1)
    pq.write_table(table, folder / ("z.parquet" if kind == "second file" else "0.parquet"))
    return pq.ParquetFile(folder / "0.parquet") if kind == "file" else folder


@pytest.mark.parametrize(
    "kind",
    ["first file", "second file", "file", "dataset", "function", "pandas", "duckdb", "dask"],
)
def test_repeated_names_are_refused(kind, folder):
    with pytest.raises(ValueError, match=r"column '[x1]'.* unique"):
        pellucid.scan(repeated(kind, folder))


@pytest.mark.parametrize("kind", ["path", "dataset"])
@pytest.mark.parametrize("how", ["truncated", "overwritten"])
def test_a_file_that_changes_during_a_pass(kind, how, folder):
    path = folder / "a.parquet"
    pq.write_table(table_of(20_000), path, row_group_size=1000)
    source = pellucid.scan(path if kind == "path" else ds.dataset(folder)).source
    chunks = source.read(["x", "y"], 1000)
    next(chunks)
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2] if how == "truncated" else bytes(len(content)))
    with pytest.raises(InputError, match=r"a\.parquet has changed while it was read"):
        list(chunks)


@pytest.mark.parametrize("kind", ["path", "dataset", "file"])
def test_a_damaged_file(kind, folder):
    path = folder / "a.parquet"
    pq.write_table(table_of(20_000), path, row_group_size=1000, compression="zstd")
    content = bytearray(path.read_bytes())
    half = len(content) // 2
    content[half : half + 5000] = bytes(5000)
    path.write_bytes(content)
    source = {
        "path": lambda: path,
        "dataset": lambda: ds.dataset(folder),
        "file": lambda: pq.ParquetFile(path),
    }[kind]()
    what = "the ParquetFile" if kind == "file" else r"a\.parquet"
    with pytest.raises(InputError, match=rf"{what}.* is damaged: ") as caught:
        IMM(reference=CENTERS).fit(pellucid.scan(source))
    assert "\n" not in str(caught.value)


def test_a_function_must_return_the_same_rows():
    X = np.random.default_rng(0).normal(size=(100, 2))
    calls = []

    def make():
        calls.append(None)
        return [X[: 100 - len(calls)]]

    with pytest.raises(InputError, match=r"returned \d+ rows, and then \d+; .* the same rows"):
        IMM(reference=CENTERS).fit(pellucid.scan(make))
    parts = [X]
    data = pellucid.scan(lambda: parts)
    assert IMM(reference=CENTERS).fit(data).tree_.n_node_samples[0] == 100
    parts.append(X)
    assert IMM(reference=CENTERS).fit(data).tree_.n_node_samples[0] == 200


def test_batches_of_other_types_are_named():
    with pytest.raises(InputError, match="a batch is a dict; it must be an array or a data"):
        pellucid.scan(lambda: [{"x": [1.0]}])


def test_frames_whose_columns_have_numbers():
    pd = pytest.importorskip("pandas")
    X = np.random.default_rng(0).normal(size=(100, 2))
    data = pellucid.scan(lambda: [pd.DataFrame(X)])
    assert data.columns == ("0", "1")
    model = IMM(reference=CENTERS).fit(data)
    assert next(model.predict(data)).columns.tolist() == [0, 1, "cluster"]


def test_missing_booleans_are_named(folder):
    table = table_of(4).append_column("flag", pa.array([True, False, None, True]))
    pq.write_table(table, folder / "a.parquet")
    with pytest.raises(InputError, match=r"column 'flag' contains missing values in .*a\.parquet"):
        IMM(2).fit(pellucid.scan(folder))
