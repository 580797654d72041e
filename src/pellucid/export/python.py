"""Export to the source of a Python function without dependencies."""

from __future__ import annotations

import keyword
from collections.abc import Sequence
from typing import Any

import numpy as np

from pellucid._utils.estimators import documented
from pellucid.explanation.explanation import Explanation
from pellucid.explanation.region_list import RegionList
from pellucid.export._values import (
    exported,
    exported_rules,
    plain_category,
    plain_labels,
    replaced_values,
)
from pellucid.tables.column_formats import PLAIN, ColumnFormat
from pellucid.tables.encoding import ColumnNames, Indicator, columns_of
from pellucid.tree import ThresholdTree

_INDENT = "    "
_USED_NAMES = ("ValueError", "bool", "dict", "float", "int", "isinstance", "str")
"""Builtins that the function uses."""


@documented
def to_python(
    model: Any, *, name: str = "cluster_of", feature_names: ColumnNames | None = None
) -> str:
    """Export a model as the source of a function that returns the cluster of one row.

    The function takes a mapping from the names of the columns to their values, such as a row of
    ``csv.DictReader``, and needs only the columns that the model uses. A missing number, NaN or an
    infinity raises a ValueError that names the column, as in `predict`. A missing category (None
    or NaN) is a category like any other. The function of an explanation of a table, as of
    :func:`pellucid.explain`, also reads numbers and booleans that are categories from text, and
    compares other values with texts by their text. A column of dates (`formats_`) accepts
    ``datetime.date``, ``datetime.datetime``, strings in the format of the column or in ISO format,
    and days since 1970-01-01. A row in no region has None if there is no default cluster.

    Parameters
    ----------
    {any_model}
    name : str, default="cluster_of"
        Name of the function.
    {feature_names}

    Returns
    -------
    str
        The source of the function.

    Notes
    -----
    Sums of products may be rounded differently from `predict`: a row within about 1e-15,
    relatively, of the boundary of an ellipse or polyhedron may be on its other side.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from pellucid import IMM
    >>> model = IMM(3, random_state=0).fit(load_iris(as_frame=True).data)
    >>> print(model.to_python())
    def cluster_of(row):
        number = {}
        for column in ('petal length (cm)',):
            value = number[column] = float('nan' if row[column] is None else row[column])
            if value - value != 0:
                raise ValueError(f'column {column!r} holds {row[column]!r}, not a finite number')
        if number['petal length (cm)'] <= 2.0:
            return 1
        if number['petal length (cm)'] <= 5.1:
            return 0
        return 2
    <BLANKLINE>
    """
    if not name.isidentifier() or keyword.iskeyword(name) or name in _USED_NAMES:
        raise ValueError(f"name is {name!r}, which is not a valid function name")
    found = exported(model, feature_names)
    body = _region_body(found) if isinstance(found, RegionList) else _tree_body(found)
    return "\n".join([f"def {name}(row):", *body]) + "\n"


def _tree_body(explanation: Explanation) -> list[str]:
    encoding = explanation.input_columns.encoding
    plain = [n for n, c in zip(encoding.input_names, encoding.is_categorical) if not c]
    fill = {n: v for n, v in explanation.fill_.items() if n in encoding.input_names}
    labels = plain_labels(explanation)
    answers = [repr(labels[cluster]) for cluster in explanation.tree_.cluster.tolist()]
    replaced = {n: dict(p) for n in encoding.input_names if (p := replaced_values(explanation, n))}
    return [
        *_category_statements(explanation),
        *(_indented(_REPLACE, "VALUES", repr(replaced)) if replaced else []),
        *_read_statements(plain, explanation.formats_, fill),
        *_statements(explanation, answers),
    ]


def _region_body(regions: RegionList) -> list[str]:
    labels = [repr(label) for label in plain_labels(regions)]
    columns = list(dict.fromkeys(n for n in regions.used_names if not isinstance(n, Indicator)))
    used = columns_of(regions.used_names)
    fill = {column: value for column, value in regions.fill_.items() if column in used}
    lines = _read_statements(columns, regions.formats_, fill)
    for rule in exported_rules(regions):
        names = [f"number[{name!r}]" for name in rule.names]
        tests = []
        for name, low, high in rule.tests:
            if isinstance(name, Indicator):
                tests.append(_is_category(name, low >= 0))
            else:
                tests += [f"number[{name!r}] > {low!r}"] if np.isfinite(low) else []
                tests += [f"number[{name!r}] <= {high!r}"] if np.isfinite(high) else []
        tests += rule.inequalities(names, repr)
        lines += [f"    if {' and '.join(tests) or 'True'}:"]
        lines += [f"        return {labels[rule.cluster]}"]
    default = "None" if regions.default_ is None else labels[regions.default_]
    return [*lines, f"    return {default}"]


def _category_statements(explanation: Explanation) -> list[str]:
    """Statements that read the categories of a table, which may be given as text or objects."""
    encoding = explanation.input_columns.encoding
    if explanation.reading_ is None or not any(encoding.is_categorical):
        return []
    by_kind: dict[str, list[str]] = {}
    for column, categories in explanation.input_columns.indicated.items():
        kinds = {type(each.value) for each in categories if each.value is not None}
        kind = "bool" if kinds == {bool} else "float" if kinds <= {int, float} else "str"
        if column in encoding.input_names:
            by_kind.setdefault(kind, []).append(column)
    lines = [f"{_INDENT}row = dict(row)"]
    for kind, names in by_kind.items():
        lines += _indented(_READ[kind], "COLUMNS", repr(names))
    return lines


