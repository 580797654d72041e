"""The base of all threshold-tree estimators: input, reference, fitted attributes, prediction."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import field
from functools import partial
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
    TransformerMixin,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from pellucid._core.criteria.problem import Problem
from pellucid._core.data.arrays import Weights
from pellucid._core.data.dataset import Dataset
from pellucid._core.data.group_sums import group_means
from pellucid._core.data.medians import OBJECTIVES
from pellucid._core.growers.growing_tree import FitSummary, GrowthResult
from pellucid._utils.arrays import ROWS_A_THREAD, filled, places_where
from pellucid._utils.estimators import Noise, has_space, store_training_data
from pellucid._utils.notices import ImpureRuleWarning
from pellucid._utils.numeric_domain import OutOfDomain, check_spread, refuse_large
from pellucid._utils.progress import Progress
from pellucid._utils.sklearn_compat import HasMethods, Interval, StrOptions, validate_parameters
from pellucid._utils.threads import ThreadPool, count_threads
from pellucid.cluster._docs import common_parameters
from pellucid.cluster._guarantees import GuaranteeMixin
from pellucid.explanation.mixins import EstimatorExportMixin, PlotTreeMixin, TreeModelMixin
from pellucid.explanation.rules import (
    ClusterRule,
    ExplainMixin,
    RowExplanation,
    RuleList,
    cluster_rules,
    explain_rows,
    label_text,
    leaf_purity,
    leaf_rules,
)
from pellucid.methods import BY_NAME, STREAMED, one_of
from pellucid.metrics.trees import match_clusters
from pellucid.reference import Reference, find_reference
from pellucid.reference.resolve import DEFAULT_N_CLUSTERS
from pellucid.tables.frames import is_scan, refuse_scan
from pellucid.tables.validation import (
    read_rows,
    read_sample_weight,
    read_space,
    read_X,
    refuse_infinite,
    rows_without_copy,
)
from pellucid.tree import ThresholdTree
from pellucid.tree.measures import feature_importances
from pellucid.tree.predictor import column_values
from pellucid.tree.rounding import ThresholdStyle

if TYPE_CHECKING:
    from typing import Self

_REFERENCE_OPTIONS = "n_clusters", "random_state", "noise"

_SOMETIMES_SET = (
    *("labels_", "reference_labels_", "scan_gap_", "space_loss_"),
    *("cluster_agreement_", "disagreement_lower_bound_"),
)
"""Attributes of some fits only; a new fit removes those of the last one."""


@common_parameters
class BaseThresholdTree(
    ExplainMixin,
    TreeModelMixin,
    PlotTreeMixin,
    EstimatorExportMixin,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    GuaranteeMixin,
    ClusterMixin,
    BaseEstimator,
):
    """Base of the estimators that explain a clustering by a threshold tree; `_grow` is theirs."""

    _parameter_constraints = {
        "n_clusters": [Interval(Integral, 1, None, closed="left"), None],
        # `train` is the `fit` of faiss.
        "reference": ["array-like", *map(HasMethods, ("fit", "predict", "train")), None],
        "noise": [StrOptions({"background", "cluster", "drop", "group"})],
        "threshold_style": [StrOptions({"round", "midpoint", "data"})],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }
    n_clusters: int | None = field(default=None, kw_only=False)
    reference: Any = None
    noise: Noise = "group"
    threshold_style: ThresholdStyle = "round"
    n_jobs: int | None = None
    random_state: Any = None
    verbose: int = 0

    _has_labels = False
    """Whether the labels to explain were given to `fit` as y."""

    @property
    def _objective(self) -> str:
        """Name of the cost function, a key of `OBJECTIVES`."""
        return getattr(self, "objective", "kmeans")

    @property
    def _moves_clusters(self) -> bool:
        """Whether clusters of the tree get the names of the reference clusters that they match."""
        return False

    @property
    def _keeps_labels(self) -> bool:
        """Whether the tree is searched for given labels, so that a cluster may have no leaf."""
        return False

    def _check_parameters(self) -> None:
        validate_parameters(self)

    @abstractmethod
    def _grow(self, problem: Any, progress: Progress) -> GrowthResult:
        """Grow the tree for a problem: a `Problem`, or a `BatchProblem` if the method streams."""

    def _max_leaves(self, n_clusters: int) -> int:
        return n_clusters

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Grow the tree.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame of shape (n_samples, n_features), or Scan
            Numbers without NaN or infinities; pandas, polars and pyarrow tables keep their
            column names. Sparse data are read one column at a time. Data larger than memory are
            given as a :func:`pellucid.scan`.
        y : array-like of shape (n_samples,), default=None
            Labels to explain, one per row: integers, strings or any other values that can be
            sorted, from any clustering. Their centers are the means (or medians) of the groups
            in X. -1, None and NaN stand for noise, see `noise`. With y, `reference` must be None
            and `n_clusters` is ignored. Without y, `reference` is explained.
        sample_weight : array-like of shape (n_samples,), optional
            A whole weight counts as that many copies of the row; rows of weight 0 are absent.

        Returns
        -------
        self
            The fitted estimator.
        """
        return self._fit(X, y, sample_weight)

    def _fit(self, X: Any, y: Any, sample_weight: Any, space: Any = None) -> Self:
        """`fit`, with costs in another space if one is given."""
        for name in _SOMETIMES_SET:
            self.__dict__.pop(name, None)
        if streams := is_scan(X):
            found = self._fit_scan(X, y, sample_weight)
        else:
            found = self._fit_rows(X, y, sample_weight, space)
        tree, names = found.tree, np.array(found.names)
        self.tree_ = tree
        self.n_leaves_: int = tree.n_leaves
        self.cluster_names_: np.ndarray = names
        self.cluster_centers_: np.ndarray = found.cluster_centers
        self.inertia_: float = found.inertia
        self.reference_centers_: np.ndarray = found.reference_centers
        self.reference_inertia_: float = found.reference_inertia
        self.mistakes_: int | float = found.mistakes
        self.feature_importances_: np.ndarray = found.importances
        labels, quality = names.tolist(), (found.purity, found.n_noise)
        self._leaf_rules = leaf_rules(tree, self._names_in(), labels, *quality)
        self.rules_: RuleList[ClusterRule] = cluster_rules(self._leaf_rules, labels)
        store_training_data(self, X=None if streams else X)
        n_clusters, message = len(names), ""
        if (lost := [rule for rule in self.rules_ if not rule.rules]) and self._keeps_labels:
            names_lost = ", ".join(label_text(rule.cluster) for rule in lost)
            message = (
                f"not explained: cluster{'s' * (len(lost) > 1)} {names_lost}. In no "
                f"leaf of the best tree found with {self.n_leaves_} leaves are its rows the "
                f"largest part. {self._remedy()}"
            )
        elif self.n_leaves_ < min(self._max_leaves(n_clusters), n_clusters):
            message = (
                f"the tree has {self.n_leaves_} leaves for {n_clusters} clusters: no threshold "
                "separates the other clusters, because their centers or rows coincide. Use fewer "
                "clusters"
            )
        if message:
            warnings.warn(message, ConvergenceWarning, stacklevel=3)
        warn_of_impure_rules(self.rules_, self._remedy())
        return self

    def _remedy(self) -> str:
        """What may help if rules select few rows of their clusters."""
        return "Use more leaves, fewer clusters, or ExplainableKMeans, which keeps the clusters"

    def _fit_rows(self, X: Any, y: Any, sample_weight: Any, space: Any = None) -> FitSummary:
        """Grow the tree on rows in memory, and set their labels."""
        self._has_labels = y is not None
        with self._prepare(X, y, sample_weight, space) as (data, reference, problem):
            n_leaves = self._max_leaves(problem.n_clusters)
            progress = Progress(f"{type(self).__name__}: splits", n_leaves - 1, self.verbose)
            growth = self._grow(problem, progress)
            tree, leaf = self._finish(problem, growth)
            if self._moves_clusters:
                tree = _with_matching_names(tree, leaf, problem)
            found = self._summarize(data, reference, problem, tree, leaf)
            self._store_growth(problem, growth, found)
        return found

    def _fit_scan(self, scan: Any, y: Any, sample_weight: Any) -> FitSummary:
        """Grow the tree in passes over the batches of a scan."""
        from pellucid.scale.fitting import make_problem, summarize
        from pellucid.scale.references import find_reference as find_scan_reference

        if y is not None or sample_weight is not None:
            raise ValueError(
                "labels and weights of a scan are columns: scan(source, labels=..., weight=...)"
            )
        self._check_parameters()
        self._check_scan_parameters()
        self._has_labels = scan.labels is not None
        self.n_features_in_: int = len(scan.columns)
        self.feature_names_in_: np.ndarray = np.array(scan.columns, dtype=object)
        with ThreadPool(count_threads(self.n_jobs)) as pool:
            # Costs at all centers are in memory, so that their number limits the rows of a batch.
            centers = getattr(self.reference, "cluster_centers_", self.reference)
            n_clusters = np.shape(centers)[0] if np.ndim(centers) == 2 else self.n_clusters
            progress = Progress(type(self).__name__, 0, self.verbose)
            k = n_clusters or DEFAULT_N_CLUSTERS
            with closing(scan.partitions(pool, k, progress)) as partitions:
                options = {n: getattr(self, n) for n in _REFERENCE_OPTIONS}
                reference = find_scan_reference(self.reference, partitions, scan, **options)
                problem, first = make_problem(partitions, scan, reference)
                n_leaves = self._max_leaves(len(reference.centers))
                progress = Progress(f"{type(self).__name__}: splits", n_leaves - 1, self.verbose)
                growth = self._grow(problem, progress)
                found = summarize(
                    problem, first, growth, reference.names, renames=self._moves_clusters
                )
                partitions.finish()
        if not scan.exact:
            self.scan_gap_: float = max(problem.gaps.values(), default=0.0)
        self._store_growth(problem, growth, found)
        return found

    def _check_scan_parameters(self) -> None:
        """Raise an error if the method, or a parameter, cannot be used on a scan."""
        methods = (BY_NAME.get(parent.__name__) for parent in type(self).__mro__)
        if (method := next(filter(None, methods), None)) is None or not method.streams:
            raise ValueError(
                f"{type(self).__name__} needs all rows in memory; on a scan, use "
                f"{one_of(method.name for method in STREAMED.values())}"
            )
        if self._objective != "kmeans":
            raise ValueError(
                f"objective={self._objective!r} needs medians, which cannot be added up over "
                'batches; use objective="kmeans", or fit on data in memory'
            )

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> np.ndarray:
        """Grow the tree and return the cluster of each row; parameters as in `fit`.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame, or Scan
            As in `fit`.
        y : array-like of shape (n_samples,), default=None
            Labels to explain, as in `fit`.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Cluster of each row, `labels_`. For a :func:`pellucid.scan`, what `predict` returns.
        """
        if is_scan(X):
            X.check_output()
            return self.fit(X, y, sample_weight=sample_weight).predict(X)
        return self.fit(X, y, sample_weight=sample_weight).labels_

    @contextmanager
    def _prepare(
        self, X: Any, y: Any, sample_weight: Any, space: Any = None
    ) -> Iterator[tuple[Dataset, Reference, Problem]]:
        """Read the input, find the reference and make the problem; threads end with the context."""
        self._check_parameters()
        # NaN, infinities and large numbers are found while the nearest centers are.
        numbers = read_X(self, X, reset=True, check=False)
        n = numbers.shape[0]
        weight = None if sample_weight is None else read_sample_weight(sample_weight, n)
        with ThreadPool(count_threads(self.n_jobs)) as pool:
            weights = Weights.equal(n, pool) if weight is None else Weights.of(weight)
            data = OBJECTIVES[self._objective](
                numbers, weights, pool, is_checked=False, rows=rows_without_copy(X, numbers)
            )
            spaced, original = data, X
            try:
                if space is not None:
                    data.require_domain()
                    original, spaced = space, Dataset(read_space(space, n), weights, pool)
                options = {n: getattr(self, n) for n in _REFERENCE_OPTIONS}
                reference = find_reference(
                    self.reference, spaced, y=y, original_X=original, **options
                )
            except OutOfDomain:
                refuse_infinite(self, numbers)
                refuse_large(numbers, self._names_in())
                raise
            check_spread(numbers)
            yield data, reference, memory_problem(data, reference, spaced)

    def _finish(self, problem: Problem, growth: GrowthResult) -> tuple[ThresholdTree, np.ndarray]:
        """The final tree and the leaf of each row of the problem."""
        return growth.builder.build(), growth.find_leaves(problem.pool)

    def _store_growth(self, problem: Any, growth: GrowthResult, found: FitSummary) -> None:
        """Set the fitted attributes of a method; none by default."""

    def _summarize(
        self,
        data: Dataset,
        reference: Reference,
        problem: Problem,
        tree: ThresholdTree,
        leaf: np.ndarray,
    ) -> FitSummary:
        """What a fit finds. Rows that are left out, such as noise, only get a label."""
        cluster_of = _clusters(tree, leaf, data)
        found, expected = problem.centers_and_costs(cluster_of)
        means = found[0] if self._objective == "kmeans" else None
        importances = _importances(tree, problem.space, leaf, means)
        position, names = cluster_of, np.array(reference.names)
        if problem.n_samples < data.X.shape[0]:
            leaf = tree.apply(data.X)
            position = _clusters(tree, leaf, data)
        self.labels_: np.ndarray = _name(position, names)
        self.reference_labels_: np.ndarray = _name(reference.labels, names)
        mistakes, purity, noise = _tally(leaf, position, reference.labels, data, tree.node_count)
        costs = *found, reference.centers, expected[1]
        return FitSummary(tree, reference.names, *costs, purity, importances, mistakes, noise)

    def _names_in(self):
        return getattr(self, "feature_names_in_", None)

    def apply(self, X: Any) -> np.ndarray:
        """Node number of the leaf that each row reaches.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Rows with the columns of `fit`.

        Returns
        -------
        ndarray of shape (n_samples,)
            Numbers of nodes of `tree_`.
        """
        self._require_tree()
        return self._leaf_values(X, np.arange(self.tree_.node_count))

    def predict(self, X: Any) -> np.ndarray:
        """Cluster of each row, in the labels of the reference.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame of shape (n_samples, n_features), or Scan
            Rows with the columns of `fit`.

        Returns
        -------
        ndarray of shape (n_samples,)
            Integers 0, 1, ..., or the labels that were given to `fit` as y. For a
            :func:`pellucid.scan`, a lazy frame of its rows with a column ``cluster``, see
            :meth:`pellucid.scale.scan.BatchScan.with_clusters`.
        """
        self._require_tree()
        if is_scan(X):
            return X.with_clusters(self)
        return self._leaf_values(X, self.cluster_names_[self.tree_.cluster])

    def _require_tree(self) -> None:
        # The full question takes longer than the answers for a few rows.
        if not hasattr(self, "tree_"):
            check_is_fitted(self)

    def _leaf_values(self, X: Any, values: np.ndarray) -> np.ndarray:
        rows = read_rows(self, X)
        threads = partial(count_threads, self.n_jobs)
        found, is_finite = self.tree_.leaf_values(rows, values, check=True, count_threads=threads)
        if not is_finite:
            refuse_infinite(self, rows)
        return found

    def _tree_input(self, X: Any) -> Any:
        return read_X(self, X, reset=False)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Minus the cost of `X` to `cluster_centers_`, each row in its cluster of the tree.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Rows with the columns of `fit`.
        y : ignored
            Not used; present for scikit-learn's interface.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows.

        Returns
        -------
        float
            Minus the cost; higher is better.
        """
        check_is_fitted(self)
        numbers = self._tree_input(X)
        weight = read_sample_weight(sample_weight, numbers.shape[0])
        data = OBJECTIVES[self._objective](numbers, Weights.of(weight))
        return -data.cost(self.tree_.predict(numbers), self.cluster_centers_)

    def transform(self, X: Any) -> np.ndarray:
        """Distance of each row to each of `cluster_centers_`.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Rows with the columns of `fit`. If the centers are in another space (`fit` with
            `space`), rows of X have no distances to them: an error.

        Returns
        -------
        ndarray of shape (n_samples, n_clusters)
            Euclidean distances, as in :class:`sklearn.cluster.KMeans`, or with
            ``objective="kmedians"`` Manhattan distances. The nearest center need not be that of
            the cluster to which the tree assigns the row.
        """
        check_is_fitted(self)
        if has_space(self):
            raise ValueError(
                "the centers of this model are in the space of fit, not in the columns of X; use "
                "sklearn.metrics.pairwise_distances(Z, model.cluster_centers_) with rows Z there"
            )
        numbers, centers = self._tree_input(X), self.cluster_centers_
        metric = "euclidean" if self._objective == "kmeans" else "cityblock"
        if sparse.issparse(numbers):
            from sklearn.metrics import pairwise_distances

            found = pairwise_distances(numbers.tocsr(), sparse.csr_array(centers), metric=metric)
        else:
            from scipy.spatial.distance import cdist

            found = cdist(numbers, centers, metric)
        return found.astype(numbers.dtype, copy=False)

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> np.ndarray:
        """Fit, and return the distance of each row to each of `cluster_centers_`.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            As in `fit`; a scan is refused.
        y : array-like of shape (n_samples,), default=None
            Labels to explain, as in `fit`.
        **fit_params : dict
            Further parameters of `fit`.

        Returns
        -------
        ndarray of shape (n_samples, n_clusters)
            As of `transform`.
        """
        refuse_scan(X)
        return super().fit_transform(X, y, **fit_params)

    @property
    def _n_features_out(self) -> int:
        return len(self.cluster_centers_)

    def _explain_rows(self, X: Any) -> RuleList[RowExplanation]:
        numbers = self._tree_input(X)
        leaf, values = self.tree_.apply(numbers), partial(column_values, numbers)
        return explain_rows(self.tree_, self._leaf_rules, leaf, values, self._names_in())

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _importances(
    tree: ThresholdTree, data: Dataset, leaf: np.ndarray, cluster_means: np.ndarray | None
) -> np.ndarray:
    """Importance of the features; with one leaf per cluster, no rows are read."""
    leaves, position = tree.leaves, np.zeros(tree.node_count, dtype=np.intp)
    if cluster_means is not None and len(np.unique(tree.cluster[leaves])) == len(leaves):
        means = cluster_means[tree.cluster[leaves]]
    else:
        position[leaves] = np.arange(len(leaves))
        labels = filled(len(leaf), np.intp, data.pool, lambda rows: position.take(leaf[rows]))
        weight = data.weights.values
        means = group_means(data.X, labels, weight, len(leaves), data.pool)
    return feature_importances(tree, tree.weighted_n_node_samples[leaves], means)


def _clusters(tree: ThresholdTree, leaf: np.ndarray, data: Dataset) -> np.ndarray:
    return filled(len(leaf), np.intp, data.pool, lambda rows: tree.cluster.take(leaf[rows]))


def _tally(
    leaf: np.ndarray, position: np.ndarray, labels: np.ndarray, data: Dataset, n_nodes: int
) -> tuple[int | float, dict[int, float], dict[int, int]]:
    """Weight of the rows of another cluster than their own; by leaf, the purity, and the number of
    rows of noise that have a weight.
    """
    weights, pool = data.weights, data.pool
    if weights.are_ones:

        def count(block: tuple[int, int]) -> np.ndarray:
            rows = slice(*block)
            kind = np.where(labels[rows] < 0, 2, position[rows] != labels[rows])
            return np.bincount(kind * n_nodes + leaf[rows], minlength=3 * n_nodes)

        counts = pool.map(count, pool.blocks(len(leaf), ROWS_A_THREAD, per_thread=1))
        own, other, noisy = np.sum(counts, axis=0).reshape(3, n_nodes)
        reached = np.flatnonzero(own + other)
        shares = (own[reached] / (own + other)[reached]).tolist()
        of_leaf = {node: int(noisy[node]) for node in np.flatnonzero(noisy).tolist()}
        return weights.of_units(int(other.sum())), dict(zip(reached.tolist(), shares)), of_leaf
    has_label = labels >= 0
    is_own = position[has_label] == labels[has_label]
    mistakes = weights.of_units(weights.units[has_label][~is_own].sum())
    noise = leaf[~has_label & (weights.values > 0)].tolist()
    purity = leaf_purity(leaf[has_label], is_own, weights.values[has_label])
    return mistakes, purity, dict(Counter(noise))


def warn_of_impure_rules(rules: RuleList[ClusterRule], remedy: str) -> None:
    """Warn if most rows of a rule belong to other clusters than the one it is named after."""
    impure = [rule for rule in rules if rule.purity < 0.5]
    if impure:
        texts = (f"{label_text(rule.cluster)} ({100 * rule.purity:.1f}%)" for rule in impure)
        shares = ", ".join(f"cluster {text}" for text in texts)
        text = "less than half of the rows that a rule selects are in its cluster of the reference"
        warnings.warn(f"{text}: {shares}. {remedy}", ImpureRuleWarning, stacklevel=4)


def memory_problem(data: Dataset, reference: Reference, space: Dataset | None = None) -> Problem:
    """The problem on rows with a label and a positive weight; centers are those of the space."""
    labels, weight = reference.labels, data.weights.values
    space = None if space is data else space

    def is_left_out(rows: slice) -> np.ndarray:
        return (labels[rows] < 0) | (weight[rows] <= 0)

    if len(left_out := places_where(len(labels), data.pool, is_left_out)):
        counted = np.delete(np.arange(len(labels)), left_out)
        data, labels = data.take(counted), labels[counted]
        space = None if space is None else space.take(counted)
    if space is None:
        return Problem(data, reference.centers, labels, unit_from_labels=True)
    means = np.nan_to_num(data.group_centers(labels, len(reference.centers)))
    other = space, reference.centers
    return Problem(data, means, labels, unit_from_labels=True, space=other)


def _with_matching_names(tree: ThresholdTree, leaf: np.ndarray, problem: Problem) -> ThresholdTree:
    """The tree with its clusters renamed so that most weight is in its reference cluster."""
    k = problem.n_clusters
    pairs = tree.cluster[leaf].astype(np.intp) * k + problem.labels
    # Units are whole and their total is below 2**52, so that sums of floats are exact.
    table = np.bincount(pairs, weights=problem.weights.units, minlength=k * k).reshape(k, k)
    names = match_clusters(table)
    return tree.replace(cluster=np.where(tree.is_leaf, names[tree.cluster], tree.cluster))


def _name(labels: np.ndarray, names: np.ndarray) -> np.ndarray:
    if np.array_equal(names, np.arange(len(names))):  # also -1 is as it should be
        return labels.astype(names.dtype, copy=False)
    if (labels >= 0).all():
        return names[labels]
    return np.where(labels >= 0, names[labels], "-1" if names.dtype.kind == "U" else -1)
