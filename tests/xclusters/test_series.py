"""series_from_long against a plain loop, times, gaps, coverage and errors."""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from statistics import mean, median

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from _support.extended import examples
from pellucid.xclusters import series_from_long, series_from_wide
from pellucid.xclusters.series import (
    find_time_columns,
    match_columns,
    parse_dates,
    read_column_times,
)

KINDS = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}
ARGUMENTS = {"entity": ["district", "age"], "time": "day", "value": "people"}
AGGREGATES = {"mean": mean, "sum": sum, "median": median, "min": min, "max": max}


def long_table(rows):
    columns = ("district", "age", "day", "people")
    return {name: [row[i] for row in rows] for i, name in enumerate(columns)}


def full_rows(days=("2020-01-01", "2020-01-02", "2020-01-03", "2020-01-04")):
    return [
        (district, age, day, float(10 * i + age + 3 * j * j))
        for i, district in enumerate(("Jung", "Jongno"))
        for age in (30, 20)
        for j, day in enumerate(days)
    ]


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=examples(30), deadline=None)
@given(
    rows=st.lists(
        st.tuples(
            st.sampled_from(["A", "B"]),
            st.sampled_from([20, 30]),
            st.integers(0, 3),
            st.integers(-50, 50).map(float),
        ),
        min_size=1,
        max_size=30,
    ),
    aggregate=st.sampled_from(sorted(AGGREGATES)),
)
def test_cells_equal_a_loop_over_the_rows(kind, rows, aggregate):
    cells, weights = defaultdict(list), defaultdict(float)
    for district, age, day, people in rows:
        cells[district, age, day].append(people)
        weights[district, age] += abs(people)
    keys, days = sorted(weights), sorted({row[2] for row in rows})
    table = KINDS[kind](long_table(rows))
    found = series_from_long(table, **ARGUMENTS, aggregate=aggregate, fill_value=-1000.0)
    expected = [
        [
            AGGREGATES[aggregate](cells[(*key, day)]) if (*key, day) in cells else -1000.0
            for day in days
        ]
        for key in keys
    ]
    np.testing.assert_allclose(found.series, expected, rtol=1e-12)
    assert found.times.tolist() == days
    assert [found.weights[i] for i in range(len(found))] == [weights[key] for key in keys]
    assert isinstance(found.entities, type(table))
    names = [found.entities[name] for name in ("district", "age")]
    names = [column.to_pylist() if kind == "pyarrow" else list(column) for column in names]
    assert list(zip(*names)) == keys


@settings(max_examples=examples(30), deadline=None)
@given(order=st.permutations(range(16)), copies=st.integers(1, 3))
def test_result_does_not_depend_on_the_order_of_rows(order, copies):
    rows = [(a, b, c, d / 7) for a, b, c, d in full_rows()] * copies
    ordered = series_from_long(pl.DataFrame(long_table(rows)), **ARGUMENTS)
    mixed = [rows[i] for i in order] + rows[16:]
    again = series_from_long(pl.DataFrame(long_table(mixed)), **ARGUMENTS)
    assert ordered.series.tobytes() == again.series.tobytes()
    assert ordered.weights.tobytes() == again.weights.tobytes()


def test_all_types_of_times_are_equal():
    texts = ["2020-01-30", "2020-02-01", "2020-02-03"]
    dates = [dt.date.fromisoformat(text) for text in texts]
    moments = [dt.datetime.combine(date, dt.time()) for date in dates]
    zone = pd.to_datetime(texts).tz_localize("Asia/Seoul")
    columns = [
        pd.Series(texts),
        pd.Series(texts).astype("category"),
        pd.Series(dates, dtype=object),
        pd.Series(pd.to_datetime(texts)),
        pd.Series(zone),
        pl.Series(dates),
        pl.Series(moments),
        pl.Series([text + " 00:00:00" for text in texts]),
    ]
    for column in columns:
        make = pl.DataFrame if isinstance(column, pl.Series) else pd.DataFrame
        table = make({"who": ["a"] * 3, "when": column, "x": [1.0, 2.0, 3.0]})
        found = series_from_long(table, entity="who", time="when", value="x")
        assert found.times.astype("datetime64[D]").astype(str).tolist() == texts


