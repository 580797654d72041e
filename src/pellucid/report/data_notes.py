"""What was done to the data: decisions, warnings, and the numbers of clusters that were tried."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, is_dataclass
from typing import Any

from pellucid._utils.texts import Message
from pellucid.report.columns import clipped
from pellucid.report.profiles import short
from pellucid.report.table_facts import TableFacts

_KEYS = {
    "k": ("k", "n_clusters"),
    "score": ("score", "silhouette"),
    "smallest": ("smallest", "smallest_cluster", "smallest cluster"),
    "stability": ("stability",),
    "agreement": ("agreement",),
    "chosen": ("chosen", "is_chosen"),
}
"""Keys of the page, and the names that each may have in a row."""

_LONGEST = 1000
"""Characters of a sentence that are shown."""


@dataclass(frozen=True)
class DataNotes:
    """What was done to the data.

    Attributes
    ----------
    decisions, warnings : sequence of str
        Sentences.
    number_of_clusters : sequence of mappings
        One per number of clusters that was tried.
    table : TableFacts or None
        The table that was clustered; None if nothing is known.
    """

    decisions: Sequence[str] = ()
    warnings: Sequence[str] = ()
    number_of_clusters: Sequence[Mapping[str, Any]] = field(default=(), repr=False)
    table: TableFacts | None = None

    def describe(self) -> dict[str, Any]:
        """The notes for the page."""
        return {
            "decisions": [_sentence(text) for text in self.decisions],
            "warnings": [_sentence(text) for text in self.warnings],
            "table": None if self.table is None else self.table.describe(),
            "numberOfClusters": [_number_of_clusters(row) for row in self.number_of_clusters],
        }


def _sentence(text: Any) -> str:
    written = text.translated() if isinstance(text, Message) else str(text)
    return clipped(" ".join(written.split()), _LONGEST)


def _number_of_clusters(row: Any) -> dict[str, Any]:
    known = asdict(row) if is_dataclass(row) and not isinstance(row, type) else dict(row)
    found: dict[str, Any] = {}
    for key, names in _KEYS.items():
        value = next((known[name] for name in names if known.get(name) is not None), None)
        found[key] = None if value is None else short(float(value))
    found["chosen"] = bool(found["chosen"])
    if found["k"] is None:
        raise ValueError(f"a row of number_of_clusters has no 'k': {sorted(known)}")
    return found
