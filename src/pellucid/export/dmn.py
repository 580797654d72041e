"""Export to DMN: a decision table, which business rule engines run and people read as a table."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

import numpy as np

from pellucid._utils.estimators import documented
from pellucid.explanation.region_list import RegionList
from pellucid.export._values import exported, exported_rules, plain_category, plain_labels
from pellucid.tables.column_formats import ColumnFormat
from pellucid.tables.encoding import ColumnNames, Indicator, column_of, columns_of

NAMESPACE = "https://www.omg.org/spec/DMN/20191111/MODEL/"
"""That of DMN 1.3, which engines of today read."""

_Row = tuple[Any, list[tuple[str | Indicator, float, float]]]  # cluster and intervals of a rule


@documented
def to_dmn(model: Any, *, column: str = "cluster", feature_names: ColumnNames | None = None) -> str:
    """Export a model as a decision table in DMN 1.3.

    A tree is a table of which one rule applies (hit policy ``UNIQUE``). Rules of a set, and regions
    that are boxes, are tried in order (``FIRST``).

    Parameters
    ----------
    {any_model}
    column : str, default="cluster"
        Name of the result.
    {feature_names}

    Returns
    -------
    str
        The XML text.

    Notes
    -----
    A row without a value in a column that a rule tests does not match the rule. Replace missing
    values first if the model has replacements for them (`fill_`). Thresholds are decimal numbers,
    while `predict` compares binary ones; they are equal up to the 17th digit.

    Examples
    --------
    >>> from pellucid import IMM
    >>> from pellucid.export import to_dmn
    >>> text = to_dmn(IMM().fit([[0.0], [1.0], [9.0]], ["low", "low", "high"]))
    >>> "&lt;= 5" in text and "UNIQUE" in text
    True
    """
    found = exported(model, feature_names)
    formats = found.formats_
    labels = plain_labels(found)
    rows: list[_Row] = []
    for rule in exported_rules(found):
        if rule.shapes is not None and not rule.is_box:
            kind = rule.shapes.kind
            raise ValueError(f"regions of the kind {kind!r} have no decision table; use boxes")
        rows.append((labels[rule.cluster], rule.tests))
    if isinstance(found, RegionList) and found.default_ is not None:
        rows.append((labels[found.default_], []))
    columns = columns_of(name for _, tests in rows for name, _, _ in tests)
    root = Element("definitions", xmlns=NAMESPACE, id="definitions", name=column)
    root.set("namespace", "pellucid")
    answer = _kind([label for label, _ in rows])
    decision = Element("decision", id="decision", name=column)
    SubElement(decision, "variable", id="variable", name=column, typeRef=answer)
    policy = "FIRST" if isinstance(found, RegionList) else "UNIQUE"
    table = Element("decisionTable", id="table", hitPolicy=policy)
    for number, name in enumerate(columns, 1):
        kind = _type(name, rows, formats)
        given = SubElement(root, "inputData", id=f"input_{number}", name=name)
        SubElement(given, "variable", id=f"variable_{number}", name=name, typeRef=kind)
        needed = SubElement(decision, "informationRequirement", id=f"requirement_{number}")
        SubElement(needed, "requiredInput", href=f"#input_{number}")
        clause = SubElement(table, "input", id=f"clause_{number}", label=name)
        form = SubElement(clause, "inputExpression", id=f"expression_{number}", typeRef=kind)
        is_plain = name.replace("_", "a").replace(" ", "a").isalnum() and not name[0].isdigit()
        SubElement(form, "text").text = name if is_plain else f"`{name}`"
    decision.append(table)
    root.append(decision)
    SubElement(table, "output", id="output", name=column, typeRef=answer)
    for number, (label, tests) in enumerate(rows, 1):
        rule_id = f"rule_{number}"
        written = SubElement(table, "rule", id=rule_id)
        for position, name in enumerate(columns, 1):
            entry = SubElement(written, "inputEntry", id=f"{rule_id}_input_{position}")
            own = [test for test in tests if column_of(test[0]) == name]
            SubElement(entry, "text").text = _test(own, formats.get(name))
        result = SubElement(written, "outputEntry", id=f"{rule_id}_output")
        SubElement(result, "text").text = _literal(label)
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, "unicode") + "\n"


def _test(tests: list[tuple[str | Indicator, float, float]], written: ColumnFormat | None) -> str:
    """The unary test of FEEL that a value of one column must pass."""
    if not tests:
        return "-"
    categories = [(name, low >= 0) for name, low, _ in tests if isinstance(name, Indicator)]
    if categories:
        is_included = any(holds for _, holds in categories)
        names = (name for name, holds in categories if holds == is_included)
        texts = (_literal(plain_category(name.column, name.value)) for name in names)
        listed = ", ".join(dict.fromkeys(texts))
        return listed if is_included else f"not({listed})"
    _, low, high = tests[0]
    if np.isinf(low):
        return f"<= {_number(high, written)}"
    first = _number(low, written)
    return f"> {first}" if np.isinf(high) else f"({first}..{_number(high, written)}]"


def _number(value: float, written: ColumnFormat | None) -> str:
    """A number or a date in FEEL."""
    if written is None or not written.is_date:
        return repr(int(value)) if float(value).is_integer() else np.format_float_positional(value)
    moment = datetime(1970, 1, 1) + timedelta(days=value)
    if float(value).is_integer():
        return f'date("{moment.date().isoformat()}")'
    return f'date and time("{moment.isoformat(timespec="seconds")}")'


def _literal(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        return f'"{escaped}"'
    return repr(value)


def _kind(values: list[Any]) -> str:
    kinds = {type(value) for value in values}
    return "boolean" if kinds == {bool} else "string" if str in kinds else "number"


def _type(name: str, rows: list[_Row], formats: dict[str, ColumnFormat]) -> str:
    """The type of a column."""
    described = [test[0] for _, tests in rows for test in tests if column_of(test[0]) == name]
    if isinstance(described[0], Indicator):
        values = [each.value for each in described if isinstance(each, Indicator)]
        return _kind([plain_category(name, v) for v in values if v is not None])
    written = formats.get(name)
    if written is not None and written.is_date:
        return "date" if written.kind == "date" else "dateTime"
    return "number"
