"""Whatever the rows are read from, the tree is that of the same rows in memory."""

from __future__ import annotations

import os
from urllib.parse import quote

import numpy as np
import pytest

import pellucid
from _support.fitting import assert_same_tree
from pellucid import IMM
from pellucid._utils.notices import InputError

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
ds = pytest.importorskip("pyarrow.dataset")
fs = pytest.importorskip("pyarrow.fs")

CENTERS = [[-3.0, 0.0], [3.0, 0.0], [0.0, 4.0]]
COLUMNS = ["x", "y"]


@pytest.fixture(scope="module")
def table():
    random = np.random.default_rng(0)
    group = random.integers(3, size=900)
    X = np.array(CENTERS)[group] + random.normal(size=(900, 2))
    columns = {"x": X[:, 0], "y": X[:, 1].astype(np.float32), "year": 2020 + np.arange(900) % 3}
    return pa.table(columns)


@pytest.fixture(scope="module")
def expected(table):
    return IMM(reference=CENTERS).fit(matrix(table))


def matrix(table):
    return np.column_stack([table[name].to_numpy().astype(float) for name in COLUMNS])


def halves(table):
    return [table.slice(0, 400), table.slice(400)]


def as_files(table, folder, write, suffix):
    for number, part in enumerate(halves(table)):
        write(part, str(folder / f"{number}{suffix}"))
    return folder


def in_memory_system(table, folder):
    memory = pytest.importorskip("fsspec").filesystem("memory")
    for number, part in enumerate(halves(table)):
        with memory.open(f"memory://{folder.name}/part/{number}.parquet", "wb") as file:
            pq.write_table(part, file)
    return f"memory://{folder.name}"


def csv_with_decimals(table, folder):
    """The first block of the file has integers only."""
    pytest.importorskip("pyarrow.csv")
    text = "".join(f"{x!r};{y!r}\n" for x, y in matrix(table).tolist())
    (folder / "a.csv").write_text("x;y\n" + "0;0\n" * 300_000 + text)
    return folder / "a.csv"


def delta(table, folder):
    deltalake = pytest.importorskip("deltalake")
    deltalake.write_deltalake(str(folder), table.append_column("old", pa.array([0] * 900)))
    more = table.slice(0, 50).append_column("old", pa.array([1] * 50))
    deltalake.write_deltalake(str(folder), more, mode="append")
    deltalake.DeltaTable(str(folder)).delete("old = 1")
    return folder


def iceberg(table, folder):
    catalogs = pytest.importorskip("pyiceberg.catalog.memory")
    catalog = catalogs.InMemoryCatalog("test", warehouse=f"file://{folder}")
    catalog.create_namespace("space")
    made = catalog.create_table("space.t", table.schema)
    made.append(table)
    made.append(pa.table({"x": [0.0], "y": pa.array([0], pa.float32()), "year": [1900]}))
    made.delete("year == 1900")
    return made


def write_hive(table, folder):
    pq.write_to_dataset(table, folder, partition_cols=["year"])
    return folder


def write_csv(part, path):
    pytest.importorskip("pyarrow.csv").write_csv(part, path)


def write_feather(part, path):
    pytest.importorskip("pyarrow.feather").write_feather(part, path)


def list_of_paths(table, folder):
    return sorted(as_files(table, folder, pq.write_table, ".pq").iterdir())


def small_row_groups(table, folder):
    pq.write_table(table, folder / "a.parquet", row_group_size=7)
    return folder / "a.parquet"


SOURCES = {
    "address": lambda t, f: as_files(t, f, pq.write_table, ".parquet").as_uri(),
    "glob of an address": lambda t, f: (
        "file://" + str(as_files(t, f, pq.write_table, " .pq")) + "/[01] .pq"
    ),
    "memory": in_memory_system,
    "glob in memory": lambda t, f: in_memory_system(t, f) + "/*/[01].parquet",
    "list": list_of_paths,
    "list of addresses": lambda t, f: [path.as_uri() for path in list_of_paths(t, f)],
    "list of folders": lambda t, f: [as_files(t, f, pq.write_table, "")],
    "no suffix": lambda t, f: as_files(t, f, pq.write_table, "_0"),
    "csv": lambda t, f: as_files(t, f, write_csv, ".csv"),
    "feather": lambda t, f: as_files(t, f, write_feather, ".feather"),
    "hive": write_hive,
    "small row groups": small_row_groups,
    "delta": delta,
    "delta table": lambda t, f: pytest.importorskip("deltalake").DeltaTable(delta(t, f)),
    "iceberg": lambda t, f: f"{iceberg(t, f).location()}",
    "iceberg table": iceberg,
    "iceberg scan": lambda t, f: iceberg(t, f).scan(),
    "table": lambda t, f: t,
    "reader": lambda t, f: t.to_reader(100),
    "function of readers": lambda t, f: lambda: t.to_reader(100),
    "sub-tree": lambda t, f: ds.dataset(
        "", filesystem=fs.SubTreeFileSystem(str(write_hive(t, f)), fs.LocalFileSystem())
    ),
}


@pytest.mark.parametrize("kind", SOURCES)
def test_same_tree_as_in_memory(kind, table, expected, tmp_path):
    data = pellucid.scan(SOURCES[kind](table, tmp_path), COLUMNS)
    model = IMM(reference=CENTERS).fit(data)
    assert_same_tree(model, expected)
    found = model.predict(data)
    if hasattr(found, "collect"):
        found = found.collect().to_arrow()
    elif hasattr(found, "read_all"):
        found = found.read_all()
    else:
        found = pa.concat_tables(pa.table(part) for part in found)
    assert {"x", "y", "cluster"} <= set(found.column_names)
    counts = np.bincount(found["cluster"].to_numpy(), minlength=3)
    assert (counts == np.bincount(expected.labels_)).all()
    # A sample of the same rows is found, too.
    assert IMM(3, random_state=0).fit(data).tree_.n_node_samples[0] == 900


