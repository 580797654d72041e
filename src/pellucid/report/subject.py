"""What a report is about: the model, the trees that could stand in its place, and their figures."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.base import clone

from pellucid.metrics import reference_agreement
from pellucid.metrics import weighted_average_explanation_size as explanation_size
from pellucid.portable import Explanation
from pellucid.report.trees import Candidate, agreement_and_purity, counted
from pellucid.tradeoff import TradeOff
from pellucid.tree import ThresholdTree

_MOST_TREES = 12
"""Trees along the trade-off, at the most."""

MANY_VALUES = 5_000_000
"""Numbers, times clusters, from which on a trade-off takes longer than one would wait for."""

MOST_FITS = 40
"""Penalties that are tried for it."""


class Subject:
    """A model with the rows that it is shown on.

    Parameters
    ----------
    explanation : Explanation
    fitted : estimator or None
        Gives cost and reference, if there is one.
    X : data frame, array-like or sparse matrix
        In the columns of `explanation`.

    Attributes
    ----------
    leaf : ndarray
        Leaf of each row.
    reference : ndarray of int or None
        Position of the reference's cluster of each row, -1 for none, if these rows are those
        that the model was fitted on.
    """

    def __init__(self, explanation: Explanation, fitted: Any, X: Any) -> None:
        self.explanation, self.fitted, self._X = explanation, fitted, X
        self.leaf = explanation.apply(X)
        self.reference = self._find_reference()

    def _find_reference(self) -> np.ndarray | None:
        labels = getattr(self.fitted, "reference_labels_", None)
        if labels is None or len(labels) != len(self.leaf):
            return None
        names = self.explanation.cluster_names_
        here = names[self.explanation.tree_.cluster[self.leaf]]
        if not np.array_equal(here, self.fitted.labels_):
            return None
        order = np.argsort(names, kind="stable")
        at = np.clip(np.searchsorted(names[order], labels), 0, len(names) - 1)
        found = order[at]
        return np.where(names[found] == labels, found, -1)

    def own_tree(self) -> Candidate:
        """The tree of the model itself."""
        cost, reference = (
            getattr(self.fitted, name, None) for name in ("inertia_", "reference_inertia_")
        )
        ratio = None
        if cost is not None and reference is not None:
            ratio = cost / reference if reference > 0 else (1.0 if cost == 0 else None)
        found = self._candidate(self.explanation.tree_, self.leaf, ratio)
        if found.purity is None:
            purity = {r.leaf: r.purity for r in self.explanation._leaf_rules}
            return Candidate(found.tree, found.leaf, ratio, self._stored_agreement(), purity)
        return found

    def _stored_agreement(self) -> float | None:
        labels, reference = (
            getattr(self.fitted, name, None) for name in ("labels_", "reference_labels_")
        )
        if labels is None or reference is None:
            return None
        return float(reference_agreement(labels, reference))

    def _candidate(self, tree: ThresholdTree, leaf: np.ndarray, ratio: float | None) -> Candidate:
        tree = counted(tree, leaf)
        if self.reference is None:
            return Candidate(tree, leaf, ratio)
        return Candidate(tree, leaf, ratio, *agreement_and_purity(tree, leaf, self.reference))

    def trees(self, trade_off: Any, most: int = _MOST_TREES) -> tuple[list[Candidate], int]:
        """Trees from the shortest explanations to the longest, and where among them the own is."""
        own = self.own_tree()
        points = self._points(trade_off)
        columns = getattr(self.explanation, "feature_names_in_", None)
        others = []
        for tree, ratio in points:
            if not same_questions(tree, own.tree):
                told = Explanation(
                    tree,
                    names=self.explanation.tree_columns_,
                    clusters=self.explanation.cluster_names_.tolist(),
                    columns=None if columns is None else columns.tolist(),
                    fill=self.explanation.fill_,
                )
                others.append(self._candidate(tree, told.apply(self._X), ratio))
        sizes = {id(c): self._size(c) for c in [own, *others]}
        worth = [c for c in others if not any(_beats(o, c, sizes) for o in [own, *others])]
        found = sorted(
            [own, *_spread(worth, most - 1)], key=lambda c: (sizes[id(c)], -(c.cost_ratio or 0.0))
        )
        return found, next(i for i, c in enumerate(found) if c is own)

    def _size(self, candidate: Candidate) -> float:
        """Conditions of the average row."""
        return explanation_size(candidate.tree, feature_names=self.explanation.tree_columns_)

    def _points(self, trade_off: Any) -> list[tuple[ThresholdTree, float | None]]:
        """Trees and their cost ratios."""
        if trade_off is None or trade_off is False:
            return []
        if isinstance(trade_off, str) and trade_off == "auto":
            trade_off = self._own_trade_off()
        if not isinstance(trade_off, Iterable):
            raise TypeError(
                f"trade_off is {trade_off!r}; it must be 'auto', None, or what a model's path(X) "
                "returns"
            )
        return [(point.tree, float(point.npc)) for point in trade_off]

    def _own_trade_off(self) -> TradeOff | list:
        """The trees along the model's own trade-off, where it has one and it takes moments."""
        fitted = self.fitted
        if not hasattr(fitted, "path") or self.reference is None:
            return []
        if self.explanation.tree_ != fitted.tree_:
            return []
        if len(self.leaf) * fitted.n_features_in_ * len(fitted.cluster_names_) > MANY_VALUES:
            return []
        # The reference that was found, whatever it was found by.
        again = clone(fitted).set_params(reference=fitted.reference_labels_, n_clusters=None)
        return again.path(self._X, max_fits=MOST_FITS)


def same_questions(one: ThresholdTree, other: ThresholdTree) -> bool:
    """Whether two trees are the same but for their counts."""
    return all(
        np.array_equal(getattr(one, name), getattr(other, name), equal_nan=name == "threshold")
        for name in ("feature", "threshold", "children_left", "cluster")
    )


def _beats(one: Candidate, other: Candidate, sizes: dict[int, float]) -> bool:
    """Whether a tree is no longer and no dearer than another, and one of the two is less."""
    ours, theirs = (
        (sizes[id(c)], np.inf if c.cost_ratio is None else c.cost_ratio) for c in (one, other)
    )
    return ours != theirs and ours[0] <= theirs[0] and ours[1] <= theirs[1]


def _spread(candidates: list, most: int) -> list:
    """At most so many of a list, the ends and what lies evenly between them."""
    if len(candidates) <= most:
        return candidates
    return [candidates[i] for i in np.linspace(0, len(candidates) - 1, max(most, 1)).astype(int)]
