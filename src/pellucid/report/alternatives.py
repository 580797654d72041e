"""The subject of a report, and other trees of its clusters: shorter ones, and closer ones."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from pellucid._core.data.arrays import Weights
from pellucid._core.data.medians import OBJECTIVES
from pellucid._utils.estimators import has_space
from pellucid._utils.notices import impure_rules_allowed
from pellucid.explanation.explanation import Explanation
from pellucid.metrics import weighted_average_explanation_size as explanation_size
from pellucid.report.facts import sample_rows
from pellucid.report.trees import KINDS, TreeCandidate, agreement_and_purity, counted, with_tree
from pellucid.tables.validation import read_X
from pellucid.tree import ThresholdTree, TreeBuilder
from pellucid.tree.trade_off import TradeOffPoint

# Numbers, times clusters, of the rows that trees are looked for on; of more, a sample.
MANY_VALUES = 5_000_000
FEWEST_ROWS = 500  # of such a sample, however many columns and clusters there are
MOST_FITS = 40  # penalties that are tried for the shorter trees
_MOST_TREES = 12  # along the trade-off
_LEAST_AGREEMENT = 0.75  # of these trees, unless the model's own is lower


@dataclass(frozen=True)
class AlternativeTrees:
    """Alternative trees, which are counted on no rows yet."""

    trees: list[TreeCandidate]
    n_searched: int | None = None  # rows on which they were looked for; None for all rows


def other_trees(model: Any, X: Any, reference: np.ndarray) -> AlternativeTrees:
    """Shorter and longer trees for the reference of a fitted tree model, measured on all rows.

    The shorter ones are along the path of ExShallow. The longer ones are the stages of a model that
    has any, else what ExKMC makes of its tree. Of many rows, trees are looked for on a sample.
    `reference` is the position of the reference's cluster of each row, -1 for none.
    """
    n_clusters = len(model.cluster_names_)
    known = np.flatnonzero(reference >= 0)
    most = max(MANY_VALUES // max(X.shape[1] * n_clusters, 1), FEWEST_ROWS)
    rows = known[sample_rows(reference[known], n_clusters, most)]
    part, labels = _take(X, rows), reference[rows]
    objective = getattr(model, "objective", "kmeans")
    objective = objective if objective in OBJECTIVES else "kmeans"
    found: list[TreeCandidate] = []
    if len(np.unique(labels)) == n_clusters > 1:
        found += _grown_trees(model, part, labels, objective)
    with_leaf = _clusters_with_leaf(model.tree_)
    found = [one for one in found if with_leaf <= _clusters_with_leaf(one.tree)]
    rows_known = _take(X, known)
    data = OBJECTIVES[objective](rows_known, Weights.equal(len(known)))

    def partition_cost(position: np.ndarray) -> float:
        """Cost of the rows, each to the center of its group."""
        return data.cost(position, np.nan_to_num(data.group_centers(position, n_clusters)))

    wanted = partition_cost(reference[known])
    measured = [
        replace(one, cost_ratio=_ratio(partition_cost(one.tree.predict(rows_known)), wanted))
        for one in found
    ]
    return AlternativeTrees(measured, len(rows) if len(rows) < len(known) else None)


def _ratio(cost: Any, wanted: Any) -> float | None:
    return cost / wanted if wanted > 0 else (1.0 if cost == 0 else None)


def _clusters_with_leaf(tree: ThresholdTree) -> set[int]:
    return set(tree.cluster[tree.is_leaf].tolist())


def _take(X: Any, rows: np.ndarray) -> Any:
    if len(rows) == X.shape[0]:
        return X
    return X.tocsr()[rows].tocsc() if sparse.issparse(X) else X[rows]


def _grown_trees(model: Any, X: Any, labels: np.ndarray, objective: str) -> Iterator[TreeCandidate]:
    """Shorter trees, and the stages of a model or longer ones."""
    from pellucid.cluster import ExKMC, ExShallow

    options: dict[str, Any] = {n: getattr(model, n) for n in ("threshold_style", "n_jobs")}
    options["objective"] = objective
    for point in ExShallow(**options).path(X, labels, max_fits=MOST_FITS):
        yield TreeCandidate(point.tree, kind="shorter", amount=float(point.penalty))
    if hasattr(model, "staged_trees"):
        for tree in model.staged_trees():
            yield TreeCandidate(tree, kind="stage", amount=tree.n_leaves)
        return
    n_leaves = model.tree_.n_leaves
    with impure_rules_allowed():
        most = n_leaves + len(model.cluster_names_)
        grown = ExKMC(base=model.tree_, n_leaves=most, **options).fit(X, labels)
    for tree in grown.staged_trees():
        if tree.n_leaves > n_leaves:
            yield TreeCandidate(tree, kind="longer", amount=tree.n_leaves - n_leaves)


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
        found.append(TreeCandidate(smaller, kind="pruned", amount=len(ends)))
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


@dataclass(frozen=True)
class Choice:
    """Trees of the slider, the position of the model's own tree, and a description."""

    trees: list[TreeCandidate]
    own: int
    steps: dict[str, Any]


