"""XClusters: the clustering is chosen together with the tree that explains it."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from pellucid._utils.sklearn_compat import HasMethods, Interval, StrOptions, validate_parameters
from pellucid._utils.training_data import store_training_data
from pellucid.tables.columns import Columns
from pellucid.tables.encoding import Encoding
from pellucid.tables.validation import read_sample_weight
from pellucid.xclusters._fitted import ExplainedClusters
from pellucid.xclusters.distances.pairwise import check_matrix, column_ranges, pairwise
from pellucid.xclusters.feature_distances import (
    accuracy_data,
    explanation_data,
    explanation_metric,
    take_rows,
)
from pellucid.xclusters.features import FeatureReader
from pellucid.xclusters.mixture import Mixture, check_memory
from pellucid.xclusters.search import (
    SEARCHES,
    STARTS,
    check_rows,
    find_clusters,
    read_k_range,
    warn_of,
)
from pellucid.xclusters.tree_accuracy import MEASURES
from pellucid.xclusters.trees import TreeGrower


class XClusters(ExplainedClusters):
    """Clusters that nearly fit the accuracy features and can be told by the explanation features.

    Rows have two sides: *accuracy features*, by which clusters are to be coherent (a trend over
    time), and *explanation features*, by which they are to be told (age, sex, district). A
    clustering by the former alone may have no short explanation. Here the distance that is
    clustered is a mixture of both::

        (1 − α) · a / max(a) + α · e / max(e)

    with a and e the distances by accuracy and by explanation features, and the number of
    clusters k and the share α are chosen such that ``D + trade_off · N`` is least: D is the
    sum of squared accuracy distances of the rows to the medoid of their cluster, N the number
    of nodes of the decision tree that tells the clusters by the explanation features; both are
    relative to their largest values, D at (smallest k, α = 1) and N at (largest k, α = 0).

    Parameters
    ----------
    accuracy_features : str, int or list of these, default=None
        Names or positions of columns, or patterns of names such as ``"2020-*"``, when `fit` is
        given one table. Left out, all columns that are no `explanation_features`.
    explanation_features : str, int or list of these, default=None
        The same for the other side. A column may be on both. When both are left out, columns of
        numbers are accuracy features and all others explanation features; if all columns are of
        one kind, all are both.
    k_range : (int, int), default=(3, 11)
        Smallest and largest number of clusters.
    trade_off : float, default=1.0
        λ, the price of the tree's nodes.
    tolerance : float, default=0.05
        ε_b: parts of the (k, α) plane are passed over if they promise to be better than what
        has been found by no more than this.
    accuracy_distance : str or callable, default="dtw"
        ``"dtw"``, ``"euclidean"``, ``"manhattan"``, ``"cosine"``, ``"jaccard"``, ``"gower"``, a
        function of two rows, or ``"precomputed"``: the X of `fit` is the distance matrix.
        See :func:`pellucid.xclusters.pairwise`.
    explanation_distance : str or callable, default="auto"
        The same for the other side. ``"auto"`` is ``"jaccard"`` if all explanation features are
        categories, and ``"gower"`` if there are numbers among them. ``"euclidean"``,
        ``"manhattan"`` and ``"cosine"`` see each category as a 0/1 column.  With
        ``"precomputed"``, `fit` takes the matrix as `explanation_distances`.
    window : int, default=None
        Steps by which series may be shifted against each other, for ``"dtw"``.
    categorical : list of str or int, default=None
        Explanation features that are categories although they look like numbers, such as
        postal codes.
    tree_accuracy : float, default=1.0
        How well the tree must tell the clusters. At 1 it is grown until no leaf can be cut any
        further; below, leaf by leaf, best first, until this is reached.
    tree_measure : {"f1", "accuracy"}, default="f1"
        F1 of each cluster, averaged by weight, or the share of rows, by weight.
    tree : estimator, default=None
        Another tree: an estimator of this package, which is given the clusters as its
        `reference`, or a decision tree of scikit-learn. It has its own rules for when to stop,
        and `tree_accuracy` is not used.
    clusterer : "kmedoids" or estimator, default="kmedoids"
        An estimator with `n_clusters` that takes a distance matrix, such as
        ``AgglomerativeClustering(metric="precomputed", linkage="average")``.
    init : {"ends", "build", "neighbour"}, default="ends"
        Where k-medoids starts; the clustering of least loss is kept. ``"build"``: from BUILD.
        ``"ends"``: also from the medoids for the same k at α = 0 and at α = 1; what is found for
        a pair (k, α) is then the same in every search. ``"neighbour"``: from BUILD and the
        nearest pair that was clustered before, so that it depends on the order.
    search : {"branch-and-bound", "grid", "bayes", "two-step"}, default="branch-and-bound"
        ``"grid"`` tries every pair. ``"bayes"`` needs the package bayesian-optimization, and
        tries 40 pairs unless `max_evaluations` says otherwise. ``"two-step"`` is what one would
        do otherwise: α = 0 and the k at the elbow of D, by the package kneed.
    alpha_step : float, default=0.05
        α is a multiple of this, except with ``"bayes"``: the grid of ``"grid"``, and where
        branch and bound stops halving.
    refine : bool, default=True
        Whether to look at the neighbours of the best pairs that branch and bound has found (and
        at theirs, if these are good), which is not in the paper. It costs some evaluations, at
        most a tenth of the grid's, and mends much where D and N are not as monotone as branch
        and bound takes them to be.
    max_evaluations : int, default=None
        Most pairs to evaluate; at least the two that D and N are relative to.
    n_jobs : int, default=None
        Number of threads; all processors when left out.
    random_state : int, RandomState instance or None, default=None
        Decides between cuts of the tree that are equally good, and draws the first pairs of
        ``"bayes"``. None is a fixed seed: the search is deterministic.
    verbose : int, default=0
        Tell how far it is: pairs evaluated, the best of them, the bound.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each row, the largest being 0. The tree tells each of them if `accuracy_`
        is 1. Rows of weight 0 are where the tree puts them.
    medoid_indices_ : ndarray of shape (best_k_,)
        By cluster, the row with the least mean squared accuracy distance to the others.
    tree_ : ThresholdTree
        On the explanation features, categories as 0/1 columns.
    tree_columns_ : list of str or Indicator
        Description of each column that the tree may look at.
    feature_importances_ : ndarray of shape (len(tree_columns_),)
        Total decrease of the Gini impurity of the clusters by the splits on each column of the
        tree, normalised to sum 1; all 0 if there is a single leaf.
    rules_ : RuleList
        What each cluster is, in words.
    best_k_, best_alpha_ : int, float
        The pair that was chosen.
    distortion_, n_nodes_, objective_ : float, int, float
        D and N as they are, and the objective, for which both are relative.
    accuracy_ : float
        How well the tree tells the clusters, in `tree_measure`.
    evaluations_ : structured array
        Every pair that was evaluated, in order: `k`, `alpha`, `distortion`, `n_nodes`,
        `normalised_distortion`, `normalised_nodes`, `objective`, `accuracy`.
    bounds_ : structured array
        Every block of branch and bound, in the order in which they were taken up: `k1`,
        `alpha1`, `k2`, `alpha2`, `lower`, `upper`, and its `fate`: "split by k", "split by
        alpha", "pruned", or "finished" when nothing was left inside. Empty for other searches.
    lower_bound_ : float
        No pair is below this, as far as D and N are monotone; NaN for other searches.
    converged_ : bool
        False if the search was interrupted, or came to `max_evaluations`.
    encoding_ : Encoding
        How explanation features become columns of the tree.
    accuracy_features_, explanation_features_ : list of str
        Names of the columns on either side.
    n_features_in_, feature_names_in_ : int, ndarray
        Columns of the table of `fit`; of `explanation` if that was given.

    Notes
    -----
    Each pair is evaluated once. Branch and bound trusts D to fall with k and rise with α, and N
    to do the opposite. Real data break this now and then; `lower_bound_` is then no proof.

    Rows with equal explanation features cannot be told apart; if they are in different
    clusters, N counts the tree that tells as much as can be told, and there is a warning.

    Weights count in all that is done: a whole weight is so many copies of a row. The paper
    weighs the F1 only, which is 1 for the exact tree.

    Ctrl-C ends the search after the pair at hand, with the best so far.

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
    >>> model = XClusters("day *", k_range=(2, 4), accuracy_distance="euclidean").fit(table)
    >>> model.best_k_
    3
    >>> print(model.explain())
    cluster 0: age ≤ 30
        8 rows (50.0 %, 100.0 % pure)
    cluster 1: age > 30 and sex is f
        4 rows (25.0 %, 100.0 % pure)
    cluster 2: age > 30 and sex is m
        4 rows (25.0 %, 100.0 % pure)
    >>> model.predict(pd.DataFrame({"age": [27, 62], "sex": ["m", "m"]}))
    array([0, 2])
    """

    _parameter_constraints: dict = {
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
        "tree": [HasMethods("fit"), None],
        "clusterer": [StrOptions({"kmedoids"}), HasMethods("fit")],
        "init": [StrOptions(set(STARTS))],
        "search": [StrOptions(set(SEARCHES))],
        "alpha_step": [Interval(Real, 0, 1, closed="right")],
        "refine": ["boolean"],
        "max_evaluations": [Interval(Integral, 1, None, closed="left"), None],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        accuracy_features: Any = None,
        explanation_features: Any = None,
        *,
        k_range: tuple[int, int] = (3, 11),
        trade_off: float = 1.0,
        tolerance: float = 0.05,
        accuracy_distance: Any = "dtw",
        explanation_distance: Any = "auto",
        window: int | None = None,
        categorical: Iterable | None = None,
        tree_accuracy: float = 1.0,
        tree_measure: str = "f1",
        tree: Any = None,
        clusterer: Any = "kmedoids",
        init: str = "ends",
        search: str = "branch-and-bound",
        alpha_step: float = 0.05,
        refine: bool = True,
        max_evaluations: int | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.accuracy_features = accuracy_features
        self.explanation_features = explanation_features
        self.k_range = k_range
        self.trade_off = trade_off
        self.tolerance = tolerance
        self.accuracy_distance = accuracy_distance
        self.explanation_distance = explanation_distance
        self.window = window
        self.categorical = categorical
        self.tree_accuracy = tree_accuracy
        self.tree_measure = tree_measure
        self.tree = tree
        self.clusterer = clusterer
        self.init = init
        self.search = search
        self.alpha_step = alpha_step
        self.refine = refine
        self.max_evaluations = max_evaluations
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        explanation: Any = None,
        explanation_distances: Any = None,
    ) -> XClusters:
        """Find the clusters and their tree.

        Parameters
        ----------
        X : data frame, array-like of shape (n_samples, n_features) or list of 1-D arrays
            A table with both kinds of features; or, if `explanation` is given, the accuracy
            features alone, which may be series of different lengths; or their distance matrix,
            if `accuracy_distance` is "precomputed".
        y : ignored
        sample_weight : array-like of shape (n_samples,), optional
            A whole weight counts as that many copies of the row; rows of weight 0 are absent.
        explanation : data frame or array-like of shape (n_samples, n_columns), optional
            The explanation features, if they are not in X.
        explanation_distances : array-like of shape (n_samples, n_samples), optional
            Distance matrix by explanation features, for ``explanation_distance="precomputed"``.

        Returns
        -------
        self
        """
        validate_parameters(self)
        k_range = read_k_range(self.k_range)
        _check_distances(self, explanation, explanation_distances)
        self._reader, accuracy, told = FeatureReader.fit(
            self, X, explanation, self.accuracy_features, self.explanation_features
        )
        n = len(told)
        if len(accuracy) != n:
            raise ValueError(f"X has {len(accuracy)} rows, but explanation has {n}")
        weight = read_sample_weight(sample_weight, n)
        there = np.flatnonzero(weight > 0)
        check_rows(len(there), k_range)
        distances = (self.accuracy_distance, self.explanation_distance)
        check_memory(n, n_matrices=1 + sum(metric != "precomputed" for metric in distances))
        self.accuracy_features_ = self._reader.accuracy_names
        self.explanation_features_ = self._reader.explanation_names
        categorical = self._reader.explanation_positions(self.categorical, "categorical")
        self.encoding_ = Encoding.fit(told, categorical)
        numbers = self.encoding_.transform(told)
        a = self._accuracy_distances(accuracy)
        e = self._explanation_distances(told, explanation_distances)
        if len(there) < n:
            a, e = (matrix[np.ix_(there, there)] for matrix in (a, e))
        seed = 0 if self.random_state is None else _draw_seed(self.random_state)
        grower = TreeGrower(
            numbers[there],
            weight[there],
            tree=self.tree,
            wanted=self.tree_accuracy,
            measure=self.tree_measure,
            random_state=seed,
        )
        params = {**self.get_params(deep=False), "k_range": k_range}
        found = find_clusters(Mixture(a, e), grower, weight[there], params, seed)
        tree = grower.grow(found.chosen.labels).tree
        self._store(found, tree, numbers, there, weight)
        self._medoids = take_rows(accuracy, self.medoid_indices_)
        warn_of(found, grower if self.tree is None and self.tree_accuracy == 1 else None)
        is_series = explanation is not None and self.accuracy_distance != "precomputed"
        store_training_data(
            self, X=X if explanation is None else explanation, series=X if is_series else None
        )
        return self

    def _accuracy_distances(self, accuracy: Any) -> np.ndarray:
        metric = self.accuracy_distance
        if isinstance(metric, str) and metric == "precomputed":
            return check_matrix(accuracy, name="X")
        data = accuracy_data(accuracy, metric)
        self._ranges = column_ranges(data) if metric == "gower" else None
        return self._pairwise(data, metric)

    def _explanation_distances(self, told: Columns, distances: Any) -> np.ndarray:
        if distances is not None:
            return check_matrix(distances, len(told), "explanation_distances")
        metric = explanation_metric(self.explanation_distance, self.encoding_)
        return self._pairwise(explanation_data(told, self.encoding_, metric), metric)

    def _pairwise(self, data: Any, metric: Any) -> np.ndarray:
        window = self.window if metric == "dtw" else None
        return pairwise(data, metric, window=window, n_jobs=self.n_jobs, verbose=self.verbose)


def _check_distances(model: XClusters, explanation: Any, distances: Any) -> None:
    if model.window is not None and "dtw" not in (
        model.accuracy_distance,
        model.explanation_distance,
    ):
        raise ValueError(f"window={model.window} is for the distance 'dtw'; leave it out")
    if (model.explanation_distance == "precomputed") != (distances is not None):
        raise ValueError(
            "explanation_distance='precomputed' and the matrix, fit(..., "
            "explanation_distances=...), go together: give both or neither"
        )
    if model.accuracy_distance == "precomputed" and explanation is None:
        raise ValueError(
            "with accuracy_distance='precomputed', X is the distance matrix, and the "
            "explanation features are missing: fit(X, explanation=...)"
        )


def _draw_seed(random_state: Any) -> int:
    if isinstance(random_state, Integral):
        return int(random_state)
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))