@pytest.fixture(scope="module")
def s3():
    server = pytest.importorskip("moto.server", reason="moto is not installed")
    variables = {
        "AWS_ACCESS_KEY_ID": "x",
        "AWS_SECRET_ACCESS_KEY": "x",
        "AWS_EC2_METADATA_DISABLED": "true",
    }
    before = dict(os.environ)
    os.environ.update(variables)
    running = server.ThreadedMotoServer(port=0, verbose=False)
    running.start()
    host, port = running.get_host_and_port()
    store = fs.S3FileSystem(
        endpoint_override=f"{host}:{port}",
        scheme="http",
        region="us-east-1",
        allow_bucket_creation=True,
    )
    store.create_dir("bucket")
    yield store, f"region=us-east-1&scheme=http&endpoint_override={quote(f'{host}:{port}')}"
    running.stop()
    os.environ.clear()
    os.environ.update(before)


@pytest.mark.slow
def test_object_store(s3, table, expected):
    store, options = s3
    pq.write_to_dataset(table, "bucket/t", partition_cols=["year"], filesystem=store)
    data = pellucid.scan(f"s3://bucket/t?{options}")
    assert data.columns == ("x", "y", "year")
    data = pellucid.scan(f"s3://bucket/t?{options}", COLUMNS)
    assert_same_tree(IMM(reference=CENTERS).fit(data), expected)
    of_one = pellucid.scan(f"s3://bucket/t/year=202[1]/*?{options}", COLUMNS)
    assert IMM(reference=CENTERS).fit(of_one).tree_.n_node_samples[0] == 300
    with pytest.raises(InputError, match="no file matches"):
        pellucid.scan(f"s3://bucket/nothing?{options}")


def n_rows_of(data):
    return int(IMM(reference=CENTERS).fit(data).tree_.n_node_samples[0])


@pytest.mark.parametrize("kind", ["hive", "delta", "iceberg", "csv", "reader", "address"])
@pytest.mark.parametrize("how", ["tuples", "expression"])
def test_filter(kind, how, table, tmp_path):
    row_filter = [("year", ">", 2020)] if how == "tuples" else ds.field("year") > 2020
    data = pellucid.scan(SOURCES[kind](table, tmp_path), COLUMNS, filter=row_filter)
    assert n_rows_of(data) == 600
    model = IMM(3, random_state=0).fit(data)
    assert model.predict(data).read_all().num_rows == 600


def test_filters_that_do_not_fit(table, tmp_path):
    path = as_files(table, tmp_path, pq.write_table, ".parquet")
    for row_filter, message in (
        ([("z", ">", 1)], r"filter does not fit the data: .*z.*; the columns are x, y, year"),
        ([("x", "~", 1)], r"filter=\[\('x', '~', 1\)\] is no list of conditions"),
        ("x > 1", r"filter= is a str; give it an expression"),
    ):
        with pytest.raises(InputError, match=message):
            pellucid.scan(path, filter=row_filter)
    with pytest.raises(InputError, match="filter= does not work for function"):
        pellucid.scan(lambda: [table], filter=[("x", ">", 1)])


def test_hive_partitions_are_columns(table, tmp_path):
    write_hive(table, tmp_path)
    data = pellucid.scan(tmp_path, COLUMNS, labels="year")
    model = IMM().fit(data)
    assert model.cluster_names_.tolist() == [2020, 2021, 2022]
    assert set(model.predict(data).read_all()["year"].to_pylist()) == {2020, 2021, 2022}
    below = pellucid.scan(tmp_path / "year=2020")
    assert below.columns == ("x", "y")


def test_columns_of_other_types_are_cast(table, tmp_path):
    whole = table.set_column(0, "x", table["x"].cast(pa.int32(), safe=False))
    pq.write_table(whole.slice(0, 400), tmp_path / "0.parquet")
    pq.write_table(table.slice(400).drop_columns(["year"]), tmp_path / "1.parquet")
    with pytest.warns(UserWarning, match=r"'x' has the type double in .*1\.parquet, but int32 in"):
        data = pellucid.scan(tmp_path, COLUMNS)
    X = np.concatenate([matrix(whole)[:400], matrix(table)[400:]])
    model = IMM(reference=CENTERS).fit(data)
    assert_same_tree(model, IMM(reference=CENTERS).fit(X))
    with pytest.raises(
        InputError, match=r"1\.parquet has no column 'year', which .*0\.parquet has"
    ):
        pellucid.scan(tmp_path)


def test_problems_of_paths(table, tmp_path):
    path = as_files(table, tmp_path, pq.write_table, ".parquet")
    with pytest.raises(InputError, match=r"cannot read memory2://a: .*memory2"):
        pellucid.scan("memory2://a")
    with pytest.raises(InputError, match="in two file systems"):
        pellucid.scan([path, "memory://a"])
    write_csv(table, str(tmp_path / "note.csv"))
    assert n_rows_of(pellucid.scan(path, COLUMNS)) == 900
    for file in path.glob("*.parquet"):
        file.unlink()
    write_feather(table, str(tmp_path / "a.arrow"))
    with pytest.raises(InputError, match="has files of feather and csv"):
        pellucid.scan(path)


def test_a_reader_leaves_no_file(table, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    data = pellucid.scan(table.to_reader(), COLUMNS)
    assert n_rows_of(data) == 900
    assert len(list(tmp_path.iterdir())) == 1
    del data
    assert list(tmp_path.iterdir()) == []
