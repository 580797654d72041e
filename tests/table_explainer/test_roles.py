"""Which columns are clustered, and how."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta

import numpy as np
import polars as pl
import pytest

from _support.tables import decisions
from pellucid._utils.notices import InputError, UsageError
from pellucid.table_explainer.arguments import ExplainOptions
from pellucid.table_explainer.roles import choose_roles, find_format, is_year, report_roles
from pellucid.tables.column_formats import ColumnFormat

N = 200
RANDOM = np.random.default_rng(0)
MEASURE = RANDOM.normal(50, 10, N)


def reported_roles(table, **options):
    """The roles of the columns of a table, which are reported."""
    roles = choose_roles(table, {}, ExplainOptions(**options))
    report_roles(table, roles)
    return roles


def roles_of(values, name="x", **options):
    """The role of a column, next to a numeric one, and the notices."""
    table = pl.DataFrame({"measure": MEASURE, name: values})
    roles, found = decisions(reported_roles, table, **options)
    if name in roles.described:
        return "described", found
    if name in roles.numbers:
        return "number", found
    if name in roles.categories:
        return "category", found
    return roles.ignored.get(name), found


@pytest.mark.parametrize(
    ("name", "values", "role"),
    [
        ("CustomerID", RANDOM.integers(100, 160, N), "identifier"),
        ("customer_id", np.arange(N) * 7 + 13, "identifier"),
        ("order number", RANDOM.permutation(N) + 5000, "identifier"),
        ("Unnamed: 0", np.arange(N), "identifier"),
        ("n", np.arange(1, N + 1), "identifier"),
        ("customer", np.arange(5000, 5000 + N), "identifier"),
        ("customer", RANDOM.permutation(3 * N)[:N] + 5000, "identifier"),
        ("customer", np.sort(RANDOM.permutation(N + N // 2)[:N]) + 5000, "identifier"),
        ("rank", RANDOM.permutation(N) + 5, "number"),
        ("wealth", RANDOM.permutation(N) + 1, "number"),
        ("time", np.arange(1821, 1821 + N), "number"),
        ("cases so far", np.cumsum(RANDOM.integers(1, 9, N)), "number"),
        ("price", RANDOM.permutation(90_000)[:N], "number"),
        ("zip", RANDOM.integers(501, 99950, N), "code"),
        ("Postal Code", RANDOM.integers(501, 99950, N), "code"),
        ("zipcode", RANDOM.integers(501, 99950, N), "code"),
        ("phone", RANDOM.integers(10**9, 10**10, N), "code"),
        ("flight", RANDOM.integers(1, 4000, N), "code"),
        ("id", [f"c{i}" for i in range(N)], "identifier"),
        ("zip", [f"{i * 31 % 997:05d}" for i in range(N)], "identifier"),
        ("note", [f"text {i % 90}" for i in range(N)], "text"),
        ("flag", np.arange(N) % 2, "category"),
        ("flag", (np.arange(N) % 2).astype(float), "category"),
        ("flag", np.where(np.arange(N) % 2, "yes", "no"), "category"),
        ("flag", np.arange(N) % 2 == 0, "category"),
        ("region_id", np.arange(N) % 4, "described"),
        ("year built", np.arange(N) + 1800, "number"),
        ("year", np.full(N, 2007) + np.arange(N) % 3, "described"),
        ("visits", RANDOM.integers(0, 40, N), "number"),
        ("paid", RANDOM.normal(size=N), "number"),
        ("valid", RANDOM.normal(size=N), "number"),
        ("signup", [date(2020, 1, 1) + timedelta(days=3 * i) for i in range(N)], "described"),
        ("seen", [datetime(2020, 1, 1) + timedelta(hours=i) for i in range(N)], "described"),
        ("opens", [time(i % 24, i % 7) for i in range(N)], "time"),
        ("tags", [[i] for i in range(N)], "nested"),
        ("country", ["KR"] * N, "constant"),
        ("rare", [1] * (N - 1) + [0], "near constant"),
        ("rare", ["no"] * (N - 1) + ["yes"], "near constant"),
        ("rare", [0.0] * (N - 1) + [17.5], "near constant"),
        ("sparse", [1.5 * i if i % 5 == 0 else None for i in range(N)], "missing"),
        ("sparse", [float("nan") if i % 5 else 1.5 * i for i in range(N)], "missing"),
        ("empty", pl.Series([None] * N, dtype=pl.Float64), "missing"),
    ],
)
def test_the_role_of_a_column(name, values, role):
    assert roles_of(values, name)[0] == role


def test_a_year_in_the_order_of_the_rows_is_not_an_identifier():
    assert roles_of(np.arange(1800, 1800 + N), "year built")[0] == "number"
    assert roles_of(np.arange(1, N + 1), "row")[0] == "identifier"


def test_flags_that_are_almost_never_set_can_be_requested():
    rare = [1] + [0] * (N - 1)
    assert roles_of(rare, "flag", columns=["flag", "measure"])[0] == "category"


@pytest.mark.parametrize("first", [0, 1])
def test_ranks_of_which_some_are_missing_are_numbers(first):
    ranks = (np.random.default_rng(0).permutation(N) + first).tolist()
    for n_missing in (0, 3, N // 20):
        assert roles_of([None] * n_missing + ranks[n_missing:], "wealth")[0] == "number"
    numbers = np.random.default_rng(0).permutation(2 * N)[:N] + first
    assert roles_of(numbers, "wealth")[0] == "identifier"


def test_a_requested_identifier_is_a_number():
    assert roles_of(np.arange(N) * 3, "id", columns="id,measure")[0] == "number"
    sparse = [1.5 * i if i % 5 == 0 else None for i in range(N)]
    assert roles_of(sparse, "sparse", columns="sparse,measure")[0] == "number"


@pytest.mark.parametrize("given", [{"include": "region"}, {"columns": "region,measure"}])
def test_a_requested_code_is_clustered_on(given):
    assert roles_of(np.arange(N) % 4 + 1, "region")[0] == "described"
    assert roles_of(np.arange(N) % 4 + 1, "region", **given)[0] == "category"


@pytest.mark.parametrize(
    ("values", "name", "line"),
    [
        (np.arange(N), "id", "ignored: id (looks like an ID); use it with include="),
        (
            RANDOM.integers(501, 99950, N),
            "zip",
            "ignored: zip (looks like a code, such as a postal code or a phone number); use it "
            "with include= or categorical=",
        ),
        (
            [f"text {i % 90}" for i in range(N)],
            "note",
            "ignored: note (text with 90 different values); use it with categorical=",
        ),
        (["KR"] * N, "country", "ignored: country (only one value)"),
        (
            [1] * (N - 1) + [0],
            "rare",
            "ignored: rare (almost all values are the same); use it with include=",
        ),
        (
            [1.5 if i % 5 else None for i in range(5)] + [None] * (N - 5),
            "gaps",
            "ignored: gaps (most values are missing); use it with include=",
        ),
        (np.arange(N) % 2, "flag", "treated as categories: flag (exclude= to ignore them)"),
        (
            [date(2020, 1, 1) + timedelta(days=i) for i in range(N)],
            "day",
            "described, not clustered on: day (a date); cluster on it with include=",
        ),
        (
            np.arange(N) % 4 + 2,
            "cyl",
            "treated as numbers although they have few values: cyl (categorical= if they are "
            "codes)",
        ),
    ],
)
def test_every_decision_is_reported_with_the_parameter_that_changes_it(values, name, line):
    assert roles_of(values, name)[1] == [line]


def test_columns_with_the_same_reason_share_a_line():
    table = pl.DataFrame({"measure": MEASURE, "id": np.arange(N), "order_id": np.arange(N) * 2})
    _, found = decisions(reported_roles, table)
    assert found == ["ignored: id, order_id (looks like an ID); use them with include="]


def test_a_profile_column_is_not_clustered():
    table = pl.DataFrame({"measure": MEASURE, "churn": np.arange(N) % 2})
    roles, found = decisions(reported_roles, table, profile="churn")
    assert roles.used == ["measure"]
    assert roles.profile == ["churn"]
    assert found == []


def test_categories_can_be_requested():
    assert roles_of(np.arange(N) % 4 + 2, "cyl", categorical="cyl") == ("category", [])
    with pytest.raises(InputError, match="column 'tags' cannot be used: lists"):
        roles_of([[i] for i in range(N)], "tags", columns="tags")


@pytest.mark.parametrize("dtype", [pl.Int8, pl.UInt8])
def test_small_integers(dtype):
    assert roles_of(pl.Series(np.arange(N) % 60, dtype=dtype), "size")[0] == "number"
    assert roles_of(pl.Series(np.arange(N)[::-1] % 120, dtype=dtype), "n")[0] == "number"


def test_numbers_that_floats_round_are_no_categories():
    long = pl.Series([2**60, 2**63] * (N // 2), dtype=pl.UInt64)
    assert roles_of(long, "size")[0] == "number"
    with pytest.raises(InputError, match="column 'size' has numbers above 2.*convert the column"):
        roles_of(long, "size", categorical="size")


@pytest.mark.parametrize(
    "options",
    [
        {"columns": "x", "exclude": "x"},
        {"columns": "x", "profile": "x"},
        {"categorical": "x", "exclude": "x"},
    ],
)
def test_a_column_cannot_have_two_roles(options):
    first, second = options
    with pytest.raises(UsageError, match=f"^'x' is in {first}= and in {second}=$"):
        roles_of(MEASURE, **options)


def test_a_table_without_a_usable_column():
    table = pl.DataFrame({"id": np.arange(N), "note": [f"t{i % 90}" for i in range(N)]})
    with pytest.raises(InputError) as caught:
        choose_roles(table, {})
    assert str(caught.value) == (
        "there is no column to cluster by: id (looks like an ID); note (text with 90 different "
        "values); choose columns with include=, or text columns with categorical="
    )


def test_a_table_of_constants():
    with pytest.raises(
        InputError, match="no column to cluster by: a, b .*; every column has only one"
    ):
        choose_roles(pl.DataFrame({"a": [1] * 20, "b": ["x"] * 20}), {})


def test_formats():
    whole = pl.Series("cyl", [4, 6, 8, 4, 6] * 20)
    assert find_format(whole, ColumnFormat()) == ColumnFormat("integer", values=(4, 6, 8))
    assert find_format(whole.cast(pl.Float64), ColumnFormat()).values == (4, 6, 8)
    with_nan = pl.Series("cyl", [4.0, 6.0, float("nan"), None, 8.0])
    assert find_format(with_nan, ColumnFormat()).values == (4, 6, 8)
    assert is_year(pl.Series("year", [1999.0, float("nan"), None]))
    assert find_format(pl.Series("n", range(100)), ColumnFormat()).values == ()
    price = find_format(pl.Series("price", [1.5, 2.5]), ColumnFormat(prefix="$"))
    assert price == ColumnFormat(prefix="$")
    assert find_format(pl.Series("year", [1999, 2004]), ColumnFormat()).kind == "year"
    assert not is_year(pl.Series("year", [1, 2, 3]))
    assert not is_year(pl.Series("price", [1999, 2004]))
