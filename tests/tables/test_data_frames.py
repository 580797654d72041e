"""Columns of unusual types become numbers, dates or text, or stay objects that are ignored."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from ipaddress import ip_address

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from pellucid._utils.notices import InputError
from pellucid.tables.reading import read_source, source_of


class Color(Enum):
    RED = 1


class Silent:
    """An object that can be neither written nor compared."""

    def __repr__(self):
        raise RuntimeError

    def __eq__(self, other):
        raise RuntimeError

    __hash__ = None


def read(column):
    return source_of(pd.DataFrame({"a": column})).table["a"]


DAY, HALF = datetime(2020, 1, 1), timezone(timedelta(hours=5, minutes=30))


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1, 2.5, None], [1.0, 2.5, None]),
        ([Decimal("1.5"), Fraction(1, 4), Decimal("NaN")], [1.5, 0.25, None]),
        ([Decimal(10) ** 50, 1], [1e50, 1.0]),
        ([-(10**30), 10**40, 3, 4], [-1e30, 1e40, 3.0, 4.0]),
        ([10**30, 10**30 + 1], [f"1{'0' * 30}", f"1{'0' * 29}1"]),
        ([2**64 - 1, 0], [2**64 - 1, 0]),
        ([True, None], [True, None]),
        ([True, "a", date(2020, 1, 1)], ["True", "a", "2020-01-01"]),
        ([date(2020, 1, 1), DAY + timedelta(hours=6)], [DAY, DAY + timedelta(hours=6)]),
        ([pd.Timestamp(DAY), pd.NaT, pd.NA], [DAY, None, None]),
        ([DAY.replace(tzinfo=HALF), None], [DAY - timedelta(hours=5, minutes=30), None]),
        ([DAY.replace(tzinfo=HALF), DAY], ["2020-01-01 00:00:00+05:30", "2020-01-01 00:00:00"]),
        ([timedelta(days=1)], [timedelta(days=1)]),
        ([time(1, 2)], [time(1, 2)]),
        ([ip_address("1.2.3.4"), Color.RED], ["1.2.3.4", "Color.RED"]),
        (["a\ud800", "b"], ["a\\ud800", "b"]),
        ([np.float32(1.5), np.int8(2)], [1.5, 2.0]),
        ([None, float("nan")], [None, None]),
    ],
)
def test_objects(values, expected):
    assert read(pd.Series(values, dtype=object)).to_list() == expected
    frame = pl.DataFrame([pl.Series("a", values, dtype=pl.Object)])
    assert source_of(frame).table["a"].to_list() == expected


@pytest.mark.parametrize(
    "values",
    [
        [[1], [2]],
        [{"a": 1}],
        [{1}],
        [b"a"],
        [1 + 2j],
        [object()],
        [Silent(), "a"],
        [int, "a"],
        [Color.RED, [1]],
    ],
)
def test_objects_that_are_neither_numbers_nor_dates_nor_text(values):
    assert read(pd.Series(values, dtype=object)).dtype == pl.Object


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (pd.period_range("2020-01", periods=2, freq="M"), [DAY, datetime(2020, 2, 1)]),
        (pd.interval_range(0, 2, 2), ["(0, 1]", "(1, 2]"]),
        (pd.cut([1, 9], [0, 5, 10]), ["(0, 5]", "(5, 10]"]),
        (pd.arrays.SparseArray([0.0, 1.5]), [0.0, 1.5]),
        (np.array([1, 2], dtype=np.longdouble), [1.0, 2.0]),
        (np.array([1, 2], dtype=">f4"), [1.0, 2.0]),
        (pd.array([1, None], dtype="Int64"), [1, None]),
        (pd.array(["5", None], dtype="string"), [5, None]),
        (pd.array([Decimal(1)], pd.ArrowDtype(pa.decimal256(50, 2))), [1.0]),
    ],
)
def test_types_of_pandas(column, expected):
    assert read(column).to_list() == expected


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (pa.array([Decimal("1.5")]).cast(pa.decimal256(50, 2)), [1.5]),
        (pa.array(["1", "2"]).dictionary_encode(), [1, 2]),
        (pa.RunEndEncodedArray.from_arrays([2, 3], [1, 2]), [1, 1, 2]),
        (pa.array([None]), [None]),
    ],
)
def test_types_of_pyarrow(column, expected):
    assert source_of(pa.table({"a": column})).table["a"].to_list() == expected


def test_periods_and_intervals_of_a_parquet_file(tmp_path):
    table = pd.DataFrame(
        {"p": pd.period_range("2020-01", periods=2, freq="M"), "i": pd.interval_range(0, 2, 2)}
    )
    table.to_parquet(tmp_path / "table.parquet")
    found = read_source(tmp_path / "table.parquet").table
    assert found.rows() == [(DAY, "(0, 1]"), (datetime(2020, 2, 1), "(1, 2]")]


@pytest.mark.parametrize(
    "given", [pd.DataFrame, pl.DataFrame, lambda columns: columns["a"][:, None]]
)
def test_floats_of_16_bits(given):
    column = np.array([1, 2], dtype=np.float16)
    (found,) = source_of(given({"a": column})).table
    assert found.dtype == pl.Float32
    assert found.to_list() == [1.0, 2.0]


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int64"])
def test_integers_of_few_bits_may_be_called_year(dtype):
    table = source_of(pd.DataFrame({"year": np.array([3, 5, 8], dtype=dtype)}))
    assert table.formats["year"].kind == "integer"


def test_masked_values_are_missing():
    masked = np.ma.array([[1.0, 2.0], [3.0, 4.0]], mask=[[False, True], [False, False]])
    assert source_of(masked).table.rows() == [(1.0, None), (3.0, 4.0)]


def test_names_that_are_no_strings():
    table = pd.DataFrame([[1.5, 2.5, 3.5]], columns=[("a", 1), None, 3])
    assert source_of(table).table.columns == ["('a', 1)", "None", "3"]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (pd.DataFrame([[1, 2]], columns=[1, "1"]), "column '1' appears more than once"),
        (
            pd.DataFrame([[1]], columns=pd.Index(["a\ud800"], dtype=object)),
            "the name of column 'a.ud800' is not valid text",
        ),
        ([[1, 2], [3]], "rows differ in length"),
    ],
)
def test_tables_that_are_refused(table, message):
    with pytest.raises(InputError, match=message):
        source_of(table)
