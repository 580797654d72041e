"""Fit the model of a command: the clustering, its tree, and the tree in the units of the table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.cluster import KMeans

import pellucid
from pellucid import metrics
from pellucid._core.data.arrays import Weights
from pellucid._core.data.medians import MedianDataset
from pellucid.cli import CommandError
from pellucid.cli.choices import METHODS, Choices
from pellucid.cli.choose_k import choose_k
from pellucid.cli.output import count, show_notice
from pellucid.cli.preparing import Prepared
from pellucid.cli.progress import working
from pellucid.explanation.explanation import Explanation
from pellucid.reference.kmedians import cluster_by_medians

MANY_ROWS = 100_000
CLUSTERINGS = {"kmeans": "k-means", "kmedians": "k-medians"}


@dataclass(frozen=True)
class FittedExplanation:
    """A model and its explanation.

    Attributes
    ----------
    model : fitted estimator
        Fitted on the clustered data, which may be scaled.
    explanation : Explanation
        The same tree in the units of the table.
    prepared : Prepared
    old_leaf : dict of int to int
        Leaf of the model per leaf of the explanation.
    """

    model: Any
    explanation: Explanation
    prepared: Prepared
    old_leaf: dict[int, int]

    # Attributes that plots need, in the units of the table.
    tree_ = property(lambda self: self.explanation.tree_)
    tree_columns_ = property(lambda self: self.explanation.tree_columns_)
    inertia_ = property(lambda self: self.model.inertia_)
    reference_inertia_ = property(lambda self: self.model.reference_inertia_)

    @property
    def leaf(self) -> np.ndarray:
        """Leaf of the explanation for each row."""
        number = np.zeros(self.model.tree_.node_count, dtype=np.intp)
        number[list(self.old_leaf.values())] = list(self.old_leaf)
        return number[self.model.tree_.apply(self.prepared.Z)]

    @property
    def reference(self) -> str:
        """Name of the clustering that is explained."""
        if self.prepared.labels is not None:
            return "the given clusters"
        return CLUSTERINGS[getattr(self.model, "objective", "kmeans")]

    @property
    def cost_ratio(self) -> float:
        """Cost of the tree's clusters divided by the cost of the reference."""
        if self.model.reference_inertia_ == 0:
            return 1.0 if self.model.inertia_ == 0 else float("inf")
        return self.model.inertia_ / self.model.reference_inertia_

    def measures(self) -> dict[str, float]:
        """Measures of the explanation by name, for JSON."""
        tree = self.explanation.tree_
        names = self.explanation.tree_columns_
        used = {getattr(names[f], "column", names[f]) for f in tree.feature[~tree.is_leaf]}
        agreement = metrics.reference_agreement(self.model.labels_, self.model.reference_labels_)
        return {
            "cost_ratio": self.cost_ratio,
            "agreement": float(agreement),
            "conditions": metrics.weighted_average_explanation_size(tree, feature_names=names),
            "mean_depth": metrics.weighted_average_depth(tree),
            "max_depth": tree.max_depth,
            "n_leaves": tree.n_leaves,
            "n_columns_used": len(used),
            "n_columns": len(self.prepared.columns.used),
        }


def find_reference(
    prepared: Prepared, k: int | None, seed: int, objective: str = "kmeans"
) -> KMeans | np.ndarray:
    """The clustering to explain, as the estimators take it.

    Parameters
    ----------
    prepared : Prepared
        If it has labels, they are the clustering.
    k : int or None
        Number of clusters; None chooses one by the silhouette score.
    seed : int
    objective : {"kmeans", "kmedians"}
    """
    if prepared.labels is not None:
        return prepared.labels
    if k is None:
        k, reason = choose_k(prepared.Z, seed)
        show_notice(f"{count(k, 'cluster')}: {reason} (use -k to change)")
    n_rows = len(prepared.rows)
    if k > n_rows:
        raise CommandError(f"-k {k} is more than the {n_rows} rows", hint="choose fewer clusters")
    with working(f"{CLUSTERINGS[objective]}, {count(k, 'cluster')}"):
        if objective == "kmedians":
            data = MedianDataset(prepared.Z, Weights.equal(n_rows))
            return cluster_by_medians(data, k, seed)[1]
        return KMeans(k, n_init=kmeans_n_init(n_rows), random_state=seed).fit(prepared.Z)


def kmeans_n_init(n_rows: int) -> int:
    """Number of k-means initialisations: fewer for large data, where each takes seconds."""
    return 10 if n_rows <= MANY_ROWS else 3


def fit_method(
    prepared: Prepared,
    method: str,
    reference: KMeans | np.ndarray,
    choices: Choices,
    *,
    seed: int = 0,
) -> FittedExplanation:
    """Explain a clustering by one method."""
    option = "-k" if prepared.labels is None else "--labels"
    choices.check_leaves(_count(reference), option)
    estimator = getattr(pellucid, METHODS[method])
    with working(METHODS[method]):
        given, labels = as_parameters(reference)
        model = estimator(reference=given, random_state=seed, **choices.parameters())
        model.fit(prepared.Z, labels)
    tree, old_leaf = prepared.restate(model.tree_)
    purity = {rule.leaf: rule.purity for rule in model._leaf_rules}
    explanation = Explanation(
        tree,
        names=prepared.encoding.names,
        clusters=model.cluster_names_.tolist(),
        purity={new: purity[old] for new, old in old_leaf.items() if old in purity},
        columns=prepared.columns.used,
        fill=prepared.fill,
        method=type(model).__name__,
    )
    return FittedExplanation(model, explanation, prepared, old_leaf)


def as_parameters(reference: KMeans | np.ndarray) -> tuple[KMeans | None, np.ndarray | None]:
    """A clustering as the parameter `reference` of an estimator and the y of its `fit`."""
    return (None, reference) if isinstance(reference, np.ndarray) else (reference, None)


def _count(reference: Any) -> int:
    if isinstance(reference, np.ndarray):
        return len(np.unique(reference))
    return len(reference.cluster_centers_)