def test_hours_are_averaged_to_days():
    hours = [f"2020-01-0{day} {hour:02d}:00" for day in (1, 2, 3) for hour in range(24)]
    table = pd.DataFrame({"who": "a", "when": hours, "x": np.arange(72.0)})
    found = series_from_long(table, entity="who", time="when", value="x", frequency="day")
    assert found.series.tolist() == [[11.5, 35.5, 59.5]]
    assert found.times.astype(str).tolist() == ["2020-01-01", "2020-01-02", "2020-01-03"]


@pytest.mark.parametrize(
    ("frequency", "wanted"),
    [
        ("week", ["2019-12-30", "2020-01-06", "2020-01-13", "2020-01-20", "2020-01-27"]),
        ("month", ["2020-01", "2020-02"]),
        ("year", ["2020"]),
    ],
)
def test_steps_without_rows_are_included(frequency, wanted):
    table = pd.DataFrame({"who": "a", "when": ["2020-01-01", "2020-02-02"], "x": [1.0, 5.0]})
    found = series_from_long(
        table, entity="who", time="when", value="x", frequency=frequency, interpolate=True
    )
    assert found.times.astype(str).tolist() == wanted
    # Interpolation uses times, not positions.
    assert found.series[0, 0] == (1.0 if frequency != "year" else 3.0)


def test_numeric_times_are_grouped_into_steps():
    table = pl.DataFrame({"who": ["a"] * 3, "when": [0.2, 0.35, 1.05], "x": [1.0, 3.0, 8.0]})
    found = series_from_long(
        table, entity="who", time="when", value="x", frequency=0.25, interpolate=True
    )
    np.testing.assert_allclose(found.times, [0, 0.25, 0.5, 0.75, 1])
    np.testing.assert_allclose(found.series, [[1, 3, 3 + 5 / 3, 3 + 10 / 3, 8]])


def test_moving_average_uses_full_windows():
    rows = full_rows()
    plain = series_from_long(pd.DataFrame(long_table(rows)), **ARGUMENTS)
    smooth = series_from_long(pd.DataFrame(long_table(rows)), **ARGUMENTS, moving_average=3)
    wanted = pd.DataFrame(plain.series.T).rolling(3).mean().dropna().to_numpy().T
    np.testing.assert_allclose(smooth.series, wanted)
    assert smooth.times.tolist() == plain.times[2:].tolist()
    np.testing.assert_array_equal(smooth.weights, plain.weights)


def test_gap_raises_an_error_that_names_entity_and_time():
    rows = [row for row in full_rows() if row[:3] != ("Jung", 30, "2020-01-03")]
    for make in KINDS.values():
        with pytest.raises(ValueError, match="district='Jung', age=30 has no value at 2020-01-03;"):
            series_from_long(make(long_table(rows)), **ARGUMENTS)


def test_a_row_without_a_value_is_a_gap():
    rows = full_rows()
    for make, missing in (
        (pd.DataFrame, float("nan")),
        (pl.DataFrame, None),
        (pl.DataFrame, np.nan),
    ):
        holes = [
            (*row[:3], missing) if row[2] == "2020-01-03" and row[1] == 20 else row for row in rows
        ]
        with pytest.raises(
            ValueError, match="district='Jongno', age=20 has no value at 2020-01-03"
        ):
            series_from_long(make(long_table(holes)), **ARGUMENTS)
        found = series_from_long(make(long_table(holes)), **ARGUMENTS, interpolate=True)
        np.testing.assert_allclose(found.series[0], [30, 33, 45, 57])


def test_interpolation_goes_along_time():
    days = ["2020-01-01", "2020-01-02", "2020-01-11"]
    rows = [("A", 20, day, x) for day, x in zip(days, (0.0, 4.0, 20.0))]
    rows += [("B", 20, days[0], 0.0), ("B", 20, days[2], 20.0)]
    found = series_from_long(pl.DataFrame(long_table(rows)), **ARGUMENTS, interpolate=True)
    assert found.series[1].tolist() == [0.0, 2.0, 20.0]


