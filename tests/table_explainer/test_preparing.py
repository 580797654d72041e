"""Missing values, categories and units before clustering."""

from __future__ import annotations

from datetime import date, timedelta

import numpy as np
import polars as pl
import pytest

import pellucid
from _support.tables import blobs, decisions, prepare, source
from pellucid._utils.notices import InputError, UsageError, command_line
from pellucid.table_explainer.arguments import ExplainOptions


def with_gaps(shares: dict[str, float], n_rows: int = 200) -> pl.DataFrame:
    """Numeric columns, each with gaps in its own rows as far as possible."""
    rng = np.random.default_rng(0)
    columns, start = {}, 0
    for name, share in shares.items():
        values = rng.normal(10, 2, n_rows).tolist()
        n_gaps = round(share * n_rows)
        for i in range(start, start + n_gaps):
            values[i % n_rows] = None
        columns[name] = values
        start += n_gaps
    return pl.DataFrame(columns)


def prepared(table: pl.DataFrame, **options):
    found, lines = decisions(prepare, source(table), ExplainOptions(**options))
    return found, [line for line in lines if "standardized" not in line]


def test_few_incomplete_rows_are_dropped():
    found, lines = prepared(with_gaps({"a": 0.0, "b": 0.05}))
    assert len(found.rows) == 190
    assert found.n_incomplete == 10
    assert found.fill == {}
    assert lines == [
        'dropped 10 of 200 rows with missing numbers (b 10); missing="median" keeps them'
    ]


def test_a_column_with_many_gaps_is_ignored_instead_of_the_rows():
    found, lines = prepared(with_gaps({"a": 0.0, "b": 0.35, "c": 0.02}))
    assert found.roles.used == ["a", "c"]
    assert found.roles.ignored == {"b": "gaps"}
    assert len(found.rows) == 196
    assert lines[0] == ('ignored: b (35% of its values are missing); use it with missing="median"')
    assert lines[1].startswith("dropped 4 of 200 rows with missing numbers (c 4)")


def test_many_small_gaps_are_filled_by_the_median():
    table = with_gaps({"a": 0.1, "b": 0.1, "c": 0.0})
    found, lines = prepared(table)
    assert len(found.rows) == 200
    assert found.fill == {"a": table["a"].median(), "b": table["b"].median()}
    assert found.n_incomplete == 0
    assert lines == [
        'replaced missing numbers by the median in 40 of 200 rows: a 20, b 20 (missing="drop" '
        "drops the rows)"
    ]
    assert not any(np.isnan(column).any() for column in found.features)


def test_the_median_of_integers_and_dates_is_one_of_their_values():
    days = [date(2020, 1, 1) + timedelta(days=i) for i in (0, 1, 10, 20)]
    table = pl.DataFrame({"n": [1, 2, 5, 9, None], "day": [*days, None], "x": [1.5, 2, 3, 4, 5]})
    found, _ = prepared(table, missing="median", include="day")
    assert found.fill == {"n": 2.0, "day": float((days[1] - date(1970, 1, 1)).days)}


def test_the_only_numbers_are_not_filled_with_medians():
    rng = np.random.default_rng(0)
    table = with_gaps({"a": 0.3}).with_columns(kind=pl.Series(rng.choice(["x", "y"], 200)))
    found, _ = prepared(table)
    assert (found.roles.used, len(found.rows), found.fill) == (["a", "kind"], 140, {})


def test_a_long_list_of_gaps_is_cut():
    rng = np.random.default_rng(0)
    names = [f"c{j}" for j in range(30)]
    table = pl.DataFrame({name: rng.normal(size=200) for name in names})
    table = table.with_columns(pl.Series(name, [None, *table[name][1:]]) for name in names)
    _, lines = prepared(table)
    assert "c19 1, and 10 more" in lines[0]


def test_the_parameter_missing_is_followed():
    table = with_gaps({"a": 0.0, "b": 0.35})
    dropped, _ = prepared(table, missing="drop")
    assert (len(dropped.rows), dropped.roles.used) == (130, ["a", "b"])
    filled, _ = prepared(table, missing="median")
    assert (len(filled.rows), list(filled.fill)) == (200, ["b"])
    with pytest.raises(InputError) as caught:
        prepared(table, missing="error")
    assert str(caught.value) == (
        "70 values missing (b 70); the first in row 1, column 'b'; missing=\"drop\" drops such "
        'rows, missing="median" fills in the median'
    )
    with command_line(), pytest.raises(InputError) as caught:
        prepared(table, missing="error")
    assert caught.value.hint == (
        "--missing drop drops such rows, --missing median fills in the median"
    )


