"""JSON and SQL of regions give the clusters of `predict`; wrong files are refused."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from dataclasses import replace
from functools import cache

import duckdb
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris, load_wine

from _support.extended import EXTENDED, seeds
from pellucid import ATEOPClassifier, EOPClassifier, explain_clusters, from_json
from pellucid.explanation.region_list import RegionList
from pellucid.regions.classifiers import Stump
from pellucid.regions.levels import ListLevel
from pellucid.regions.shapes import Boxes
from pellucid.tables.column_formats import PLAIN, ColumnFormat
from pellucid.tables.encoding import Encoding

SHAPES = ("box", "polyhedron", "ellipse")


def animals(n=400, seed=0) -> tuple[pd.DataFrame, np.ndarray]:
    """Clusters that depend on a number and on a category, with missing categories."""
    random = np.random.default_rng(seed)
    island = random.choice(["Dream", "Bis'coe", "Torgersen"], n).astype(object)
    island[random.random(n) < 0.05] = None
    bill = random.normal(45, 5, n).round(1)
    mass = random.normal(4, 1, n).round(2)
    labels = np.where((island == "Dream") & (bill > 44), "c", np.where(mass > 4.2, "b", "a"))
    labels = np.where((island == "Torgersen") & (mass < 3.5), "d", labels)
    return pd.DataFrame({"bill": bill, "mass": mass, "island": island}), labels


def run_sql(table: pd.DataFrame, regions: RegionList, dialect: str) -> list:
    if dialect == "duckdb":
        sql = regions.to_sql(dialect="duckdb", table="t")
        with duckdb.connect() as base:
            base.register("t", table.assign(row_number=np.arange(len(table))))
            return (
                base.execute(f"SELECT cluster FROM ({sql}) ORDER BY row_number")
                .df()["cluster"]
                .tolist()
            )
    with sqlite3.connect(":memory:") as base:
        table.to_sql("t", base, index=False)
        query = f"SELECT {regions.to_sql(dialect='sqlite')} FROM t ORDER BY rowid"
        return [row[0] for row in base.execute(query)]


@cache
def fitted(load, shape) -> tuple[pd.DataFrame, EOPClassifier]:
    """The columns of a data set and a model of its classes."""
    data = load(as_frame=True)
    X, y = data.data, data.target_names[data.target]
    return X, EOPClassifier("stump", regions=shape, random_state=0).fit(X, y)


@pytest.mark.slow
@pytest.mark.parametrize("dialect", ["duckdb", "sqlite"])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_sql_and_json_give_the_clusters_of_predict(shape, load, dialect):
    X, model = fitted(load, shape)
    regions = RegionList.of(model)
    random = np.random.default_rng(0)
    new = X.sample(300, replace=True, random_state=0) * random.normal(1, 0.1, (300, X.shape[1]))
    table = pd.concat([X, new], ignore_index=True)
    wanted = model.predict(table).tolist()
    assert regions.predict(table).tolist() == wanted
    again = from_json(model.to_json())
    assert again.predict(table).tolist() == wanted
    assert again.to_json() == model.to_json()
    assert again.apply(table).tolist() == model.apply(table).tolist()
    assert run_sql(table, again, dialect) == wanted


@cache
def animal_regions(shape):
    """The animals and the regions of their clusters."""
    table, labels = animals()
    return table, explain_clusters(table, labels, regions=shape)


@pytest.mark.parametrize("dialect", ["duckdb", "sqlite"])
@pytest.mark.parametrize("shape", SHAPES)
def test_categories_are_words_in_every_form(shape, dialect):
    table, found = animal_regions(shape)
    text = str(found)
    assert "island is " in text
    assert "island is Dream >" not in text
    assert "island is Dream =" not in text
    for level in found.model.levels_:
        names = [found.model.columns_[f] for f in level.features]
        has_category = any(not isinstance(name, str) for name in names)
        assert level.regions.kind == ("box" if has_category else shape)
    regions = RegionList.of(found)
    wanted = found.model.predict(Encoding.fit(table).transform(table)).tolist()
    assert regions.predict(table).tolist() == wanted
    assert from_json(found.to_json()).predict(table).tolist() == wanted
    assert run_sql(table, regions, dialect) == wanted
    assert any("island is " in each for each in regions.describe(table))


def test_missing_numbers_have_no_cluster_in_sql_unless_they_are_filled():
    table, found = animal_regions("box")
    columns = table.columns.tolist()
    filled = RegionList.of(found, columns=columns, fill={"bill": 45.0})
    holes = table.copy()
    holes.loc[:9, "bill"] = np.nan
    assert run_sql(holes, RegionList.of(found), "sqlite")[:10] == [None] * 10
    wanted = filled.predict(holes).tolist()
    assert run_sql(holes, filled, "sqlite") == wanted
    assert from_json(filled.to_json()).predict(holes).tolist() == wanted
    assert wanted == filled.predict(holes.fillna({"bill": 45.0})).tolist()


def list_of_every_kind(seed: int) -> tuple[RegionList, pd.DataFrame]:
    """Random boxes on dates, times, integers, numbers, booleans and text, and rows with gaps.

    Ends of boxes are values of rows, or between them. Some gaps are filled.
    """
    random = np.random.default_rng(seed)
    n = 60
    start, days = np.datetime64("2021-03-01"), random.integers(0, 40, n)
    table = pd.DataFrame(
        {
            "day": (start + days).astype("datetime64[s]"),
            "seen": start.astype("datetime64[s]") + random.integers(0, 9_000, n) * 397,
            "n": random.integers(-5, 2 ** random.integers(3, 50), n),
            "x": random.normal(size=n).round(2),
            "member": random.choice([True, False], n),
            "city": random.choice(["Rome", "Nice 'n", "Oslo"], n),
        }
    ).astype(object)
    names = Encoding.fit(table[["member", "city"]].assign(**{"x": 0.0})).names[:-1]
    names = ["day", "seen", "n", "x", *names]
    formats = {"day": ColumnFormat("date"), "seen": ColumnFormat("datetime")}
    formats["n"] = ColumnFormat("integer")
    values = {c: formats.get(c, PLAIN).read(table[c].to_numpy()).astype(float) for c in names[:4]}
    fill = {c: float(random.choice(values[c])) for c in names[:4]}
    fill["n"] += random.choice([0, 0.5])
    fill["day"] += random.choice([0, 0.5])
    fill |= {"member": True, "city": "Oslo"}
    fill = {c: value for c, value in fill.items() if random.random() < 0.6}
    levels = []
    for _ in range(5):
        features = tuple(random.choice(len(names), 2, replace=False).tolist())
        ends = []
        for name in (names[f] for f in features):
            low, high = -np.inf, np.inf
            if isinstance(name, str):
                low, high = np.sort(random.choice(values[name], 2) + random.choice([0, 0, 0.25], 2))
                low, high = (low - 1, high) if low == high else (low, high)
                low, high = random.choice([low, -np.inf]), random.choice([high, np.inf])
            elif random.random() < 0.5:
                low = 0.5
            else:
                high = 0.5
            ends.append((low, high))
        lower, upper = np.array(ends).T
        stump = Stump(0, 0.0, *random.integers(0, 3, 2).tolist())
        if isinstance(names[features[0]], str):
            stump = replace(stump, threshold=float(random.choice(values[names[features[0]]])))
        counts = np.zeros((1, 3, 3))
        levels.append(ListLevel(features, stump, Boxes(lower, upper), counts))
    holes = random.random(table.shape) < 0.1
    table = table.mask(holes, None).astype({"n": float, "x": float})
    more = {"columns": list(table), "fill": fill, "formats": formats}
    found = RegionList(levels, names=names, classes=list("abc"), default=0, total=n, **more)
    return found, table


@pytest.mark.parametrize("seed", seeds(40))
def test_sql_of_every_kind_of_column_gives_the_clusters_of_predict(seed):
    regions, table = list_of_every_kind(seed)
    open_columns = [c for c in regions.used_names if isinstance(c, str) and c not in regions.fill_]
    has_number = table[open_columns].notna().all(axis=1).to_numpy()
    wanted = np.full(len(table), None, dtype=object)
    wanted[has_number] = regions.predict(table[has_number])
    types = {"day": "DATE", "seen": "TIMESTAMP", "n": "BIGINT", "x": "DOUBLE"}
    types |= {"member": "BOOLEAN", "city": "TEXT"}
    rows = [[None if pd.isna(v) else v for v in row] for row in table.to_numpy().tolist()]
    with duckdb.connect() as base:
        base.execute(f"CREATE TABLE t ({', '.join(f'{c} {kind}' for c, kind in types.items())})")
        base.executemany(f"INSERT INTO t VALUES ({', '.join('?' * 6)})", rows)
        query = regions.to_sql(dialect="duckdb", table="t")
        assert [row[-1] for row in base.execute(query).fetchall()] == wanted.tolist()
    rows = [[v and str(v.date()), w and str(w), *others] for v, w, *others in rows]
    with closing(sqlite3.connect(":memory:")) as base:
        base.execute(f"CREATE TABLE t ({', '.join(types)})")
        base.executemany(f"INSERT INTO t VALUES ({', '.join('?' * 6)})", rows)
        query = regions.to_sql(dialect="sqlite", table="t")
        assert [row[-1] for row in base.execute(query)] == wanted.tolist()


def test_rows_in_no_region_have_no_cluster_if_the_model_abstains():
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = EOPClassifier("stump", random_state=0, leftover="abstain", max_levels=1).fit(X, y)
    regions = RegionList.of(model)
    uncovered = model.abstained(X)
    assert uncovered.any()
    found = regions.predict(X)
    assert [value is None for value in found] == uncovered.tolist()
    given = run_sql(X, regions, "sqlite")
    assert given == found.tolist()
    assert regions.describe(X)[int(uncovered.argmax())] == "in no region"
    assert ATEOPClassifier(confidence=0.5, random_state=0).fit(X, y).to_sql().endswith("NULL\nEND")


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
def test_all_exports_of_a_model_that_abstains_agree(shape):
    data = load_wine(as_frame=True)
    X, y = data.data.iloc[:, :5], data.target_names[data.target]
    model = ATEOPClassifier(regions=shape, confidence=0.5, random_state=0).fit(X, y)
    uncovered = model.abstained(X)
    assert 0 < uncovered.sum() < len(X)
    wanted = np.where(uncovered, None, model.predict(X)).tolist()
    assert from_json(model.to_json()).predict(X).tolist() == wanted
    assert run_sql(X, model, "sqlite") == wanted
    space: dict = {}
    exec(model.to_python(), space)
    assert [space["cluster_of"](row) for row in X.to_dict("records")] == wanted
    frame = model.to_frame(kind="dict")
    assert frame["cluster"][-1] is None
    assert frame["rows"][-1] == uncovered.sum()


def test_what_cannot_be_exported_says_what_can():
    X, y = load_iris(return_X_y=True)
    options = {"max_error": 0.1, "max_levels": 1, "leftover": "abstain", "random_state": 0}
    model = EOPClassifier("stump", regions="nonparametric", **options).fit(X, y)
    with pytest.raises(ValueError, match="use boxes, polyhedra or ellipses"):
        model.to_sql()
    assert "of the 10 nearest training rows" in model.to_frame(kind="dict")["rule"][0]
    model = EOPClassifier("logistic", **options).fit(X, y)
    assert "classifier predicts" in model.to_frame(kind="dict")["rule"][0]
    with pytest.raises(ValueError, match="use base='constant' or base='stump', or pickle"):
        model.to_json()


@cache
def iris_document():
    """The JSON text of a model of boxes; its first level has two columns."""
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = EOPClassifier("stump", random_state=0, complexity_penalty=0).fit(X, y)
    document = model.to_dict()
    two = next(i for i, level in enumerate(document["levels"]) if len(level["features"]) == 2)
    document["levels"] = document["levels"][two:]
    return json.dumps(document)


def change(document, path, value):
    *steps, last = path
    for step in steps:
        document = document[step]
    if value is KeyError:
        del document[last]
    else:
        document[last] = value


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (["version"], 2, "written by a later pellucid: version is 2"),
        (["version"], "1", "version is '1', expected a whole number"),
        (["levels"], KeyError, "levels is missing"),
        (["more"], 1, "more is unknown"),
        (["clusters"], [], "clusters is empty"),
        (["default"], 9, "default is 9, expected a whole number from 0 to 2"),
        (["n_columns"], 7, "n_columns is 7"),
        (["features", 0], "other", "is 'other', expected one of columns"),
        (["levels", 0, "features"], [], r"levels\[0\].features is empty"),
        (["levels", 0, "features", 0], 99, r"levels\[0\].features\[0\] is 99"),
        (["levels", 0, "stump", "threshold"], None, r"stump.threshold is missing, expected a fin"),
        (["levels", 0, "stump", "above"], -1, r"levels\[0\].stump.above is -1"),
        (["levels", 0, "shape"], "blob", r"levels\[0\].shape is 'blob', expected one of box"),
        (["levels", 0, "regions"], [], r"levels\[0\].regions is empty"),
        (["levels", 0, "regions", 0, "above"], [0], r"regions\[0\].above is \[0\], expected 2"),
        (["levels", 0, "regions", 0, "at_most", 0], "x", r"at_most\[0\] is 'x', expected a finite"),
        (["levels", 0, "regions", 0, "counts", 0], [0, 0], "an answer, a cluster and a weight"),
        (
            ["levels", 0, "regions", 0, "counts", 0, 2],
            -1,
            r"counts\[0\]\[2\] is -1, expected a finite",
        ),
        (["rows"], "many", "rows is 'many', expected a finite number"),
    ],
)
def test_wrong_documents_are_refused_with_the_place(path, value, message):
    document = json.loads(iris_document())
    change(document, path, value)
    with pytest.raises(ValueError, match=message):
        from_json(json.dumps(document))


def test_a_matrix_must_be_an_ellipse():
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = EOPClassifier("stump", regions="ellipse", random_state=0, max_dim=2).fit(X, y)
    document = model.to_dict()
    region = document["levels"][0]["regions"][0]
    region["matrix"] = [[-1.0] * len(row) for row in region["matrix"]]
    with pytest.raises(ValueError, match="positive definite"):
        from_json(json.dumps(document))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("shape", "max_error"),
    [("box", 0.1), ("polyhedron", 0.02), ("ellipse", 0.0), *([("box", 0.0)] if EXTENDED else [])],
)
def test_strict_regions_keep_the_limit_on_the_training_rows(shape, max_error):
    random = np.random.default_rng(1)
    X = random.normal(size=(150, 3))
    y = (X[:, 0] + 0.8 * random.normal(size=150) > 0).astype(int) + 2 * (X[:, 1] > 1)
    options = {"max_error": max_error, "regions": shape, "random_state": 0}
    relaxed = EOPClassifier("stump", **options).fit(X, y)
    strict = EOPClassifier("stump", **options, strict=True).fit(X, y)

    def errors(model):
        return [1 - p.purity for rule in model.explain()[:-1] for p in rule.pieces if p.support]

    assert max(errors(relaxed)) > max_error
    assert all(error <= max_error + 1e-9 for error in errors(strict))
    assert strict.coverage_ <= relaxed.coverage_ + 1e-9
    found = strict.apply(X)
    for level in range(strict.n_levels_):
        rows = found[:, 0] == level
        assert (strict.predict(X[rows]) != y[rows]).mean() <= max_error + 1e-9


@pytest.mark.parametrize("shape", SHAPES)
def test_python_gives_the_clusters_of_predict(shape):
    table, found = animal_regions(shape)
    space: dict = {}
    exec(found.to_python(name="cluster"), space)
    rows = table.astype(object).where(table.notna(), None).to_dict("records")
    wanted = RegionList.of(found).predict(table).tolist()
    assert [space["cluster"](row) for row in rows] == wanted
    with pytest.raises(ValueError, match="column 'bill' holds None"):
        space["cluster"]({**rows[0], "bill": None})
    with pytest.raises(ValueError, match="not a valid function name"):
        found.to_python(name="not a name")


def test_frame_has_a_row_for_each_region_and_the_rest():
    X, y = load_wine(return_X_y=True, as_frame=True)
    model = EOPClassifier(max_error=0.1, complexity_penalty=0.01, random_state=0).fit(X, y)
    frame = model.to_frame(kind="pandas")
    pieces = RegionList.of(model).pieces()
    assert len(frame) == len(pieces) + 1
    assert frame["rows"].sum() == pytest.approx(len(X))
    assert frame["share"].sum() == pytest.approx(1)
    for piece, row in zip(pieces, frame.to_dict("records")):
        assert (row["cluster"], row["purity"]) == (piece.answer, piece.purity)
        inside = np.ones(len(X), dtype=bool)
        for i in range(1, len(piece.features) + 1):
            values = X[row[f"column_{i}"]]
            inside &= (values > row[f"above_{i}"]) & (values <= row[f"at_most_{i}"])
        assert inside.sum() >= piece.support
    assert frame["rule"].iloc[-1] == "in no region"
    assert model.to_frame(kind="polars").height == len(frame)
