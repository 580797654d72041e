"""Checks of a model in JSON that its schema cannot state; every error names the place.

`fastjsonschema` checks a document against the published schema. What is left here are relations
between parts of the document, such as children that exist, which a JSON Schema cannot state.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from pellucid.explanation.explanation import Explanation
from pellucid.explanation.region_list import RegionList
from pellucid.export.schema import (
    LARGEST,
    check_schema,
    kind_of,
    number,
    once,
    scalar,
    whole,
    wrong,
)
from pellucid.regions.classifiers import Stump
from pellucid.regions.levels import ListLevel
from pellucid.regions.shapes import SHAPES
from pellucid.tables.column_formats import ColumnFormat
from pellucid.tables.encoding import Indicator
from pellucid.tree import LEAF, ThresholdTree

FORMAT = "pellucid.explanation"
REGIONS_FORMAT = "pellucid.regions"
VERSION = 1

REGION_FIELDS = {
    "box": ("above", "at_most"),
    "polyhedron": ("vertices", "facets"),
    "ellipse": ("center", "matrix"),
}
"""Keys of a region by shape, in the order of the `fields` of the shapes."""

MAX_COUNTS = 10**7
"""Regions times clusters times clusters of a level, which is the size of its array of counts."""

MAX_DIM = 500
"""Features of an ellipse."""

_LONGEST_READING = 100_000
"""Characters of the key ``reading`` as JSON."""

MAX_COLUMNS = 10**6
"""Columns of a model."""

MAX_CLUSTERS = 10**5
"""Clusters of a model."""

MAX_CONDITIONS = 5 * 10**6
"""Splits on the paths to all leaves, which are the conditions of all rules."""

_MOST_LABEL_CHARACTERS = 2**24
"""Clusters times the length of the longest label, which is the size of their array."""


def read_document(document: Any) -> Explanation | RegionList:
    """Build the model of a document; a ValueError says what is missing, unknown or wrong."""
    if isinstance(document, dict) and document.get("format") == REGIONS_FORMAT:
        check_version(document, REGIONS_FORMAT, VERSION)
        check_schema(document, "regions")
        return _read_regions(document)
    check_version(document, FORMAT, VERSION)
    check_schema(document, "explanation")
    common = _read_common(document)
    names, n_columns = common["names"], document["n_columns"]
    described: Sequence[str | Indicator | None] = [None] * n_columns if names is None else names
    tree, purity, noise = _tree(document["nodes"], described, len(common["clusters"]))
    return Explanation(tree, purity=purity, noise=noise, method=document["method"], **common)


def _read_common(document: dict[str, Any]) -> dict[str, Any]:
    """What trees and regions have in common, as parameters of `Explanation`."""
    clusters = _clusters(document["clusters"])
    n_columns = whole(document["n_columns"], "n_columns", 1, MAX_COLUMNS)
    columns = document["columns"]
    if columns is not None:
        once(columns, "columns")
        if len(columns) != n_columns:
            raise wrong("n_columns", n_columns, f"{len(columns)}, the number of columns")
    categories = _categories(document.get("categories", {}), columns)
    names = _features(document["features"], columns, categories)
    fill = _fill(document["fill"], columns, names)
    known = [f"x{i}" for i in range(n_columns)] if columns is None else columns
    formats = _formats(document.get("formats", {}), known)
    reading = document.get("reading")
    if "reading" in document:
        check_reading(reading)
    return {
        "names": names,
        "clusters": clusters,
        "columns": columns,
        "fill": fill,
        "formats": formats,
        "reading": reading,
    }


def _read_regions(document: dict[str, Any]) -> RegionList:
    common = _read_common(document)
    clusters, default = common.pop("clusters"), document["default"]
    if default is not None:
        whole(default, "default", 0, len(clusters) - 1)
    levels = [
        _read_level(level, f"levels[{i}]", common["names"], len(clusters))
        for i, level in enumerate(document["levels"])
    ]
    total = number(document["rows"], "rows", 0)
    return RegionList(levels, classes=clusters, default=default, total=total, **common)


def check_version(document: Any, form: str, known: int) -> None:
    """Raise an error unless a document has the given format and a version that is known."""
    if type(document) is not dict:
        raise ValueError(
            f"not an explanation: the document is {kind_of(document)}, expected an object"
        )
    if document.get("format") != form:
        raise wrong("format", document.get("format"), repr(form))
    version = whole(document.get("version"), "version", 1)
    if version > known:
        raise ValueError(
            f"written by a later pellucid: version is {version}, this one reads up to {known}; "
            "upgrade pellucid to read it"
        )


def check_reading(reading: Any) -> None:
    """Check that a value can be stored as the key ``reading``."""
    if type(reading) is not dict:
        raise ValueError(f"not an explanation: reading is {kind_of(reading)}, expected an object")
    try:
        text = json.dumps(reading, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        raise ValueError(
            "not an explanation: reading contains something other than strings, finite numbers, "
            "booleans, null, lists and objects"
        ) from None
    if len(text) > _LONGEST_READING:
        raise ValueError(
            f"not an explanation: reading has {len(text):,} characters, expected at most "
            f"{_LONGEST_READING:,}"
        )


def _categories(
    categories: dict[str, list[Any]], columns: list[str] | None
) -> dict[str, tuple[Any, ...]]:
    known = set(columns or ())
    for column, values in categories.items():
        place = f"categories.{column}"
        if column not in known:
            raise ValueError(f"not an explanation: {place} is not one of columns")
        for i, value in enumerate(values):
            if value is not None:
                scalar(value, f"{place}[{i}]", of_column=True)
        once(values, place)
    return {column: tuple(values) for column, values in categories.items()}


def _formats(formats: dict[str, dict[Any, Any]], columns: list[str]) -> dict[str, ColumnFormat]:
    known, found = set(columns), {}
    for column, written in formats.items():
        place = f"formats.{column}"
        if column not in known:
            raise ValueError(f"not an explanation: {place} is not one of columns")
        values = written.get("values", [])
        for i, value in enumerate(values):
            whole(value, f"{place}.values[{i}]", values[i - 1] + 1 if i else -LARGEST)
        found[column] = ColumnFormat(**{**written, "values": tuple(values)})
    return found


def _features(
    features: list[Any] | None, columns: list[str] | None, categories: dict[str, tuple[Any, ...]]
) -> Sequence[str | Indicator] | None:
    if features is None:
        if categories:
            raise ValueError("not an explanation: categories without features")
        return columns
    known = set(columns or [])
    names: list[str | Indicator] = []
    pairs: set[str] = set()
    for i, feature in enumerate(features):
        place = f"features[{i}]"
        if isinstance(feature, str):
            column = feature
            names.append(feature)
        else:
            column, value = feature["column"], feature["is"]
            if value is not None:
                scalar(value, f"{place}.is", of_column=True)
            if feature.get("otherwise") is not None:
                pairs.add(column)
            names.append(Indicator(column, value, categories.get(column, ())))
        if column not in known:
            raise wrong(place, column, "one of columns")
    once(names, "features")
    listed = defaultdict(list)
    for name in names:
        if isinstance(name, Indicator):
            listed[name.column].append(name.value)
    for column, values in categories.items():
        if not listed[column] or not set(listed[column]) <= set(values):
            raise wrong(f"categories.{column}", list(values), "all categories in features")
    # A category with an opposite is one of exactly two.
    two = {column: tuple(listed[column]) for column in pairs if len(listed[column]) == 2}
    return [
        replace(name, categories=two[name.column])
        if isinstance(name, Indicator) and name.column in two
        else name
        for name in names
    ]


def _fill(
    fill: dict[str, Any] | None,
    columns: list[str] | None,
    names: Sequence[str | Indicator] | None,
) -> dict[str, Any] | None:
    if fill is None:
        return None
    known = set(columns or ())
    numeric = {name for name in names or () if isinstance(name, str)}
    for column, value in fill.items():
        if column not in known:
            raise ValueError(f"not an explanation: fill.{column} is not one of columns")
        scalar(value, f"fill.{column}", of_column=True)
        if column in numeric:
            number(value, f"fill.{column}")
    return fill


def _clusters(clusters: list[Any]) -> list[Any]:
    if len(clusters) > MAX_CLUSTERS:
        raise ValueError(
            f"not an explanation: clusters has {len(clusters):,} labels, expected at most "
            f"{MAX_CLUSTERS:,}"
        )
    for i, label in enumerate(clusters):
        scalar(label, f"clusters[{i}]")
        if type(label) is not type(clusters[0]):
            raise wrong(f"clusters[{i}]", label, f"{kind_of(clusters[0])} as clusters[0] is")
        if isinstance(label, str) and label.endswith("\0"):
            raise wrong(f"clusters[{i}]", label, "a string that does not end in a NUL character")
    once(clusters, "clusters")
    if isinstance(clusters[0], str):
        longest = max(map(len, clusters))
        if longest * len(clusters) > _MOST_LABEL_CHARACTERS:
            at = next(i for i, label in enumerate(clusters) if len(label) == longest)
            most = _MOST_LABEL_CHARACTERS // len(clusters)
            raise ValueError(
                f"not an explanation: clusters[{at}] has {longest:,} characters, expected at most "
                f"{most:,} with {len(clusters):,} clusters"
            )
    return clusters


def _tree(
    nodes: list[dict[Any, Any]], names: Sequence[str | Indicator | None], n_clusters: int
) -> tuple[ThresholdTree, dict[int, float], dict[int, int]]:
    n = len(nodes)
    indices = ("feature", "children_left", "children_right", "cluster", "n_node_samples")
    arrays = {name: np.full(n, LEAF, dtype=np.intp) for name in indices}
    arrays |= {name: np.full(n, np.nan) for name in ("threshold", "weighted_n_node_samples")}
    purity, noise = {}, {}
    for i, node in enumerate(nodes):
        place = f"nodes[{i}]"
        if "cluster" in node:
            most = n_clusters - 1
            arrays["cluster"][i] = whole(node["cluster"], f"{place}.cluster", 0, most)
            if node["purity"] is not None:
                purity[i] = number(node["purity"], f"{place}.purity", 0, 1)
            if "noise" in node:
                noise[i] = whole(node["noise"], f"{place}.noise", 0)
        else:
            most = len(names) - 1
            feature = whole(node["feature"], f"{place}.feature", 0, most)
            threshold = number(node["threshold"], f"{place}.threshold")
            if isinstance(names[feature], Indicator) and not 0 <= threshold < 1:
                raise wrong(f"{place}.threshold", threshold, "0 to below 1 for a category")
            arrays["feature"][i], arrays["threshold"][i] = feature, threshold
            for side in ("left", "right"):
                child = whole(node[side], f"{place}.{side}", 1, n - 1)
                arrays[f"children_{side}"][i] = child
        arrays["n_node_samples"][i] = whole(node["rows"], f"{place}.rows", 0)
        arrays["weighted_n_node_samples"][i] = number(node["weight"], f"{place}.weight", 0)
    _check_preorder(arrays["children_left"], arrays["children_right"])
    return ThresholdTree(n_features=len(names), **arrays), purity, noise


def _check_preorder(left: np.ndarray, right: np.ndarray) -> None:
    """Check that every node is reached once, in the order of the list, by paths of fair length."""
    stack, expected, conditions = [("nodes[0]", 0, 0)], 0, 0
    while stack:
        place, node, depth = stack.pop()
        if node != expected:
            raise wrong(place, node, f"{expected}: nodes come in preorder, each once")
        expected += 1
        if left[node] != LEAF:
            stack.append((f"nodes[{node}].right", int(right[node]), depth + 1))
            stack.append((f"nodes[{node}].left", int(left[node]), depth + 1))
        else:
            conditions += depth
        if conditions > MAX_CONDITIONS:
            raise ValueError(
                f"not an explanation: the paths to the leaves up to nodes[{node}] have more than "
                f"{MAX_CONDITIONS:,} conditions"
            )
    if expected < len(left):
        raise ValueError(f"not an explanation: nodes[{expected}] is not a child of any node")


def _read_level(level: dict[Any, Any], place: str, names: list[Any], n_clusters: int) -> ListLevel:
    features = level["features"]
    for i, feature in enumerate(features):
        whole(feature, f"{place}.features[{i}]", 0, len(names) - 1)
    once(features, f"{place}.features")
    stump = level["stump"]
    classifier = Stump(
        whole(stump["feature"], f"{place}.stump.feature", 0, len(features) - 1),
        number(stump["threshold"], f"{place}.stump.threshold"),
        *(
            whole(stump[side], f"{place}.stump.{side}", 0, n_clusters - 1)
            for side in ("at_most", "above")
        ),
    )
    shape, entries = level["shape"], level["regions"]
    has_category = any(isinstance(names[f], Indicator) for f in features)
    if has_category and shape != "box":
        raise wrong(f"{place}.shape", shape, "'box' for a category")
    if len(entries) * n_clusters**2 > MAX_COUNTS:
        raise ValueError(
            f"not an explanation: {place}.regions has {len(entries):,} regions, expected at most "
            f"{MAX_COUNTS // n_clusters**2:,} with {n_clusters:,} clusters"
        )
    counts = np.zeros((len(entries), n_clusters, n_clusters))
    parts = []
    for i, entry in enumerate(entries):
        at = f"{place}.regions[{i}]"
        fields = zip(REGION_FIELDS[shape], _READERS[shape])
        parts.append([read(entry[key], f"{at}.{key}", len(features)) for key, read in fields])
        for j, (answer, true, weight) in enumerate(entry["counts"]):
            here = f"{at}.counts[{j}]"
            pair = (whole(c, here, 0, n_clusters - 1) for c in (answer, true))
            counts[(i, *pair)] = number(weight, here, 0)
    first, second = ([part[side] for part in parts] for side in (0, 1))
    regions = SHAPES[shape].of_numbers(first, second, len(features))
    return ListLevel(tuple(features), classifier, regions, counts)


def _read_numbers(
    values: list[Any], place: str, dim: int, otherwise: float | None = None
) -> np.ndarray:
    """Numbers; null stands for `otherwise`, if it is given."""
    if len(values) != dim:
        raise wrong(place, values, f"{dim} numbers{'' if otherwise is None else ' or null'}")
    return np.array(
        [
            otherwise if value is None and otherwise is not None else number(value, f"{place}[{i}]")
            for i, value in enumerate(values)
        ]
    )


def _read_rows(values: list[Any], place: str, dim: int) -> np.ndarray:
    return np.array([_read_numbers(row, f"{place}[{i}]", dim) for i, row in enumerate(values)])


def _read_matrix(values: list[Any], place: str, dim: int) -> np.ndarray:
    expected = f"a symmetric, positive definite matrix of {dim} rows"
    if len(values) != dim or dim > MAX_DIM:
        raise wrong(place, values, expected if dim <= MAX_DIM else f"at most {MAX_DIM} rows")
    rows = _read_rows(values, place, dim)
    # The scale does not matter here; without it, large numbers overflow.
    scaled = rows / max(np.abs(rows).max(), np.finfo(float).tiny)
    if not np.allclose(scaled, scaled.T, rtol=1e-6) or (np.linalg.eigvalsh(scaled) <= 0).any():
        raise wrong(place, values, expected)
    return rows


_READERS: dict[str, Any] = {
    "box": (partial(_read_numbers, otherwise=-np.inf), partial(_read_numbers, otherwise=np.inf)),
    "polyhedron": (_read_rows, lambda values, place, dim: _read_rows(values, place, dim + 1)),
    "ellipse": (_read_numbers, _read_matrix),
}
"""Readers of the numbers of each shape, in the order of `REGION_FIELDS`."""