def test_entities_that_start_late_or_end_early():
    rows = [row for row in full_rows() if row[:3] != ("Jung", 30, "2020-01-01")]
    rows = [row for row in rows if row[:3] != ("Jongno", 20, "2020-01-04")]
    table = pd.DataFrame(long_table(rows))
    with pytest.raises(
        ValueError, match="'Jongno', age=20 ends at 2020-01-03, others at 2020-01-04"
    ):
        series_from_long(table, **ARGUMENTS, interpolate=True)
    with pytest.raises(
        ValueError, match="'Jung', age=30 starts at 2020-01-02, others at 2020-01-01"
    ):
        series_from_long(table[table.district == "Jung"], **ARGUMENTS, interpolate=True)
    common = series_from_long(table, **ARGUMENTS, coverage="common")
    assert common.times.astype(str).tolist() == ["2020-01-02", "2020-01-03"]
    assert common.series.shape == (4, 2)
    own = series_from_long(table, **ARGUMENTS, coverage="own", moving_average=2)
    assert [len(series) for series in own.series] == [2, 3, 3, 2]
    assert [len(times) for times in own.times] == [2, 3, 3, 2]
    filled = series_from_long(table, **ARGUMENTS, fill_value=0)
    assert filled.series[0, 3] == filled.series[3, 0] == 0


def test_no_common_time_raises_an_error():
    table = pl.DataFrame({"who": ["a", "b"], "when": [1, 2], "x": [1.0, 2.0]})
    with pytest.raises(ValueError, match="who='b' starts at 2, who='a' ends at 1"):
        series_from_long(table, entity="who", time="when", value="x", coverage="common")


def test_relative_series_have_mean_one():
    found = series_from_long(pl.DataFrame(long_table(full_rows())), **ARGUMENTS, relative=True)
    np.testing.assert_allclose(found.series.mean(axis=1), 1)
    table = pl.DataFrame({"who": ["a", "b"], "when": [1, 1], "x": [1.0, 0.0]})
    with pytest.raises(ValueError, match="the mean of who='b' is 0"):
        series_from_long(table, entity="who", time="when", value="x", relative=True)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"entity": "town"}, "no column 'town'; its columns are district, age, day, people"),
        ({"entity": []}, "entity must name at least one column"),
        ({"entity": ["district", "day"]}, "must be different columns"),
        ({"value": "district", "entity": "age"}, "'district' is not numeric"),
        ({"aggregate": "mode"}, "aggregate='mode'; choose one of mean, sum"),
        ({"coverage": "all"}, "coverage='all'; choose one of equal, common, own"),
        ({"moving_average": 5}, "has only 4 times"),
        ({"moving_average": 0}, "of at least 1"),
        ({"frequency": "fortnight"}, "choose one of hour, day, week"),
        ({"frequency": 7}, "contains dates"),
        ({"time": "age", "entity": "district", "frequency": "day"}, "contains numbers"),
        ({"interpolate": True, "fill_value": 0}, "exclude each other"),
    ],
)
def test_invalid_arguments(change, message):
    with pytest.raises(ValueError, match=message):
        series_from_long(pl.DataFrame(long_table(full_rows())), **{**ARGUMENTS, **change})


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("day", "3 Jan 2020", "contains '3 Jan 2020', which is neither a number nor a date"),
        ("day", "20200103", "contains '20200103'"),
        ("day", "2020-13-01", "contains '2020-13-01'"),
        ("day", None, "'day' has no time at row 2"),
        ("people", float("inf"), "'people' is infinite at row 2"),
        ("district", None, "'district' is missing at row 2"),
    ],
)
def test_invalid_rows_are_named(column, value, message):
    columns = long_table(full_rows())
    columns[column][2] = value
    for make in (pd.DataFrame, pl.DataFrame):
        with pytest.raises(ValueError, match=message):
            series_from_long(make(columns), **ARGUMENTS)


