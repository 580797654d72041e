"""Export of a decision list of regions to JSON and import from it, bit for bit.

The schema, version 1, is one object:

``format``, ``version``
    ``"pellucid.regions"`` and 1.
``made_by``
    The version of the package that wrote it, for information only.
``n_columns``, ``columns``, ``features``, ``fill``, ``clusters``, ``categories``, ``formats``, \
``reading``
    As in :mod:`pellucid.export.json`.
``default``
    Position in ``clusters`` of the cluster of rows in no region, or null if they have none.
``rows``
    Weight (without weights, number) of all training rows.
``levels``
    The levels in the order in which they are tried. A level is ``{"features", "stump", "shape",
    "regions"}``. ``features`` are positions in the features. ``stump`` is ``{"feature",
    "threshold", "at_most", "above"}``: a row in a region belongs to the cluster ``at_most`` if
    its value of the feature, a position in ``features`` of the level, is at most the threshold,
    else to ``above``. ``shape`` is ``"box"``, ``"polyhedron"`` or ``"ellipse"``.
``regions``
    The regions of a level. A box is ``{"above", "at_most"}``, one number or null per feature,
    with ``above < x <= at_most``. A polyhedron is ``{"vertices", "facets"}``: a row is inside if
    ``normal · x + offset <= tolerance`` for each facet, a list of the normal and the offset. The
    tolerance is 1e-12 + 1e-9 times the largest absolute value of ``normal · v`` over the vertices
    v. An ellipse is ``{"center", "matrix"}``: a row is inside if ``(x - center)ᵀ · matrix ·
    (x - center) <= 1``. Each region has ``"counts"``: lists ``[answer, true cluster, weight]`` of
    the training rows in it.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from pellucid.explanation.region_list import RegionList
from pellucid.export import json_schema as schema
from pellucid.export._values import plain_value
from pellucid.export.schema import check_schema, wrong
from pellucid.regions.classifiers import Stump
from pellucid.regions.levels import ListLevel
from pellucid.regions.shapes import Boxes, Ellipses, Polyhedra, Regions
from pellucid.tables.encoding import Indicator

FORMAT = "pellucid.regions"
VERSION = 1

MAX_COUNTS = 10**7
"""Regions times clusters times clusters of a level, which is the size of its array of counts."""

MAX_DIM = 500
"""Features of an ellipse."""


def regions_to_dict(model: Any) -> dict[str, Any]:
    """Export regions as dictionaries, lists, strings and numbers, in the form of `to_json`.

    Parameters
    ----------
    model : fitted EOPClassifier or ATEOPClassifier, ClusterRegions or RegionList
        With boxes, polyhedra or ellipses, and stumps as base classifiers.
    """
    from pellucid._version import __version__

    regions = RegionList.of(model)
    columns = [str(name) for name in regions.feature_names_in_.tolist()]
    document = {
        "format": FORMAT,
        "version": VERSION,
        "made_by": __version__,
        "n_columns": len(columns),
        "columns": columns,
        "features": [_feature(name) for name in regions.names_],
        "fill": {c: plain_value(v, f"what fills column {c!r}") for c, v in regions.fill_.items()}
        or None,
        "clusters": [plain_value(name, "a cluster") for name in regions.classes_.tolist()],
        "default": regions.default_,
        "rows": regions.total_,
        "levels": [_level(level) for level in regions.levels_],
    }
    categories = {
        name.column: [_category(name.column, value) for value in name.categories]
        for name in regions.names_
        if isinstance(name, Indicator) and name.categories
    }
    formats = {column: written.as_dict() for column, written in regions.formats_.items()}
    optional = {"categories": categories, "formats": formats, "reading": regions.reading_}
    if regions.reading_ is not None:
        schema.check_reading(regions.reading_)
    return {**document, **{key: value for key, value in optional.items() if value}}


def regions_to_json(model: Any, *, indent: int | None = None) -> str:
    """Export regions as JSON text.

    Parameters
    ----------
    model : fitted EOPClassifier or ATEOPClassifier, ClusterRegions or RegionList
    indent : int, optional
        Spaces per level of nesting; everything in one line if None.
    """
    document = regions_to_dict(model)
    return json.dumps(document, indent=indent, ensure_ascii=False, allow_nan=False)


def read_regions(document: dict[str, Any]) -> RegionList:
    """Validate a document of lists and dictionaries and build its regions.

    Raises
    ------
    ValueError
        If anything is missing, unknown, of the wrong type or out of range.
    """
    schema.check_version(document, FORMAT, VERSION)
    check_schema(document, "regions")
    columns = document["columns"]
    n_columns = schema._whole(document["n_columns"], "n_columns", 1, schema.MAX_COLUMNS)
    schema._check_columns(columns, n_columns)
    clusters = schema._clusters(document["clusters"])
    categories = schema._categories(document.get("categories", {}), columns)
    names = schema._described_columns(document["features"], columns, categories)
    fill = schema._fill(document["fill"], columns, names)
    reading = document.get("reading")
    if "reading" in document:
        schema.check_reading(reading)
    default = document["default"]
    if default is not None:
        schema._whole(default, "default", 0, len(clusters) - 1)
    levels = [
        _read_level(level, f"levels[{i}]", names, len(clusters))
        for i, level in enumerate(document["levels"])
    ]
    return RegionList(
        levels,
        names=names,
        classes=clusters,
        default=default,
        total=schema._number(document["rows"], "rows", 0),
        columns=columns,
        fill=fill,
        formats=schema._formats(document.get("formats", {}), columns),
        reading=reading,
    )


def _feature(name: str | Indicator) -> str | dict[str, Any]:
    if not isinstance(name, Indicator):
        return str(name)
    return {"column": name.column, "is": _category(name.column, name.value)}


def _category(column: str, value: Any) -> Any:
    return None if value is None else plain_value(value, f"a category of column {column!r}")


def _level(level: ListLevel) -> dict[str, Any]:
    stump = level.classifier
    return {
        "features": [int(feature) for feature in level.features],
        "stump": {
            "feature": int(stump.position),
            "threshold": float(stump.threshold),
            "at_most": int(stump.at_most),
            "above": int(stump.above),
        },
        "shape": level.regions.kind,
        "regions": [
            {**_region(level.regions, i), "counts": _counts(level.counts[i])}
            for i in range(len(level.regions))
        ],
    }


def _region(regions: Regions, i: int) -> dict[str, Any]:
    if isinstance(regions, Boxes):
        ends = {"above": regions.lower[i], "at_most": regions.upper[i]}
        return {k: [v if np.isfinite(v) else None for v in e.tolist()] for k, e in ends.items()}
    if isinstance(regions, Ellipses):
        return {"center": regions.center[i].tolist(), "matrix": regions.shape[i].tolist()}
    assert isinstance(regions, Polyhedra)
    return {"vertices": regions.vertices[i].tolist(), "facets": regions.equations[i].tolist()}


def _counts(counts: np.ndarray) -> list[list[Any]]:
    pairs = np.argwhere(counts > 0).tolist()
    return [[answer, true, float(counts[answer, true])] for answer, true in pairs]


def _read_level(level: dict[Any, Any], place: str, names: list[Any], n_clusters: int) -> ListLevel:
    features = level["features"]
    for i, feature in enumerate(features):
        schema._whole(feature, f"{place}.features[{i}]", 0, len(names) - 1)
    schema._once(features, f"{place}.features")
    stump = level["stump"]
    classifier = Stump(
        schema._whole(stump["feature"], f"{place}.stump.feature", 0, len(features) - 1),
        schema._number(stump["threshold"], f"{place}.stump.threshold"),
        *(
            schema._whole(stump[side], f"{place}.stump.{side}", 0, n_clusters - 1)
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
        parts.append(
            [read(entry[key], f"{at}.{key}", len(features)) for key, read in _READERS[shape]]
        )
        for j, (answer, true, weight) in enumerate(entry["counts"]):
            here = f"{at}.counts[{j}]"
            pair = (schema._whole(c, here, 0, n_clusters - 1) for c in (answer, true))
            counts[(i, *pair)] = schema._number(weight, here, 0)
    first, second = ([part[side] for part in parts] for side in (0, 1))
    if shape == "box":
        regions: Regions = Boxes(
            np.where(np.isnan(first), -np.inf, first), np.where(np.isnan(second), np.inf, second)
        )
    elif shape == "ellipse":
        regions = Ellipses(np.array(first), np.array(second))
    else:
        regions = Polyhedra(first, second, len(features))
    return ListLevel(tuple(features), classifier, regions, counts)


def _read_ends(values: list[Any], place: str, dim: int) -> np.ndarray:
    """Numbers, with NaN for null."""
    if len(values) != dim:
        raise wrong(place, values, f"{dim} numbers or null")
    return np.array(
        [
            np.nan if value is None else schema._number(value, f"{place}[{i}]")
            for i, value in enumerate(values)
        ]
    )


def _read_numbers(values: list[Any], place: str, dim: int) -> np.ndarray:
    if len(values) != dim:
        raise wrong(place, values, f"{dim} numbers")
    return np.array([schema._number(value, f"{place}[{i}]") for i, value in enumerate(values)])


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


def _read_facets(values: list[Any], place: str, dim: int) -> np.ndarray:
    return _read_rows(values, place, dim + 1)


_READERS: dict[str, Any] = {
    "box": (("above", _read_ends), ("at_most", _read_ends)),
    "polyhedron": (("vertices", _read_rows), ("facets", _read_facets)),
    "ellipse": (("center", _read_numbers), ("matrix", _read_matrix)),
}
