"""XClusters: joint search for a clustering and for the tree that explains it."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any, Literal, Self, overload

import numpy as np
from scipy import sparse
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted

from pellucid._utils.estimators import store_parameters, store_training_data
from pellucid._utils.numeric_domain import MAX_VALUE
from pellucid._utils.sklearn_compat import HasMethods, Interval, StrOptions, validate_parameters
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
from pellucid.tables.column_formats import ColumnFormat
from pellucid.tables.encoding import Encoding
from pellucid.tables.frames import Columns, date_formats, dates_as_days
from pellucid.tables.validation import read_sample_weight
from pellucid.tree import ThresholdTree
from pellucid.tree.measures import feature_importances
from pellucid.xclusters.branch_and_bound import ALPHA_TOL
from pellucid.xclusters.distances.pairwise import (
    between,
    check_matrix,
    column_ranges,
    find_distance,
    pairwise,
    require_memory,
)
from pellucid.xclusters.evaluate import Mixture, distortion_and_medoids
from pellucid.xclusters.features import FeatureReader, accuracy_data, explanation_data, take_rows
from pellucid.xclusters.rows import GivenDistances, RowGroups
from pellucid.xclusters.search import (
    SEARCHES,
    STARTS,
    SearchOutcome,
    check_rows,
    find_clusters,
    read_k_range,
    warn_about,
)
from pellucid.xclusters.trees import MEASURES, TreeGrower, relabel_clusters


class XClusters(TreeModelMixin, EstimatorExportMixin, ClusterMixin, BaseEstimator):
    r"""Clusters by some columns that a small tree on other columns can tell apart.

    For example, clusters of time series that age, sex and district explain.

    *Accuracy features* describe what the clusters should have in common, for example a trend over
    time. *Explanation features* describe who is in a cluster, for example age, sex and district. A
    clustering by the accuracy features alone may have no short explanation. Therefore, rows are
    clustered by a mixture of two distances,

    .. math:: (1 - \alpha) \frac{a}{\max(a)} + \alpha \frac{e}{\max(e)},

    where a is the distance on the accuracy features and e is the distance on the explanation
    features. At α = 0 and α = 1, the other distance decides ties. The number of clusters k and the
    mixing parameter α minimize :math:`D + \lambda N`. The distortion D is the sum of squared
    accuracy distances of the rows to the medoid of their cluster. N is the number of nodes of a
    decision tree that predicts the clusters from the explanation features. D is divided by
    D(smallest k, α = 1), and N by N(largest k, α = 0).

    Parameters
    ----------
    accuracy_features : str, int or list of these, default=None
        Names, indices or name patterns (such as ``"2020-*"``) of columns of X. None selects all
        columns that are not in `explanation_features`.
    explanation_features : str, int or list of these, default=None
        The same for the explanation features. A column may be in both. If both are None, numeric
        columns are accuracy features and all others are explanation features; if all columns are
        numeric, or none is, all columns are both. Explanation features of dates are ordered, like
        numbers.
    k_range : (int, int), default=(3, 11)
        Smallest and largest number of clusters k.
    trade_off : float, default=1.0
        Weight λ of the number of nodes N.
    tolerance : float, default=0.05
        Pruning tolerance ε_b of branch and bound: blocks of the (k, α) plane whose lower bound
        improves the best objective by at most ε_b are pruned.
    accuracy_distance : str or callable, default="euclidean"
        As in :func:`pellucid.xclusters.pairwise`: ``"dtw"``, ``"jaccard"``, ``"gower"``, a metric
        of scipy, a function of two rows, or ``"precomputed"``: X is the distance matrix. The paper
        uses ``"dtw"`` for time series, which also compares series of different lengths.

        .. versionchanged:: 0.2
            The default is ``"euclidean"`` instead of ``"dtw"``.
    explanation_distance : str or callable, default="auto"
        The same for the explanation features. ``"auto"`` is ``"jaccard"`` if all explanation
        features are categorical, else ``"gower"``. ``"euclidean"``, ``"manhattan"``, ``"cosine"``
        and other metrics of scipy use one-hot encoded categories. With ``"precomputed"``, the
        matrix is passed to `fit` as `explanation_distances`.
    window : int, default=None
        Maximum shift between two series in steps, for ``"dtw"``.
    categorical : list of str or int, default=None
        Explanation features of numbers or dates that are categories, such as postal codes.
    tree_accuracy : float, default=0.9
        Required accuracy of the tree as a predictor of the clusters. At 1, the setting of the
        paper, the tree is grown until no leaf can be split. Below 1, leaves are split best-first
        until the accuracy is reached and each cluster has a leaf. A pair (k, α) whose tree does
        not reach it is selected only if no evaluated pair reaches it: then the pair with the most
        accurate tree is selected, and a warning is issued.
        The default gives much shorter rules than 1 at nearly the same clusters.

        .. versionchanged:: 0.2
            The default is 0.9 instead of 1.0.
    tree_measure : {"f1", "accuracy"}, default="f1"
        Measure of `tree_accuracy`: the weighted mean of the F1 of the clusters, or the weighted
        accuracy.
    weights : {"all", "f1"}, default="all"
        What sample weights apply to: all steps, or only `tree_measure`, as in the paper.
    tree : estimator, default=None
        Another tree: an estimator of this package, which is fitted with the clusters as labels, or
        a classifier with the attribute `tree_` of the decision trees of scikit-learn. It has its
        own stopping rules. `tree_accuracy` is required of it too; a small value, such as 0.01,
        accepts every tree. A classifier that only has a number of nodes (`tree_.node_count`,
        `node_count_`, or `get_n_leaves()`) decides about the clusters, too; `tree_` is then the
        CART tree that reproduces its predictions. If `fit` has no `sample_weight`, rows are
        repeated instead, which requires integer weights.
    clusterer : "kmedoids" or estimator, default="kmedoids"
        An estimator with the parameter `n_clusters` that is fitted on a distance matrix, such as
        ``AgglomerativeClustering(metric="precomputed", linkage="average")``. With
        ``affinity="precomputed"`` (``SpectralClustering``) or ``kernel="precomputed"``, it gets the
        affinities exp(-d / s) of the distances d with standard deviation s.
    init : {"ends", "build", "neighbour"}, default="ends"
        Starts of k-medoids; the clustering with the smallest loss is kept. ``"build"``: the BUILD
        algorithm. ``"ends"``: also the medoids of the same k at α = 0 and at α = 1; the clustering
        of a pair (k, α) is then the same in every search. ``"neighbour"``: also the medoids of the
        nearest pair clustered before; the clustering then depends on the order of evaluation.
    search : {"branch-and-bound", "grid", "bayes", "two-step"}, default="branch-and-bound"
        ``"grid"`` evaluates every pair. ``"bayes"`` requires the package bayesian-optimization and
        evaluates 40 pairs unless `max_evaluations` is set. ``"two-step"`` is the baseline that
        clusters first and explains afterwards: α = 0 and the k at the elbow of D; it requires the
        package kneed.
    alpha_step : float, default=0.05
        Step of the α grid of ``"grid"``, and the first step of `refine`.
    alpha_tol : float, default=0.01
        Resolution of α in ``"branch-and-bound"``: blocks are halved in α until they are at most
        this wide. α is continuous, so that branch and bound may find a better pair than the grid.
    reduce : bool, default=True
        Whether branch and bound removes values of k that are pruned by themselves before it splits
        a block. This is not in the paper and usually saves evaluations. With ``reduce=False`` and
        ``refine=False``, the search is algorithm 1 of the paper.
    refine : bool, default=True
        Whether to evaluate the neighbors of the best pairs after branch and bound: α = 0 with
        every k and then at most a tenth of the number of pairs of the grid, until a third of that
        number is evaluated. It improves the result if D and N are not monotone.
    min_cluster_size : int, default=2
        Distinct rows that a cluster has, unless all pairs (k, α) whose tree is accurate have a
        smaller one. 1 allows clusters of a single row.
    max_evaluations : int, default=None
        Maximum number of pairs to evaluate; at least the two pairs that normalize D and N.
    n_jobs : int, default=None
        Number of threads; None uses all processors.
    random_state : int, RandomState instance or None, default=None
        Breaks ties between splits of the tree, and draws the first pairs of ``"bayes"``. None is a
        fixed seed, so the search is deterministic.
    verbose : int, default=0
        If not 0, print the number of evaluations, the best pair and the lower bound.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each row, sorted by decreasing cluster weight, then by explanation features. The
        tree reproduces all labels if `accuracy_` is 1. Rows of weight 0 get the prediction of the
        tree.
    medoid_indices_ : ndarray of shape (n_clusters,)
        Per cluster, the row with the smallest mean squared accuracy distance to the others.
    tree_ : ThresholdTree
        Tree on the explanation features, with one-hot encoded categories.
    tree_columns_ : list of str or Indicator
        Description of each column of the tree's input.
    feature_importances_ : ndarray of shape (n_tree_columns,)
        Total decrease of the Gini impurity of the clusters by the splits on each column of the
        tree, normalized to sum 1; all 0 if there is a single leaf.
    rules_ : RuleList
        Rules of the clusters.
    best_k_, best_alpha_ : int, float
        The selected pair (k, α).
    distortion_, n_nodes_, objective_ : float, int, float
        D and N without normalization, and the normalized objective D + λ·N.
    explained_share_ : float
        1 - D(chosen) / D(one cluster), at least 0: the share of the differences in the accuracy
        features that the clusters explain. Near 0, the clusters hardly differ in them.
    accuracy_ : float
        Accuracy of the tree as a predictor of the clusters, in `tree_measure`.
    evaluations_ : structured array
        Evaluated pairs, in order: `k`, `alpha`, `distortion`, `n_nodes`,
        `normalised_distortion`, `normalised_nodes`, `objective`, `accuracy`.
    bounds_ : structured array
        Blocks of branch and bound, in the order of processing: `k1`, `alpha1`, `k2`, `alpha2`,
        `lower`, `upper` and `fate`: "split by k", "split by alpha", "reduced" (to fewer values of
        k), "pruned", or "finished" (one k, and at most `alpha_tol` wide). `upper` is infinite if
        no corner is evaluated. Empty for other searches.
    lower_bound_ : float
        Lower bound of the objective over all pairs whose tree is accurate enough, if D and N are
        monotone; NaN for other searches. The objective is more than `tolerance` above it only if
        a "finished" block has a smaller bound.
    converged_ : bool
        False if the search was interrupted or reached `max_evaluations`, or if branch and bound
        ended before all blocks were pruned, so that `refine` stays within a third of the grid.
    encoding_ : Encoding
        Encoding of the explanation features as columns of the tree.
    formats_ : dict of str to ColumnFormat
        Formats of the explanation features that are dates. The tree has thresholds on days since
        1970-01-01, which are printed as dates.
    accuracy_features_, explanation_features_ : list of str
        Names of the accuracy features and of the explanation features.
    n_features_in_, feature_names_in_ : int, ndarray
        Columns of X in `fit`, or of `explanation` if that was given.

    See Also
    --------
    KMedoids : Clusters by any distance, without an explanation.
    ExplainableKMeans : A tree for a given clustering.
    plotting.plot_trends : The series of each cluster beside its rules.

    Notes
    -----
    Branch and bound assumes that D decreases with k and increases
    with α, and that N does the opposite. The accuracy of a tree is assumed to decrease with k and
    to increase with α. Real data may violate this; `lower_bound_` is then not a valid bound.

    Rows with identical explanation features cannot be separated. If they are in different
    clusters, N is the size of the most accurate tree, and a warning is issued.

    Ctrl-C stops the search after the current pair and keeps the best pair so far.

    References
    ----------
    Hwang, Whang (2023). XClusters: Explainability-first clustering. AAAI.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from pellucid import XClusters
    >>> age = np.repeat([20, 30, 40, 50], 4)
    >>> sex = np.tile(["f", "m"], 8)
    >>> rise = np.where(age < 35, 1.0, np.where(sex == "f", 0.0, -1.0))
    >>> table = pd.DataFrame({f"day {t}": rise * t for t in range(5)}).assign(age=age, sex=sex)
    >>> model = XClusters("day *", k_range=(2, 4)).fit(table)
    >>> model.best_k_
    3
    >>> print(model.explain())
    cluster 0: age ≤ 30
        8 rows (50.0%, 100.0% pure)
    cluster 1: age > 30 and sex is f
        4 rows (25.0%, 100.0% pure)
    cluster 2: age > 30 and sex is m
        4 rows (25.0%, 100.0% pure)
    >>> model.predict(pd.DataFrame({"age": [27, 62], "sex": ["m", "m"]}))
    array([0, 2])
    """

    _parameter_constraints: dict[Any, Any] = {
        "accuracy_features": [str, Integral, "array-like", None],
        "explanation_features": [str, Integral, "array-like", None],
        "k_range": ["array-like"],
        "trade_off": [Interval(Real, 0, None, closed="left")],
        "tolerance": [Interval(Real, 0, None, closed="left")],
        "accuracy_distance": [str, callable],
        "explanation_distance": [str, callable],
        "window": [Interval(Integral, 0, None, closed="left"), None],
        "categorical": ["array-like", None],
        "tree_accuracy": [Interval(Real, 0, 1, closed="right")],
        "tree_measure": [StrOptions(set(MEASURES))],
        "weights": [StrOptions({"all", "f1"})],
        "tree": [HasMethods("fit"), None],
        "clusterer": [StrOptions({"kmedoids"}), HasMethods("fit")],
        "init": [StrOptions(set(STARTS))],
        "search": [StrOptions(set(SEARCHES))],
        "alpha_step": [Interval(Real, 0, 1, closed="right")],
        "alpha_tol": [Interval(Real, 1e-6, 1, closed="both")],
        "reduce": ["boolean"],
        "refine": ["boolean"],
        "min_cluster_size": [Interval(Integral, 1, None, closed="left")],
        "max_evaluations": [Interval(Integral, 1, None, closed="left"), None],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }
    formats_: dict[str, ColumnFormat]
    encoding_: Encoding

    def __init__(
        self,
        accuracy_features: Any = None,
        explanation_features: Any = None,
        *,
        k_range: tuple[int, int] = (3, 11),
        trade_off: float = 1.0,
        tolerance: float = 0.05,
        accuracy_distance: Any = "euclidean",
        explanation_distance: Any = "auto",
        window: int | None = None,
        categorical: Iterable[Any] | None = None,
        tree_accuracy: float = 0.9,
        tree_measure: Literal["f1", "accuracy"] = "f1",
        weights: Literal["all", "f1"] = "all",
        tree: Any = None,
        clusterer: Any = "kmedoids",
        init: Literal["ends", "build", "neighbour"] = "ends",
        search: Literal["branch-and-bound", "grid", "bayes", "two-step"] = "branch-and-bound",
        alpha_step: float = 0.05,
        alpha_tol: float = ALPHA_TOL,
        reduce: bool = True,
        refine: bool = True,
        min_cluster_size: int = 2,
        max_evaluations: int | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        store_parameters(self, locals())

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        explanation: Any = None,
        explanation_distances: Any = None,
    ) -> Self:
        """Find the clusters and their tree.

        Parameters
        ----------
        X : data frame, array-like of shape (n_samples, n_features) or list of 1-D arrays
            A table with both kinds of features. If `explanation` is given: the accuracy features
            alone, which may be series of different lengths for ``"dtw"``. If `accuracy_distance`
            is "precomputed": the distance matrix.
        y : ignored
            Not used; present for scikit-learn's interface.
        sample_weight : array-like of shape (n_samples,), optional
            An integer weight w counts as w copies of the row. Rows of weight 0 are ignored. With
            ``weights="f1"``, weights only apply to the accuracy of the tree.
        explanation : data frame or array-like of shape (n_samples, n_columns), optional
            The explanation features, if they are not in X.
        explanation_distances : array-like of shape (n_samples, n_samples), optional
            Distance matrix of the explanation features, for
            ``explanation_distance="precomputed"``.

        Returns
        -------
        self
            The fitted estimator.
        """
        validate_parameters(self)
        k_range = read_k_range(self.k_range)
        _check_distances(self, explanation, explanation_distances)
        is_given = self.accuracy_distance == "precomputed"
        if is_given:
            X = X if sparse.issparse(X) else np.asarray(X)  # not columns of a data frame
        self._reader, accuracy, explained = FeatureReader.fit(self, X, explanation)
        n = len(explained)
        if len(accuracy) != n:
            raise ValueError(f"X has {len(accuracy)} rows, but explanation has {n}")
        weight = read_sample_weight(sample_weight, n)
        measured = weight
        if self.weights == "f1":
            weight = np.ones(n)
        weighted = np.flatnonzero(weight > 0)
        check_rows(len(weighted), k_range)
        distances = (self.accuracy_distance, self.explanation_distance)
        require_memory(n, n, 1 + sum(metric != "precomputed" for metric in distances))
        self.accuracy_features_: list[str] = self._reader.accuracy_names
        self.explanation_features_: list[str] = self._reader.explanation_names
        categorical = self._reader.explanation_positions(self.categorical, "categorical")
        self.formats_ = date_formats(explained, categorical or ())
        explained = dates_as_days(explained, self.formats_)
        self.encoding_ = Encoding.fit(explained, categorical)
        encoded = self.encoding_.transform(explained)
        given = (
            _read_distances(accuracy, n, "X") if is_given else None,
            _read_distances(explanation_distances, n, "explanation_distances"),
        )
        parts = [explained, given[0] or accuracy, *filter(None, given[1:])]
        rows = RowGroups.of(parts, weighted, weight[weighted])
        metric = self.accuracy_distance
        data = accuracy_data(accuracy, metric)
        a = self._distances(data, metric, given[0], rows.first)
        self._ranges = column_ranges(take_rows(data, rows.first)) if metric == "gower" else None
        metric = self.explanation_distance
        if metric == "auto":
            metric = "jaccard" if all(self.encoding_.is_categorical) else "gower"
        data = explanation_data(explained, self.encoding_, metric)
        e = self._distances(data, metric, given[1], rows.first)
        seed = 0 if self.random_state is None else self.random_state
        if not isinstance(seed, Integral):
            seed = check_random_state(seed).randint(np.iinfo(np.int32).max)
        measure_weight = None
        if self.weights == "f1":
            measure_weight = np.bincount(rows.group, weights=measured, minlength=len(rows.first))
        grower = TreeGrower(
            encoded[rows.first],
            rows.weight,
            tree=self.tree,
            min_accuracy=self.tree_accuracy,
            measure=self.tree_measure,
            measure_weight=measure_weight,
            random_state=int(seed),
        )
        outcome = find_clusters(self, Mixture(a, e), grower, k_range)
        whole = distortion_and_medoids(a, np.zeros(len(a), dtype=int), rows.weight)[0]
        share = 1 - outcome.chosen.distortion / whole if whole else 0.0
        self.explained_share_: float = max(share, 0.0)
        tree = grower.grow(outcome.chosen.labels).tree
        self._store(outcome, tree, encoded, rows, weighted, weight)
        self._medoids = take_rows(accuracy, self.medoid_indices_)
        warn_about(outcome, grower)
        series = X if explanation is not None and not is_given else None
        store_training_data(self, X=X if explanation is None else explanation, series=series)
        return self

    def _distances(
        self, data: Any, metric: Any, given: GivenDistances | None, rows: np.ndarray
    ) -> np.ndarray:
        """Distances of some rows of the data; taken from the matrix if that is given."""
        if given is not None:
            return given.matrix[np.ix_(rows, rows)]
        window = self.window if metric == "dtw" else None
        find_distance(metric, window).read(data, "X")  # errors give the row numbers of X
        some = take_rows(data, rows)
        return pairwise(some, metric, window=window, n_jobs=self.n_jobs, verbose=self.verbose)

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

        `outcome` is that of the distinct rows in `rows`, `encoded` has all rows, and `weighted` are
        the indices of those of positive weight.
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
        counts = np.zeros((tree.node_count, len(order)))
        np.add.at(counts, (leaf[weighted], labels[weighted]), weight[weighted])
        counts = counts[tree.leaves]
        total = counts.sum(axis=1)
        with np.errstate(invalid="ignore"):
            shares = counts / total[:, None]
        self.feature_importances_: np.ndarray = feature_importances(tree, total, shares)
        self.tree_columns_: list[Any] = self.encoding_.names
        self.cluster_names_: np.ndarray = np.arange(len(order))
        self.labels_ = labels
        self.medoid_indices_: np.ndarray = rows.first[chosen.medoids[order]]
        self.best_k_: int = chosen.k
        self.best_alpha_: float = chosen.alpha
        self.distortion_: float = chosen.distortion
        self.n_nodes_: int = chosen.n_nodes
        self.objective_: float = outcome.objective
        self.accuracy_: float = chosen.accuracy
        self.evaluations_: np.ndarray = outcome.evaluations
        self.bounds_: np.ndarray = outcome.bounds
        self.lower_bound_: float = outcome.lower
        self.converged_: bool = outcome.is_complete
        names = self.cluster_names_.tolist()
        columns, formats = self.tree_columns_, self.formats_
        self._leaf_rules = leaf_rules(
            tree, feature_names=columns, labels=names, purity=purity, formats=formats
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
        encoded = self._tree_input(X)
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
        encoded = self._tree_input(X)  # raises NotFittedError before `tree_` is missing
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
            return between(X, self.labels_, metric)[:, self.medoid_indices_].argmin(axis=1)
        rows = accuracy_data(self._reader.accuracy(self, X), metric)
        medoids = accuracy_data(self._medoids, metric)
        window = self.window if metric == "dtw" else None
        options: dict[str, Any] = {"window": window, "n_jobs": self.n_jobs}
        return between(rows, medoids, metric, ranges=self._ranges, **options).argmin(axis=1)

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
        special = explanation.special_rules(leaf, leaf, used)
        words = self.tree_columns_, self.formats_, special
        return explain_rows(
            self.tree_, self._leaf_rules, leaf, lambda f, rows: encoded[rows, f], *words
        )

    def _tree_input(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        return self.encoding_.transform(self._columns(X))

    def _columns(self, X: Any) -> Columns:
        return dates_as_days(self._reader.explanation(self, X), self.formats_)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = tags.input_tags.categorical = True
        tags.input_tags.pairwise = self.accuracy_distance == "precomputed"
        return tags


def _check_distances(model: XClusters, explanation: Any, distances: Any) -> None:
    metrics = (model.accuracy_distance, model.explanation_distance)
    if (window := model.window) is not None and "dtw" not in metrics:
        raise ValueError(f"window={window} is only used by the distance 'dtw'; set it to None")
    if (model.explanation_distance == "precomputed") != (distances is not None):
        raise ValueError(
            "explanation_distance='precomputed' requires fit(..., explanation_distances=...), and "
            "vice versa"
        )
    if model.accuracy_distance == "precomputed" and explanation is None:
        raise ValueError(
            "with accuracy_distance='precomputed', X is the distance matrix; pass the explanation "
            "features separately: fit(X, explanation=...)"
        )


def _read_distances(matrix: Any, n: int, name: str) -> GivenDistances | None:
    """A given distance matrix, checked; None if there is none."""
    if matrix is None:
        return None
    matrix = check_matrix(matrix, n, name)
    if float(matrix.max()) > MAX_VALUE:
        raise ValueError(
            f"{name} contains {matrix.max():.4g}: distances of more than {MAX_VALUE:g} are too "
            "large to square and add up; divide all distances by a constant"
        )
    return GivenDistances(matrix)
