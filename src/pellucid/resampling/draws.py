"""`stability`: a tree, fitted again on draws of the rows."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from threading import Lock
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import linear_sum_assignment
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from pellucid._core.data.arrays import Weights
from pellucid._utils.estimators import has_space
from pellucid._utils.notices import impure_rules_allowed
from pellucid._utils.progress import Interrupt, Progress, only
from pellucid._utils.sklearn_compat import take_rows
from pellucid._utils.threads import ThreadPool, count_threads
from pellucid.cluster._base import BaseThresholdTree
from pellucid.explanation.explanation import Explanation
from pellucid.explanation.rules import split_condition
from pellucid.resampling.result import (
    ClusterStability,
    ColumnStability,
    QuestionStability,
    Stability,
)
from pellucid.tables.frames import is_scan
from pellucid.tables.validation import read_sample_weight, read_space, read_X
from pellucid.tree.predictor import column_values

# One row in so many may change sides when a question returns: 5 %, as the documentation says.
_SAME_CUT = 20


def stability(
    model: Any,
    X: Any,
    *,
    n_bootstraps: int = 100,
    fraction: float | None = None,
    reference: Literal["fixed", "refit"] = "fixed",
    sample_weight: Any = None,
    space: Any = None,
    n_jobs: int | None = None,
    random_state: Any = 0,
    verbose: int = 0,
) -> Stability:
    r"""How often questions, columns and assignments of a tree return on other draws of the rows.

    The tree is fitted again on each of `n_bootstraps` draws, and all rows are assigned by each of
    these trees. The agreement of the assignments is

    .. math:: \frac{1}{B} \sum_{b=1}^{B} \mathrm{ARI}(c, c_b),

    with c the clusters of the rows by the model and :math:`c_b` those by tree b of B. A draw gives
    weights to the rows, so that no row is copied; rows that are not drawn are left out of the fit.

    Parameters
    ----------
    model : fitted estimator of pellucid.cluster
        The tree. Its parameters are those of the further fits.
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        The rows of `fit`, in the same order.
    n_bootstraps : int, default=100
        Number of draws.
    fraction : float, default=None
        Share of the rows in a draw, without replacement. None: a bootstrap, which draws as many
        rows as there are, with replacement.
    reference : {"fixed", "refit"}, default="fixed"
        ``"fixed"``: each tree explains the clusters of the model's own reference, so that only the
        tree changes. ``"refit"``: the reference is fitted again, too, and its clusters are matched
        to those of the model; this is not possible for given labels or centers.
    sample_weight : array-like of shape (n_samples,), optional
        The weights of `fit`. A draw multiplies them by how often it has the row.
    space : array-like or data frame of shape (n_samples, n_columns), optional
        The `space` of `fit`, if one was given.
    n_jobs : int, default=None
        Number of draws at the same time. None: all processors. No result depends on it.
    random_state : int, RandomState instance or None, default=0
        Seed of the draws, and of fits whose model has no integer as `random_state`.
    verbose : int, default=0
        Whether to report each draw on standard error.

    Returns
    -------
    Stability
        Counts and shares; prints as text. After Ctrl-C, those of the draws until then, with a
        `ConvergenceWarning`.

    See Also
    --------
    metrics.reference_agreement : Agreement of a tree with its reference.
    explain : Prints it with ``stability=True``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import pellucid
    >>> X = load_iris(as_frame=True).data
    >>> model = pellucid.IMM(3, random_state=0).fit(X)
    >>> found = pellucid.stability(model, X, n_bootstraps=20)
    >>> print(found)
    20 bootstraps of the rows, each with a tree for the same reference
    ...
    >>> found.questions[1].question, found.questions[1].returns
    ('petal length (cm) ≤ 5.1', 18)
    """
    return measure_stability(**locals())


class Restated(NamedTuple):
    """A tree in the columns of a table: a column per feature, and per inner node of the model that
    has one its node and question.
    """

    columns: Sequence[str]
    questions: dict[int, tuple[int, str]]
    clusters: Sequence[Any]
    has_thresholds: bool = False  # whether thresholds are those of the model


def restated(
    explanation: Any, old_node: Mapping[int, int] | range, has_thresholds: bool = False
) -> Restated:
    """The tree of an explanation, given the node of the model for each of its nodes."""
    tree, names = explanation.tree_, explanation.tree_columns_
    questions = {
        old_node[node]: (node, str(split_condition(tree, node, True, names, explanation.formats_)))
        for node in np.flatnonzero(~tree.is_leaf).tolist()
    }
    columns = [getattr(name, "column", name) for name in names]
    return Restated(columns, questions, explanation.cluster_names_.tolist(), has_thresholds)


def measure_stability(
    model: Any, X: Any, *, table: Restated | None = None, **options: Any
) -> Stability:
    """`stability` with its `options`, in the columns of a table if the model was restated."""
    n_bootstraps, fraction = options["n_bootstraps"], options["fraction"]
    reference, space = options["reference"], options.get("space")
    _check(model, X, n_bootstraps, fraction, reference)
    if has_space(model) != (space is not None):
        raise ValueError(
            "this model was fitted with a space; pass the same: stability(model, X, space=Z)"
            if space is None
            else "this model was fitted without a space; leave it out"
        )
    numbers = read_X(model, X, reset=False)
    weight = options.get("sample_weight")
    refits = _Refits(model, X, numbers, weight, fraction, reference == "refit")
    if space is not None:
        refits.space = read_space(space, numbers.shape[0])
    random = check_random_state(options["random_state"])
    seeds = random.randint(np.iinfo(np.int32).max, size=n_bootstraps)
    progress, lock = Progress("stability: draws", n_bootstraps, options["verbose"]), Lock()

    def work(seed: int) -> _Draw | None:
        if interrupt.requested:
            return None
        found = refits.draw(seed)
        with lock:
            progress.step()
        return found

    with Interrupt() as interrupt, only(progress), impure_rules_allowed():
        warnings.simplefilter("ignore", ConvergenceWarning)
        with ThreadPool(count_threads(options["n_jobs"])) as pool:
            draws = [draw for draw in pool.map(work, seeds.tolist()) if draw is not None]
    if not draws:
        raise KeyboardInterrupt
    if len(draws) < n_bootstraps:
        text = f"interrupted: the stability is that of {len(draws)} of {n_bootstraps} draws"
        warnings.warn(text, ConvergenceWarning, stacklevel=3)
    if table is None:
        table = restated(Explanation.of(model), range(model.tree_.node_count), True)
    return refits.summarize(draws, fraction, reference, table)


def _check(model: Any, X: Any, n_bootstraps: Any, fraction: Any, reference: str) -> None:
    """Fail in one line if the model has no tree to fit again, or a parameter is not allowed."""
    if not isinstance(model, BaseThresholdTree):
        raise TypeError(
            "stability is for fitted trees of pellucid.cluster, such as ExplainableKMeans or IMM; "
            f"got {type(model).__name__}"
        )
    check_is_fitted(model)
    if not isinstance(n_bootstraps, Integral) or n_bootstraps < 1:
        raise ValueError(f"n_bootstraps is {n_bootstraps!r}; it must be a positive integer")
    if fraction is not None and not (isinstance(fraction, Real) and 0 < float(fraction) < 1):
        raise ValueError(f"fraction is {fraction!r}; it must be between 0 and 1, or None")
    if reference not in ("fixed", "refit"):
        raise ValueError(f'reference is {reference!r}; it can be "fixed" or "refit"')
    if is_scan(X) or not hasattr(model, "reference_labels_"):
        raise ValueError("stability needs all rows in memory; fit the model on an array or frame")
    if reference == "fixed" and not getattr(model, "_has_reference", True):
        raise ValueError('this model has no reference; use reference="refit"')
    can_refit = model.reference is None or hasattr(model.reference, "get_params")
    if reference == "refit" and (model._has_labels or not can_refit):
        raise ValueError(
            'reference="refit" needs a reference that can be fitted; the labels or centers of this '
            'model were given. Use reference="fixed"'
        )


class _FixedReference(BaseEstimator):
    """A fitted reference of known labels and centers."""

    labels_: np.ndarray
    cluster_centers_: np.ndarray

    def fit(self, X: Any) -> _FixedReference:
        """Nothing to do; the method marks an estimator."""
        return self


def adjusted_rand_index(table: np.ndarray) -> float:
    """The adjusted Rand index of a table of counts; that of scikit-learn takes as long as a fit."""
    sums = (table.ravel(), table.sum(axis=1), table.sum(axis=0), table.sum(keepdims=True).ravel())
    both, first, second, every = (sum(n * (n - 1) // 2 for n in s.tolist()) for s in sums)
    expected, largest = first * second / max(every, 1), (first + second) / 2
    return 1.0 if largest == expected else (both - expected) / (largest - expected)


class _Draw(NamedTuple):
    """The tree of a draw: its splits, the column of the first one, and its agreement."""

    splits: dict[int, np.ndarray]
    first: int
    ari: float


def _returning_cuts(
    values: np.ndarray, units: np.ndarray, threshold: float, draws: list[np.ndarray]
) -> list[float]:
    """The threshold of each draw that divides rows almost as one of the model does, if any does."""
    order = np.argsort(values, kind="stable")
    below = np.concatenate([[0], np.cumsum(units[order])])
    total, found = int(below[-1]), []
    for cuts in draws:
        left, *others = below[np.searchsorted(values[order], [threshold, *cuts], side="right")]
        changed, cut = min(zip((abs(int(other - left)) for other in others), cuts.tolist()))
        if _SAME_CUT * changed <= total and 2 * changed <= min(left, total - left):
            found.append(cut)
    return found


class _Refits:
    """The fits of a model on draws of its rows; counts how often each row returns."""

    space: np.ndarray | None = None  # the rows in the space of `fit`, if one was given

    def __init__(
        self, model: Any, X: Any, numbers: Any, sample_weight: Any, fraction: Any, refits: bool
    ) -> None:
        n = numbers.shape[0]
        if len(model.reference_labels_) != n:
            raise ValueError(
                f"X has {n} rows, but the model was fitted on {len(model.reference_labels_)}; pass "
                "the rows of fit"
            )
        self.model, self.numbers, self.is_refit = model, numbers, refits
        self.weight = read_sample_weight(sample_weight, n)
        self.units = Weights.of(self.weight).units
        self.own = model.tree_.predict(numbers)
        self.k = len(model.cluster_names_)
        place = {name: i for i, name in enumerate(model.cluster_names_.tolist())}
        labels = np.asarray(model.reference_labels_).tolist()
        self.labels = np.array([place.get(label, -1) for label in labels], dtype=np.intp)
        # Rows in no cluster of the reference, such as noise, do not count in a fit.
        self.known = np.flatnonzero((self.units > 0) & (refits | (self.labels >= 0)))
        self.size = None if fraction is None else max(1, round(fraction * len(self.known)))
        # An estimator may need the columns by name; otherwise the numbers are enough.
        needs_names = refits and model.reference is not None
        self.rows = X if needs_names else numbers.tocsr() if sparse.issparse(numbers) else numbers
        self.returns, self.lock = np.zeros(n, dtype=np.int64), Lock()

    def draw(self, seed: int) -> _Draw:
        """Fit the model on the draw of a seed."""
        random, n = np.random.RandomState(seed), len(self.known)
        if self.size is None:
            counts = np.bincount(random.randint(n, size=n), minlength=n)
        else:
            counts = np.zeros(n, dtype=np.int64)
            counts[random.permutation(n)[: self.size]] = 1
        drawn = np.flatnonzero(counts)
        rows = self.known[drawn]
        refit = self._fit(rows, counts[drawn] * self.weight[rows], seed)
        tree, n_found = refit.tree_, len(refit.cluster_names_)
        found = tree.predict(self.numbers)
        pairs, shape = self.own * n_found + found, (self.k, n_found)
        if self.is_refit:
            shared = np.bincount(pairs, weights=self.units, minlength=self.k * n_found)
            own, matched = linear_sum_assignment(shared.reshape(shape), maximize=True)
            cluster = np.full(n_found, -1)
            cluster[matched] = own
        else:
            cluster = refit.cluster_names_.astype(np.intp)
        is_same = cluster[found] == self.own
        with self.lock:
            self.returns += is_same
        inner = ~tree.is_leaf
        features, thresholds = tree.feature[inner], tree.threshold[inner]
        splits = {int(f): thresholds[features == f] for f in np.unique(features)}
        table = np.bincount(pairs, minlength=self.k * n_found).reshape(shape)
        return _Draw(splits, int(tree.feature[0]), adjusted_rand_index(table))

    def _fit(self, rows: np.ndarray, weight: np.ndarray, seed: int) -> Any:
        """The model, fitted again on some rows; clusters of a fixed reference are positions."""
        refit, y = clone(self.model), None
        if not isinstance(self.model.random_state, Integral):
            refit.set_params(random_state=seed)
        refit.set_params(n_jobs=1, verbose=0)
        if not self.is_refit:
            labels, fixed = self.labels[rows], _FixedReference()
            fixed.labels_, fixed.cluster_centers_ = labels, self.model.reference_centers_
            y = labels if self.model._has_labels else None
            refit.set_params(reference=fixed if y is None else None)
        given = {} if self.space is None else {"space": self.space[rows]}
        return refit.fit(take_rows(self.rows, rows), y, sample_weight=weight, **given)

    def summarize(
        self, draws: list[_Draw], fraction: Any, reference: Any, table: Restated
    ) -> Stability:
        """Counts over all draws, by question, column, cluster and row."""
        n_draws, total = len(draws), int(self.units.sum())
        stayed = self.returns * self.units
        clusters = []
        for position, name in enumerate(table.clusters):
            mask = self.own == position
            size = int(self.units[mask].sum())
            share = int(stayed[mask].sum()) / (size * n_draws) if size else float("nan")
            clusters.append(ClusterStability(name, int(mask.sum()), share))
        fraction = None if fraction is None else float(fraction)
        agreement = int(stayed.sum()) / (total * n_draws)
        ari, rows = np.array([draw.ari for draw in draws]), self.returns / n_draws
        columns, questions = self._columns(draws, table), self._questions(draws, table)
        return Stability(
            n_draws, reference, fraction, agreement, ari, rows, tuple(clusters), columns, questions
        )

    def _columns(self, draws: list[_Draw], table: Restated) -> tuple[ColumnStability, ...]:
        names, tree = table.columns, self.model.tree_
        asked = [{names[feature] for feature in draw.splits} for draw in draws]
        first = [names[draw.first] for draw in draws if draw.first >= 0]
        own = {names[feature] for feature in tree.feature[~tree.is_leaf]}
        found = [
            ColumnStability(name, sum(name in a for a in asked), first.count(name), name in own)
            for name in dict.fromkeys(names)
            if name in own.union(*asked)
        ]
        return tuple(sorted(found, key=lambda column: (-column.used, -column.first)))

    def _questions(self, draws: list[_Draw], table: Restated) -> tuple[QuestionStability, ...]:
        names, tree, found = table.columns, self.model.tree_, []
        for node, rows in tree.rows_by_node(self.numbers):
            if node not in table.questions:
                continue
            feature, threshold = int(tree.feature[node]), float(tree.threshold[node])
            n_used = sum(any(names[f] == names[feature] for f in draw.splits) for draw in draws)
            own = [draw.splits[feature] for draw in draws if feature in draw.splits]
            values = column_values(self.numbers, feature, rows)
            cuts = _returning_cuts(values, self.units[rows], threshold, own)
            ends = (min(cuts), max(cuts)) if cuts and table.has_thresholds else (None, None)
            number, text = table.questions[node]
            found.append(QuestionStability(number, text, names[feature], n_used, len(cuts), *ends))
        return tuple(found)
