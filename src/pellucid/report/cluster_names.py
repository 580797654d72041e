"""Labels, names and colours of the clusters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pellucid.explanation.rules import label_text
from pellucid.plotting.palette import cluster_color, on_dark, text_color
from pellucid.report.columns import clipped


@dataclass(frozen=True)
class Names:
    """Names of clusters.

    Attributes
    ----------
    given : mapping of label to str
        Names that replace "Cluster 2" and so on, for some or all clusters.
    suggested : sequence of str
        A short description per cluster, or none at all.
    """

    given: Mapping[Any, str] = field(default_factory=dict)
    suggested: Sequence[str] = ()

    def describe(self, labels: list[Any]) -> list[dict[str, Any]]:
        """The clusters for the page.

        Parameters
        ----------
        labels : list
            Label of each cluster.
        """
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
