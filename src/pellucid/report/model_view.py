"""The subject of a report: the model, alternative trees and their measures."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid._utils.estimators import has_space
from pellucid.explanation.explanation import Explanation
from pellucid.metrics import weighted_average_explanation_size as explanation_size
from pellucid.report.alternatives import (
    KINDS,
    AlternativeTree,
    AlternativeTrees,
    other_trees,
    pruned_trees,
)
from pellucid.report.trees import TreeCandidate, agreement_and_purity, counted, with_tree
from pellucid.tables.validation import read_X
from pellucid.tree import ThresholdTree
from pellucid.tree.trade_off import TradeOffPoint

_MOST_TREES = 12
"""Trees along the trade-off, at the most."""

_LEAST_AGREEMENT = 0.75
"""Agreement of the trees along the trade-off, unless the model's own is lower."""


@dataclass(frozen=True)
class Choice:
    """Trees of the slider, the position of the model's own tree, and a description."""

    trees: list[TreeCandidate]
    own: int
    steps: dict[str, Any]


class Subject:
    """A model with the rows that it is shown on, in the columns of its explanation.

    `fitted` gives cost and reference, if there is one.
    """

    explanation: Explanation
    fitted: Any
    leaf: np.ndarray
    """Leaf of each row."""
    reference: np.ndarray | None
    """Position of the reference's cluster of each row, -1 for none, if these rows are those that
    the model was fitted on.
    """

    def __init__(self, explanation: Explanation, fitted: Any, X: Any) -> None:
        self.explanation, self.fitted, self._X = explanation, fitted, X
        self.leaf = explanation.apply(X)
        self.reference = self._find_reference()

    def _find_reference(self) -> np.ndarray | None:
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
        """The tree of the model itself."""
        cost, reference = (
            getattr(self.fitted, name, None) for name in ("inertia_", "reference_inertia_")
        )
        ratio = None
        # Alternatives are measured in the columns, and costs of another space are not comparable.
        if cost is not None and reference is not None and not has_space(self.fitted):
            ratio = cost / reference if reference > 0 else (1.0 if cost == 0 else None)
        tree = counted(self.explanation.tree_, self.leaf)
        if self.reference is not None:
            known = agreement_and_purity(tree, self.leaf, self.reference)
            return TreeCandidate(tree, self.leaf, ratio, *known)
        labels, right = (getattr(self.fitted, n, None) for n in ("labels_", "reference_labels_"))
        is_known = labels is not None and right is not None
        agreement = float(np.mean(np.asarray(labels) == np.asarray(right))) if is_known else None
        purity = {rule.leaf: rule.purity for rule in self.explanation._leaf_rules}
        return TreeCandidate(tree, self.leaf, ratio, agreement, purity)

    def _candidate(self, found: AlternativeTree) -> TreeCandidate:
        leaf = with_tree(self.explanation, found.tree).apply(self._X)
        tree = counted(found.tree, leaf)
        kind: dict[str, Any] = {"kind": found.kind, "amount": found.amount}
        if self.reference is None:
            return TreeCandidate(tree, leaf, found.cost_ratio, **kind)
        known = agreement_and_purity(tree, leaf, self.reference)
        return TreeCandidate(tree, leaf, found.cost_ratio, *known, **kind)

    def trees(self, trade_off: Any, most: int = _MOST_TREES) -> Choice:
        """Trees from the shortest explanations to the longest, the model's own among them."""
        own = self.own_tree()
        found = self._alternatives(trade_off)
        names = self.explanation.tree_columns_
        different = (one for one in found.trees if not same_questions(one.tree, own.tree))
        others = [self._candidate(one) for one in different]
        sizes = {id(c): explanation_size(c.tree, feature_names=names) for c in [own, *others]}
        lowest = min(_LEAST_AGREEMENT, 1.0 if own.agreement is None else own.agreement)
        others = [c for c in others if c.agreement is None or c.agreement >= lowest]
        worth = [c for c in others if not any(_beats(o, c, sizes) for o in [own, *others])]
        worth = _once(sorted(worth, key=lambda c: sizes[id(c)]), sizes)
        order = sorted(
            [own, *_spread(worth, most - 1)], key=lambda c: (sizes[id(c)], -(c.cost_ratio or 0.0))
        )
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
        return AlternativeTrees(
            [AlternativeTree(p.tree, "given", float(p.penalty), float(p.npc)) for p in points]
        )

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


def _beats(one: TreeCandidate, other: TreeCandidate, sizes: dict[int, float]) -> bool:
    """Whether a tree is no longer and no worse than another, and one of the two is better."""
    ours, theirs = ((sizes[id(c)], _cost(c)) for c in (one, other))
    return ours != theirs and ours[0] <= theirs[0] and ours[1] <= theirs[1]


def _cost(candidate: TreeCandidate) -> float:
    """Cost of a tree, or the share of rows in another cluster if the cost is unknown."""
    if candidate.cost_ratio is not None:
        return candidate.cost_ratio
    return np.inf if candidate.agreement is None else 1 - candidate.agreement


def _once(candidates: list[TreeCandidate], sizes: dict[int, float]) -> list[TreeCandidate]:
    """The first of several trees with the same size and cost."""
    seen = {(sizes[id(c)], _cost(c)): c for c in reversed(candidates)}
    return [c for c in candidates if seen[sizes[id(c)], _cost(c)] is c]


def _spread(candidates: list[Any], most: int) -> list[Any]:
    """At most `n` items of a list, evenly spaced, with both ends."""
    if len(candidates) <= most:
        return candidates
    return [candidates[i] for i in np.linspace(0, len(candidates) - 1, max(most, 1)).astype(int)]
