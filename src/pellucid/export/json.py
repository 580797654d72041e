"""Export to JSON and import from it; the model is restored bit for bit.

A document is checked against ``explanation.schema.json`` or ``regions.schema.json`` first. Limits
of its size make sure that reading ends within seconds.
"""

from __future__ import annotations

import json
import math
import os
from collections import Counter
from typing import Any

import numpy as np

from pellucid._utils.estimators import documented
from pellucid._utils.texts import one_line
from pellucid._version import __version__
from pellucid.explanation.explanation import Explanation
from pellucid.explanation.region_list import RegionList
from pellucid.export._values import exported, plain_category, plain_labels, plain_value
from pellucid.export.json_reading import REGION_FIELDS, VERSION, check_reading, read_document
from pellucid.regions.levels import ListLevel
from pellucid.tables.encoding import ColumnNames, Indicator

MAX_BYTES = 2**26
"""Size of a document that is read."""

_MOST_DIGITS = 400  # digits of an integer; a float64 has at most 309 before the point


@documented
def to_dict(model: Any, *, feature_names: ColumnNames | None = None) -> dict[str, Any]:
    """Export a model as dictionaries, lists, strings and numbers, in the form of `to_json`.

    Parameters
    ----------
    {any_model}
    {feature_names}

    Returns
    -------
    dict
        Lists, dictionaries, texts and numbers.

    Examples
    --------
    >>> from pellucid import IMM
    >>> from pellucid.export import to_dict
    >>> document = to_dict(IMM(2, random_state=0).fit([[0.0], [1.0], [9.0]]))
    >>> document["nodes"][0]
    {'feature': 0, 'threshold': 5.0, 'left': 1, 'right': 2, 'rows': 3, 'weight': 3.0}
    """
    found = exported(model, feature_names)
    return _regions(found) if isinstance(found, RegionList) else _explanation(found)


@documented
def to_json(
    model: Any, *, feature_names: ColumnNames | None = None, indent: int | None = None
) -> str:
    """Export a model as JSON; `from_json` reads it.

    Parameters
    ----------
    {any_model}
    {feature_names}
    indent : int, optional
        Number of spaces to indent by; by default everything is on one line.

    Returns
    -------
    str
        To be written as UTF-8. The page on exports describes the format.

    Examples
    --------
    >>> from pellucid import IMM, from_json
    >>> X = [[0.0], [1.0], [9.0]]
    >>> text = IMM().fit(X, ["low", "low", "high"]).to_json()
    >>> from_json(text).predict([[4.0], [6.0]])
    array(['low', 'high'], dtype='<U4')
    """
    document = to_dict(model, feature_names=feature_names)
    text = json.dumps(document, ensure_ascii=False, allow_nan=False, indent=indent)
    try:
        text.encode()
    except UnicodeEncodeError:
        # A lone surrogate in a name has no UTF-8 form, but JSON can escape it.
        text = json.dumps(document, allow_nan=False, indent=indent)
    return text


def from_json(
    source: str | bytes | os.PathLike[str], *, max_bytes: int = MAX_BYTES
) -> Explanation | RegionList:
    """Read a model that `to_json` wrote.

    The document is data and never executed. Every value is checked against the schema; an error
    names the place.

    Parameters
    ----------
    source : str, bytes or path
        The JSON itself, or, as a ``pathlib.Path``, the file that holds it.
    max_bytes : int, default=2**26
        Largest size of the document. Reading takes about ten times as much memory.

    Returns
    -------
    Explanation or RegionList
        Predicts, explains and exports as the model did, without the training data. A file of
        regions (format ``"pellucid.regions"``) gives a
        :class:`~pellucid.explanation.region_list.RegionList`.

    See Also
    --------
    from_sklearn : Read a fitted tree of scikit-learn.
    ThresholdTree : The tree of a model that was read.

    Examples
    --------
    >>> from pellucid import from_json
    >>> from_json('{"format": "pellucid.explanation", "version": 1, "clusters": "a"}')
    Traceback (most recent call last):
        ...
    ValueError: not an explanation: made_by is missing
    """
    if isinstance(source, os.PathLike):
        with open(source, "rb") as file:
            source = file.read(max_bytes + 1)
    if len(source) > max_bytes:
        raise ValueError(
            f"not an explanation: it has more than {max_bytes:,} bytes; max_bytes raises the limit"
        )
    repeated: list[tuple[dict[str, Any], str]] = []

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            counts = Counter(key for key, _ in pairs)
            repeated.append((found, next(key for key, n in counts.items() if n > 1)))
        return found

    try:
        document = json.loads(
            source, parse_constant=_refuse_constant, parse_int=_integer, object_pairs_hook=once
        )
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise ValueError(f"not JSON: {error.msg} at {place}") from None
    except UnicodeDecodeError:
        raise ValueError("not JSON: the bytes are not valid UTF-8") from None
    except RecursionError:
        raise ValueError("not an explanation: it is nested too deeply") from None
    if repeated:
        place = _place_of(*repeated[0], document)
        raise ValueError(one_line(f"not an explanation: {place} appears twice"))
    return from_dict(document)