def test_other_types_raise_errors():
    with pytest.raises(TypeError, match="table is a ndarray; expected a pandas"):
        series_from_long(np.zeros((3, 3)), **ARGUMENTS)
    with pytest.raises(TypeError, match="collect"):
        series_from_long(pl.DataFrame(long_table(full_rows())).lazy(), **ARGUMENTS)
    with pytest.raises(ValueError, match="no value in any row"):
        series_from_long(
            pl.DataFrame({"a": ["x"], "t": [1], "v": [np.nan]}), entity="a", time="t", value="v"
        )


@pytest.mark.parametrize("kind", KINDS)
def test_a_wide_table_equals_the_long_one(kind):
    rows = [(who, year, v) for who, v in (("a", 1.0), ("b", 5.0)) for year in (1990, 1991, 1995)]
    rows = [(who, year, v * year) for who, year, v in rows]
    long = KINDS[kind](
        {n: [row[i] for row in rows] for i, n in enumerate(("who", "year", "value"))}
    )
    wide = {"who": ["a", "b"]} | {
        f"y{year}": [v for _, y, v in rows if y == year] for year in (1990, 1991, 1995)
    }
    table = KINDS[kind](wide)
    for options in ({}, {"relative": True}, {"moving_average": 2}):
        expected = series_from_long(long, entity="who", time="year", value="value", **options)
        for times in ("y*", ["y1990", "y1991", "y1995"], "y1990:y1995"):
            found = series_from_wide(table, times, **options)
            assert found.series.tolist() == expected.series.tolist()
            assert found.times.tolist() == expected.times.tolist()
            assert found.weights.tolist() == expected.weights.tolist()
            assert isinstance(found.entities, type(table))


def test_rows_of_a_wide_table_stay_apart_and_gaps_are_filled():
    table = pl.DataFrame(
        {
            "kind": ["x", "x", "y"],
            "2020-01": [1.0, 2.0, None],
            "2020-02": [None, 2.0, None],
            "2020-03": [3, 2, None],
        }
    )
    with pytest.raises(ValueError, match="row 0 has no value at 2020-02-01; use interpolate=True"):
        series_from_wide(table, "2020-*")
    found = series_from_wide(table, "2020-*", interpolate=True)
    assert found.series[1].tolist() == [2, 2, 2]
    assert found.series[0, 1] == pytest.approx(1 + 2 * 31 / 60)
    assert found.entities["kind"].to_list() == ["x", "x"]
    assert found.times.astype("datetime64[M]").astype(str).tolist() == [
        "2020-01", "2020-02", "2020-03",
    ]  # fmt: skip
    with pytest.raises(ValueError, match="column 'kind' is not numeric"):
        series_from_wide(table, "*")


@pytest.mark.parametrize(
    ("names", "times"),
    [
        (["1960 [YR1960]", "1961 [YR1961]"], [1960, 1961]),
        (["week 1", "week 2", "week 10"], [1, 2, 10]),
        (["t0.5", "t1.5"], [0.5, 1.5]),
        (["Jan 2020", "Feb 2020"], ["2020-01-01", "2020-02-01"]),
        (["sales 2020-01-31", "sales 2020-02-29"], ["2020-01-31", "2020-02-29"]),
        (["first", "second"], [1, 2]),
    ],
)
def test_names_of_columns_give_times(names, times):
    found = read_column_times(names)
    assert (found.astype(str) if found.dtype.kind == "M" else found).tolist() == times


def test_dates_in_words_and_ambiguous_dates():
    found = parse_dates(["Jan 1 2000", "Feb 1 2000"])
    assert found.astype(str).tolist() == ["2000-01-01", "2000-02-01"]
    assert parse_dates(["1/2/2000"]) is None


def test_columns_of_times_are_found_and_matched():
    found = find_time_columns(["area", "y1952", "y1957", "y1962"])
    assert found == (["y1952", "y1957", "y1962"], "y")
    assert match_columns(["who", "1952", "1957", "1962"], ["1952:1957"]) == ["1952", "1957"]
