"""Export of a decision list of regions to the source of a Python function."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.explanation.region_list import RegionList
from pellucid.export._values import plain_value
from pellucid.export.python import check_function_name, is_category, read_statements
from pellucid.regions.levels import ListLevel
from pellucid.regions.shapes import Ellipses, Polyhedra
from pellucid.tables.encoding import Indicator


def regions_to_python(model: Any, *, name: str = "cluster_of") -> str:
    """Export regions as the source of a function that returns the cluster of one row.

    The function takes a mapping from the names of the columns to their values, and needs only
    the columns that the regions use; see :func:`pellucid.export.to_python`. It returns None for a
    row in no region if there is no default cluster.

    Parameters
    ----------
    model : fitted EOPClassifier or ATEOPClassifier, ClusterRegions or RegionList
        With boxes, polyhedra or ellipses, and stumps or constants as base classifiers.
    name : str, default="cluster_of"
        Name of the function.

    Notes
    -----
    Sums of products may be rounded differently from `predict`: a row within about 1e-15,
    relatively, of the boundary of an ellipse or polyhedron may be on its other side.

    Examples
    --------
    >>> from pellucid import EOPClassifier
    >>> model = EOPClassifier("stump", random_state=0, calibration=0, min_support=0)
    >>> model = model.fit([[0.0]] * 20 + [[9.0]] * 20, ["a"] * 20 + ["b"] * 20)
    >>> print(model.to_python())
    def cluster_of(row):
        number = {}
        for column in ('x0',):
            value = number[column] = float('nan' if row[column] is None else row[column])
            if value - value != 0:
                raise ValueError(f'column {column!r} holds {row[column]!r}, not a finite number')
        if number['x0'] <= 0.0:
            return 'a'
        if number['x0'] > 0.0:
            return 'b'
        return 'a'
    <BLANKLINE>
    """
    check_function_name(name)
    regions = RegionList.of(model)
    labels = [repr(plain_value(label, "a cluster")) for label in regions.classes_.tolist()]
    columns = list(dict.fromkeys(n for n in regions.used_names if not isinstance(n, Indicator)))
    lines = [f"def {name}(row):"]
    lines += read_statements(columns, regions.formats_, _used_fill(regions))
    for level in regions.levels_:
        for region in range(len(level.regions)):
            for answer, lower, upper in level.branches(region):
                tests = _tests(regions, level, region, lower, upper)
                lines += [f"    if {' and '.join(tests) or 'True'}:"]
                lines += [f"        return {labels[answer]}"]
    default = "None" if regions.default_ is None else labels[regions.default_]
    return "\n".join([*lines, f"    return {default}"]) + "\n"


def _used_fill(regions: RegionList) -> dict[str, Any]:
    used = {n.column if isinstance(n, Indicator) else n for n in regions.used_names}
    return {column: value for column, value in regions.fill_.items() if column in used}


def _tests(
    regions: RegionList, level: ListLevel, region: int, lower: np.ndarray, upper: np.ndarray
) -> list[str]:
    """Conditions of one region, cut to the given ends."""
    names = [regions.names_[feature] for feature in level.features]
    tests = []
    for name, low, high in zip(names, lower.tolist(), upper.tolist()):
        if isinstance(name, Indicator):
            tests += [is_category(name, low >= 0)] if low >= 0 or high < 1 else []
            continue
        tests += [f"number[{name!r}] > {low!r}"] if np.isfinite(low) else []
        tests += [f"number[{name!r}] <= {high!r}"] if np.isfinite(high) else []
    shape = level.regions
    if isinstance(shape, Ellipses):
        return [*tests, _ellipse(names, shape.center[region], shape.shape[region])]
    if isinstance(shape, Polyhedra):
        facets = zip(shape.equations[region].tolist(), shape.tolerance(region).tolist())
        return [*tests, *(_facet(names, facet, tolerance) for facet, tolerance in facets)]
    return tests


def _ellipse(names: list[Any], center: np.ndarray, matrix: np.ndarray) -> str:
    parts = [f"(number[{n!r}] - {c!r})" for n, c in zip(names, center.tolist())]
    sums = [
        f"({' + '.join(f'{a!r} * {part}' for a, part in zip(column, parts))}) * {other}"
        for column, other in zip(matrix.T.tolist(), parts)
    ]
    return f"{' + '.join(sums)} <= 1"


def _facet(names: list[Any], facet: list[float], tolerance: float) -> str:
    *normal, offset = facet
    terms = [f"{a!r} * number[{name!r}]" for a, name in zip(normal, names)]
    return f"{' + '.join(terms)} + {offset!r} <= {tolerance!r}"
