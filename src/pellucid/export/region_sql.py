"""Export of a decision list of regions to SQL: one ``CASE`` with a ``WHEN`` per region."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pellucid._utils.estimators import SQLDialect
from pellucid.explanation.region_list import RegionList
from pellucid.export._values import plain_value
from pellucid.export.sql_dialects import SqlWriter
from pellucid.regions.levels import ListLevel
from pellucid.regions.shapes import Boxes, Ellipses, Polyhedra
from pellucid.tables.encoding import Indicator


def regions_to_sql(
    model: Any,
    *,
    dialect: SQLDialect = "standard",
    table: str | Sequence[str] | None = None,
    column: str = "cluster",
) -> str:
    """Export regions as an SQL expression that gives the cluster of a row.

    The regions are in the order in which they are tried. Boxes are comparisons; polyhedra and
    ellipses are sums of products.

    Parameters
    ----------
    model : fitted EOPClassifier or ATEOPClassifier, ClusterRegions or RegionList
        With boxes, polyhedra or ellipses, and stumps as base classifiers.
    dialect, table, column
        As in :func:`pellucid.export.to_sql`.

    Returns
    -------
    str

    Notes
    -----
    As in :func:`pellucid.export.to_sql`, the result is NULL if a numeric column that the regions
    use is missing. Sums of products may be rounded differently from `predict`: a row within about
    1e-15, relatively, of the boundary of an ellipse or polyhedron may be on its other side.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from pellucid import EOPClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = EOPClassifier(random_state=0, max_levels=1).fit(X, y)
    >>> print(model.to_sql())
    CASE
        WHEN "petal width (cm)" IS NULL THEN NULL
        WHEN "petal width (cm)" <= 0.8e0 THEN 0
        ELSE 1
    END
    """
    writer = _RegionWriter(RegionList.of(model), dialect)
    return writer.query(writer.expression(), table, column)


class _RegionWriter(SqlWriter):
    """Writes the regions of a list in a dialect."""

    def expression(self) -> str:
        regions, dialect = self.model, self.dialect
        labels = [
            dialect.literal(plain_value(name, "a cluster")) for name in regions.classes_.tolist()
        ]
        guards = self.no_number(regions.used_names, with_null=True)
        lines = [f"WHEN {test} THEN NULL" for test in guards]
        for level in regions.levels_:
            for region in range(len(level.regions)):
                lines += [
                    f"WHEN {' AND '.join(tests) or dialect.always} THEN {labels[answer]}"
                    for answer, tests in self._branches(level, region)
                ]
        default = "NULL" if regions.default_ is None else labels[regions.default_]
        if not lines:
            return f"CASE WHEN {dialect.always} THEN {default} END"
        return "\n    ".join(["CASE", *lines, f"ELSE {default}"]) + "\nEND"

    def _refuse_dates(self, names: list[Any]) -> None:
        for name in names:
            if not isinstance(name, Indicator) and self.is_date(name):
                raise ValueError(
                    f"column {name!r} contains dates; only boxes of dates can be written in SQL"
                )

    def _branches(self, level: ListLevel, region: int) -> list[tuple[int, list[str]]]:
        """Clusters and conditions of one region: one branch per side of the stump."""
        shape = level.regions
        names = [self.model.names_[f] for f in level.features]
        others: list[str] = []
        if not isinstance(shape, Boxes):
            self._refuse_dates(names)
        if isinstance(shape, Ellipses):
            others = [self._ellipse(names, shape.center[region], shape.shape[region])]
        elif isinstance(shape, Polyhedra):
            facets = zip(shape.equations[region].tolist(), shape.tolerance(region).tolist())
            others = [self._facet(names, facet, tolerance) for facet, tolerance in facets]
        return [
            (answer, self._interval(names, lower, upper) + others)
            for answer, lower, upper in level.branches(region)
        ]

    def _interval(self, names: list[Any], lower: np.ndarray, upper: np.ndarray) -> list[str]:
        tests = []
        for name, low, high in zip(names, lower.tolist(), upper.tolist()):
            column = self.column(name)
            if isinstance(name, Indicator):
                value = name.value
                value = None if value is None else plain_value(value, "a category")
                if low >= 0:
                    tests.append(self.dialect.is_one(column, value))
                if high < 1:
                    can_be_null = self.can_be_null(name)
                    tests.append(self.dialect.is_none_of(column, [value], can_be_null=can_be_null))
                continue
            if np.isfinite(low):
                tests.append(f"{column} > {self.number(name, low)}")
            if np.isfinite(high):
                tests.append(f"{column} <= {self.number(name, high)}")
        return tests

    def _ellipse(self, names: list[Any], center: np.ndarray, shape: np.ndarray) -> str:
        parts = [f"({self.column(n)} - {self._float(c)})" for n, c in zip(names, center.tolist())]
        terms = [
            f"({' + '.join(self._times(shape[i, j], parts[i]) for i in range(len(parts)))})"
            f" * {parts[j]}"
            for j in range(len(parts))
        ]
        return f"{' + '.join(terms)} <= 1"

    def _facet(self, names: list[Any], facet: list[float], tolerance: float) -> str:
        *normal, offset = facet
        terms = [self._times(a, self.column(name)) for a, name in zip(normal, names)]
        return f"{' + '.join(terms)} + {self._float(offset)} <= {self._float(tolerance)}"

    def _times(self, factor: float, term: str) -> str:
        return f"{self._float(float(factor))} * {term}"

    def _float(self, value: float) -> str:
        """A number as a double-precision literal, in brackets if it is negative."""
        text = self.dialect.literal(float(value))
        if "e" not in text and "." not in text:
            text = f"{text}e0" if self.dialect.decimals_are_exact else f"{text}.0"
        return f"({text})" if value < 0 else text
