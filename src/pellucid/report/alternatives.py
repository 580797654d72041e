"""Other trees of the same clusters: shorter ones, and ones that are closer to the reference."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from pellucid._core.data.arrays import Weights
from pellucid._core.data.medians import OBJECTIVES
from pellucid._utils.notices import impure_rules_allowed
from pellucid.report.facts import sample_rows
from pellucid.tree import ThresholdTree, TreeBuilder

MANY_VALUES = 5_000_000
"""Numbers, times clusters, of the rows that trees are looked for on; of more, a sample."""

FEWEST_ROWS = 500
"""Rows of such a sample, however many columns and clusters there are."""

MOST_FITS = 40
"""Penalties that are tried for the shorter trees."""

KINDS = ("shorter", "longer", "stage", "pruned", "given")
"""Kinds of other trees: grown with a depth penalty, the model with more leaves, a stage of the
model, the model with fewer leaves, given.
"""


@dataclass(frozen=True)
class AlternativeTree:
    """A tree that could replace the model's own; its kind is one of `KINDS`."""

    tree: ThresholdTree
    kind: str
    amount: float
    """The depth penalty of a shorter or given tree; the number of further leaves of a longer tree;
    the number of leaves of any other tree.
    """
    cost_ratio: float | None = None
    """What its clusters cost against those of the reference, if known."""


@dataclass(frozen=True)
class AlternativeTrees:
    """Alternative trees with a note."""

    trees: list[AlternativeTree]
    n_searched: int | None = None
    """Number of rows on which they were looked for; None for all rows."""


