"""Numbers, dates, booleans and missing values in text columns."""

from __future__ import annotations

from datetime import date, datetime

import polars as pl
import pytest

from pellucid._utils.notices import command_line, notices_to
from pellucid.tables.column_formats import ColumnFormat
from pellucid.tables.reading import ReadingOptions, parse_columns


def parse(*, default_decimal=".", decimal=None, na=None, known_markers=(), **columns):
    """The parsed columns and the notices."""
    said = []
    with command_line(), notices_to(said.append):
        options, hints = ReadingOptions(decimal=decimal, na=na), ReadingOptions(na=known_markers)
        found = parse_columns(pl.DataFrame(columns), options, hints, default_decimal)
    return found, said


@pytest.mark.parametrize(
    ("texts", "numbers", "prefix", "suffix"),
    [
        (["1", "2", "-3"], [1, 2, -3], "", ""),
        ([" 1.5", "2.5 ", "\t3.5"], [1.5, 2.5, 3.5], "", ""),
        (["$15,000", "$7", "-$1,234.50"], [15000, 7, -1234.5], "$", ""),
        (["15 €", "7 €", "1,234.5 €"], [15, 7, 1234.5], "", " €"),
        (["USD 15", "USD 7.25"], [15, 7.25], "USD ", ""),
        (["39%", "4.5%"], [39, 4.5], "", "%"),
        (["39 %", "4.5 %"], [39, 4.5], "", " %"),
        (["50 kg", "61.5 kg"], [50, 61.5], "", " kg"),
        (["39,1", "40,25"], [39.1, 40.25], "", ""),
        (["1.234,5", "2.000.000,25"], [1234.5, 2000000.25], "", ""),
        (["1 234,5", "2\u00a0000 000,25"], [1234.5, 2000000.25], "", ""),
        (["1'234.5", "2’000'000.25"], [1234.5, 2000000.25], "", ""),
        (["1,234.5", "1,00,000.25"], [1234.5, 100000.25], "", ""),
        (["(12.5)", "3.5", "−7.5"], [-12.5, 3.5, -7.5], "", ""),
        (["1e3", "2.5E-1"], [1000, 0.25], "", ""),
        ([".5", "1."], [0.5, 1], "", ""),
        (["+5", "-3"], [5, -3], "", ""),
    ],
)
def test_numbers(texts, numbers, prefix, suffix):
    found, _ = parse(x=texts)
    assert found.table["x"].to_list() == pytest.approx(numbers)
    assert found.table["x"].dtype.is_numeric()
    assert (found.formats["x"].prefix, found.formats["x"].suffix) == (prefix, suffix)


@pytest.mark.parametrize(
    "texts",
    [
        ["00501", "10001", "94105"],
        ["+4930123456", "+4930123457"],
        [str(10**19 + i) for i in range(3)],
        ["A1", "A2", "A3"],
        ["12:30", "13:45"],
        ["1.2.3", "1.2.4"],
        ["1-2", "3-4"],
        ["1st", "2nd"],
        ["192.168.0.1", "10.0.0.1"],
        ["5 m", "6 kg", "7 km"],
        ["$5", "€6", "£7", "$8"],
        ["1,2,3", "4,5,6"],
    ],
)
def test_texts_with_digits_that_are_no_numbers(texts):
    found, _ = parse(x=texts)
    assert found.table["x"].to_list() == texts


def test_codes_are_reported():
    assert parse(zip=["00501", "10001"])[1] == ["kept as text, because the digits are codes: zip"]


def test_one_number_with_a_leading_zero_is_no_code():
    texts = [str(i) for i in range(1, 300)] + ["007"]
    assert parse(x=texts)[0].table["x"].to_list()[-1] == 7


@pytest.mark.parametrize("n_stray", [10, 11])
def test_at_least_90_percent_of_the_present_values_must_be_numbers(n_stray):
    numbers = [f"{i}.5" for i in range(100 - n_stray)]
    found, said = parse(x=numbers + ["3750g"] * n_stray + ["NA"] * 50 + [None] * 50)
    if n_stray == 11:
        assert found.table["x"].dtype == pl.String
        return
    assert found.table["x"].null_count() == 110
    # Programs write NA for a missing number; only the others need a line.
    assert said == ['x: 10 values are not numbers ("3750g"); treated as missing']


@pytest.mark.parametrize("marker", ["NA", "na", "NaN", "null", "NULL", "<NA>", "NaT"])
def test_standard_markers_need_no_line(marker):
    found, said = parse(x=[f"{i}.5" for i in range(20)] + [marker] * 3)
    assert found.table["x"].null_count() == 3
    assert said == []


@pytest.mark.parametrize(
    "marker",
    ["-", "n/a", "N/A", "#N/A", ".", "?", "None", "Unknown", "missing", "#DIV/0!"],
)
def test_markers_of_missing_values_in_a_column_of_numbers(marker):
    found, said = parse(mass=["1.5", marker, "2.5", marker])
    assert found.table["mass"].to_list() == [1.5, None, 2.5, None]
    assert said == [f'mass: 2 values are not numbers ("{marker}"); treated as missing']


