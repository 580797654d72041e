"""Facts about each cluster, the columns that show them, and the few rows in a page."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.explanation.cluster_names import NamedColumns, suggest_names
from pellucid.explanation.explanation import Explanation
from pellucid.report.columns import MIN_ROWS, Column, NumberColumn, Profile, clipped, short

MOST_COLUMNS = 16  # columns with distributions, unless the model uses more
MOST_ASKED = 24  # maximum number of columns with distributions
_FEW = 20  # minimum number of sampled rows per cluster
_CANDIDATES = 5000  # rows of a cluster among which the typical ones are looked for


@dataclass(frozen=True)
class PageColumns:
    """Columns of a page: those with distributions, which are `n_shown`, come first."""

    profiles: list[Profile]
    place: dict[str, int]  # of a column in the page
    n_shown: int

    @property
    def shown(self) -> list[Profile]:
        return self.profiles[: self.n_shown]

    def describe(self, used: set[str], fill: Callable[[Profile], Any]) -> list[dict[str, Any]]:
        """The columns for the page; `fill` gives what a missing value counts as."""
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
    logarithmic: Collection[str] = (),
) -> PageColumns:
    """The columns of the model (`used`), and those that differ most between its clusters.

    `position` is the cluster of each row, `cuts` has the thresholds of the model by column, and
    `logarithmic` are the columns that were clustered on a logarithmic scale.
    """
    first = dict.fromkeys(used)
    kept: dict[str, Profile] = {}
    strength: dict[str, float] = {}
    for name in names:
        profile = Profile(read(name), cuts.get(name, ()), position, is_log=name in logarithmic)
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


def cluster_facts(
    position: np.ndarray, n_clusters: int, shown: list[Profile], n_typical: int
) -> list[dict[str, Any]]:
    """Facts about each cluster, given the cluster of each row, with `n_typical` rows in full."""
    sizes = np.bincount(position, minlength=n_clusters)
    counts = [profile.counts(position, n_clusters) for profile in shown]
    means: list[Any] = [p.means(position, n_clusters) if p.is_number else None for p in shown]
    apart = [p.differences(position, n_clusters, m) for p, m in zip(shown, means)]
    for i, p in enumerate(shown):
        if p.is_number and p.axis.unit is not None:
            means[i] = (*means[i], p.axis_means(position, n_clusters)[0])
    typical: list[Any] = [()] * n_clusters
    if n_typical:
        typical = _typical_rows(shown, position, n_clusters, n_typical)
    return [
        {
            "rows": int(sizes[c]),
            "apart": [short(away[c], 3) for away in apart],
            "means": [None if m is None else [short(mean[c], 8) for mean in m] for m in means],
            "counts": [table[c] for table in counts],
            "typical": [[p.column.written(r) for p in shown] for r in typical[c]],
        }
        for c in range(n_clusters)
    ]


def sample_rows(cluster: np.ndarray, n_clusters: int, most: int) -> np.ndarray:
    """Up to `most` rows, all clusters among them, in their order; the same for the same data."""
    n = len(cluster)
    if n <= most:
        return np.arange(n)
    random = np.random.default_rng(0)
    few = min(_FEW, most // max(n_clusters, 1))
    chosen = [random.permutation(np.flatnonzero(cluster == c))[:few] for c in range(n_clusters)]
    kept = np.concatenate(chosen)
    rest = random.permutation(np.setdiff1d(np.arange(n), kept))[: most - len(kept)]
    return np.sort(np.concatenate([kept, rest]))


def _typical_rows(
    profiles: list[Profile], cluster: np.ndarray, n_clusters: int, most: int
) -> list[np.ndarray]:
    """By cluster, the rows nearest to the means, in standard deviations, and to the modes."""
    random = np.random.default_rng(0)
    found = []
    for c in range(n_clusters):
        rows = np.flatnonzero(cluster == c)
        if len(rows) > _CANDIDATES:
            rows = np.sort(random.choice(rows, _CANDIDATES, replace=False))
        distance = np.zeros(len(rows))
        for profile in profiles if len(rows) else []:
            column = profile.column
            if isinstance(column, NumberColumn):
                numbers = column.numbers[rows]
                middle = np.nanmean(numbers) if np.isfinite(numbers).any() else 0.0
                away = (numbers - middle) / (profile.spread or 1.0)
                distance += np.nan_to_num(away, nan=3.0) ** 2
            else:
                codes = column.codes[rows]
                distance += codes != np.bincount(codes).argmax()
        found.append(rows[np.argsort(distance, kind="stable")[:most]])
    return found


def hide_small(facts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Facts about clusters; of one with few rows, only how many they are."""
    for fact in facts:
        if fact["rows"] < MIN_ROWS:
            fact["apart"] = [None for _ in fact["apart"]]
            fact["means"] = [None if pair is None else [None, None] for pair in fact["means"]]
            fact["counts"] = [[0 for _ in counts] for counts in fact["counts"]]
            fact["typical"] = []
    return facts


def suggest_cluster_names(
    explanation: Explanation, profiles: Iterable[Profile], position: np.ndarray
) -> list[str]:
    """Short descriptions of clusters that only have numbers, by named columns of numbers if any."""
    labels = explanation.cluster_names_
    columns = [p.column for p in profiles if isinstance(p.column, NumberColumn)]
    columns = [column for column in columns if not np.isnan(column.numbers).any()]
    is_named = getattr(explanation, "feature_names_in_", None) is not None
    if labels.dtype.kind not in "iu" or not (is_named and columns):
        return []
    names = [column.name for column in columns]
    leaves = (leaf for rule in explanation.rules_ for leaf in rule.rules)
    if any(condition.column not in names for leaf in leaves for condition in leaf.conditions):
        return []
    features = [column.numbers for column in columns]
    formats = {column.name: column.format for column in columns if column.format}
    # The clusters are on the scale of the columns.
    table = NamedColumns(names, features, np.column_stack(features), formats)
    return [*suggest_names(table, position, range(len(labels)), explanation.rules_)]