_READ = {
    "str": """for column in COLUMNS:
    value = row[column]
    if value is not None and value == value:
        row[column] = str(int(value) if isinstance(value, float) and value % 1 == 0 else value)
        row[column] = row[column].strip() or None""",
    "bool": """for column in COLUMNS:
    if isinstance(row[column], str):
        text = row[column].strip()
        row[column] = {'true': True, 'false': False}.get(text.lower(), text or None)""",
    "float": """for column in COLUMNS:
    if isinstance(row[column], str):
        text = row[column].strip()
        try:
            row[column] = float(text)
        except ValueError:
            row[column] = text or None""",
}
"""Statements that read categories of each type."""


def _read_statements(
    columns: Sequence[str], formats: dict[str, ColumnFormat], fill: dict[str, Any]
) -> list[str]:
    """Statements that fill missing values and read the numeric columns as numbers."""
    known = {n: formats.get(n, PLAIN) for n in columns}
    numbers = [n for n in columns if not known[n].is_date]
    dates = {n: f.date_format or "%Y-%m-%d" for n, f in known.items() if f.is_date}
    lines = _indented(_FILL, "VALUES", repr(fill)) if fill else []
    if numbers:
        named = ", ".join(map(repr, numbers)) + ("," if len(numbers) == 1 else "")
        lines += _indented(_NUMBERS, "COLUMNS", named)
    if dates:
        lines += [] if numbers else [f"{_INDENT}number = {{}}"]
        lines += _indented(_DATES, "FORMATS", repr(dates))
    return lines


def _indented(statements: str, old: str, new: str) -> list[str]:
    """Lines of the function, with a word of the statements replaced."""
    return [f"{_INDENT}{line}" for line in statements.replace(old, new).split("\n")]


_REPLACE = """row = dict(row)
for column, values in VALUES.items():
    row[column] = values.get(row[column], row[column])"""

_FILL = """row = dict(row)
for column, value in VALUES.items():
    if row[column] is None or row[column] != row[column]:
        row[column] = value"""

_NUMBERS = """number = {}
for column in (COLUMNS):
    value = number[column] = float('nan' if row[column] is None else row[column])
    if value - value != 0:
        raise ValueError(f'column {column!r} holds {row[column]!r}, not a finite number')"""

_DATES = """from datetime import date, datetime, timedelta, timezone
for column, date_format in FORMATS.items():
    value = row[column]
    if isinstance(value, str):
        try:
            value = datetime.strptime(value.strip(), date_format)
        except ValueError:
            value = datetime.fromisoformat(value.strip().removesuffix('Z'))
    if isinstance(value, datetime) and value == value:
        if value.tzinfo is not None:
            value = value.astimezone(timezone.utc).replace(tzinfo=None)
        value = (value - datetime(1970, 1, 1)) / timedelta(days=1)
    elif isinstance(value, date) and value == value:
        value = value.toordinal() - 719163
    number[column] = value
    if not isinstance(value, (int, float)) or value - value != 0:
        raise ValueError(f'column {column!r} holds {row[column]!r}, not a date')"""


def _statements(explanation: Explanation, answers: list[str]) -> list[str]:
    """The tree as nested ``if`` statements that return.

    The code after an ``if`` is its other branch. Indenting the branch that needs fewer levels keeps
    a tree of a million leaves within twenty of them; Python allows one hundred.
    """
    tree, levels = explanation.tree_, _indentation_levels(explanation.tree_)
    lines: list[str] = []
    stack = [(0, 1)]
    while stack:
        node, depth = stack.pop()
        indent = _INDENT * depth
        if tree.children_left[node] < 0:
            lines.append(f"{indent}return {answers[node]}")
            continue
        left, right = int(tree.children_left[node]), int(tree.children_right[node])
        takes_left = levels[left] <= levels[right]
        described = explanation.tree_columns_[tree.feature[node]]
        if isinstance(described, Indicator):
            # Left of an indicator is where the category does not hold.
            condition = _is_category(described, not takes_left)
        else:
            sign = "<=" if takes_left else ">"
            condition = f"number[{described!r}] {sign} {float(tree.threshold[node])!r}"
        lines.append(f"{indent}if {condition}:")
        first, then = (left, right) if takes_left else (right, left)
        stack += [(then, depth), (first, depth + 1)]
    return lines


def _is_category(described: Indicator, holds: bool) -> str:
    """Whether a category holds, as a condition."""
    read = f"row[{described.column!r}]"
    if described.value is None:
        none = f"{read} is None or {read} != {read}"
        return none if holds else f"not ({none})"
    value = plain_category(described.column, described.value)
    return f"{read} {'==' if holds else '!='} {value!r}"


def _indentation_levels(tree: ThresholdTree) -> list[int]:
    """Levels of indentation that each subtree needs."""
    levels = [0] * tree.node_count
    for node in reversed(np.flatnonzero(~tree.is_leaf).tolist()):
        low, high = sorted((levels[tree.children_left[node]], levels[tree.children_right[node]]))
        levels[node] = max(high, low + 1)
    return levels
