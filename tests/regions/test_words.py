"""Words of columns, boxes and stumps."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from pellucid.regions.answer_regions import describe_support
from pellucid.regions.classifiers import Stump
from pellucid.regions.words import ColumnName, describe_box, describe_interval, format_of
from pellucid.tables.column_formats import ColumnFormat
from pellucid.tables.encoding import Indicator


@pytest.mark.parametrize(
    ("lower", "upper", "text"),
    [
        ([13.5, 0.4], [25, 1.3], "13.5 < x1 ≤ 25 and 0.4 < x7 ≤ 1.3"),
        ([-np.inf, 0.4], [25, np.inf], "x1 ≤ 25 and x7 > 0.4"),
        ([-np.inf, -np.inf], [np.inf, 2], "x7 ≤ 2"),
        ([-np.inf, -np.inf], [np.inf, np.inf], "everywhere"),
    ],
)
def test_box_text(lower, upper, text):
    assert describe_box(lower, upper, ["x1", "x7"]) == text


def test_interval_of_an_indicator():
    assert describe_interval(0.0, np.inf, Indicator("island", "Dream")) == "island is Dream"


def test_support_text():
    assert describe_support(13.0, False) == "13 rows"
    assert describe_support(1881.7234, True) == "weight 1,881.72"


def test_a_name_with_a_format_writes_values():
    assert ColumnName("signup", ColumnFormat("date")).written.text(18701.0) == "2021-03-15"


def test_the_condition_of_a_stump_on_a_date_is_a_date():
    stump = Stump(0, 18701.0, 0, 1)
    names = [ColumnName("day", ColumnFormat("date"))]
    assert stump.reason(0, names, np.array(["a", "b"])) == "where day ≤ 2021-03-15"
    assert stump.reason(1, ["day"], np.array(["a", "b"])) == "where day > 18701"


def test_names_with_formats_survive_copies():
    name = ColumnName("day", ColumnFormat("date"))
    for again in (pickle.loads(pickle.dumps(name)), copy.deepcopy(name)):
        assert again == "day"
        assert format_of(again).kind == "date"
