"""Values that stand for missing ones, and spellings of one category."""

from __future__ import annotations

from datetime import date, timedelta

import numpy as np
import polars as pl
import pytest

import pellucid
from _support.tables import run_sql
from pellucid.table_explainer.cleaning import find_sentinels, find_spellings

N = 300
RANDOM = np.random.default_rng(0)
BODY = RANDOM.normal(4200, 800, N).round()


def with_value(values, value, n=6):
    """A column in which some values are replaced."""
    values = np.array(values, dtype=float)
    values[RANDOM.choice(len(values), n, replace=False)] = value
    return pl.Series("x", values)


@pytest.mark.parametrize(
    ("values", "sentinel"),
    [
        (BODY, -999),
        (RANDOM.uniform(0, 1e6, N), -999),
        (RANDOM.integers(18, 90, N), 999),
        (RANDOM.uniform(170, 230, N), 9999),
        (RANDOM.normal(32, 6, N).clip(18), 0),
        (RANDOM.uniform(-10, 30, N), 99.9),
        (RANDOM.uniform(0, 8, N), 1e6),
    ],
)
def test_sentinels(values, sentinel):
    assert find_sentinels(with_value(values, sentinel)) == [sentinel]


def test_nines_within_the_range_of_the_others():
    sales = np.exp(RANDOM.normal(9.5, 1.5, N))
    assert sales.max() > 99999
    assert find_sentinels(with_value(sales, 99999)) == [99999]
    small = np.append(sales[sales < 40000], 97000.0)
    assert find_sentinels(pl.Series([*small, *[99999] * 6])) == [99999]
    # All incomes beyond the largest number are that number, and prices are often just below 10000.
    assert find_sentinels(pl.Series(np.minimum(sales, 99999))) == []
    assert find_sentinels(with_value(sales, 9999)) == []


def test_several_sentinels():
    column = with_value(with_value(RANDOM.integers(0, 20, N), 99), 98)
    assert sorted(find_sentinels(column)) == [98, 99]


@pytest.mark.parametrize(
    "column",
    [
        with_value(BODY, 3000),
        with_value(RANDOM.exponential(size=N), 0, n=40),
        with_value(RANDOM.integers(1, 9, N), 0, n=40),
        with_value(RANDOM.uniform(2, 9, N), 0, n=150),
        with_value(RANDOM.integers(18, 90, N), 99),
        with_value(BODY, -999, n=1),
        pl.Series("x", RANDOM.lognormal(0, 2, N)),
        pl.Series("x", [0.0] * 290 + [50.0] * 10),
        pl.Series("x", RANDOM.integers(-1, 2, N)),
    ],
)
def test_ordinary_values_are_no_sentinels(column):
    assert find_sentinels(column) == []


def test_the_first_day_of_a_calendar_is_a_sentinel():
    days = [date(2020, 1, 1) + timedelta(days=i % 700) for i in range(N)]
    assert find_sentinels(pl.Series(days)) == []
    days[3] = days[70] = date(1900, 1, 1)
    assert find_sentinels(pl.Series(days)) == [float((date(1900, 1, 1) - date(1970, 1, 1)).days)]


def test_spellings_are_merged():
    column = pl.Series(["male"] * 40 + ["Male"] * 3 + [" male "] * 2 + ["female"] * 30 + ["FEMALE"])
    assert find_spellings(column) == {"Male": "male", " male ": "male", "FEMALE": "female"}
    assert find_spellings(pl.Series(["AA"] * 30 + ["Aa"] * 40 + ["aa"] * 30)) == {}
    assert find_spellings(pl.Series(["F"] * 30 + ["f"] * 2)) == {"f": "F"}


def dirty() -> pl.DataFrame:
    """Two clusters with sentinels and several spellings."""
    group = np.arange(N) % 2
    table = {
        "size": np.where(np.arange(N) % 50 == 7, -999, 100 + group * 50 + RANDOM.normal(size=N)),
        "weight": 50 + 20 * group + RANDOM.normal(size=N),
        "sex": np.where(np.arange(N) % 40 == 3, "Male", np.where(group, "male", "female")),
    }
    return pl.DataFrame(table)


def test_no_rule_has_a_sentinel_and_every_export_reads_it_as_missing():
    table = dirty()
    found = pellucid.explain(table, k=3, columns="size", effort="fast", verbose=False)
    assert found.decisions[0] == (
        "taken as missing: -999 in size (6 rows, far from all other values) "
        '(cleaning="keep" to keep the numbers)'
    )
    expected = found.labels.tolist()
    saved = pellucid.from_json(found.to_json())
    assert saved.predict(table).tolist() == expected
    assert run_sql(found.to_sql(dialect="duckdb"), table) == expected
    space: dict = {}
    exec(saved.to_python(), space)
    assert [space["cluster_of"](row) for row in table.to_dicts()] == expected
    kept = pellucid.explain(
        table,
        k=2,
        columns="size",
        cleaning="keep",
        outliers="keep",
        effort="fast",
        verbose=False,
    )
    assert min(rule.n_samples for rule in kept.rules) == 6


def test_spellings_are_one_category_in_every_export():
    table = dirty()
    found = pellucid.explain(table, k=2, columns="sex", effort="fast", verbose=False)
    assert found.decisions[0] == (
        "merged spellings: 'Male' as 'male' in sex (cleaning=\"keep\" to keep them apart)"
    )
    assert len(found.fitted.prepared.encoding.names) == 2
    expected = found.labels.tolist()
    saved = pellucid.from_json(found.to_json())
    assert saved.predict(table).tolist() == expected
    assert run_sql(found.to_sql(dialect="duckdb"), table) == expected


def test_onnx_reads_sentinels_as_missing():
    runtime = pytest.importorskip("onnxruntime")
    table = dirty().select("size", "weight")
    found = pellucid.explain(table, k=2, columns="size", effort="fast", verbose=False)
    session = runtime.InferenceSession(found.explanation.to_onnx().SerializeToString())
    inputs = {name: table[name].to_numpy()[:, None] for name in ("size",)}
    assert session.run(["cluster"], inputs)[0].tolist() == found.labels.tolist()


@pytest.mark.parametrize("value", [-1.0, -9.0])
def test_the_only_negative_number_is_missing(value):
    rates = np.random.default_rng(0).uniform(95, 250, 200)
    assert find_sentinels(pl.Series("rate", [*rates, *[value] * 4])) == [value]
    assert find_sentinels(pl.Series("rate", [*rates - 200, *[value] * 4])) == []
