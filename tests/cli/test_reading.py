"""Text is read the quick way wherever that gives what the slow way gives."""

from __future__ import annotations

import io

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pellucid.cli.reading import MISSING, _parse

WORDS = ("", "NA", "nan", "NaN", "?", "x", "none", "1", "2.5", "-3", "1e3", "inf", '""', '"NA"')


def slowly(content: bytes) -> pl.DataFrame:
    return pl.read_csv(io.BytesIO(content), infer_schema_length=None, null_values=list(MISSING))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=6), st.sampled_from(("1", "0.5", "t")))
def test_any_words_are_read_as_the_slow_way_reads_them(words, usual):
    lines = [f"{usual},{i}" for i in range(3)] + [f"{word},7" for word in words]
    content = ("a,b\n" + "\n".join(lines) + "\n").encode()
    found, expected = _parse(content, ",", False), slowly(content)
    assert found.equals(expected)
    assert found.schema == expected.schema


@pytest.mark.parametrize("late", ["NA", "2.5", "word", "nan", ""])
def test_what_comes_late_counts_as_much(late):
    content = ("a,b\n" + "1,1\n" * 1500 + f"{late},1\n").encode()
    found, expected = _parse(content, ",", False), slowly(content)
    assert found["a"].to_list() == expected["a"].to_list()


def test_a_number_that_is_written_as_nan_is_missing():
    table = _parse(b"a\n1.5\nNaN\n2.5\n", ",", False)
    assert table["a"].null_count() == 1
    assert not np.isnan(table["a"].drop_nulls().to_numpy()).any()
