"""What a fitted XClusters shows, and what it can be asked."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted

from pellucid.explanation.mixins import EstimatorExportMixin
from pellucid.explanation.row_explanations import explain_rows, leaf_purity
from pellucid.explanation.rules import RuleList, cluster_rules, leaf_rules
from pellucid.tree import ThresholdTree
from pellucid.tree.importances import feature_importances
from pellucid.tree.model import TreeModelMixin
from pellucid.xclusters.distances.pairwise import between
from pellucid.xclusters.feature_distances import accuracy_data
from pellucid.xclusters.search import Found
from pellucid.xclusters.trees import renumbered


class ExplainedClusters(TreeModelMixin, EstimatorExportMixin, ClusterMixin, BaseEstimator):
    """Base of :class:`~pellucid.XClusters`: all but its parameters and how it is fitted."""

    def _store(
        self,
        found: Found,
        tree: ThresholdTree,
        numbers: np.ndarray,
        there: np.ndarray,
        weight: np.ndarray,
    ) -> None:
        """Everything that a fitted estimator shows; clusters are numbered by their weight."""
        chosen = found.chosen
        sizes = np.bincount(chosen.labels, weights=weight[there])
        order = np.argsort(-sizes, kind="stable")
        number = np.argsort(order)
        tree = renumbered(tree, number)
        leaf = tree.apply(numbers)
        labels = tree.cluster[leaf]
        labels[there] = number[chosen.labels]
        agrees = (tree.cluster[leaf] == labels)[there]
        purity = leaf_purity(leaf[there], agrees, weight[there])

        self.tree_ = tree
        self.n_leaves_ = tree.n_leaves
        self.feature_importances_ = _gini_importances(
            tree, leaf[there], labels[there], weight[there]
        )
        self.tree_columns_ = self.encoding_.names
        self.cluster_names_ = np.arange(len(order))
        self.labels_ = labels
        self.medoid_indices_ = there[chosen.medoids[order]]
        self.best_k_, self.best_alpha_ = chosen.k, chosen.alpha
        self.distortion_, self.n_nodes_ = chosen.distortion, chosen.n_nodes
        self.objective_, self.accuracy_ = found.objective, chosen.accuracy
        self.evaluations_, self.bounds_ = found.evaluations, found.bounds
        self.lower_bound_, self.converged_ = found.lower, found.is_complete
        names = self.cluster_names_.tolist()
        self._leaf_rules = leaf_rules(
            tree, feature_names=self.tree_columns_, labels=names, purity=purity
        )
        self.rules_ = cluster_rules(self._leaf_rules, names)

    def apply(self, X: Any) -> np.ndarray:
        """Node number of the leaf that each row reaches, by its explanation features."""
        numbers = self._encode(X)
        return self.tree_.apply(numbers)

    def predict(self, X: Any) -> np.ndarray:
        """Cluster of each row, by the tree, from the explanation features alone.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_features)
            Like the table of `fit`; like `explanation` if that was given. A data frame needs
            the explanation features only. A category never seen before is none of the known.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        numbers = self._encode(X)
        return self.tree_.predict(numbers)

    def assign(self, X: Any) -> np.ndarray:
        """Cluster of each row, by the nearest medoid, from the accuracy features alone.

        Parameters
        ----------
        X : data frame, array-like of shape (n_samples, n_features) or list of 1-D arrays
            Like the X of `fit`; a data frame needs the accuracy features only. With
            ``accuracy_distance="precomputed"``, the distances of new rows to the rows of `fit`.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        metric = self.accuracy_distance
        if isinstance(metric, str) and metric == "precomputed":
            distances = between(X, self.labels_, metric)[:, self.medoid_indices_]
            return distances.argmin(axis=1)
        data = accuracy_data(self._reader.accuracy(self, X), metric)
        how = {"window": self.window if metric == "dtw" else None, "n_jobs": self.n_jobs}
        medoids = accuracy_data(self._medoids, metric)
        return between(data, medoids, metric, ranges=self._ranges, **how).argmin(axis=1)

    def explain(self, X: Any = None) -> RuleList:
        """The rules of all clusters, or why the tree puts each row of `X` into its cluster.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_features), optional
            As for `predict`.

        Returns
        -------
        RuleList
            Of :class:`~pellucid.explanation.rules.ClusterRule`, one a cluster, or, given rows, of
            :class:`~pellucid.explanation.rules.RowExplanation`, one a row. Prints as text.
        """
        check_is_fitted(self)
        if X is None:
            return self.rules_
        numbers = self._encode(X)
        return explain_rows(
            self.tree_,
            self._leaf_rules,
            self.tree_.apply(numbers),
            lambda feature, rows: numbers[rows, feature],
            self.tree_columns_,
        )

    def _tree_input(self, X: Any) -> np.ndarray:
        return self._encode(X)

    def _encode(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        return self.encoding_.transform(self._reader.explanation(self, X))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.input_tags.pairwise = self.accuracy_distance == "precomputed"
        return tags


def _gini_importances(
    tree: ThresholdTree, leaf: np.ndarray, labels: np.ndarray, weight: np.ndarray
) -> np.ndarray:
    """Normalised decrease of the Gini impurity of the clusters by the splits of each column."""
    counts = np.zeros((tree.node_count, labels.max() + 1))
    np.add.at(counts, (leaf, labels), weight)
    counts = counts[tree.leaves]
    total = counts.sum(axis=1)
    with np.errstate(invalid="ignore"):
        return feature_importances(tree, total, counts / total[:, None])
