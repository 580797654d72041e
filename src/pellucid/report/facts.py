"""Facts about each cluster, and the columns that show them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.report.columns import Column, clipped
from pellucid.report.profiles import Profile, short
from pellucid.report.sample import typical_rows, written_row

MOST_COLUMNS = 16
"""Columns with distributions, unless the model uses more."""

MOST_ASKED = 24
"""Maximum number of columns with distributions."""

MOST_NAMES = 500
"""Columns of the data whose names are all in the page, so that a whole row can be pasted."""


@dataclass(frozen=True)
class PageColumns:
    """Columns of a page.

    Attributes
    ----------
    profiles : list of Profile
        Those with distributions first.
    place : dict of str to int
        Where each column is among them.
    n_shown : int
        How many have distributions.
    """

    profiles: list[Profile]
    place: dict[str, int]
    n_shown: int

    @property
    def shown(self) -> list[Profile]:
        """Those with distributions."""
        return self.profiles[: self.n_shown]

    def describe(self, used: set[str], fill: Callable[[Profile], Any]) -> list[dict[str, Any]]:
        """The columns for the page.

        Parameters
        ----------
        used : set of str
            Columns that the model asks about.
        fill : callable
            What a missing value of a column counts as; None for nothing.
        """
        return [
            {
                "name": clipped(p.column.name) or "(no name)",
                "asked": p.column.name in used,
                "shown": i < self.n_shown,
                "fill": fill(p),
                **p.describe(),
            }
            for i, p in enumerate(self.profiles)
        ]


def choose_columns(
    names: Sequence[str],
    read: Callable[[str], Column],
    used: Iterable[str],
    position: np.ndarray,
    n_clusters: int,
    cuts: Mapping[str, Sequence[float]],
) -> PageColumns:
    """The columns of the model, and those that differ most between its clusters.

    Parameters
    ----------
    names : sequence of str
        All columns.
    read : callable
        Gives the values of one.
    used : iterable of str
        Columns that are in any case among them.
    position : ndarray of int
        Cluster of each row.
    n_clusters : int
    cuts : mapping of str to sequence of float
        Thresholds of the model, by column of numbers.
    """
    first = dict.fromkeys(used)
    kept: dict[str, Profile] = {}
    strength: dict[str, float] = {}
    for name in names:
        profile = Profile(read(name), cuts.get(name, ()), position)
        away = np.nan_to_num(profile.differences(position, n_clusters))
        strength[name] = float(np.abs(away).max(initial=0.0))
        kept[name] = profile
        if name not in first and len(kept) > MOST_COLUMNS + len(first):
            weakest = min((c for c in kept if c not in first), key=lambda c: strength[c])
            del kept[weakest]
    others = sorted((c for c in kept if c not in first), key=lambda c: -strength[c])
    chosen = [*first, *others[: max(MOST_COLUMNS - len(first), 0)]]
    n_shown = min(len(chosen), max(MOST_COLUMNS, min(len(first), MOST_ASKED)))
    return PageColumns([kept[c] for c in chosen], {c: i for i, c in enumerate(chosen)}, n_shown)


def data_names(names: Sequence[str]) -> list[str]:
    """Names of all columns, unless they are too many."""
    return [clipped(name) for name in names] if len(names) <= MOST_NAMES else []


def cluster_facts(
    position: np.ndarray, n_clusters: int, shown: list[Profile], n_typical: int
) -> list[dict[str, Any]]:
    """Facts about each cluster.

    Parameters
    ----------
    position : ndarray of int
        Cluster of each row.
    n_clusters : int
    shown : list of Profile
    n_typical : int
        Rows of each cluster to show in full.
    """
    sizes = np.bincount(position, minlength=n_clusters)
    counts = [profile.counts(position, n_clusters) for profile in shown]
    means = [p.means(position, n_clusters) if p.is_number else None for p in shown]
    apart = [p.differences(position, n_clusters, m) for p, m in zip(shown, means)]
    typical = typical_rows(shown, position, n_clusters, n_typical) if n_typical else None
    return [
        {
            "rows": int(sizes[c]),
            "apart": [short(away[c], 3) for away in apart],
            "means": [None if m is None else [short(m[0][c], 8), short(m[1][c], 8)] for m in means],
            "counts": [table[c] for table in counts],
            "typical": [] if typical is None else [written_row(shown, r) for r in typical[c]],
        }
        for c in range(n_clusters)
    ]
