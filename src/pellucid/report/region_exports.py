"""Regions as a model file and as SQL, for the page."""

from __future__ import annotations

import copy
import json
from typing import Any

import numpy as np

from pellucid.eop.region_list import RegionList
from pellucid.report.trees import describe_dialects, label_mark, marked_sql

_LONGEST = 150_000
"""Characters of the model file, and of all SQL together, that a page contains."""


def describe_exports(model: Any) -> dict[str, Any]:
    """The model file and the SQL of regions; empty for those that cannot be exported.

    Parameters
    ----------
    model : fitted EOP model, RegionList or None
    """
    empty: dict[str, Any] = {"model": None, "sqlDialects": {}, "sql": {}}
    if model is None:
        return empty
    try:
        regions = RegionList.of(model)
        document = regions.to_dict()
    except (TypeError, ValueError):
        return empty
    marked = copy.copy(regions)
    marks = [label_mark(i) for i in range(len(regions.classes_))]
    marked.classes_ = np.array(marks, dtype=object)
    sql = marked_sql(marked, marks)
    is_short = len(json.dumps(document)) <= _LONGEST
    return {
        "model": document if is_short else None,
        "sqlDialects": describe_dialects(regions.classes_.tolist()),
        "sql": sql if sum(map(len, sql.values())) <= _LONGEST else {},
    }
