"""The estimator `RuleSet`."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted

from pellucid._core.data.arrays import Weights
from pellucid._core.data.dataset import Dataset
from pellucid._utils.estimators import Noise, store_parameters, store_training_data
from pellucid._utils.numeric_domain import OutOfDomain, refuse_large
from pellucid._utils.sklearn_compat import HasMethods, Interval, StrOptions, validate_parameters
from pellucid._utils.threads import ThreadPool, count_threads
from pellucid._utils.typed_bases import BaseEstimator, ClusterMixin
from pellucid.explanation.mixins import RuleSetMixin
from pellucid.explanation.region_list import RegionList
from pellucid.explanation.rules import RuleList, default_names, label_text
from pellucid.reference import Reference, find_reference
from pellucid.regions.levels import find_answers, free_label, project
from pellucid.rules.boxes import RuleColumns, rounded
from pellucid.rules.fitted import (
    RowGroup,
    RuleSetRow,
    SetRule,
    as_regions,
    describe_rules,
    explained_shares,
    precision_of,
    priorities,
)
from pellucid.rules.problem import RuleLimits, RuleProblem
from pellucid.rules.selection import solve, with_margin
from pellucid.tables.column_formats import ColumnFormat
from pellucid.tables.encoding import ColumnNames, Encoding, Indicator
from pellucid.tables.frames import Columns, as_table, date_formats, dates_as_days, refuse_scan
from pellucid.tables.validation import read_sample_weight, read_X, refuse_infinite
from pellucid.tree.rounding import ThresholdStyle

# Rows that another rule of a cluster must add by default, if the cluster is large enough. With 10
# rows, precision on held-out rows was 0.3 points lower in the mean of 19 data sets.
EXPLAINED_AT_LEAST = 20
FIRST_EXPLAINS = 5  # the same for the first rule of a cluster
MAX_RULES = 20  # rules per cluster if their number is not limited


class RuleSet(RuleSetMixin, ClusterMixin, BaseEstimator):
    r"""Short rules for the clusters that can be described, and no rule for the rest.

    A rule is a conjunction of few conditions for one cluster. Rows may satisfy several rules, or
    none: they are then unexplained. The set R maximises

    .. math:: \sum_c w\Big(\bigcup_{r \in R_c} r \cap C_c\Big)
        - \lambda \sum_{r \in R} w(r \setminus C_{c(r)}) - \sigma |R|,

    the weight w of the explained rows of each cluster :math:`C_c`, less λ (`mistake_cost`) times
    the weight of the other rows in each rule, less σ (`min_support`) per rule [1]_. Conditions of a
    rule are changed one at a time, each to the best one given the others, from many starts; rules
    are added greedily and then exchanged.

    Parameters
    ----------
    n_rules : int, default=None
        Most rules. Default: as many as raise the objective.
    max_conditions : int, default=3
        Most conditions of a rule. A bound is a condition, so that an interval is two; a set of
        categories is one.
    max_columns : int, default=None
        Most columns of a rule. Default: as many as conditions.
    mean_conditions : float, default=None
        Most conditions of a rule in the mean over the rules.
    mistake_cost : float, default=5.0
        Cost λ of a row of another cluster in a rule; explaining a row counts 1.
    noise_cost : float, default=None
        Cost of a row of noise in a rule. Default: `mistake_cost`. With 0, noise is ignored.
    min_precision : float, default=0.0
        Least precision of a rule, which counts noise: mistakes cost at least p / (1 - p).
    min_support : int or float, default=None
        What a rule must add to the objective, σ: a number of rows, or a fraction of the rows of its
        cluster. Default: a twentieth of its cluster, but at least 20 rows, or half of a cluster
        that has fewer than 40; for the first rule of a cluster, 5 rows, or a quarter. Bounds
        are then moved inwards where rows of the cluster and others are mixed outside, past at most
        a tenth of the rows inside, so that precision on other rows is higher.
    every_cluster : bool, default=False
        Whether each cluster must have a rule; an error says which one cannot.
    overlap : bool, default=True
        Whether a row of the training data may satisfy several rules.
    n_clusters : int, default=None
        Number of clusters if neither labels nor a reference are given; 8 by default.
    reference : estimator or array-like of shape (n_clusters, n_features), default=None
        Clustering to describe if no labels are given: an estimator, fitted or not, or centers.
        Default: k-means.
    noise : {"background", "cluster"}, default="background"
        How to treat rows with the label -1, None or NaN: as noise, which no rule describes, or as
        a cluster.
    held_out : float, default=0.0
        Fraction of the rows that is not used to find rules, only to measure their precision.
    threshold_style : {"round", "midpoint", "data"}, default="round"
        Which of the thresholds that divide the training rows in the same way is taken.
    n_jobs : int, default=None
        Number of threads of the reference clustering.
    random_state : int, RandomState instance or None, default=None
        Seed of the reference clustering and of the held-out rows. The search is deterministic.

    Attributes
    ----------
    rules_ : RuleList of SetRule
        The rules by cluster, the largest first.
    priorities_ : list of int
        Positions in `rules_` by precision: of the rules that hold for a row, the first decides.
    classes_ : ndarray
        Labels of the clusters.
    unexplained_ : int or str
        What `predict` returns where no rule holds: -1, or "unexplained" if labels are text.
    labels_ : ndarray of shape (n_samples,)
        What `predict` returns for the training rows.
    coverage_ : float
        Fraction of the rows in clusters, by weight, that satisfy a rule of their own cluster.
    cluster_coverage_ : ndarray of shape (n_clusters,)
        The same for each cluster, in the order of `classes_`.
    precision_ : float
        Fraction of the rows that satisfy a rule, by weight and with noise, whose predicted cluster
        is theirs.
    held_out_precision_ : float
        The same for the held-out rows; NaN if there are none.
    objective_ : float
        Weight of explained rows less the cost of mistakes, without σ.
    upper_bound_ : float
        No set of rules has a larger value of the objective less σ per rule; infinite if not known.
    is_optimal_ : bool
        Whether the rules are proven to be the best ones; False if bounds were moved inwards.
    uncovered_ : list
        Clusters without a rule.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Names of the columns, if X has them.

    See Also
    --------
    SpEx : A tree for given labels, which places every row.
    explain_clusters : Regions in one or two columns, tried in order.

    References
    ----------
    .. [1] Quinn, Terzi, Mannila. Partial explanations of clusterings by decision sets. 2025.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from pellucid import RuleSet
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> rules = RuleSet().fit(X, y)
    >>> print(rules.rules_)
    cluster 0: petal length (cm) ≤ 2
        50 rows, 100% of the cluster, precision 100%
    cluster 1: 2.8 < petal length (cm) ≤ 4.75 and petal width (cm) ≤ 1.65
        44 rows, 88.0% of the cluster, precision 100%
    cluster 2: petal length (cm) > 4.95 and petal width (cm) > 1.75
        40 rows, 80.0% of the cluster, precision 100%
    >>> rules.predict(X)[:3]
    array([0, 0, 0])
    """

    _parameter_constraints: dict[Any, Any] = {
        "n_rules": [Interval(Integral, 1, None, closed="left"), None],
        "max_conditions": [Interval(Integral, 1, None, closed="left")],
        "max_columns": [Interval(Integral, 1, None, closed="left"), None],
        "mean_conditions": [Interval(Real, 1, None, closed="left"), None],
        "mistake_cost": [Interval(Real, 0, None, closed="neither")],
        "noise_cost": [Interval(Real, 0, None, closed="left"), None],
        "min_precision": [Interval(Real, 0, 1, closed="both")],
        "min_support": [
            Interval(Integral, 0, None, closed="left"),
            Interval(Real, 0, 1, closed="neither"),
            None,
        ],
        "every_cluster": ["boolean"],
        "overlap": ["boolean"],
        "n_clusters": [Interval(Integral, 1, None, closed="left"), None],
        "reference": ["array-like", *(HasMethods(n) for n in ("fit", "predict", "train")), None],
        "noise": [StrOptions({"background", "cluster", "drop", "group"})],
        "held_out": [Interval(Real, 0, 1, closed="left")],
        "threshold_style": [StrOptions({"round", "midpoint", "data"})],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
    }
    n_features_in_: int
    feature_names_in_: np.ndarray
    rules_: RuleList[SetRule]
    encoding_: Encoding | None

    def __init__(
        self,
        n_rules: int | None = None,
        *,
        max_conditions: int = 3,
        max_columns: int | None = None,
        mean_conditions: float | None = None,
        mistake_cost: float = 5.0,
        noise_cost: float | None = None,
        min_precision: float = 0.0,
        min_support: float | None = None,
        every_cluster: bool = False,
        overlap: bool = True,
        n_clusters: int | None = None,
        reference: Any = None,
        noise: Noise = "background",
        held_out: float = 0.0,
        threshold_style: ThresholdStyle = "round",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        store_parameters(self, locals())

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the rules.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Finite numbers; a data frame may have columns of text and of dates.
        y : array-like of shape (n_samples,), default=None
            Labels of any clustering. -1, None and NaN stand for noise, see `noise`. Without y,
            `reference` is described.
        sample_weight : array-like of shape (n_samples,), optional
            A whole weight counts as that many copies of the row; rows of weight 0 are absent.

        Returns
        -------
        self
            The fitted estimator.
        """
        validate_parameters(self)
        refuse_scan(X)
        numbers, names, formats = self._read_training_data(X)
        return self._fit_numbers(numbers, names, formats, X, y, sample_weight)

    def fit_encoded(
        self, X: np.ndarray, y: Any, *, names: ColumnNames, formats: Mapping[str, ColumnFormat]
    ) -> Self:
        """Find rules in a matrix of an encoded table.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            Finite numbers, with categories as indicators.
        y : array-like of shape (n_samples,)
            Labels, as in `fit`.
        names : sequence of str or Indicator
            Descriptions of the columns.
        formats : dict of str to ColumnFormat
            How the values of numeric columns are written.

        Returns
        -------
        self
            The fitted estimator; `predict` takes the matrix.
        """
        validate_parameters(self)
        self.encoding_, self.n_features_in_ = None, X.shape[1]
        self.__dict__.pop("feature_names_in_", None)
        return self._fit_numbers(X, names, formats, X, y, None)

    def _read_training_data(self, X: Any) -> tuple[Any, ColumnNames, Mapping[str, ColumnFormat]]:
        """The matrix, and the descriptions and formats of its columns."""
        self.encoding_ = None
        table = None if isinstance(X, (np.ndarray, list, tuple)) else as_table(X)
        if table is None or all(dtype.is_numeric() for dtype in table.schema.values()):
            numbers = read_X(self, X, reset=True)
            known = getattr(self, "feature_names_in_", None)
            n_features = numbers.shape[1]
            return numbers, default_names(n_features) if known is None else known.tolist(), {}
        columns = Columns.of(X)
        formats = date_formats(columns)
        columns = dates_as_days(columns, formats)
        self.encoding_ = encoding = Encoding.fit(columns)
        self.feature_names_in_ = np.array(encoding.input_names, dtype=object)
        self.n_features_in_ = len(self.feature_names_in_)
        numbers = encoding.transform(columns)
        refuse_large(numbers, [str(name) for name in encoding.names])
        return numbers, encoding.names, formats

    def _fit_numbers(
        self,
        numbers: Any,
        names: Sequence[str | Indicator],
        formats: Mapping[str, ColumnFormat],
        X: Any,
        y: Any,
        sample_weight: Any,
    ) -> Self:
        """Find rules in a matrix with indicators of categories."""
        n = numbers.shape[0]
        given = sample_weight is not None
        weights = Weights.of(read_sample_weight(sample_weight, n)) if given else Weights.equal(n)
        reference = self._find_reference(numbers, weights, X, y)
        rows, held = self._divide(np.asarray(reference.labels), weights)
        columns = RuleColumns(numbers, names, weights.units)
        taken = columns.take(rows.rows, rows.weight)
        limits = self._limits(rows, weights.units_per_row, reference.names)
        problem = RuleProblem(taken, rows.weight, rows.labels, limits)
        found = solve(problem)
        if self.min_support is None:
            found = with_margin(problem, found)
        style = self.threshold_style
        boxes = [(rule.cluster, rounded(taken, rule.box, style)) for rule in found.rules]
        fitted = describe_rules(boxes, columns, rows, held, formats, reference.names)
        self.rules_ = RuleList([each.rule for each in fitted])
        self.priorities_: list[int] = priorities(fitted)
        self.classes_: np.ndarray = np.array(reference.names)
        self.unexplained_: Any = free_label(self.classes_, "unexplained")
        per_weight = weights.units_per_weight
        self.objective_: float = found.objective / per_weight
        self.upper_bound_: float = found.upper_bound / per_weight
        self.is_optimal_: bool = found.is_optimal
        known = getattr(self, "feature_names_in_", None)
        described = {"names": names, "classes": reference.names, "formats": dict(formats)}
        described["columns"] = [*map(str, names)] if known is None else known.tolist()
        total = float(rows.weight[rows.labels >= 0].sum() / per_weight)
        self.region_list_: RegionList = as_regions(fitted, 1 / per_weight, total=total, **described)
        answer = np.full(n, -1)
        for i in reversed(self.priorities_):
            answer[fitted[i].inside] = fitted[i].cluster
        self.labels_: np.ndarray = np.append(self.classes_, self.unexplained_)[answer]
        shares = explained_shares(fitted, rows, len(reference.names))
        self.coverage_: float = shares[0]
        self.cluster_coverage_: np.ndarray = shares[1]
        self.precision_: float = precision_of(answer, rows)
        self.held_out_precision_: float = precision_of(answer, held)
        covered = {rule.cluster for rule in self.rules_}
        self.uncovered_: list[Any] = [name for name in reference.names if name not in covered]
        store_training_data(self, X=X)
        if not fitted:
            text = "no rule raises the objective, so that every row is unexplained; use a smaller "
            text += "mistake_cost or min_support, or more max_conditions"
            warnings.warn(text, ConvergenceWarning, stacklevel=3)
        return self

    def _find_reference(self, numbers: Any, weights: Weights, X: Any, y: Any) -> Reference:
        """The clusters to describe."""
        with ThreadPool(count_threads(self.n_jobs)) as pool:
            data = Dataset(numbers, weights, pool, is_checked=False)
            original = X if self.encoding_ is None else numbers
            options = {
                "random_state": self.random_state,
                "noise": self.noise,
                "original_X": original,
            }
            n_clusters = self.n_clusters if y is None else None
            try:
                return find_reference(self.reference, data, y=y, n_clusters=n_clusters, **options)
            except OutOfDomain:
                refuse_infinite(self, numbers)
                refuse_large(numbers, getattr(self, "feature_names_in_", None))
                raise

    def _divide(self, labels: np.ndarray, weights: Weights) -> tuple[RowGroup, RowGroup]:
        """The rows of positive weight to find rules on, and those that are held out."""
        is_held = np.zeros(len(labels), dtype=bool)
        if self.held_out:
            generator = check_random_state(self.random_state)
            for label in np.unique(labels):
                members = generator.permutation(np.flatnonzero(labels == label))
                is_held[members[: int(self.held_out * len(members))]] = True
        index = [np.flatnonzero(chosen & (weights.units > 0)) for chosen in (~is_held, is_held)]
        rows, held = (RowGroup(i, weights.units[i], labels[i]) for i in index)
        return rows, held

    def _limits(self, rows: RowGroup, per_row: float, names: Sequence[Any]) -> RuleLimits:
        """What is asked, with supports in units of weight; an error if it is impossible."""
        if self.every_cluster and self.n_rules is not None and self.n_rules < len(names):
            raise ValueError(
                f"n_rules={self.n_rules} is less than the {len(names)} clusters that must have a "
                f"rule; use n_rules={len(names)} or more, or every_cluster=False"
            )
        sizes = rows.by_cluster(rows.labels >= 0, len(names))[:-1]
        asked = self.min_support
        if asked is None:
            first = np.minimum(FIRST_EXPLAINS * per_row, sizes / 4)
            support = np.maximum(sizes / 20, np.minimum(EXPLAINED_AT_LEAST * per_row, sizes / 2))
        else:
            is_number = isinstance(asked, Integral)
            first = support = np.full(len(names), asked * per_row) if is_number else asked * sizes
        p = self.min_precision
        cost = max(self.mistake_cost, p / (1 - p) if p < 1 else np.inf)
        noise = self.mistake_cost if self.noise_cost is None else self.noise_cost
        n_clusters = len(names)
        return RuleLimits(
            n_rules=MAX_RULES * n_clusters if self.n_rules is None else self.n_rules,
            max_conditions=self.max_conditions,
            max_columns=self.max_columns or self.max_conditions,
            mean_conditions=self.mean_conditions,
            mistake_cost=cost,
            noise_cost=max(noise, cost) if p else noise,
            min_support=list(zip(first.tolist(), support.tolist())),
            min_precision=p,
            every_cluster=self.every_cluster,
            overlap=self.overlap,
            names=tuple(map(label_text, names)),
        )

    def _numbers(self, X: Any) -> Any:
        """`X` as the matrix of `fit`."""
        check_is_fitted(self)
        if self.encoding_ is None:
            return read_X(self, X, reset=False)
        columns = dates_as_days(Columns.of(X), self.region_list_.formats_)
        return self.encoding_.transform(columns)

    def predict(self, X: Any) -> np.ndarray:
        """Cluster of each row; `unexplained_` where no rule holds.

        Of several rules that hold, the one with the highest precision decides.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Rows with the columns of `fit`.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels of clusters.
        """
        numbers = self._numbers(X)
        answer = find_answers(self.region_list_.levels_, numbers).answer
        return np.append(self.classes_, self.unexplained_)[answer]

    def holds(self, X: Any) -> np.ndarray:
        """Whether each rule holds for each row.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Rows with the columns of `fit`.

        Returns
        -------
        ndarray of shape (n_samples, n_rules), bool
            One column per rule, in the order of `rules_`.
        """
        numbers = self._numbers(X)
        found = np.zeros((numbers.shape[0], len(self.rules_)), dtype=bool)
        for position, rule in zip(self.priorities_, self.region_list_.levels_):
            rows = project(numbers, rule.features)
            found[:, position] = rule.regions.contains(rows)
        return found

    def explain(self, X: Any = None) -> RuleList[Any]:
        """The rules, or why each row has its cluster.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features), optional
            Rows to explain. Default: none; the rules are returned.

        Returns
        -------
        RuleList
            `rules_`, or a :class:`~pellucid.rules.fitted.RuleSetRow` per row with the rule that
            decides.
        """
        check_is_fitted(self)
        if X is None:
            return self.rules_
        return RuleList([replace(row, rules=row.rules[:1]) for row in self.explain_all(X)])

    def explain_all(self, X: Any) -> RuleList[RuleSetRow]:
        """All rules that hold for each row, the one that decides first.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Rows with the columns of `fit`.

        Returns
        -------
        RuleList
            A :class:`~pellucid.rules.fitted.RuleSetRow` per row.
        """
        found = []
        for row, holds in enumerate(self.holds(X)):
            rules = tuple(self.rules_[i] for i in self.priorities_ if holds[i])
            found.append(RuleSetRow(row, rules[0].cluster if rules else self.unexplained_, rules))
        return RuleList(found)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
