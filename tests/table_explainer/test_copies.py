"""Columns that are functions of others."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import pellucid
from pellucid.table_explainer.copies import find_copies, find_unrelated

N = 300
RANDOM = np.random.default_rng(0)
A, B, C = RANDOM.uniform(1, 20, N).round(2), RANDOM.normal(50, 9, N), RANDOM.normal(size=N)
NOTHING = pl.DataFrame()


def copies_of(**columns):
    """What the columns are, beside the three random ones."""
    return find_copies(pl.DataFrame({"a": A, "b": B, "c": C, **columns}), NOTHING)


@pytest.mark.parametrize(
    ("values", "text"),
    [
        (A * 2.54, "= 2.54 × a"),
        (24 - A, "= 24 − a"),
        (A + 0.0, "= a"),
        (-B, "= −b"),
        (np.log(A), "a function of a"),
        (A**2, "a function of a"),
        (np.log(A).round(2), "a function of a"),
        (A + B, "= a + b"),
        (B - A, "= b − a"),
        ((A + B) / 2, "the mean of a, b"),
        (A + RANDOM.normal(0, 0.4, N), "≈ 1 × a"),
    ],
)
def test_functions_and_sums(values, text):
    found = copies_of(d=values)
    assert found.keys() == {"d"}
    if not text.startswith("≈"):
        assert found["d"] == text


@pytest.mark.parametrize(
    "values",
    [
        A + RANDOM.normal(0, 1.5, N),
        0.3 * A + 0.7 * B,
        A * B,
        np.where(C > 0, A, B),
        100 - A - B,
    ],
)
def test_other_columns_are_no_copies(values):
    assert copies_of(d=values) == {}


def test_clusters_far_apart_are_no_copies():
    group = np.arange(N) % 2 * 1000.0
    numbers = pl.DataFrame({"x": group + RANDOM.normal(size=N), "y": group + RANDOM.normal(size=N)})
    assert abs(np.corrcoef(numbers["x"], numbers["y"])[0, 1]) > 0.999
    assert find_copies(numbers, NOTHING) == {}


def test_columns_that_are_almost_always_zero_are_no_copies():
    rare = RANDOM.random(N) < 0.03
    numbers = {"x": np.where(rare, RANDOM.uniform(5, 9, N), 0.0)}
    numbers["y"] = np.where(rare, RANDOM.uniform(5, 9, N), 0.0)
    assert find_copies(pl.DataFrame(numbers), NOTHING) == {}


def test_series_with_one_column_per_year_stay():
    level = RANDOM.uniform(1, 8, N)
    years = {str(2000 + i): level + RANDOM.normal(0, 0.05 + i / 100, N) for i in range(12)}
    assert find_copies(pl.DataFrame(years), NOTHING) == {}


def test_two_trends_are_no_copies():
    growth = RANDOM.uniform(0.5, 1.5, (2, N)).cumsum(axis=1)
    numbers = {"population": growth[0] ** 1.2, "prices": np.exp(growth[1] / 40.0)}
    assert find_copies(pl.DataFrame(numbers), NOTHING) == {}


@pytest.mark.parametrize(
    "values", [np.arange(N), np.arange(N) // 9, RANDOM.uniform(1, 2, N).cumsum()]
)
def test_functions_of_a_trend_are_copies(values):
    values = values.astype(float)
    for copy in (100 - values, np.log(values + 1)):
        assert find_copies(pl.DataFrame({"a": values, "b": copy}), NOTHING).keys() == {"b"}


def test_the_logarithm_is_described_in_any_order():
    found = find_copies(pl.DataFrame({"logwage": np.log(A), "wage": A}), NOTHING)
    assert found == {"logwage": "a function of wage"}


def test_the_total_is_described_in_any_order():
    found = find_copies(pl.DataFrame({"total": A + B, "a": A, "b": B}), NOTHING)
    assert found == {"total": "= a + b"}


def test_requested_columns_stay():
    numbers = pl.DataFrame({"a": A, "d": A * 2, "e": A * 3})
    assert find_copies(numbers, NOTHING, requested=["d", "e"]).keys() == {"a"}


def test_numbers_of_a_date_are_copies():
    numbers = pl.DataFrame({"year and share": 2015 + A / 365, "day": A})
    assert find_copies(numbers, NOTHING, dates=["day"]).keys() == {"year and share"}


def test_categories_that_go_together():
    kind = np.array(["x", "y", "z"])[np.arange(N) % 3]
    code = np.array([7, 1, 5])[np.arange(N) % 3]
    other = np.where(np.arange(N) == 4, 5, code)
    table = pl.DataFrame({"kind": kind, "code": code, "other": other})
    assert find_copies(NOTHING, table) == {"code": "the same groups as kind"}


def test_copies_do_not_change_the_clusters():
    group = np.arange(N) % 3
    table = pl.DataFrame({"size": group * 4 + A / 9, "weight": group + B / 9, "c": C})
    more = table.with_columns(cm=table["size"] * 2.54, both=table["size"] + table["weight"])
    expected = pellucid.explain(table, k="3-4", effort="fast", verbose=False)
    found = pellucid.explain(more, k="3-4", effort="fast", verbose=False)
    assert found.labels.tolist() == expected.labels.tolist()
    line = "described, not clustered on: cm (= 2.54 × size); both (= size + weight); c (unrelated "
    assert any(text.startswith(line) for text in found.decisions)


def test_a_part_that_is_called_a_total_stays():
    found = find_copies(pl.DataFrame({"total_bill": A, "tip": B, "paid": A + B}), NOTHING)
    assert found == {"paid": "= total_bill + tip"}


def test_columns_unrelated_to_all_others_are_found():
    group = np.arange(N) % 3
    flag = np.where(np.median(B) < B, "yes", "no")
    table = pl.DataFrame({"a": group + A / 9, "b": B * 2, "c": -group, "sex": flag, "noise": C})
    assert find_unrelated(table, ["c", "sex"]) == ["noise"]
    assert find_unrelated(table.drop("b"), ["c", "sex"]) == ["sex", "noise"]
    # Two columns stay, one of them of numbers. Few rows and unrelated ones say nothing.
    assert find_unrelated(table.select("a", "b", "noise"), []) == []
    assert find_unrelated(table.select("c", "b", "noise").with_columns(d="c"), ["c", "d"]) == []
    assert find_unrelated(table[:90], ["c", "sex"]) == []
    assert find_unrelated(pl.DataFrame({"a": A, "b": B, "c": C}), []) == []


def test_unrelated_columns_do_not_hide_the_number_of_clusters():
    group, draw = np.arange(900) % 4, np.random.default_rng(5)
    X, noise = draw.normal(size=(900, 3)), draw.uniform(size=(900, 3))
    columns = {"a": group * 3, "b": group % 2 * 5, "c": group // 2 * 5}
    table = pl.DataFrame({name: mean + X[:, j] for j, (name, mean) in enumerate(columns.items())})
    table = table.with_columns(pl.Series(f"noise{j}", noise[:, j]) for j in range(3))
    found = pellucid.explain(table, effort="fast", verbose=False)
    assert len(found.rules) == 4
    assert found.fitted.prepared.roles.used == ["a", "b", "c"]
    included = pellucid.explain(table, k=4, include="noise0", effort="fast", verbose=False)
    assert "noise0" in included.fitted.prepared.roles.used
