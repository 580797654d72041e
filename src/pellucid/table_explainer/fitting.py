"""The tree of a clustered table in its units, and the choice of the clusters by it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid import metrics
from pellucid._utils.notices import impure_rules_allowed, option
from pellucid._utils.texts import Message
from pellucid.explanation.explanation import Explanation
from pellucid.explanation.rules import ClusterRule
from pellucid.table_explainer import tuning
from pellucid.table_explainer.arguments import ExplainOptions
from pellucid.table_explainer.clustering import Clustering, cluster_rows, columns_of_clusters
from pellucid.table_explainer.outliers import smallest_size
from pellucid.table_explainer.preparing import PreparedTable
from pellucid.tables.encoding import Indicator
from pellucid.tree import ThresholdTree


@dataclass(frozen=True)
class FittedTable:
    """A model of a table and its explanation.

    `model` is fitted on the clustered data, which may be scaled; `explanation` is the same tree in
    the units of the table. `old_leaf` is the leaf of the model per leaf of the explanation. Of
    `n_table_rows`, `n_rows` are clustered, and `n_incomplete` are not because of missing values.
    """

    model: Any
    explanation: Explanation
    clustering: Clustering
    old_leaf: dict[int, int]
    n_rows: int
    n_table_rows: int
    n_incomplete: int

    @property
    def prepared(self) -> PreparedTable:
        """The rows that are clustered."""
        return self.clustering.prepared

    # Attributes that plots need, in the units of the table.
    @property
    def tree_(self) -> ThresholdTree:
        """The tree in the units of the table."""
        return self.explanation.tree_

    @property
    def tree_columns_(self) -> list[str | Indicator]:
        """Columns of the tree."""
        return self.explanation.tree_columns_

    @property
    def inertia_(self) -> float:
        """Cost of the model."""
        return self.model.inertia_

    @property
    def reference_inertia_(self) -> float:
        """Cost of the reference."""
        return self.model.reference_inertia_

    @property
    def n_clusters(self) -> int:
        """Number of clusters of the clustering that is explained."""
        return len(self.model.cluster_names_)

    @property
    def leaf(self) -> np.ndarray:
        """Leaf of the explanation for each clustered row."""
        number = np.zeros(self.model.tree_.node_count, dtype=np.intp)
        number[list(self.old_leaf.values())] = list(self.old_leaf)
        return number[self.model.tree_.apply(self.prepared.Z)]

    @property
    def rule_labels(self) -> np.ndarray:
        """Cluster of each row of `prepared` by the rules."""
        tree = self.model.tree_
        return self.model.cluster_names_[tree.cluster[tree.apply(self.prepared.Z)]]

    @property
    def cost_ratio(self) -> float:
        """Cost of the tree's clusters divided by the cost of the clustering."""
        if self.model.reference_inertia_ == 0:
            return 1.0 if self.model.inertia_ == 0 else float("inf")
        return self.model.inertia_ / self.model.reference_inertia_

    def reference_sizes(self) -> dict[Any, int]:
        """Number of rows per cluster of the clustering that is explained."""
        return dict(Counter(np.asarray(self.model.reference_labels_).tolist()))

    def small_rules(self) -> list[ClusterRule]:
        """Rules of clusters with less than 2% of the rows, if the table is not small."""
        if self.prepared.labels is not None or self.n_rows < tuning.SMALL_TABLE:
            return []
        smallest = smallest_size(self.n_rows)
        return [rule for rule in self.explanation.rules_ if 0 < rule.n_samples < smallest]

    def agreement(self) -> float:
        """Share of the rows, without noise, that the tree assigns to their own cluster."""
        n = self.model.tree_.weighted_n_node_samples[0]
        return float((n - self.model.mistakes_) / n)

    def measures(self) -> dict[str, float]:
        """Measures of the explanation by name."""
        tree = self.explanation.tree_
        names = self.explanation.tree_columns_
        used = {getattr(names[f], "column", names[f]) for f in tree.feature[~tree.is_leaf]}
        return {
            "cost_ratio": self.cost_ratio,
            "agreement": self.agreement(),
            "silhouette": self.clustering.silhouette,
            "conditions": metrics.weighted_average_explanation_size(tree, feature_names=names),
            "mean_depth": metrics.weighted_average_depth(tree),
            "max_depth": tree.max_depth,
            "n_leaves": tree.n_leaves,
            "n_columns_used": len(used),
            "n_columns": len(self.prepared.roles.used),
        }