def test_columns_with_the_same_markers_share_a_line():
    _, said = parse(a=["1.5", "-"], b=["-", "2.5"])
    assert said == ['a, b: 1 value each is not a number ("-"); treated as missing']


def test_nan_and_empty_fields_need_no_notice():
    found, said = parse(a=["1.5", "NaN", "", " ", "nan"], b=[1.5, float("nan"), 1, 2, 3])
    assert found.table["a"].null_count() == 4
    assert found.table["b"].null_count() == 1
    assert said == []


def test_infinite_numbers_are_missing():
    found, said = parse(a=[1.5, float("inf")], b=["1.5", "inf"])
    assert found.table["a"].to_list() == [1.5, None]
    assert 'a: 1 value is not a finite number ("inf"); treated as missing' in said


def test_words_in_text_columns_are_values():
    columns = {"discount": ["None", "Gold"], "option": ["-", "Yes"], "region": ["NA", "EU"]}
    found, said = parse(x=[1.5, 2.5], **columns)
    assert found.table.select(list(columns)).to_dict(as_series=False) == columns
    assert said == []


def test_a_marker_in_numbers_is_a_marker_in_text_too():
    found, said = parse(x=["1.5", "NA", "3.5"], sex=["m", "NA", "f"], deal=["None", "Gold", "NA"])
    assert found.table["sex"].to_list() == ["m", None, "f"]
    assert found.table["deal"].to_list() == ["None", "Gold", None]
    assert found.na == ("NA",)
    assert 'treated as missing: "NA" in sex (1), deal (1) (--na to change)' in said
    found, _ = parse(x=["1.5", "None", "3.5"], deal=["None", "Gold", "None"])
    assert found.table["deal"].null_count() == 0  # a word stays a value


def test_spellings_that_are_no_words_are_missing_in_text():
    found, said = parse(work=["Private", "?", "Gov"], x=["a", "NULL", "b"])
    assert found.table["work"].null_count() == found.table["x"].null_count() == 1
    assert said == [
        'treated as missing: "?" in work (1) (--na to change)',
        'treated as missing: "NULL" in x (1) (--na to change)',
    ]


def test_given_markers_replace_the_rules():
    found, said = parse(na=("Gold",), deal=["None", "Gold", "?"], x=["1.5", "Gold", "2.5"])
    assert found.table["deal"].to_list() == ["None", None, "?"]
    assert found.table["x"].to_list() == [1.5, None, 2.5]
    assert said == []


def test_markers_of_a_model():
    found, _ = parse(known_markers=("NA",), sex=["m", "NA"])
    assert found.table["sex"].to_list() == ["m", None]


def test_the_decimal_sign_is_decided_by_all_columns():
    found, said = parse(a=["1,234", "5,678"], b=["0,5", "39,1"])
    assert found.table["a"].to_list() == [1.234, 5.678]
    assert found.decimal == ","
    assert said[0] == "numbers have a decimal comma (--decimal to change)"
    found, said = parse(a=["1,234", "5,678"], b=["0.5", "39.1"])
    assert found.table["a"].to_list() == [1234, 5678]
    assert said == ['read as numbers: a ("1,234" is 1234)']
    found, _ = parse(a=["1.234", "5.678"], b=["0,5", "39,1"])
    assert found.table["a"].to_list() == [1234, 5678]


def test_an_undecided_decimal_sign_is_reported():
    found, said = parse(a=["1,234", "5,678"])
    assert found.table["a"].to_list() == [1234, 5678]
    assert said == ['read as numbers: a ("1,234" is 1234; --decimal , reads it differently)']
    found, said = parse(a=["1,234", "5,678"], default_decimal=",")
    assert found.table["a"].to_list() == [1.234, 5.678]
    assert said[1] == 'read as numbers: a ("1,234" is 1.234; --decimal . reads it differently)'


def test_a_given_decimal_sign():
    found, _ = parse(a=["1,234", "5,678"], decimal=",")
    assert found.table["a"].to_list() == [1.234, 5.678]


def test_percent_and_plain_numbers_do_not_mix():
    found, said = parse(x=["39%"] * 19 + ["0.39"])
    assert found.table["x"].to_list() == [39] * 19 + [None]
    assert 'x: 1 value is not a number ("0.39"); treated as missing' in said
    assert parse(x=["$5"] * 19 + ["7"])[0].table["x"].to_list()[-1] == 7


def test_integers_floats_and_years():
    found, _ = parse(n=["1", "2", "NA"], f=["1.0", "2.0", "3.0"], year=["1999", "2000", "2001"])
    assert [str(each) for each in found.table.dtypes] == ["Int64", "Float64", "Int64"]
    assert [found.formats[name].kind for name in ("n", "f", "year")] == [
        "integer",
        "number",
        "year",
    ]