class Subject:
    """A model with the rows that it is shown on; `fitted` has cost and reference, if not None."""

    explanation: Explanation
    fitted: Any

    def __init__(self, explanation: Explanation, fitted: Any, X: Any) -> None:
        self.explanation, self.fitted, self._X = explanation, fitted, X
        self.leaf: np.ndarray = explanation.apply(X)  # of each row
        self.reference: np.ndarray | None = self._find_reference()

    def _find_reference(self) -> np.ndarray | None:
        """Position of the reference's cluster of each row, -1 for none; None for other rows."""
        labels = getattr(self.fitted, "reference_labels_", None)
        is_its_own = labels is None and hasattr(self.fitted, "medoid_indices_")
        labels = self.fitted.labels_ if is_its_own else labels
        if labels is None or len(labels) != len(self.leaf):
            return None
        names = self.explanation.cluster_names_
        fitted_names = getattr(self.fitted, "cluster_names_", names)
        if len(fitted_names) == len(names):
            # The clusters of the explanation may have been renamed.
            names = np.asarray(fitted_names)
        here = names[self.explanation.tree_.cluster[self.leaf]]
        # The labels of XClusters are those of its tree.
        if not is_its_own and not np.array_equal(here, self.fitted.labels_):
            return None
        order = np.argsort(names, kind="stable")
        at = np.clip(np.searchsorted(names[order], labels), 0, len(names) - 1)
        found = order[at]
        return np.where(names[found] == labels, found, -1)

    def own_tree(self) -> TreeCandidate:
        fitted, known = self.fitted, ("inertia_", "reference_inertia_")
        cost, reference = (getattr(fitted, name, None) for name in known)
        # Alternatives are measured in the columns, and costs of another space are not comparable.
        is_known = cost is not None and reference is not None and not has_space(fitted)
        ratio = _ratio(cost, reference) if is_known else None
        own = self._counted(TreeCandidate(self.explanation.tree_, cost_ratio=ratio), self.leaf)
        if self.reference is not None:
            return own
        labels, right = (getattr(fitted, n, None) for n in ("labels_", "reference_labels_"))
        is_known = labels is not None and right is not None
        agreement = float(np.mean(np.asarray(labels) == np.asarray(right))) if is_known else None
        purity = {rule.leaf: rule.purity for rule in self.explanation._leaf_rules}
        return replace(own, agreement=agreement, purity=purity)

    def _counted(self, found: TreeCandidate, leaf: np.ndarray) -> TreeCandidate:
        """A tree with the counts of the rows, whose leaves are given."""
        found = replace(found, tree=counted(found.tree, leaf), leaf=leaf)
        if self.reference is None:
            return found
        agreement, purity = agreement_and_purity(found.tree, leaf, self.reference)
        return replace(found, agreement=agreement, purity=purity)

    def trees(self, trade_off: Any) -> Choice:
        """Trees from the shortest explanations to the longest, the model's own among them."""
        own = self.own_tree()
        found = self._alternatives(trade_off)
        others = [
            self._counted(one, with_tree(self.explanation, one.tree).apply(self._X))
            for one in found.trees
            if not same_questions(one.tree, own.tree)
        ]
        names = self.explanation.tree_columns_
        measures = {
            id(c): (explanation_size(c.tree, feature_names=names), _cost(c)) for c in [own, *others]
        }

        def beats(one: TreeCandidate, other: TreeCandidate) -> bool:
            """Whether a tree is no longer and no worse than another, and one of both is better."""
            ours, theirs = measures[id(one)], measures[id(other)]
            return ours != theirs and ours[0] <= theirs[0] and ours[1] <= theirs[1]

        lowest = min(_LEAST_AGREEMENT, 1.0 if own.agreement is None else own.agreement)
        others = [c for c in others if c.agreement is None or c.agreement >= lowest]
        worth = [c for c in others if not any(beats(o, c) for o in [own, *others])]
        once: dict[tuple[float, float], TreeCandidate] = {}  # of equal measures, the first
        for candidate in sorted(worth, key=lambda c: measures[id(c)][0]):
            once.setdefault(measures[id(candidate)], candidate)
        spread = [own, *evenly_spaced(list(once.values()), _MOST_TREES - 1)]
        order = sorted(spread, key=lambda c: (measures[id(c)][0], -(c.cost_ratio or 0.0)))
        at = next(i for i, c in enumerate(order) if c is own)
        kinds = [kind for kind in KINDS if any(c.kind == kind for c in order)]
        return Choice(order, at, {"kinds": kinds, "sample": found.n_searched if kinds else None})

    def _alternatives(self, trade_off: Any) -> AlternativeTrees:
        if trade_off is None or trade_off is False:
            return AlternativeTrees([])
        if isinstance(trade_off, AlternativeTrees):
            return trade_off
        if isinstance(trade_off, str) and trade_off == "auto":
            return self._own_alternatives()
        if not isinstance(trade_off, Iterable):
            raise TypeError(
                f"trade_off is {trade_off!r}; it must be 'auto', None, or the result of path(X)"
            )
        points: Iterable[TradeOffPoint] = trade_off
        given = [
            TreeCandidate(p.tree, cost_ratio=float(p.npc), kind="given", amount=float(p.penalty))
            for p in points
        ]
        return AlternativeTrees(given)

    def _own_alternatives(self) -> AlternativeTrees:
        """Trees for the clusters of the model, if it knows which row is in which."""
        fitted = self.fitted
        if self.reference is None or not (self.reference >= 0).any():
            return AlternativeTrees([])
        is_searched = hasattr(fitted, "reference_labels_") and not has_space(fitted)
        if is_searched and self.explanation.tree_ == fitted.tree_:
            with warnings.catch_warnings():
                # A model without names takes those of the table.
                warnings.filterwarnings("ignore", "X has feature names")
                numbers = read_X(fitted, self._X, reset=False)
            return other_trees(fitted, numbers, self.reference)
        return pruned_trees(self.explanation.tree_, self.leaf, self.reference)


def same_questions(one: ThresholdTree, other: ThresholdTree) -> bool:
    """Whether two trees are the same but for their counts."""
    return all(
        np.array_equal(getattr(one, name), getattr(other, name), equal_nan=name == "threshold")
        for name in ("feature", "threshold", "children_left", "cluster")
    )


def _cost(candidate: TreeCandidate) -> float:
    """Cost of a tree, or the share of rows in another cluster if the cost is unknown."""
    if candidate.cost_ratio is not None:
        return candidate.cost_ratio
    return np.inf if candidate.agreement is None else 1 - candidate.agreement


def evenly_spaced(items: list[Any], most: int) -> list[Any]:
    """At most so many items of a list, evenly spaced, with both ends."""
    if len(items) <= most:
        return items
    return [items[i] for i in np.linspace(0, len(items) - 1, max(most, 0)).astype(int)]
