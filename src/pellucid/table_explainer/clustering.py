"""The clusters of a table, by k-means or given labels, and the tree that explains them."""

from __future__ import annotations

import warnings
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from threadpoolctl import threadpool_limits

from pellucid import metrics
from pellucid._core.data.arrays import Weights
from pellucid._core.data.medians import MedianDataset
from pellucid._utils.notices import InputError, impure_rules_allowed, notice, option, report_held
from pellucid._utils.texts import Message, count
from pellucid.cluster import ExplainableKMeans
from pellucid.explanation.explanation import Explanation
from pellucid.explanation.rules import ClusterRule
from pellucid.reference.kmedians import cluster_by_medians
from pellucid.table_explainer import tuning
from pellucid.table_explainer.arguments import ExplainOptions
from pellucid.table_explainer.number_of_clusters import (
    ChosenNumber,
    NumberScore,
    choose_number,
    silhouette,
)
from pellucid.table_explainer.outliers import smallest_size
from pellucid.table_explainer.preparing import PreparedTable
from pellucid.tables.encoding import Indicator
from pellucid.tree import ThresholdTree


@dataclass(frozen=True)
class Clustering:
    """A clustering of the rows of a table, without the outliers."""

    prepared: PreparedTable
    reference: KMeans | None  # None if the labels were given or come from k-medians
    labels: np.ndarray
    name: str  # what the clustering is called in texts
    silhouette: float  # the mean score; NaN for a single cluster
    number: ChosenNumber | None = None  # how the number of clusters was chosen, if it was
    noise: str = "cluster"
    n_wanted: int | None = None  # the number of clusters that was given

    @property
    def is_noise(self) -> np.ndarray:
        """Rows with the label -1, if these are left out."""
        is_left_out = self.noise == "background" and self.labels.dtype.kind == "i"
        return (self.labels == -1) & is_left_out

    @property
    def n_clusters(self) -> int:
        """Number of clusters, without noise that is left out."""
        return len(np.unique(self.labels[~self.is_noise]))

    @property
    def number_scores(self) -> tuple[NumberScore, ...]:
        """Scores of the numbers of clusters that were tried; empty if k was given."""
        return () if self.number is None else self.number.scores

    def as_parameters(self) -> tuple[KMeans | None, np.ndarray | None]:
        """The clustering as parameter `reference` of an estimator and as y of its `fit`."""
        return self.reference, None if self.reference is not None else self.labels

    def report(self) -> None:
        report_held(self.prepared.notices)
        self.report_number()

    def report_number(self) -> None:
        """Report the chosen number of clusters, with the score of this clustering."""
        if self.n_wanted is not None and self.n_clusters < self.n_wanted:
            notice(Message("fewerClusters", n=self.n_clusters, k=self.n_wanted))
        if self.number is not None:
            reasons = self.number.reasons(self.silhouette)
            notice(Message("chose", n=self.n_clusters, reasons=reasons, option=option("k")))

    def improved_by(self, labels: np.ndarray) -> Clustering:
        """k-means that starts from the means of other clusters, such as those of a tree."""
        Z = self.prepared.Z
        centers = np.array([Z[labels == label].mean(axis=0) for label in np.unique(labels)])
        if self.reference is None or len(centers) < self.n_clusters:
            return self
        kmeans = KMeans(len(centers), init=centers, n_init=1).fit(Z)
        # Differences of rounding are no improvement.
        if kmeans.inertia_ >= float(self.reference.inertia_) * (1 - 1e-9):
            return self
        score = silhouette(Z, kmeans.labels_)
        return replace(self, reference=kmeans, labels=kmeans.labels_, silhouette=score)