def other_trees(model: Any, X: Any, reference: np.ndarray) -> AlternativeTrees:
    """Shorter and longer trees for the reference of a fitted tree model.

    The shorter ones are those along the path of :class:`~pellucid.ExShallow`. The longer ones
    are the stages of a model that has any, else what :class:`~pellucid.ExKMC` makes of the
    model's own tree, up to a leaf more for every cluster. Trees are looked for on a sample of
    the rows if there are many, and measured on all of them. `reference` is the position of the
    reference's cluster of each row, -1 for none.
    """
    n_clusters = len(model.cluster_names_)
    known = np.flatnonzero(reference >= 0)
    most = max(MANY_VALUES // max(X.shape[1] * n_clusters, 1), FEWEST_ROWS)
    rows = known[sample_rows(reference[known], n_clusters, most)]
    part, labels = _take(X, rows), reference[rows]
    found: list[AlternativeTree] = []
    if len(np.unique(labels)) == n_clusters > 1:
        found += _shorter(model, part, labels)
        if hasattr(model, "staged_trees"):
            found += [AlternativeTree(t, "stage", t.n_leaves) for t in model.staged_trees()]
        else:
            found += _longer(model, part, labels)
    clusters_with_leaf = set(model.tree_.cluster[model.tree_.is_leaf].tolist())
    found = [
        one
        for one in found
        if clusters_with_leaf <= set(one.tree.cluster[one.tree.is_leaf].tolist())
    ]
    partition_cost = _PartitionCost(_objective(model), _take(X, known), n_clusters)
    wanted = partition_cost.of(reference[known])

    def measured(one: AlternativeTree) -> AlternativeTree:
        cost = partition_cost.of(one.tree.predict(partition_cost.X))
        ratio = cost / wanted if wanted > 0 else (1.0 if cost == 0 else None)
        return replace(one, cost_ratio=ratio)

    n_searched = len(rows) if len(rows) < len(known) else None
    return AlternativeTrees([measured(one) for one in found], n_searched)


class _PartitionCost:
    """Cost of the rows of a matrix, each to the center of its group."""

    def __init__(self, objective: str, X: Any, n_clusters: int) -> None:
        self.X, self._n_clusters = X, n_clusters
        self._data = OBJECTIVES[objective](X, Weights.equal(X.shape[0]))

    def of(self, position: np.ndarray) -> float:
        centers = np.nan_to_num(self._data.group_centers(position, self._n_clusters))
        return self._data.cost(position, centers)


def _take(X: Any, rows: np.ndarray) -> Any:
    if len(rows) == X.shape[0]:
        return X
    return X.tocsr()[rows].tocsc() if sparse.issparse(X) else X[rows]


def _shorter(model: Any, X: Any, labels: np.ndarray) -> Iterator[AlternativeTree]:
    from pellucid.cluster import ExShallow

    path = ExShallow(**_how(model)).path(X, labels, max_fits=MOST_FITS)
    for point in path:
        yield AlternativeTree(point.tree, "shorter", float(point.penalty))


def _longer(model: Any, X: Any, labels: np.ndarray) -> Iterator[AlternativeTree]:
    from pellucid.cluster import ExKMC

    n_leaves = model.tree_.n_leaves + len(model.cluster_names_)
    with impure_rules_allowed():
        grown = ExKMC(base=model.tree_, n_leaves=n_leaves, **_how(model)).fit(X, labels)
    for tree in grown.staged_trees():
        n_more = tree.n_leaves - model.tree_.n_leaves
        if n_more > 0:
            yield AlternativeTree(tree, "longer", n_more)


def _how(model: Any) -> dict[str, Any]:
    how = {name: getattr(model, name) for name in ("threshold_style", "n_jobs")}
    return {"objective": _objective(model), **how}


def _objective(model: Any) -> str:
    objective = getattr(model, "objective", "kmeans")
    return objective if objective in OBJECTIVES else "kmeans"


def pruned_trees(tree: ThresholdTree, leaf: np.ndarray, reference: np.ndarray) -> AlternativeTrees:
    """Trees with fewer and fewer splits, as long as no cluster is lost.

    Weakest links first: of all questions, the one whose answers put the fewest rows right, for
    each leaf below it, is removed with its subtree and becomes a leaf of the most frequent cluster.
    `leaf` is the leaf of each row and `reference` the position of its right cluster, -1 for none.
    """
    known = reference >= 0
    n_clusters = int(max(reference.max(initial=-1), tree.cluster.max())) + 1
    counts = np.zeros((tree.node_count, n_clusters), dtype=np.int64)
    np.add.at(counts, (leaf[known], reference[known]), 1)
    inner = np.flatnonzero(~tree.is_leaf)
    last = np.arange(tree.node_count)  # nodes are in preorder: a subtree is a range of numbers
    for node in reversed(inner.tolist()):
        left, right = tree.children_left[node], tree.children_right[node]
        counts[node], last[node] = counts[left] + counts[right], last[right]
    ends, cluster, found = np.flatnonzero(tree.is_leaf), tree.cluster.copy(), []
    clusters = set(cluster[ends].tolist())
    while len(inner):
        start, stop = np.searchsorted(ends, inner), np.searchsorted(ends, last[inner], "right")
        right_so_far = np.concatenate([[0], np.cumsum(counts[ends, cluster[ends]])])
        lost = right_so_far[stop] - right_so_far[start] - counts[inner].max(axis=1)
        node = inner[np.argmin(lost / (stop - start - 1))]
        inner, ends = (nodes[(nodes < node) | (nodes > last[node])] for nodes in (inner, ends))
        ends = np.sort(np.append(ends, node))
        cluster[node] = counts[node].argmax()
        if not clusters <= set(cluster[ends].tolist()):
            break
        smaller = _cut_back(tree, dict(zip(ends.tolist(), cluster[ends].tolist())))
        found.append(AlternativeTree(smaller, "pruned", len(ends)))
    return AlternativeTrees(found)


def _cut_back(tree: ThresholdTree, ends: dict[int, int]) -> ThresholdTree:
    """The tree with other leaves, each with its cluster."""
    builder = TreeBuilder(tree.n_features)
    stack = [(0, 0)]
    while stack:
        old, new = stack.pop()
        if old in ends:
            builder.set_cluster(new, ends[old])
            continue
        feature, threshold = int(tree.feature[old]), float(tree.threshold[old])
        children = builder.split(new, feature=feature, threshold=threshold)
        stack += zip((int(tree.children_left[old]), int(tree.children_right[old])), children)
    return builder.build()
