"""What XClusters finds travels like any other tree: SQL, JSON, Python and pictures."""

from __future__ import annotations

import duckdb
import numpy as np
import pandas as pd
import pytest

from pellucid import XClusters, from_json


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    age, place = rng.integers(18, 80, 120), rng.choice(["north", "south", "o'west"], 120)
    slope = np.where(age < 40, 2.0, np.where(place == "north", 0.0, -2.0))
    series = {f"day {t}": slope * t + rng.normal(0, 0.2, 120) for t in range(8)}
    return pd.DataFrame({**series, "age": age, "place": place})


@pytest.fixture(scope="module")
def model(table):
    return XClusters("day *", k_range=(2, 5), accuracy_distance="euclidean").fit(table)


def test_the_database_says_what_predict_says(model, table):
    query = model.to_sql(dialect="duckdb", table="table")
    found = duckdb.connect().register("table", table).execute(query).df()
    np.testing.assert_array_equal(found["cluster"], model.predict(table))


def test_json_brings_back_the_same_answers(model, table):
    again = from_json(model.to_json())
    np.testing.assert_array_equal(again.predict(table), model.predict(table))
    assert str(again.explain()) == str(model.explain())


def test_the_python_function_says_what_predict_says(model, table):
    names: dict = {}
    exec(model.to_python(), names)
    rows = table[["age", "place"]].to_dict("records")
    assert [names["cluster_of"](row) for row in rows] == model.predict(table).tolist()


def test_notebooks_and_graphs_use_the_words_of_the_table(model):
    assert "place is north" in model.to_dot()
    assert "place is north" in model.to_html()
