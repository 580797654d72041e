"""Fitted attributes, prediction and explanation of XClusters."""

from __future__ import annotations

from typing import Any, overload

import numpy as np
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from pellucid._utils.typed_bases import BaseEstimator, ClusterMixin
from pellucid.explanation.explanation import Explanation
from pellucid.explanation.mixins import EstimatorExportMixin, TreeModelMixin
from pellucid.explanation.rules import (
    ClusterRule,
    RowExplanation,
    RuleList,
    cluster_rules,
    explain_rows,
    leaf_purity,
    leaf_rules,
)
from pellucid.tables.frames import Columns, dates_as_days
from pellucid.tree import ThresholdTree
from pellucid.tree.measures import feature_importances
from pellucid.xclusters.distances.pairwise import between
from pellucid.xclusters.features import accuracy_data
from pellucid.xclusters.rows import RowGroups
from pellucid.xclusters.search import SearchOutcome
from pellucid.xclusters.trees import relabel_clusters


class ExplainedClusters(TreeModelMixin, EstimatorExportMixin, ClusterMixin, BaseEstimator):
    """Base class of :class:`~pellucid.XClusters` without parameters and `fit`."""

    best_k_: int
    best_alpha_: float
    distortion_: float
    n_nodes_: int
    objective_: float
    accuracy_: float
    evaluations_: np.ndarray
    bounds_: np.ndarray
    lower_bound_: float
    converged_: bool

    def _store(
        self,
        outcome: SearchOutcome,
        tree: ThresholdTree,
        encoded: np.ndarray,
        rows: RowGroups,
        weighted: np.ndarray,
        weight: np.ndarray,
    ) -> None:
        """Set the fitted attributes; clusters are sorted by decreasing weight.

        `outcome` refers to the distinct rows in `rows`. `encoded` are the explanation features of
        all rows, and `weighted` the indices of the rows of positive weight.
        """
        chosen = outcome.chosen
        sizes = np.bincount(chosen.labels, weights=rows.weight)
        lowest = np.full(len(sizes), len(rows.rank))
        np.minimum.at(lowest, chosen.labels, rows.rank)
        order = np.lexsort((lowest, -sizes))
        new_label = np.argsort(order)
        leaf = tree.apply(encoded)
        n_rows = np.bincount(leaf[weighted], minlength=tree.node_count)
        tree = relabel_clusters(tree, new_label, n_rows)
        labels = tree.cluster[leaf]
        labels[weighted] = new_label[chosen.labels[rows.group]]
        agrees = (tree.cluster[leaf] == labels)[weighted]
        purity = leaf_purity(leaf[weighted], agrees, weight[weighted])

        self.tree_ = tree
        self.n_leaves_: int = tree.n_leaves
        self.feature_importances_: np.ndarray = _gini_importances(
            tree, leaf[weighted], labels[weighted], weight[weighted]
        )
        self.tree_columns_: list[Any] = self.encoding_.names
        self.cluster_names_: np.ndarray = np.arange(len(order))
        self.labels_ = labels
        self.medoid_indices_: np.ndarray = rows.first[chosen.medoids[order]]
        self.best_k_, self.best_alpha_ = chosen.k, chosen.alpha
        self.distortion_, self.n_nodes_ = chosen.distortion, chosen.n_nodes
        self.objective_, self.accuracy_ = outcome.objective, chosen.accuracy
        self.evaluations_, self.bounds_ = outcome.evaluations, outcome.bounds
        self.lower_bound_, self.converged_ = outcome.lower, outcome.is_complete
        names = self.cluster_names_.tolist()
        self._leaf_rules = leaf_rules(
            tree,
            feature_names=self.tree_columns_,
            labels=names,
            purity=purity,
            formats=self.formats_,
        )
        self.rules_: RuleList[ClusterRule] = cluster_rules(self._leaf_rules, names)

    def apply(self, X: Any) -> np.ndarray:
        """Index of the leaf that each row reaches, from its explanation features.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Rows with the columns of `fit`.

        Returns
        -------
        ndarray of shape (n_samples,)
            Numbers of nodes of `tree_`.
        """
        encoded = self._tree_input(X)  # raises NotFittedError before `tree_` is missing
        return self.tree_.apply(encoded)

    def predict(self, X: Any) -> np.ndarray:
        """Predict the cluster of each row by the tree, from the explanation features alone.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_features)
            Same columns as X in `fit`, or as `explanation` if that was given. A data frame needs
            the explanation features only. An unknown category differs from all known ones.

        Returns
        -------
        ndarray of shape (n_samples,)
            Clusters.
        """
        encoded = self._tree_input(X)
        return self.tree_.predict(encoded)

    def assign(self, X: Any) -> np.ndarray:
        """Cluster of the nearest medoid of each row, from the accuracy features alone.

        Parameters
        ----------
        X : data frame, array-like of shape (n_samples, n_features) or list of 1-D arrays
            As X in `fit`; a data frame needs the accuracy features only. With
            ``accuracy_distance="precomputed"``, the distances of new rows to the rows of `fit`.

        Returns
        -------
        ndarray of shape (n_samples,)
            Clusters.
        """
        check_is_fitted(self)
        metric = self.accuracy_distance
        if metric == "precomputed":
            distances = between(X, self.labels_, metric)[:, self.medoid_indices_]
            return distances.argmin(axis=1)
        distances = between(
            accuracy_data(self._reader.accuracy(self, X), metric),
            accuracy_data(self._medoids, metric),
            metric,
            window=self.window if metric == "dtw" else None,
            n_jobs=self.n_jobs,
            ranges=self._ranges,
        )
        return distances.argmin(axis=1)

    @overload
    def explain(self, X: None = None) -> RuleList[ClusterRule]: ...
    @overload
    def explain(self, X: Any) -> RuleList[RowExplanation]: ...
    def explain(self, X: Any = None) -> RuleList[Any]:
        """Rules of all clusters, or the path of each row of `X` through the tree.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_features), optional
            As for `predict`.

        Returns
        -------
        RuleList
            Without `X`: one :class:`~pellucid.explanation.rules.ClusterRule` per cluster. With
            `X`: one :class:`~pellucid.explanation.rules.RowExplanation` per row. Prints as text.
        """
        check_is_fitted(self)
        if X is None:
            return self.rules_
        columns = self._columns(X)
        encoded = self.encoding_.transform(columns)
        leaf = self.tree_.apply(encoded)
        explanation = Explanation.of(self)
        names = explanation.input_columns.encoding.input_names
        used = columns.take(map(self.encoding_.input_names.index, names))
        return explain_rows(
            self.tree_,
            self._leaf_rules,
            leaf,
            lambda feature, rows: encoded[rows, feature],
            self.tree_columns_,
            self.formats_,
            explanation.special_rules(leaf, leaf, used),
        )

    def _tree_input(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        return self.encoding_.transform(self._columns(X))

    def _columns(self, X: Any) -> Columns:
        """The explanation features of `X`, dates as days."""
        return dates_as_days(self._reader.explanation(self, X), self.formats_)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.input_tags.pairwise = self.accuracy_distance == "precomputed"
        return tags


def _gini_importances(
    tree: ThresholdTree, leaf: np.ndarray, labels: np.ndarray, weight: np.ndarray
) -> np.ndarray:
    """Normalized decrease of the Gini impurity of the clusters by the splits of each column."""
    counts = np.zeros((tree.node_count, labels.max() + 1))
    np.add.at(counts, (leaf, labels), weight)
    counts = counts[tree.leaves]
    total = counts.sum(axis=1)
    with np.errstate(invalid="ignore"):
        return feature_importances(tree, total, counts / total[:, None])