def cluster_rows(prepared: PreparedTable, options: ExplainOptions) -> Clustering:
    """Cluster the rows of a table, or take its labels. If rows are set apart or columns are left
    out because of the clusters, the table is prepared again without them.
    """
    if (y := prepared.labels) is not None:
        found = Clustering(prepared, None, y, "the given clusters", np.nan, noise=options.noise)
        kept = ~found.is_noise
        if n := int(found.is_noise.sum()):
            if not kept.any():
                hint = f"use {option('noise', 'cluster')} to explain these rows"
                raise InputError("every label is -1, which means noise", hint=hint)
            notice(Message("noiseOfLabels", n=n, option=option("noise", "cluster")))
        labels = np.unique(y[kept], return_inverse=True)[1]
        return replace(found, silhouette=silhouette(prepared.Z[kept], labels))
    k, n_rows = options.number, len(prepared.rows)
    largest = k[1] if isinstance(k, tuple) else k
    if largest is not None and largest > n_rows:
        raise InputError(
            f"{option('k', largest)} is more than the {count(n_rows, 'row')}",
            hint="choose fewer clusters",
        )
    clustering = _first_clustering(prepared, options)
    for _ in range(tuning.CLUSTERING_ROUNDS):
        apart = _rows_of_small_clusters(clustering, options)
        described = columns_of_clusters(clustering)
        if not len(apart) and not described:
            break
        prepared = prepared.again(options, apart, described)
        clustering = _first_clustering(prepared, options)
    return replace(clustering, n_wanted=k if isinstance(k, int) else None)


def _first_clustering(prepared: PreparedTable, options: ExplainOptions) -> Clustering:
    """The clustering with the number of clusters that was given, or that is best."""
    number, k = None, options.number
    if not isinstance(k, int):
        tried = None if k is None else range(k[0], k[1] + 1)
        # Values of the table are the same if other rows are left out, unlike those of a scale.
        number = choose_number(prepared.Z, tried, columns=prepared.features)
        # If all numbers are too large to be compared: one cluster per different row.
        k = number.k if number.scores else len(np.unique(prepared.Z, axis=0))
        number = replace(number, k=k)
    clustering = _cluster(prepared, k, options, number)
    if (n_different := clustering.n_clusters) < k:
        return _cluster(prepared, n_different, options, number)
    return clustering


def _rows_of_small_clusters(clustering: Clustering, options: ExplainOptions) -> np.ndarray:
    """Rows of clusters of less than 2% of the rows that are far from all others in a number."""
    none = np.empty(0, dtype=np.intp)
    prepared = clustering.prepared
    if clustering.number is None or options.outliers == "keep":
        return none
    labels, sizes = np.unique(clustering.labels, return_counts=True)
    small = labels[sizes < smallest_size(len(prepared.rows) + len(prepared.outliers))]
    if not len(small) or len(labels) - len(small) < 2:
        return none
    is_number = [isinstance(name, str) for name in prepared.encoding.names]
    Z, found = prepared.Z[:, is_number], [none]
    others = Z[~np.isin(clustering.labels, small)]
    center, spread = others.mean(axis=0), others.std(axis=0)
    for label in small:
        rows = np.flatnonzero(clustering.labels == label)
        distance = np.abs(Z[rows].mean(axis=0) - center) / np.where(spread > 0, spread, 1.0)
        if distance.max(initial=0) >= tuning.FAR_CLUSTER:
            found.append(prepared.rows[rows])
    return np.concatenate(found)


def columns_of_clusters(clustering: Clustering, *others: np.ndarray) -> dict[str, Message]:
    """Columns of few values that alone give the clusters: results, or the clusters of others. A
    column that is clustered on changes the clusters, so one that is similar to them is compared
    with the clusters of the other columns, too. `others` are further clusterings, such as that of a
    tree.
    """
    prepared = clustering.prepared
    roles = prepared.roles
    found: dict[str, Message] = {}
    if prepared.labels is not None:
        return found
    for name in roles.used:
        values = prepared.table[name].rank("dense").fill_null(0).to_numpy()
        if name in roles.requested or len(np.unique(values)) != clustering.n_clusters:
            continue
        score = max(adjusted_rand_score(values, each) for each in (clustering.labels, *others))
        if tuning.SIMILAR_TO_CLUSTERS <= score < tuning.SAME_AS_CLUSTERS:
            without = _labels_without(clustering, name)
            score = max(adjusted_rand_score(values, each) for each in without)
        if score >= tuning.SAME_AS_CLUSTERS:
            found[name] = Message("isClusters")
    left = [name for name in roles.numbers if name not in found]
    return found if left else {}


def _labels_without(clustering: Clustering, column: str) -> tuple[np.ndarray, np.ndarray]:
    """The clusters of all columns but one, by k-means and by a tree."""
    prepared = clustering.prepared
    left = [source != column for source in prepared.encoding.sources]
    if clustering.reference is None or not any(left):
        return clustering.labels, clustering.labels
    Z = prepared.Z[:, left]
    kmeans = _kmeans(Z, clustering.n_clusters, seed=0)
    with impure_rules_allowed():
        tree = ExplainableKMeans(reference=kmeans, effort="fast", random_state=0).fit(Z)
    return kmeans.labels_, tree.labels_


