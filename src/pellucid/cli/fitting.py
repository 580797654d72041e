"""The model of a command: a clustering, its tree, and the tree in the units of the table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.cluster import KMeans

import pellucid
from pellucid import metrics
from pellucid.cli import CommandError
from pellucid.cli.number import choose_k
from pellucid.cli.preparing import Prepared
from pellucid.cli.progress import working
from pellucid.cli.show import count, show_notice
from pellucid.portable import Explanation

METHODS = {
    "explainable": "ExplainableKMeans",
    "exshallow": "ExShallow",
    "exgreedy": "ExGreedy",
    "imm": "IMM",
    "exkmc": "ExKMC",
    "bsimm": "BSIMM",
    "emn": "EMN",
    "spex": "SpEx",
}

ANY_LEAVES = ("exkmc", "explainable", "spex")
"""Methods that make as many leaves as they are asked for."""

MANY_ROWS = 100_000


@dataclass(frozen=True)
class Fitted:
    """A model and its explanation.

    Attributes
    ----------
    model : fitted estimator
        On what was clustered, which may be scaled.
    explanation : Explanation
        The same tree in the units of the table.
    prepared : Prepared
    old_leaf : dict of int to int
        Leaf of the model, by leaf of the explanation.
    """

    model: Any
    explanation: Explanation
    prepared: Prepared
    old_leaf: dict[int, int]

    @property
    def leaf(self) -> np.ndarray:
        """Leaf of the explanation that each row is in."""
        number = np.zeros(self.model.tree_.node_count, dtype=np.intp)
        number[list(self.old_leaf.values())] = list(self.old_leaf)
        return number[self.model.tree_.apply(self.prepared.Z)]

    @property
    def reference(self) -> str:
        """What is explained, in words."""
        return "k-means" if self.prepared.labels is None else "the given clusters"

    @property
    def cost_ratio(self) -> float:
        """Cost of the tree's clusters over that of the reference."""
        if self.model.reference_inertia_ == 0:
            return 1.0 if self.model.inertia_ == 0 else float("inf")
        return self.model.inertia_ / self.model.reference_inertia_

    def measures(self) -> dict[str, float]:
        """What the explanation is worth, by names for machines."""
        tree = self.explanation.tree_
        names = self.explanation.tree_columns_
        used = {getattr(names[f], "column", names[f]) for f in tree.feature[~tree.is_leaf]}
        agreement = metrics.reference_agreement(self.model.labels_, self.model.reference_labels_)
        return {
            "cost_ratio": self.cost_ratio,
            "agreement": float(agreement),
            "conditions": metrics.weighted_average_explanation_size(tree, feature_names=names),
            "questions": metrics.weighted_average_depth(tree),
            "most_questions": tree.max_depth,
            "n_leaves": tree.n_leaves,
            "n_columns_used": len(used),
            "n_columns": len(self.prepared.columns.used),
        }


def check_leaves(method: str, k: int | None, leaves: int | None) -> None:
    """Fail if the number of leaves does not go with the method or the number of clusters."""
    if leaves is None:
        return
    if method not in ANY_LEAVES:
        raise CommandError(
            f"--leaves goes with --method {', '.join(ANY_LEAVES[:-1])} or {ANY_LEAVES[-1]}; "
            f"{method} makes one leaf for each cluster",
            exit_code=2,
        )
    if k is not None and leaves < k:
        raise CommandError(
            f"--leaves {leaves} is less than the {k} clusters of -k",
            hint="every cluster needs a leaf",
            exit_code=2,
        )


def number_of_clusters(prepared: Prepared, k: int | None, seed: int) -> int:
    """The number that was asked for, or one that suits the data."""
    if k is not None:
        return k
    chosen, reason = choose_k(prepared.Z, seed)
    show_notice(f"{chosen} clusters: {reason} (-k to choose)")
    return chosen


def find_reference(prepared: Prepared, k: int, seed: int) -> Any:
    """The clustering to explain: labels of the table, or k-means."""
    if prepared.labels is not None:
        return prepared.labels
    n_rows = len(prepared.rows)
    if k > n_rows:
        raise CommandError(f"-k {k} is more than the {n_rows} rows", hint="ask for fewer clusters")
    with working(f"k-means, {count(k, 'cluster')}"):
        return KMeans(k, n_init=number_of_starts(n_rows), random_state=seed).fit(prepared.Z)


def number_of_starts(n_rows: int) -> int:
    """How often k-means starts: its best of several, of fewer where each takes seconds."""
    return 10 if n_rows <= MANY_ROWS else 3


def fit_method(
    prepared: Prepared, method: str, reference: Any, *, leaves: int | None = None, seed: int = 0
) -> Fitted:
    """Explain a clustering by one method."""
    options = {} if leaves is None else {"n_leaves": leaves}
    if isinstance(reference, np.ndarray) and leaves is not None and leaves < _count(reference):
        raise CommandError(
            f"--leaves {leaves} is less than the {_count(reference)} clusters of --labels",
            hint="every cluster needs a leaf",
            exit_code=2,
        )
    estimator = getattr(pellucid, METHODS[method])
    with working(METHODS[method]):
        model = estimator(reference=reference, random_state=seed, **options).fit(prepared.Z)
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
    return Fitted(model, explanation, prepared, old_leaf)


def _count(reference: Any) -> int:
    if isinstance(reference, np.ndarray):
        return len(np.unique(reference))
    return len(reference.cluster_centers_)
