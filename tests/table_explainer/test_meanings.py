"""Dates, parts of dates, results and codes, by the names and the values of columns."""

from __future__ import annotations

from datetime import date, timedelta

import numpy as np
import polars as pl
import pytest
from sklearn.datasets import load_breast_cancer

import pellucid
from pellucid._utils.notices import InputError
from pellucid.table_explainer.arguments import ExplainOptions
from pellucid.table_explainer.meanings import is_named_code, is_named_identifier, meaning_of
from pellucid.table_explainer.roles import choose_roles

N = 200
RANDOM = np.random.default_rng(0)


def reason_of(name, values, *others):
    """Why a column is described, beside one number; None if it is clustered."""
    table = pl.DataFrame({"measure": RANDOM.normal(size=N), name: values})
    table = table.with_columns(pl.Series(other, RANDOM.normal(size=N)) for other in others)
    found = choose_roles(table, {}, ExplainOptions())
    assert name in (*found.used, *found.profile)
    return found.described.get(name)


def whole(low, high):
    """Random whole numbers."""
    return RANDOM.integers(low, high + 1, N)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("seen", [date(2020, 1, 1) + timedelta(days=3 * i) for i in range(N)]),
        ("booked", 20200100 + 100 * whole(0, 8) + whole(1, 28)),
        ("period", 202000 + whole(1, 12)),
        ("timestamp", 1.6e9 + RANDOM.uniform(0, 1e8, N)),
        ("time", 1949 + np.arange(N) / 12),
        ("quarter", [f"20{10 + i % 5}-Q{1 + i % 4}" for i in range(N)]),
    ],
)
def test_dates_in_any_form(name, values):
    assert reason_of(name, values) == "a date"


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("year", whole(2001, 2009)),
        ("sales_year", whole(2001, 2009)),
        ("Yr Sold", whole(2006, 2010)),
        ("ArrivalMonth", whole(1, 12)),
        ("day of week", whole(0, 6)),
        ("Day", whole(1, 31)),
        ("pickup_hour", whole(0, 23)),
        ("when", RANDOM.choice(["Mon", "Tue", "Wed"], N)),
        ("Monat", RANDOM.choice(["Mai", "Juni"], N)),
        ("y98", whole(0, 1)),
        ("WeekofPurchase", whole(227, 278)),
        ("month of sale", whole(1, 36)),
        ("mnth", RANDOM.choice(["Jan", "March", "Sept"], N)),
    ],
)
def test_parts_of_dates(name, values):
    assert reason_of(name, values) == "part of a date"


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("churn", whole(0, 1)),
        ("is_churned", whole(0, 1)),
        ("Survived", RANDOM.choice(["yes", "no"], N)),
        ("target", whole(25, 300)),
        ("class", RANDOM.choice(["a", "b", "c"], N)),
        ("default.payment.next.month", whole(0, 1)),
        ("loan_default", whole(0, 1)),
        ("y", RANDOM.choice(["yes", "no"], N)),
        ("Purchase", RANDOM.choice(["yes", "no"], N)),
        ("credit_risk", RANDOM.choice(["good", "bad"], N)),
        ("censors", whole(0, 1)),
        ("censor2", whole(0, 1)),
    ],
)
def test_results(name, values):
    assert reason_of(name, values) == "looks like a result"


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("site", whole(1, 7)),
        ("StoreID", whole(1, 8)),
        ("MOSTYPE", whole(1, 40)),
        ("customer_id", whole(1, 15)),
        ("countyfips", 1000 + whole(1, 30)),
        ("sector", whole(1, 9)),
        ("class", whole(100, 140)),
    ],
)
def test_codes(name, values):
    assert reason_of(name, values) == "a code"


@pytest.mark.parametrize("name", ["unitid", "userid", "PassengerId", "parcelid"])
def test_ids_of_one_word(name):
    table = pl.DataFrame({"measure": RANDOM.normal(size=N), name: RANDOM.permutation(N) + 10**6})
    assert choose_roles(table, {}, ExplainOptions()).ignored == {name: "identifier"}


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("year_built", whole(1900, 2010)),
        ("model year", whole(1970, 1982)),
        ("years_at_company", whole(0, 30)),
        ("calls per day", whole(1, 30)),
        ("sales last month", whole(1, 12)),
        ("day", whole(0, 4000)),
        ("tenure_months", whole(1, 12)),
        ("hr", whole(0, 20)),
        ("death", RANDOM.uniform(0, 30, N)),
        ("purchase", RANDOM.uniform(0, 900, N)),
        ("response_time", RANDOM.uniform(0, 30, N)),
        ("default_rate", RANDOM.uniform(0, 1, N)),
        ("class_size", whole(10, 30)),
        ("y1", RANDOM.normal(size=N)),
        ("paid", whole(10**6, 10**7)),
        ("humid", whole(10, 10**5)),
        ("time", RANDOM.uniform(0, 90, N)),
        ("fare_code_price", RANDOM.uniform(0, 90, N)),
        ("code", RANDOM.uniform(0, 90, N)),
        ("amount", 190000 + whole(0, 90000)),
    ],
)
def test_measurements_are_clustered(name, values):
    assert reason_of(name, values) is None


@pytest.mark.parametrize("name", ["year", "hour", "month", "day"])
def test_durations_are_clustered_whatever_their_name(name):
    assert reason_of(name, [timedelta(hours=i * i % 23) for i in range(N)]) is None


