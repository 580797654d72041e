"""What all threshold-tree estimators share: reading input, finding the reference, the results."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from pellucid._core.criteria.problem import Problem
from pellucid._core.data.dataset import Dataset
from pellucid._core.data.medians import OBJECTIVES
from pellucid._core.data.weights import Weights
from pellucid._core.growers.growing_tree import GrowthResult
from pellucid._core.refine.polish import ROUNDS, polish_tree
from pellucid._utils.finite import NotFinite
from pellucid._utils.progress import Progress
from pellucid._utils.threads import ThreadPool, count_threads
from pellucid._utils.training_data import remember
from pellucid.explanation.mixins import EstimatorExportMixin, PlotTreeMixin
from pellucid.explanation.row_explanations import explain_rows, leaf_purity
from pellucid.explanation.rules import RuleList, cluster_rules, leaf_rules
from pellucid.reference import Reference, find_reference
from pellucid.tables.validation import read_rows, read_sample_weight, read_X, refuse_infinite
from pellucid.tree import ThresholdTree


class BaseThresholdTree(PlotTreeMixin, EstimatorExportMixin, ClusterMixin, BaseEstimator):
    """Base of the estimators that explain a reference clustering by a threshold tree.

    A subclass says how its tree grows, in `_grow`.
    """

    _parameter_constraints: dict = {
        "n_clusters": [Interval(Integral, 1, None, closed="left"), None],
        "reference": ["array-like", HasMethods("fit"), HasMethods("predict"), None],
        "objective": [StrOptions(set(OBJECTIVES))],
        "noise": [StrOptions({"group", "drop"})],
        "threshold_style": [StrOptions({"round", "midpoint", "data"})],
        "polish": ["boolean", StrOptions({"deep"})],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        reference: Any = None,
        objective: str = "kmeans",
        noise: str = "group",
        threshold_style: str = "round",
        polish: bool | str = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.reference = reference
        self.objective = objective
        self.noise = noise
        self.threshold_style = threshold_style
        self.polish = polish
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @property
    def _cost(self) -> str:
        """What rows pay, a key of `OBJECTIVES`."""
        return self.objective

    @abstractmethod
    def _grow(self, problem: Problem, progress: Progress) -> GrowthResult:
        """Grow the tree for a problem."""

    def _max_leaves(self, n_clusters: int) -> int:
        """Leaves that the tree is meant to have, known before it is grown."""
        return n_clusters

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None):
        """Find the tree.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Numbers without NaN or infinities; pandas, polars and pyarrow tables keep their
            column names. Sparse data are read one column at a time.
        y : ignored
        sample_weight : array-like of shape (n_samples,), optional
            A whole weight counts as that many copies of the row; rows of weight 0 are absent.

        Returns
        -------
        self
        """
        with self._posed(X, sample_weight) as (data, reference, problem):
            n_leaves = self._max_leaves(problem.n_clusters)
            progress = Progress(f"{type(self).__name__}: cuts", n_leaves - 1, self.verbose)
            growth = self._grow(problem, progress)
            tree, leaf = self._finish(problem, growth)
            everything = problem.n_samples == data.X.shape[0]
            leaf = leaf if everything else tree.apply(data.X)
            self._store(data, reference, tree, leaf)
            self._store_growth(problem, growth)
        remember(self, X=X)
        if self.n_leaves_ < min(n_leaves, problem.n_clusters):
            warnings.warn(
                f"the tree has {self.n_leaves_} leaves for {problem.n_clusters} clusters: no cut "
                "separates the others, because their centers or rows coincide. Ask for fewer "
                "clusters",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    @contextmanager
    def _posed(self, X: Any, sample_weight: Any) -> Iterator[tuple[Dataset, Reference, Problem]]:
        """Read the input, find the reference, and pose the problem, with threads while it lasts."""
        self._validate_params()
        if self._cost != "kmeans" and getattr(self, "polish", False):
            raise ValueError(
                f"polish lowers the k-means cost; leave it out with objective={self._cost!r}"
            )
        # Numbers that are not finite show while the reference is found.
        numbers = read_X(self, X, reset=True, check=False)
        n = numbers.shape[0]
        given = sample_weight is not None
        weights = Weights.of(read_sample_weight(sample_weight, n)) if given else Weights.equal(n)
        with ThreadPool(count_threads(self.n_jobs)) as pool:
            data = OBJECTIVES[self._cost](numbers, weights, pool, is_finite=False)
            try:
                reference = find_reference(
                    self.reference,
                    data,
                    n_clusters=self.n_clusters,
                    random_state=self.random_state,
                    noise=self.noise,
                    original_X=X,
                )
            except NotFinite:
                refuse_infinite(self, numbers)
                raise
            yield data, reference, _pose(data, reference)

    def _finish(self, problem: Problem, growth: GrowthResult) -> tuple[ThresholdTree, np.ndarray]:
        """The tree, polished if asked for, and the leaf of each row."""
        tree = growth.builder.build()
        if not self.polish:
            return tree, growth.leaf_of_rows
        polished = polish_tree(
            tree,
            problem,
            threshold_style=self.threshold_style,
            n_leaves=self._max_leaves(problem.n_clusters),
            deep=self.polish == "deep",
            progress=Progress(f"{type(self).__name__}: polishing", ROUNDS, self.verbose),
        )
        return polished.tree, polished.leaf

    def _store_growth(self, problem: Problem, growth: GrowthResult) -> None:
        """Keep what is particular to a method; nothing by default."""

    def _store(self, data: Dataset, reference: Reference, tree: ThresholdTree, leaf: np.ndarray):
        """Everything that every fitted estimator shows."""
        position, names = tree.cluster.take(leaf), np.array(reference.names)

        def describe() -> None:
            known = reference.labels >= 0
            known = slice(None) if known.all() else known
            agrees = position[known] == reference.labels[known]
            weight = None if data.weights.are_ones else data.weights.values[known]
            self._leaf_rules = leaf_rules(
                tree,
                feature_names=self._names_in(),
                labels=names.tolist(),
                purity=leaf_purity(leaf[known], agrees, weight),
            )
            self.rules_ = cluster_rules(self._leaf_rules, names.tolist())

        (centers, inertia), (_, reference_inertia) = data.beside_reference(position, describe)
        self.tree_ = tree
        self.n_leaves_ = tree.n_leaves
        self.cluster_names_ = names
        self.cluster_centers_ = centers
        self.labels_ = _name(position, names)
        self.inertia_ = inertia
        self.reference_centers_ = reference.centers
        self.reference_labels_ = _name(reference.labels, names)
        self.reference_inertia_ = reference_inertia

    def _names_in(self):
        return getattr(self, "feature_names_in_", None)

    def apply(self, X: Any) -> np.ndarray:
        """Node number of the leaf that each row reaches."""
        self._require_tree()
        return self._look_up(X, np.arange(self.tree_.node_count))

    def predict(self, X: Any) -> np.ndarray:
        """Cluster of each row, in the labels of the reference.

        Returns
        -------
        ndarray of shape (n_samples,)
            Integers 0, 1, ..., unless the reference was given as labels: then those.
        """
        self._require_tree()
        return self._look_up(X, self.cluster_names_[self.tree_.cluster])

    def _require_tree(self) -> None:
        # The full question takes longer than the answers for a few rows.
        if not hasattr(self, "tree_"):
            check_is_fitted(self)

    def _look_up(self, X: Any, answers: np.ndarray) -> np.ndarray:
        """The answer at the leaf of each row."""
        rows = read_rows(self, X)
        threads = partial(count_threads, self.n_jobs)
        found, is_finite = self.tree_.look_up(rows, answers, check=True, count_threads=threads)
        if not is_finite:
            refuse_infinite(self, rows)
        return found

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Minus the cost of `X` to `cluster_centers_`, each row in its cluster of the tree."""
        check_is_fitted(self)
        numbers = read_X(self, X, reset=False)
        weight = read_sample_weight(sample_weight, numbers.shape[0])
        data = OBJECTIVES[self._cost](numbers, Weights.of(weight))
        return -data.cost(self.tree_.predict(numbers), self.cluster_centers_)

    def explain(self, X: Any = None) -> RuleList:
        """The rules of all clusters, or why each row of `X` is in its cluster.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features), optional

        Returns
        -------
        RuleList
            Of :class:`~pellucid.explanation.rules.ClusterRule`, one a cluster, or, given rows, of
            :class:`~pellucid.explanation.rules.RowExplanation`, one a row. Prints as text.
        """
        check_is_fitted(self)
        if X is None:
            return self.rules_
        numbers = read_X(self, X, reset=False)
        return explain_rows(self.tree_, self._leaf_rules, numbers, self._names_in())

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _pose(data: Dataset, reference: Reference) -> Problem:
    """The problem on the rows that count."""
    labels = reference.labels
    counts = labels >= 0
    if not data.weights.are_ones:
        counts &= data.weights.values > 0
    data.refer_to(labels, reference.centers)
    if not counts.all():
        counted = np.flatnonzero(counts)
        data, labels = data.take(counted), labels[counted]
        data.refer_to(labels, reference.centers)
    return Problem(data, reference.centers, labels)