@pytest.mark.parametrize(
    ("texts", "date_format"),
    [
        (["2020-12-31", "2021-01-02"], "%Y-%m-%d"),
        (["2020/12/31", "2021/1/2"], "%Y/%m/%d"),
        (["31.12.2020", "02.01.2021"], "%d.%m.%Y"),
        (["31.12.20", "2.1.21"], "%d.%m.%y"),
        (["12/31/2020", "01/02/2021"], "%m/%d/%Y"),
        (["31/12/2020", "02/01/2021"], "%d/%m/%Y"),
        (["31-12-2020", "02-01-2021"], "%d-%m-%Y"),
        (["Dec 31 2020", "Jan 2 2021"], "%b %d %Y"),
        (["December 31, 2020", "January 2, 2021"], "%B %d, %Y"),
        (["31 Dec 2020", "2 Jan 2021"], "%d %b %Y"),
        (["31-Dec-20", "02-Jan-21"], "%d-%b-%y"),
    ],
)
def test_dates(texts, date_format):
    found, said = parse(d=texts)
    assert found.table["d"].to_list() == [date(2020, 12, 31), date(2021, 1, 2)]
    assert found.formats["d"] == ColumnFormat("date", date_format=date_format)
    assert [datetime.strptime(each, date_format).date() for each in texts] == list(found.table["d"])
    assert len(said) == 1
    assert said[0].startswith("read as dates: d (")


@pytest.mark.parametrize(
    ("text", "value", "date_format"),
    [
        ("2020-12-31 14:30", datetime(2020, 12, 31, 14, 30), "%Y-%m-%d %H:%M"),
        ("2020-12-31T14:30:05", datetime(2020, 12, 31, 14, 30, 5), "%Y-%m-%dT%H:%M:%S"),
        (
            "2020-12-31 14:30:05.25",
            datetime(2020, 12, 31, 14, 30, 5, 250000),
            "%Y-%m-%d %H:%M:%S.%f",
        ),
        ("12/31/2020 2:30 PM", datetime(2020, 12, 31, 14, 30), "%m/%d/%Y %I:%M %p"),
        ("2020-12-31T14:30:05+02:00", datetime(2020, 12, 31, 12, 30, 5), "%Y-%m-%dT%H:%M:%S%z"),
        ("2020-12-31T14:30:05Z", datetime(2020, 12, 31, 14, 30, 5), "%Y-%m-%dT%H:%M:%S%z"),
    ],
)
def test_times(text, value, date_format):
    found, _ = parse(d=[text, text])
    assert found.table["d"].to_list() == [value, value]
    assert found.formats["d"] == ColumnFormat("datetime", date_format=date_format)
    datetime.strptime(text, date_format)


def test_months_and_dates_in_digits():
    found, _ = parse(m=["2020-01", "2020-02"], d=[20200131, 20200201], n=[20200131, 20209999])
    assert found.table["m"].to_list() == [date(2020, 1, 1), date(2020, 2, 1)]
    assert found.table["d"].to_list() == [date(2020, 1, 31), date(2020, 2, 1)]
    assert found.table["n"].dtype == pl.Int64


def test_the_order_of_day_and_month():
    found, said = parse(d=["01/02/2020", "03/04/2020"])
    assert found.formats["d"].date_format == "%m/%d/%Y"
    assert "month before day is assumed" in said[0]
    found, said = parse(d=["01/02/2020", "03/04/2020"], x=["0,5", "1,5"])
    assert found.formats["d"].date_format == "%d/%m/%Y"
    assert "day before month is assumed" in said[1]
    found, said = parse(d=["01/02/2020", "03/04/2020"], e=["13/02/2020", "01/04/2020"])
    assert found.formats["d"].date_format == "%d/%m/%Y"
    assert "assumed" not in said[0]


def test_dates_of_several_formats_are_text_and_a_few_strays_are_missing():
    mixed = ["2020-12-31"] * 8 + ["31.12.2020"] * 2
    assert parse(d=mixed)[0].table["d"].dtype == pl.String
    times = ["2020-12-31"] * 4 + ["2020-12-31 14:30"] * 3 + ["2020-12-31T14:30"] * 3
    assert parse(d=times)[0].table["d"].dtype == pl.String
    found, said = parse(d=["2020-12-31"] * 19 + ["soon", "NA"])
    assert found.table["d"].null_count() == 2
    assert 'd: 1 value is not a date ("soon"); treated as missing' in said


def test_impossible_dates():
    assert parse(d=["2020-13-45", "2020-99-99"])[0].table["d"].dtype == pl.String


def test_booleans():
    found, said = parse(a=["True", "false", None], b=["TRUE", "FALSE", "NA"], x=["1.5", "NA", "2"])
    assert found.table["a"].to_list() == [True, False, None]
    assert found.table["b"].to_list() == [True, False, None]
    assert parse(c=["yes", "no"])[0].table["c"].dtype == pl.String
    assert said == ['treated as missing: "NA" in b (1) (--na to change)']


def test_blanks_around_texts():
    found, said = parse(island=[" Biscoe", "Dream ", "Biscoe"])
    assert found.table["island"].to_list() == ["Biscoe", "Dream", "Biscoe"]
    assert said == ["blanks around fields are removed"]


def test_columns_of_one_kind_of_marker_stay_text():
    assert parse(x=["-", "-"])[0].table["x"].to_list() == ["-", "-"]
    assert parse(x=[None, None, ""])[0].table["x"].null_count() == 3