def choose_clusters(prepared: PreparedTable, options: ExplainOptions) -> FittedTable:
    """Make clusters, judge them by their tree, and improve them.

    k-means is repeated from the clusters of the tree if these have a lower cost. If the number of
    clusters is free and a rule has very few rows, the next best numbers are tried; the first one
    stays if this does not help.
    """
    first = found = _fit_improved(cluster_rows(prepared, options), options)
    if described := columns_of_clusters(first.clustering, first.rule_labels):
        prepared = first.prepared.again(options, [], described)
        first = found = _fit_improved(cluster_rows(prepared, options), options)
    if options.outliers != "auto" or options.number is not None:
        return first
    for _ in range(tuning.MOST_NUMBERS):
        if not found.small_rules():
            return found
        clustering = found.clustering.with_next_number(options)
        if clustering is None:
            break
        found = _fit_improved(clustering, options)
    return first if found.small_rules() else found


def _fit_improved(clustering: Clustering, options: ExplainOptions) -> FittedTable:
    """Fit a tree; if it has a lower cost than k-means, improve k-means first."""
    fitted = fit_tree(clustering, options)
    if clustering.reference is None or fitted.cost_ratio >= 1 - 1e-9:
        return fitted
    return fit_tree(clustering.improved_by(fitted.model.labels_), options)


def fit_tree(clustering: Clustering, options: ExplainOptions) -> FittedTable:
    """Explain a clustering by the method of the options."""
    options.check_leaves(clustering.n_clusters)
    prepared = clustering.prepared
    reference, y = clustering.as_parameters()
    model = make_estimator(reference, options)
    with impure_rules_allowed():
        model.fit(prepared.Z, y)
    tree, old_leaf = prepared.restate(model.tree_)
    explanation = make_explanation(prepared, model, tree, old_leaf, prepared.fill)
    n_rows, n_read = len(prepared.rows), prepared.source.table.height
    return FittedTable(
        model, explanation, clustering, old_leaf, n_rows, n_read, prepared.n_incomplete
    )


def make_estimator(reference: Any, options: ExplainOptions) -> Any:
    """An unfitted estimator of the chosen method."""
    estimator = options.chosen_method.estimator
    parameters = {"reference": reference, "random_state": options.seed, "noise": options.noise}
    return estimator(**parameters, **options.tree_parameters())


def make_explanation(
    prepared: PreparedTable,
    model: Any,
    tree: ThresholdTree,
    old_leaf: dict[int, int],
    fill: dict[str, float],
) -> Explanation:
    """The explanation of a fitted model, whose tree is restated in the units of the table."""
    rules = {rule.leaf: rule for rule in model._leaf_rules}
    known = {new: rules[old] for new, old in old_leaf.items() if old in rules}
    roles = prepared.roles
    return Explanation(
        tree,
        names=prepared.encoding.names,
        clusters=model.cluster_names_.tolist(),
        purity={leaf: rule.purity for leaf, rule in known.items()},
        noise={leaf: rule.n_noise for leaf, rule in known.items()},
        columns=[*roles.used, *roles.profile],
        fill=fill,
        formats=roles.formats,
        reading=prepared.source.options.to_dict(),
        method=type(model).__name__,
    )


def find_problems(fitted: FittedTable) -> Iterator[str]:
    """Why the explanation should not be trusted, one sentence per problem with a remedy."""
    has_labels, rules = fitted.prepared.labels is not None, fitted.explanation.rules_
    leaves = option("leaves", 2 * fitted.n_clusters)
    agreement, score = fitted.agreement(), fitted.clustering.silhouette
    if agreement < tuning.LOW_AGREEMENT:
        yield Message(
            "lowAgreement" if has_labels else "lowAgreementOfColumns",
            share=agreement,
            reference=fitted.clustering.name,
            leaves=leaves,
            option=option("columns"),
        )
    for rule in rules:
        if rule.purity < tuning.LOW_PURITY:
            shown = {"cluster": str(rule.cluster), "share": rule.purity}
            yield Message("impureRule", **shown, leaves=leaves)
    sizes = fitted.reference_sizes()
    for rule in rules:
        if not rule.rules:
            key = "noRuleForRows" if rule.cluster in sizes else "noRule"
            rows = sizes.get(rule.cluster)
            yield Message(key, cluster=str(rule.cluster), rows=rows, leaves=leaves)
    for rule in fitted.small_rules():
        shown = {"cluster": str(rule.cluster), "rows": rule.n_samples, "share": rule.share}
        yield Message("smallCluster", **shown, option=option("k"))
    if not has_labels and fitted.n_rows < tuning.FEW_ROWS:
        yield Message("fewRows", n=fitted.n_rows)
    elif not has_labels and score < tuning.WEAK:
        yield Message("overlap", score=score, weak=tuning.WEAK, option=option("columns"))
    if not has_labels and (n_cells := fitted.prepared.n_cells) is not None:
        yield Message("cells", columns=fitted.prepared.roles.used, n=n_cells)
    n, rows = fitted.n_incomplete, fitted.n_table_rows
    if n > tuning.MANY_DROPPED * rows:
        yield Message("manyDropped", n=n, rows=rows, option=option("missing", "median"))