@pytest.mark.parametrize("parameter", ["missing", "scale"])
def test_unknown_choices(parameter):
    with pytest.raises(UsageError, match=f"^{parameter}= is 'maybe'; use one of auto, "):
        pellucid.explain(blobs(), **{parameter: "maybe"})


def test_nan_is_missing_and_numbers_outside_the_domain_are_an_error():
    table = with_gaps({"a": 0.0, "b": 0.0})
    table[3, "b"] = float("nan")
    assert len(prepared(table)[0].rows) == 199
    for large, text in ((float("inf"), "inf"), (-1e200, r"-1e\+200")):
        table[4, "b"] = large
        with pytest.raises(InputError, match=f"column 'b' contains {text} in row 5"):
            prepared(table)
    tiny = pl.DataFrame({"a": np.arange(20) % 3 * 1e-200})
    with pytest.raises(InputError, match="numbers of column 'a' differ by at most 2e-200"):
        prepared(tiny)


@pytest.mark.parametrize("name", ["*", "^.*$"])
def test_names_that_are_patterns(name):
    table = with_gaps({"a": 0.15, "b": 0.15}).rename({"a": name})
    filled, _ = prepared(table, missing="median")
    assert set(filled.fill) == {name, "b"}
    sparse, _ = prepared(with_gaps({"a": 0.5, "b": 0.0}).rename({"a": name}))
    assert sparse.table.columns == ["b"]


@pytest.mark.parametrize(
    ("values", "labels"),
    [
        ([1.0, 2.0], [1, 2]),
        ([2**62, 5], [str(2**62), "5"]),
        ([timedelta(hours=1), timedelta(days=2)], ["1:00:00", "2 days, 0:00:00"]),
    ],
)
def test_types_of_labels(values, labels):
    table = blobs(8).with_columns(group=pl.Series(values * 4))
    assert prepared(table, labels="group")[0].labels.tolist() == labels * 4


def test_labels_are_numbers_or_text():
    table = blobs().with_columns(group=pl.lit([1]))
    with pytest.raises(InputError, match="column 'group' of labels= has values of type List"):
        prepared(table, labels="group")


def test_nothing_is_left():
    table = pl.DataFrame({"a": [1.5, 2.5, None, None], "b": [None, None, 1.5, 2.5]})
    with pytest.raises(InputError, match='no row is left: .*use missing="median"'):
        prepared(table, missing="drop")


def test_a_missing_category_is_a_category():
    table = blobs(90).with_columns(kind=pl.Series(["a", "b", None] * 30))
    found, _ = prepared(table)
    assert len(found.rows) == 90
    assert [name.value for name in found.encoding.names[2:]] == ["a", "b", None]


def test_labels_are_not_clustered():
    table = blobs(30).with_columns(group=pl.Series([1.0, 2.0, None] * 10))
    found, lines = prepared(table, labels="Group")
    assert lines == ["dropped 10 rows without a value in 'group'"]
    assert found.roles.used == ["size", "weight"]
    assert found.labels.tolist() == [1, 2] * 10
    words, _ = prepared(table.with_columns(group=pl.Series(["x", "y", "x"] * 10)), labels="group")
    assert words.labels.tolist() == ["x", "y", "x"] * 10


def test_prepared_rows_without_outliers():
    found, _ = prepared(with_gaps({"a": 0.0, "b": 0.05}))
    fewer = found.again(ExplainOptions(), found.rows[[0, 3]], {})
    assert fewer.outliers.tolist() == found.rows[[0, 3]].tolist()
    assert len(fewer.rows) == len(fewer.Z) == fewer.table.height == 188
    again = fewer.again(ExplainOptions(), fewer.rows[[0]], {})
    assert again.outliers.tolist() == found.rows[[0, 1, 3]].tolist()


def test_times_with_a_zone_are_the_same_days_in_fit_and_predict():
    times = pl.datetime_range(
        pl.datetime(2021, 1, 1), pl.datetime(2021, 4, 10), "1d", time_zone="Asia/Tokyo", eager=True
    )
    table = pl.DataFrame({"when": times, "size": [1.0, 9.0] * (len(times) // 2)})
    found = pellucid.explain(table, k=2, columns="when", effort="fast", verbose=False)
    assert found.predict(table).tolist() == found.labels.tolist()
    assert all(rule.purity == 1 for rule in found.rules)
