"""What every page has, of trees and of regions: title, clusters, columns, notes and versions."""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from pellucid._utils.texts import say
from pellucid.explanation.rules import label_text
from pellucid.plotting.style import cluster_color, on_dark, text_color
from pellucid.report.columns import Column, clipped
from pellucid.report.privacy import notes_without_values
from pellucid.report.table_facts import DataNotes, find_table_facts

_MOST_NAMES = 500
"""Columns of the data whose names are all in the page, so that a whole row can be pasted."""


@dataclass(frozen=True)
class Names:
    """Names of clusters."""

    given: Mapping[Any, str] = field(default_factory=dict)
    """Names that replace "Cluster 2" and so on, by label, for some or all clusters."""
    suggested: Sequence[str] = ()
    """A short description per cluster, or none at all."""

    def describe(self, labels: list[Any]) -> list[dict[str, Any]]:
        """The clusters with these labels for the page."""
        unknown = [name for name in self.given if name not in labels]
        if unknown:
            raise ValueError(
                f"cluster_names has {unknown[0]!r}, which is not a cluster; the clusters are "
                f"{', '.join(map(repr, labels))}"
            )
        if self.suggested and len(self.suggested) != len(labels):
            raise ValueError(f"{len(self.suggested)} suggested names for {len(labels)} clusters")
        return [self._describe_one(i, label) for i, label in enumerate(labels)]

    def _describe_one(self, position: int, label: Any) -> dict[str, Any]:
        """Label, names, and colours with those of text on them, on light and on dark pages."""
        light = cluster_color(position)
        dark = on_dark(light)
        name = self.given.get(label)
        suggested = self.suggested[position] if self.suggested else None
        return {
            "label": clipped(label_text(label)),
            "name": clipped(str(name)) if name else None,
            "suggested": clipped(str(suggested)) if suggested else None,
            "light": [light, text_color(light)],
            "dark": [dark, text_color(dark)],
        }


@dataclass(frozen=True)
class PageOptions:
    """What a page contains in addition to the model, as in :func:`pellucid.report.write_report`."""

    title: str | None
    rows: str
    reference: str | None
    max_points: int
    n_typical: int
    made: Mapping[str, str]
    names: Names
    notes: DataNotes

    @property
    def is_private(self) -> bool:
        """Whether the page contains no value of a row."""
        return not self.max_points and not self.n_typical

    def page_head(
        self,
        *,
        method: str | None,
        reference: str | None,
        n_rows: int,
        names: Sequence[str],
        labels: list[Any],
        columns: list[dict[str, Any]],
    ) -> dict[str, Any]:
        """The beginning of a payload; `names` are all columns of the data."""
        return {
            "format": 1,
            "title": clipped(self.title) if self.title else None,
            "method": method,
            "reference": reference,
            "rows": n_rows,
            "rowsAre": clipped(self.rows),
            "columnsInData": len(names),
            "clusters": self.names.describe(labels),
            "columns": columns,
            "dataNames": [clipped(name) for name in names] if len(names) <= _MOST_NAMES else [],
        }

    def page_end(
        self,
        fitted: Any,
        method: str | None,
        names: Sequence[str],
        read: Callable[[str], Column],
        n_rows: int,
        n_noise: int = 0,
    ) -> dict[str, Any]:
        """The end of a payload: how the page was made, and notes about the data.

        `find_table_facts` describes the table, unless the notes do.
        """
        notes = notes_without_values(self.notes) if self.is_private else self.notes
        if notes.table is None:
            notes = replace(notes, table=find_table_facts(names, read, n_rows, n_noise))
        return {"made": {**_describe_making(fitted, method), **self.made}, **notes.describe()}


def reference_word(fitted: Any) -> str:
    """Name of the explained clustering."""
    if hasattr(fitted, "medoid_indices_") and not hasattr(fitted, "reference_labels_"):
        return "k-medoids"
    if not hasattr(fitted, "reference_labels_"):
        return "the reference"
    if getattr(fitted, "_has_labels", False):
        return "the given clusters"
    if not getattr(fitted, "_has_reference", True):
        return "its own clusters"
    reference = getattr(fitted, "reference", None)
    if reference is None:
        return "k-medians" if getattr(fitted, "objective", "kmeans") == "kmedians" else "k-means"
    name = type(reference).__name__
    known = {"KMeans": "k-means", "MiniBatchKMeans": "k-means", "ndarray": "the given centers"}
    return known.get(name, name)


def _describe_making(fitted: Any, method: str | None) -> dict[str, str]:
    """Versions and parameters, the seed among them."""
    import numba
    import sklearn

    from pellucid._version import __version__

    made = {"model": method or say("notKnown")}
    if hasattr(fitted, "get_params"):
        for name, value in fitted.get_params(deep=False).items():
            made[name] = _parameter(value)
    made["pellucid"] = __version__
    made["Python"] = platform.python_version()
    made["NumPy"], made["scikit-learn"] = np.__version__, sklearn.__version__
    made["Numba"] = numba.__version__
    return made


def _parameter(value: Any) -> str:
    """Short text of a parameter, without memory addresses."""
    if isinstance(value, (list, tuple)) or (np.ndim(value) and hasattr(value, "__len__")):
        return say("valuesOfShape", shape="×".join(map(str, np.shape(value))))
    if isinstance(value, (str, int, float, bool, type(None), np.generic)):
        return clipped(str(value))
    if hasattr(value, "get_params"):
        return clipped(" ".join(repr(value).split()))
    return type(value).__name__
