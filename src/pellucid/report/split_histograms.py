"""Histograms of the rows that reach each split of a tree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pellucid.report.privacy import MIN_ROWS
from pellucid.report.profiles import Profile
from pellucid.report.trees import TreeCandidate
from pellucid.tables.encoding import Indicator
from pellucid.tree import ThresholdTree

MOST_NUMBERS = 40_000
"""Numbers of the histograms of the model's own tree, at the most."""

MOST_NUMBERS_OF_OTHERS = 6000
"""The same for each other tree."""


def split_histograms(
    candidate: TreeCandidate,
    names: Sequence[str | Indicator],
    profiles: Mapping[str, Profile],
    *,
    is_private: bool = False,
) -> dict[int, list[Any]]:
    """For each split, the rows of each cluster below it by bin of the column of the split.

    Parameters
    ----------
    candidate : TreeCandidate
    names : sequence of str or Indicator
        Description of each feature of the tree.
    profiles : mapping of str to Profile
        By name of the column.
    is_private : bool, default=False
        Whether to leave out clusters with few rows.

    Returns
    -------
    dict of int to list of (int, list of int)
        By split; empty if these are too many numbers for a page.
    """
    tree, leaf = candidate.tree, candidate.leaf
    splits = np.flatnonzero(~tree.is_leaf).tolist()
    column_of = {
        s: getattr(names[tree.feature[s]], "column", names[tree.feature[s]]) for s in splits
    }
    below = _leaves_below(tree)
    n_numbers = sum(
        len({int(tree.cluster[end]) for end in below[s]}) * profiles[column_of[s]].n_bins
        for s in splits
    )
    if n_numbers > (MOST_NUMBERS if candidate.kind is None else MOST_NUMBERS_OF_OTHERS):
        return {}
    tables: dict[str, np.ndarray] = {}
    for column in set(column_of.values()):
        profile = profiles[column]
        bins = profile.bin.astype(np.intp)
        there = bins >= 0
        cell = (leaf * profile.n_bins + bins)[there]
        counts = np.bincount(cell, minlength=tree.node_count * profile.n_bins)
        tables[column] = counts.reshape(tree.node_count, profile.n_bins)
    found = {}
    for split in splits:
        table = tables[column_of[split]]
        by_cluster: dict[int, np.ndarray] = {}
        for end in below[split]:
            cluster = int(tree.cluster[end])
            by_cluster[cluster] = by_cluster.get(cluster, 0) + table[end]
        least = MIN_ROWS if is_private else 1
        found[split] = [
            [cluster, counts.tolist()]
            for cluster, counts in sorted(by_cluster.items())
            if counts.sum() >= least
        ]
    return found


def _leaves_below(tree: ThresholdTree) -> dict[int, list[int]]:
    below: dict[int, list[int]] = {}
    for node in range(tree.node_count - 1, -1, -1):  # nodes come before their children
        if tree.is_leaf[node]:
            below[node] = [node]
        else:
            below[node] = below[tree.children_left[node]] + below[tree.children_right[node]]
    return below
