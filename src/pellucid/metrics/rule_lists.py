"""Measures of a list of rules: how telling its levels are, and how much work an answer takes.

A level of a decision list, or a leaf of a tree, is the rule "a row that gets here (A) is classified
rightly (B)". The measures take plain arrays, so they serve any model: which level answers each row,
and where the classifier of each level is right.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pellucid.tables.validation import read_sample_weight


class LevelMeasures(NamedTuple):
    """How telling each level is; arrays with one number a level.

    Attributes
    ----------
    support : ndarray
        Share of all rows that the level answers, p(A).
    bayes_factor : ndarray
        p(A | B) / p(A | not B); infinite where the level answers no row wrongly, 1 where its
        classifier is right on every row or on none.
    lift : ndarray
        p(B | A) / p(B); 1 where the classifier is right on no row.
    j_score : ndarray
        p(A) times the information, in bits, that A gives about B (Kullback and Leibler).
    nmi : ndarray
        Mutual information of A and B over the entropy of A; 0 where every row or none is in A.
    """

    support: np.ndarray
    bayes_factor: np.ndarray
    lift: np.ndarray
    j_score: np.ndarray
    nmi: np.ndarray

    def combined(self) -> dict[str, float]:
        """Each measure over the whole list: the sum over its levels, weighted by their support.

        Levels that answer nothing do not count, and rows that no level answers add nothing.
        """
        used = self.support > 0
        names = self._fields[1:]
        return {name: float(self.support[used] @ getattr(self, name)[used]) for name in names}


def level_measures(level: Any, correct: Any, *, sample_weight: Any = None) -> LevelMeasures:
    """Bayes factor, lift, J-score and normalised mutual information of each level.

    Parameters
    ----------
    level : array-like of int, shape (n_samples,)
        Level that answers each row, -1 for none. For a tree, the position of its leaf.
    correct : array-like of bool, shape (n_samples, n_levels)
        Whether the classifier of each level would be right about each row, also about rows that
        other levels answer. For a tree, whether the row is of the leaf's class.
    sample_weight : array-like of shape (n_samples,), optional

    Returns
    -------
    LevelMeasures

    References
    ----------
    Explanation-Oriented Partitioning, section 3.2.

    Examples
    --------
    >>> from pellucid.metrics import level_measures
    >>> level = [0, 0, 1, 1]
    >>> correct = [[True, False], [True, True], [True, True], [False, False]]
    >>> measures = level_measures(level, correct)
    >>> measures.lift.round(2)
    array([1.33, 1.  ])
    >>> measures.combined()["lift"]
    1.1666666666666665
    """
    level, correct, weight = _read(level, correct, sample_weight)
    n_levels = correct.shape[1]
    total = weight.sum()
    answered = np.flatnonzero(level >= 0)
    at, own = level[answered], weight[answered]
    right = correct[answered, at]
    n_a = np.bincount(at, weights=own, minlength=n_levels)
    n_ab = np.bincount(at[right], weights=own[right], minlength=n_levels)
    n_b = weight @ correct
    with np.errstate(divide="ignore", invalid="ignore"):
        support = n_a / total
        p_b, p_b_given_a = n_b / total, n_ab / n_a
        lift = np.where(n_b > 0, p_b_given_a / p_b, 1.0)
        bayes_factor = n_ab * (total - n_b) / (n_b * (n_a - n_ab))
    bayes_factor = np.where((n_b > 0) & (n_b < total), bayes_factor, 1.0)
    information = _times_log(p_b_given_a, p_b) + _times_log(1 - p_b_given_a, 1 - p_b)
    return LevelMeasures(
        support=support,
        bayes_factor=bayes_factor,
        lift=lift,
        j_score=support * information,
        nmi=_normalised_information(support, p_b, n_ab / total),
    )


def eop_complexity(
    level: Any,
    n_tests: Any,
    *,
    region: Any = None,
    dims: Any = None,
    classification: float = 0.0,
    sample_weight: Any = None,
) -> float:
    """Tests made before the average row gets its answer from a decision list.

    A row that passes a level has made all of its tests: as many as neighbours are consulted for
    nonparametric regions, or as there are boxes. At the level that answers it, it makes all of
    them too, or with `region` only those up to the region that holds it.

    Parameters
    ----------
    level : array-like of int, shape (n_samples,)
        Level that answers each row, -1 for none.
    n_tests : array-like of shape (n_levels,)
        Neighbours consulted, or regions, at each level.
    region : array-like of int, shape (n_samples,), optional
        Position, from 0, of the region of the level that holds each row; regions are tried in
        turn. Rows without a level may have anything here.
    dims : array-like of int, shape (n_levels,), optional
        Number of columns that a test at each level looks at; each test counts that often.
    classification : float, default=0.0
        What is added for the answer itself. The paper counts 1 for nonparametric regions, and
        nothing for boxes.
    sample_weight : array-like of shape (n_samples,), optional

    References
    ----------
    Explanation-Oriented Partitioning, sections 3.1.1 and 3.1.2.

    Examples
    --------
    Two rows are answered at the first level, one at the second, each with 20 neighbours:

    >>> from pellucid.metrics import eop_complexity
    >>> eop_complexity([0, 0, 1], [20, 20], classification=1)
    27.666666666666668
    """
    tests = np.asarray(n_tests, dtype=np.float64)
    per_test = np.ones(len(tests)) if dims is None else np.asarray(dims, dtype=np.float64)
    if tests.ndim != 1 or tests.shape != per_test.shape:
        raise ValueError(
            f"n_tests has shape {tests.shape} and dims {per_test.shape}; both need one number a "
            "level"
        )
    level = _read_level(level, len(tests))
    weight = read_sample_weight(sample_weight, len(level))
    made = np.concatenate([[0.0], np.cumsum(tests * per_test)])
    effort = made[np.where(level < 0, len(tests), level + 1)]
    if region is not None:
        region = np.asarray(region)
        if region.shape != level.shape:
            raise ValueError(f"region has shape {region.shape}, but level {level.shape}")
        rows = np.flatnonzero(level >= 0)
        at = level[rows]
        if np.any((region[rows] < 0) | (region[rows] >= tests[at])):
            raise ValueError("region must lie between 0 and n_tests - 1 of the row's level")
        effort[rows] = made[at] + (region[rows] + 1) * per_test[at]
    return float(weight @ effort / weight.sum()) + classification


def cart_complexity(model: Any) -> int:
    """Number of nodes of a tree, leaves included.

    Parameters
    ----------
    model : fitted decision tree of scikit-learn, estimator of this package, or tree of either
        Anything with ``node_count``, or with a ``tree_`` that has one.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from pellucid.metrics import cart_complexity
    >>> cart_complexity(DecisionTreeClassifier().fit([[0], [1], [2]], ["a", "b", "a"]))
    5
    """
    tree = getattr(model, "tree_", model)
    if not hasattr(tree, "node_count"):
        raise TypeError(
            f"{type(model).__name__} has no tree_ and no node_count; pass a fitted decision tree"
        )
    return int(tree.node_count)


def _read(level: Any, correct: Any, sample_weight: Any) -> tuple[np.ndarray, ...]:
    correct = np.asarray(correct)
    if correct.ndim != 2 or correct.dtype != bool:
        raise ValueError(
            f"correct has shape {correct.shape} and type {correct.dtype}; it needs a row for each "
            "sample and a column for each level, of booleans"
        )
    level = _read_level(level, correct.shape[1])
    if len(level) != len(correct):
        raise ValueError(f"level has {len(level)} rows, but correct has {len(correct)}")
    return level, correct, read_sample_weight(sample_weight, len(level))


def _read_level(level: Any, n_levels: int) -> np.ndarray:
    level = np.asarray(level)
    if level.ndim != 1 or (level.size and level.dtype.kind not in "iu"):
        raise ValueError(
            f"level has shape {level.shape} and type {level.dtype}; it must be flat, of int"
        )
    if level.size == 0:
        raise ValueError("level is empty; at least one row is needed")
    if not -1 <= level.min() <= level.max() < n_levels:
        raise ValueError(f"level must lie between -1 (none) and {n_levels - 1}, the last level")
    return level


def _times_log(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Return p · log2(p / q): 0 where p is 0, or q, as p is 0 there but for rounding."""
    ratio = np.divide(p, q, out=np.ones_like(p), where=(p > 0) & (q > 0))
    return np.where(p > 0, p, 0.0) * np.log2(ratio)


def _normalised_information(p_a: np.ndarray, p_b: np.ndarray, p_ab: np.ndarray) -> np.ndarray:
    """I(A; B) / H(A) of each level, from the shares of A, of B and of both."""
    mutual = (
        _times_log(p_ab, p_a * p_b)
        + _times_log(p_a - p_ab, p_a * (1 - p_b))
        + _times_log(p_b - p_ab, (1 - p_a) * p_b)
        + _times_log(1 - p_a - p_b + p_ab, (1 - p_a) * (1 - p_b))
    )
    one = np.ones_like(p_a)
    entropy = -_times_log(p_a, one) - _times_log(1 - p_a, one)
    return np.divide(
        np.maximum(mutual, 0.0), entropy, out=np.zeros_like(entropy), where=entropy > 0
    )