def _cluster(
    prepared: PreparedTable, k: int, options: ExplainOptions, number: ChosenNumber | None
) -> Clustering:
    Z = prepared.Z
    if options.objective == "kmedians":
        data = MedianDataset(Z, Weights.equal(len(Z)))
        kmeans, name = None, "k-medians"
        _, labels = cluster_by_medians(data, k, options.seed)
    else:
        kmeans, name = _kmeans(Z, k, options.seed), "k-means"
        labels = kmeans.labels_
    return Clustering(prepared, kmeans, labels, name, silhouette(Z, labels), number)


def _kmeans(Z: np.ndarray, k: int, seed: int) -> KMeans:
    """k-means from as many starts as the number of rows allows."""
    is_many = len(Z) > tuning.MANY_ROWS
    n_init = tuning.N_STARTS_OF_MANY_ROWS if is_many else tuning.N_STARTS
    kmeans = KMeans(k, n_init=n_init, random_state=seed)
    # Fewer different rows than clusters are reported by the caller.
    allowed = warnings.catch_warnings(action="ignore", category=ConvergenceWarning)
    with threadpool_limits(1 if Z.size <= tuning.FEW_CELLS else None), allowed:
        return kmeans.fit(Z)


@dataclass(frozen=True)
class FittedTable:
    """A model of a table and its explanation."""

    model: Any  # fitted on the clustered data, which may be scaled
    explanation: Explanation  # the same tree in the units of the table
    clustering: Clustering
    old_leaf: dict[int, int]  # the leaf of the model per leaf of the explanation
    n_rows: int  # clustered rows
    n_table_rows: int
    n_incomplete: int  # rows with missing values, which are not clustered
    # Whether the tree has more leaves than clusters to agree better with k-means.
    has_more_leaves: bool = False

    @classmethod
    def of(
        cls,
        model: Any,
        clustering: Clustering,
        restated: tuple[ThresholdTree, dict[int, int]],
        fill: dict[str, float],
        n_rows: tuple[int, int, int],
    ) -> Self:
        """The same with the explanation; `restated` is what `PreparedTable.restate` returns."""
        prepared, (tree, old_leaf) = clustering.prepared, restated
        rules = {rule.leaf: rule for rule in model._leaf_rules}
        known = {new: rules[old] for new, old in old_leaf.items() if old in rules}
        explanation = Explanation(
            tree,
            names=prepared.encoding.names,
            clusters=model.cluster_names_.tolist(),
            purity={leaf: rule.purity for leaf, rule in known.items()},
            noise={leaf: rule.n_noise for leaf, rule in known.items()},
            columns=[*prepared.roles.used, *prepared.roles.profile],
            fill=fill,
            formats=prepared.roles.formats,
            reading=prepared.source.options.to_dict(),
            method=type(model).__name__,
        )
        return cls(model, explanation, clustering, old_leaf, *n_rows)

    @property
    def prepared(self) -> PreparedTable:
        return self.clustering.prepared

    def report(self) -> None:
        self.clustering.report()
        if self.has_more_leaves:
            numbers = {"leaves": self.explanation.tree_.n_leaves, "n": self.n_clusters}
            without = option("leaves", self.n_clusters)
            notice(Message("moreLeaves", **numbers, share=tuning.GOOD_AGREEMENT, option=without))

    # Attributes that plots need, in the units of the table.
    @property
    def tree_(self) -> ThresholdTree:
        """The tree in the units of the table."""
        return self.explanation.tree_

    @property
    def tree_columns_(self) -> list[str | Indicator]:
        return self.explanation.tree_columns_

    @property
    def inertia_(self) -> float:
        return self.model.inertia_

    @property
    def reference_inertia_(self) -> float:
        return self.model.reference_inertia_

    @property
    def n_clusters(self) -> int:
        """Number of clusters of the clustering that is explained."""
        return len(self.model.cluster_names_)

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
        tree = self.explanation.tree_
        names = self.explanation.tree_columns_
        sources = self.prepared.encoding.sources
        used = {sources[feature] for feature in tree.feature[~tree.is_leaf]}
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
    """Make clusters, judge them by their tree, and repeat k-means from the clusters of the tree if
    these have a lower cost. If the number of clusters is free and a rule has very few rows, the
    next best numbers are tried; the first one stays if this does not help.
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
        before = found.clustering
        number = None if before.number is None else before.number.next_best()
        if number is None:
            break
        found = _fit_improved(_cluster(before.prepared, number.k, options, number), options)
    return first if found.small_rules() else found


def _fit_improved(clustering: Clustering, options: ExplainOptions) -> FittedTable:
    """Fit a tree; if it has a lower cost than k-means, improve k-means first."""
    fitted = fit_tree(clustering, options)
    if clustering.reference is not None and fitted.cost_ratio < 1 - 1e-9:
        fitted = fit_tree(clustering.improved_by(fitted.model.labels_), options)
    return _with_more_leaves(fitted, options)


def _with_more_leaves(fitted: FittedTable, options: ExplainOptions) -> FittedTable:
    """The smallest tree that agrees with k-means well; the same if no tree with few leaves does, or
    if an option of the tree is given.
    """
    is_good = fitted.agreement() >= tuning.GOOD_AGREEMENT
    is_given = options.method is not None or options.given().keys() - {"effort"}
    if is_good or is_given or fitted.prepared.labels is not None:
        return fitted
    trees: dict[int, FittedTable] = {}

    def agrees(n_leaves: int) -> bool:
        other = fit_tree(fitted.clustering, replace(options, leaves=n_leaves))
        trees[n_leaves] = replace(other, has_more_leaves=True)
        return other.agreement() >= tuning.GOOD_AGREEMENT

    # The agreement hardly ever falls with more leaves.
    k = fitted.n_clusters
    numbers = range(k + 1, k + max(tuning.MORE_LEAVES, k // 2) + 1)
    first = bisect_left(numbers, True, key=agrees)
    return trees[numbers[first]] if first < len(numbers) else fitted


def fit_tree(clustering: Clustering, options: ExplainOptions) -> FittedTable:
    options.check_leaves(clustering.n_clusters)
    prepared, (reference, y) = clustering.prepared, clustering.as_parameters()
    model = fit_model(reference, options, prepared.Z, y)
    n_rows = len(prepared.rows), prepared.source.table.height, prepared.n_incomplete
    return FittedTable.of(model, clustering, prepared.restate(model.tree_), prepared.fill, n_rows)


def fit_model(reference: Any, options: ExplainOptions, *data: Any) -> Any:
    """The estimator of the chosen method, fitted; its impure rules are described elsewhere."""
    with impure_rules_allowed():
        return make_estimator(reference, options).fit(*data)


def make_estimator(reference: Any, options: ExplainOptions) -> Any:
    estimator = options.chosen_method.estimator
    parameters = {"reference": reference, "random_state": options.seed, "noise": options.noise}
    return estimator(**parameters, **options.tree_parameters())


def find_problems(fitted: FittedTable) -> Iterator[str]:
    """Why the explanation should not be trusted, one sentence per problem with a remedy."""
    has_labels, rules = fitted.prepared.labels is not None, fitted.explanation.rules_
    leaves, columns = option("leaves", 2 * fitted.n_clusters), option("columns")
    agreement, score = fitted.agreement(), fitted.clustering.silhouette
    if agreement < tuning.LOW_AGREEMENT:
        key = "lowAgreement" if has_labels else "lowAgreementOfColumns"
        shown = {"share": agreement, "reference": fitted.clustering.name}
        yield Message(key, **shown, leaves=leaves, option=columns)
    for rule in rules:
        if rule.purity < tuning.LOW_PURITY:
            cluster = str(rule.cluster)
            yield Message("impureRule", cluster=cluster, share=rule.purity, leaves=leaves)
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
        yield Message("overlap", score=score, weak=tuning.WEAK, option=columns)
    if not has_labels and (n_cells := fitted.prepared.n_cells) is not None:
        yield Message("cells", columns=fitted.prepared.roles.used, n=n_cells)
    n, rows = fitted.n_incomplete, fitted.n_table_rows
    if n > tuning.MANY_DROPPED * rows:
        yield Message("manyDropped", n=n, rows=rows, option=option("missing", "median"))
