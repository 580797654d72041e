"""Exports of XClusters: SQL, JSON, Python and graphs."""

from __future__ import annotations

import duckdb
import numpy as np
import pandas as pd
import pytest

from pellucid import XClusters, from_json


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    age, region = rng.integers(18, 80, 120), rng.choice(["north", "south", "o'west"], 120)
    slope = np.where(age < 40, 2.0, np.where(region == "north", 0.0, -2.0))
    series = {f"day {t}": slope * t + rng.normal(0, 0.2, 120) for t in range(8)}
    return pd.DataFrame({**series, "age": age, "region": region})


@pytest.fixture(scope="module")
def model(table):
    return XClusters("day *", k_range=(2, 5)).fit(table)


def test_sql_equals_predict(model, table):
    query = model.to_sql(dialect="duckdb", table="table")
    found = duckdb.connect().register("table", table).execute(query).df()
    np.testing.assert_array_equal(found["cluster"], model.predict(table))


def test_json_round_trip(model, table):
    again = from_json(model.to_json())
    np.testing.assert_array_equal(again.predict(table), model.predict(table))
    assert str(again.explain()) == str(model.explain())


def test_python_function_equals_predict(model, table):
    names: dict = {}
    exec(model.to_python(), names)
    rows = table[["age", "region"]].to_dict("records")
    assert [names["cluster_of"](row) for row in rows] == model.predict(table).tolist()


def test_dot_and_html_use_column_names(model):
    assert "region is north" in model.to_dot()
    assert "region is north" in model.to_html()