def from_dict(document: dict[str, Any]) -> Explanation | RegionList:
    """Restore the explanation that `to_dict` wrote, with the checks of `from_json`.

    Parameters
    ----------
    document : dict
        What :func:`to_dict` returns.

    Returns
    -------
    Explanation or RegionList
        The model.
    """
    try:
        return read_document(document)
    except ValueError as error:
        raise ValueError(one_line(str(error))) from None


def _explanation(explanation: Explanation) -> dict[str, Any]:
    described = explanation.tree_columns_
    is_named = hasattr(explanation, "feature_names_in_")
    names = explanation.feature_names_in_.tolist() if is_named else None
    return {
        "format": "pellucid.explanation",
        "version": VERSION,
        "made_by": f"pellucid {__version__}",
        "method": explanation.method_,
        "n_columns": explanation.n_features_in_,
        "columns": names,
        "features": list(map(_feature, described)) if names not in (None, described) else None,
        "fill": _fill(explanation),
        "clusters": plain_labels(explanation),
        "nodes": _nodes(explanation),
        **_optional(explanation, described, explanation.reading_),
    }


def _regions(regions: RegionList) -> dict[str, Any]:
    columns = [str(name) for name in regions.feature_names_in_.tolist()]
    return {
        "format": "pellucid.regions",
        "version": VERSION,
        "made_by": __version__,
        "n_columns": len(columns),
        "columns": columns,
        "features": [_feature(name) for name in regions.names_],
        "fill": _fill(regions),
        "clusters": plain_labels(regions),
        "default": regions.default_,
        "rows": regions.total_,
        "levels": [_level(level) for level in regions.levels_],
        **_optional(regions, regions.names_, regions.reading_ or None),
    }


def _feature(name: str | Indicator) -> str | dict[str, Any]:
    if not isinstance(name, Indicator):
        return str(name)
    return {"column": name.column, "is": plain_category(name.column, name.value)}


def _fill(model: Explanation | RegionList) -> dict[str, Any] | None:
    fill = model.fill_.items()
    return {c: plain_value(v, f"what fills column {c!r}") for c, v in fill} or None


def _optional(
    model: Explanation | RegionList, names: ColumnNames, reading: dict[str, Any] | None
) -> dict[str, Any]:
    """Keys that are written only if they have a value."""
    categories = {
        name.column: [plain_category(name.column, value) for value in name.categories]
        for name in names
        if isinstance(name, Indicator) and name.categories
    }
    found: dict[str, Any] = {"categories": categories} if categories else {}
    if model.formats_:
        found["formats"] = {c: written.as_dict() for c, written in model.formats_.items()}
    if reading is not None:
        check_reading(reading)
        found["reading"] = reading
    return found


def _nodes(explanation: Explanation) -> list[dict[str, Any]]:
    tree = explanation.tree_
    rules = {rule.leaf: rule for rule in explanation._leaf_rules}
    nodes: list[dict[str, Any]] = []
    for node in range(tree.node_count):
        if node in rules:
            purity, noise = rules[node].purity, rules[node].n_noise
            entry: dict[str, Any] = {"cluster": int(tree.cluster[node])}
            entry["purity"] = None if math.isnan(purity) else purity
            entry |= {"noise": noise} if noise else {}
        else:
            left, right = int(tree.children_left[node]), int(tree.children_right[node])
            entry = {"feature": int(tree.feature[node]), "threshold": float(tree.threshold[node])}
            entry |= {"left": left, "right": right}
        entry["rows"] = int(tree.n_node_samples[node])
        entry["weight"] = float(tree.weighted_n_node_samples[node])
        nodes.append(entry)
    return nodes


def _level(level: ListLevel) -> dict[str, Any]:
    stump, shape = level.classifier, level.regions
    regions = []
    for i in range(len(shape)):
        numbers = zip(REGION_FIELDS[shape.kind], shape.numbers(i))
        # The infinite ends of boxes are None.
        entry: dict[str, Any] = {
            name: [v if isinstance(v, list) or math.isfinite(v) else None for v in values.tolist()]
            for name, values in numbers
        }
        counts = level.counts[i]
        pairs = np.argwhere(counts > 0).tolist()
        entry["counts"] = [[*pair, float(counts[*pair])] for pair in pairs]
        regions.append(entry)
    split = {"feature": int(stump.position), "threshold": float(stump.threshold)}
    answers = {"at_most": int(stump.at_most), "above": int(stump.above)}
    return {
        "features": [int(feature) for feature in level.features],
        "stump": {**split, **answers},
        "shape": shape.kind,
        "regions": regions,
    }


def _refuse_constant(word: str) -> None:
    raise ValueError(f"not JSON: {word} is not a number")


def _integer(text: str) -> int | float:
    """An integer; one that no float64 can hold is infinite, which is refused with its place."""
    return int(text) if len(text) <= _MOST_DIGITS else math.copysign(math.inf, float(text))


def _place_of(wanted: dict[str, Any], key: str, document: Any) -> str:
    """Place of the key that an object of a document has twice."""
    stack = [(document, "")]
    while stack:
        value, place = stack.pop()
        at = f"{place}." if place else ""
        if value is wanted:
            return f"{at}{key}"
        if isinstance(value, dict):
            stack.extend((part, f"{at}{name}") for name, part in value.items())
        elif isinstance(value, list):
            stack.extend((part, f"{place}[{i}]") for i, part in enumerate(value))
    return repr(key)  # inside a value that was itself given twice