def _name(labels: np.ndarray, names: np.ndarray) -> np.ndarray:
    if np.array_equal(names, np.arange(len(names))):  # also -1 is as it should be
        return labels.astype(names.dtype, copy=False)
    if (labels >= 0).all():
        return names[labels]
    return np.where(labels >= 0, names[labels], -1)


def common_parameters(cls: type) -> type:
    """Fill ``{common}`` and ``{attributes}`` of a docstring: what is the same in every method."""
    if cls.__doc__:
        cls.__doc__ = cls.__doc__.replace("{common}", _COMMON).replace("{attributes}", _ATTRIBUTES)
    return cls


_COMMON = """reference : None, estimator, array of centers or array of labels, default=None
        The clustering to explain. None: ``KMeans(n_clusters, n_init=10)``, or a k-medians
        clustering, the best of ten starts. An estimator with `cluster_centers_` for the columns
        of X gives its centers; any other, its labels. An unfitted one is cloned and fitted. A
        2-D array is taken as centers, each row belonging to the nearest; a 1-D array as one
        label a row, made on whatever data, whose centers are then the group means (or medians)
        in X.
    objective : {"kmeans", "kmedians"}, default="kmeans"
        What a row pays: its squared distance to the mean of its cluster, or the sum of its
        absolute differences to the coordinate-wise (weighted, lower) median, in which outliers
        count for less.
    noise : {"group", "drop"}, default="group"
        What to do with rows that the reference labels -1: explain them as a group of their
        own, or leave them out of the fit.
    threshold_style : {"round", "midpoint", "data"}, default="round"
        Which of the thresholds that split the training rows alike to show: the one with the
        fewest significant digits, the middle, or the largest value that goes left.
    polish : bool or "deep", default=False
        Whether to change the finished tree as long as the k-means cost of its clusters falls:
        other cuts, other clusters for leaves, splits in place of those that are of no use.
        ``"deep"`` also takes leaves out to split others, which takes several times as long. The
        clusters may move away from those of the reference.
    n_jobs : int, default=None
        Threads, in fitting and in prediction. None and -1 use all processors; no result depends
        on it.
    random_state : int, RandomState instance or None, default=None
        For the default reference.
    verbose : int, default=0
        Whether to report each cut on standard error."""

_ATTRIBUTES = """tree_ : ThresholdTree
        The tree. Its clusters are positions in `cluster_names_` and `cluster_centers_`.
    labels_ : ndarray of shape (n_samples,)
        Cluster of each training row.
    rules_ : RuleList
        What each cluster is, as a :class:`~pellucid.explanation.rules.ClusterRule`.
    cluster_names_ : ndarray of shape (n_clusters,)
        Label of each cluster: 0, 1, ... or the labels of the reference in sorted order.
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Means (or medians) of the clusters of the tree; for an empty one, its reference center.
    inertia_ : float
        k-means (or k-medians) cost of the tree's clusters.
    reference_centers_ : ndarray of shape (n_clusters, n_features)
        Centers of the reference.
    reference_labels_ : ndarray of shape (n_samples,)
        Cluster of each training row in the reference; -1 for noise that was left out.
    reference_inertia_ : float
        The same cost of the reference's clusters.
    n_leaves_ : int
        Number of leaves.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, if they are strings."""