@pytest.mark.parametrize("name", ["year", "weekday", "hour", "season", "zip", "store"])
def test_flags_called_year_or_zip_are_clustered_in_every_form(name):
    flags = np.arange(N) % 3 == 0
    for values in (flags, flags.astype(int), flags.astype(float), flags.astype(int).astype(str)):
        assert reason_of(name, values) is None


def test_two_years_are_part_of_a_date():
    flags = np.arange(N) % 3 == 0
    assert reason_of("year", np.where(flags, 98, 99)) == "part of a date"


def test_y_beside_x_is_a_coordinate():
    assert reason_of("y", RANDOM.normal(size=N), "x") is None
    assert reason_of("y", RANDOM.normal(size=N)) == "looks like a result"


@pytest.mark.parametrize(
    ("name", "values", "other", "reason"),
    [
        ("time", RANDOM.uniform(0, 90, N), "status", "looks like a result"),
        ("status", whole(0, 1), "time", "looks like a result"),
        ("status", whole(0, 1), "age", None),
        ("duration", whole(1, 90), "cens", "looks like a result"),
        ("duration", whole(1, 90), "status", None),
        ("class", RANDOM.choice(["1st", "2nd"], N), "survived", None),
        ("class", RANDOM.choice(["1st", "2nd"], N), "age", "looks like a result"),
    ],
)
def test_results_beside_others(name, values, other, reason):
    assert reason_of(name, values, other) == reason


def test_flags_of_several_months_are_parts_of_dates():
    assert reason_of("mar", whole(0, 1), "feb", "apr") == "part of a date"
    assert reason_of("mar", whole(0, 1), "apr") is None


def test_what_is_asked_for_is_clustered():
    table = pl.DataFrame({"measure": RANDOM.normal(size=N), "churn": whole(0, 1)})
    for options in ({"include": "churn"}, {"columns": ["churn", "measure"]}):
        found = choose_roles(table, {}, ExplainOptions(**options))
        assert "churn" in found.used
        assert not found.described


def test_rules_and_saved_models_do_not_need_described_columns():
    group = np.arange(N) % 3
    table = pl.DataFrame(
        {
            "size": group * 10 + RANDOM.normal(size=N),
            "weight": group * 5 + RANDOM.normal(size=N),
            "target": group,
            "year": 2000 + group,
        }
    )
    found = pellucid.explain(table, k=3, effort="fast", verbose=False)
    assert found.profile.keys() == {"target", "year"}
    assert "target" not in str(found.rules)
    saved = pellucid.from_json(found.to_json())
    measured = table.select("size", "weight")
    assert saved.predict(measured).tolist() == found.labels.tolist()
    assert found.predict(measured).tolist() == found.labels.tolist()


def test_columns_that_are_the_clusters_are_described():
    group = np.arange(N) % 3
    sizes = {f"size {i}": group * 3.0 + RANDOM.normal(size=N) for i in range(4)}
    table = pl.DataFrame({**sizes, "x14": group})
    found = pellucid.explain(table, k=3, effort="fast", verbose=False)
    line = "described, not clustered on: x14 (its values alone are the clusters); cluster on it"
    assert any(text.startswith(line) for text in found.decisions)
    assert "x14" not in str(found.rules)
    assert "x14 =" in str(
        pellucid.explain(table, k=3, include="x14", effort="fast", verbose=False).rules
    )


def test_clusters_of_an_earlier_run_change_nothing():
    """As a further column, these clusters change those of k-means, which differ from both."""
    X = load_breast_cancer().data[:200, :15]
    table = pl.DataFrame(X, schema=[f"x{i}" for i in range(X.shape[1])])
    first = pellucid.explain(table, k=6, effort="fast", verbose=False)
    again = table.with_columns(z=pl.Series(first.labels))
    found = pellucid.explain(again, k=6, effort="fast", verbose=False)
    assert found.profile.keys() == {"z"}
    assert found.labels.tolist() == first.labels.tolist()


def test_events_are_to_be_aggregated():
    days = [date(2020, 1, 1) + timedelta(days=i) for i in range(N)]
    table = pl.DataFrame({"customer_id": whole(1, 40), "date": days})
    query = r'SELECT "customer_id", COUNT\(\*\), MAX\("date"\) FROM table GROUP BY "customer_id"'
    with pytest.raises(InputError, match=f"make one row per customer_id first, such as {query}"):
        pellucid.explain(table, effort="fast", verbose=False)
    table = table.with_columns(amount=RANDOM.exponential(size=N))
    found = pellucid.explain(table, k=2, effort="fast", verbose=False)
    assert any(
        "events of customer_id" in text and 'SUM("amount")' in text for text in found.decisions
    )


def test_a_table_of_dates_only_says_so():
    table = pl.DataFrame({"date": [date(2020, 1, 1) + timedelta(days=i) for i in range(N)]})
    with pytest.raises(InputError, match=r"no column to cluster by: date \(a date\)"):
        pellucid.explain(table, effort="fast", verbose=False)


def test_numbers_of_things_and_flags_of_leavers():
    assert is_named_identifier("branch_no")
    assert not is_named_identifier("is_no")
    assert is_named_code("device")
    assert not is_named_code("n_devices")
    assert meaning_of(pl.Series("left_company", [0, 1, 1]), set(), is_whole=True) == "result"
