"""Measures of decision lists: information of the levels, and number of tests per row.

A level of a decision list, or a leaf of a tree, is the rule "a row that is covered here (A) is
classified correctly (B)". The measures take plain arrays, so they apply to any model.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pellucid.tables.validation import read_sample_weight


class LevelMeasures(NamedTuple):
    """Measures of each level, as arrays with one number per level.

    Attributes
    ----------
    support : ndarray
        p(A): fraction of all rows that the level covers.
    bayes_factor : ndarray
        p(A | B) / p(A | not B); infinite if the level misclassifies no row, 1 if its classifier
        is correct on all rows or on none.
    lift : ndarray
        p(B | A) / p(B); 1 if the classifier is correct on no row.
    j_score : ndarray
        p(A) times the Kullback-Leibler divergence, in bits, of p(B | A) from p(B).
    nmi : ndarray
        I(A; B) / H(A): mutual information over the entropy of A; 0 if A holds for all rows or
        for none.
    """

    support: np.ndarray
    bayes_factor: np.ndarray
    lift: np.ndarray
    j_score: np.ndarray
    nmi: np.ndarray

    def combined(self) -> dict[str, float]:
        """Sum of each measure over the levels, weighted by their support.

        Levels that cover no row do not count, and rows that no level covers add nothing.

        Returns
        -------
        dict of str to float
            The sum, by name of the measure.
        """
        used = self.support > 0
        names = self._fields[1:]
        return {name: float(self.support[used] @ getattr(self, name)[used]) for name in names}


def level_measures(level: Any, correct: Any, *, sample_weight: Any = None) -> LevelMeasures:
    """Bayes factor, lift, J-score and normalised mutual information of each level.

    Parameters
    ----------
    level : array-like of int, shape (n_samples,)
        Level that covers each row, -1 for none. For a tree, the position of its leaf.
    correct : array-like of bool, shape (n_samples, n_levels)
        Whether the classifier of each level is correct on each row, including rows that other
        levels cover. For a tree, whether the row is of the leaf's class.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the rows.

    Returns
    -------
    LevelMeasures
        The measures of each level.

    References
    ----------
    Fiterau (2012). Trade-offs in explanatory model learning. Carnegie Mellon University.
    Section 3.2.

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
    correct = np.asarray(correct)
    if correct.ndim != 2 or correct.dtype != bool:
        raise ValueError(
            f"correct has shape {correct.shape} and type {correct.dtype}; it must be an array of "
            "booleans with one row per sample and one column per level"
        )
    n_levels = correct.shape[1]
    level = _read_level(level, n_levels)
    if len(level) != len(correct):
        raise ValueError(f"level has {len(level)} rows, but correct has {len(correct)}")
    weight = read_sample_weight(sample_weight, len(level))
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
    j_score, nmi = support * information, _normalised_information(support, p_b, n_ab / total)
    return LevelMeasures(support, bayes_factor, lift, j_score, nmi)


def eop_complexity(
    level: Any,
    n_tests: Any,
    *,
    region: Any = None,
    dims: Any = None,
    classification: float = 0.0,
    sample_weight: Any = None,
) -> float:
    """Mean number of tests per row in a decision list.

    A row that a level does not cover takes all tests of the level: the number of neighbors for
    nonparametric regions, or the number of boxes. At the level that covers it, it takes all tests
    too, or with `region` only those up to the region that contains it.

    Parameters
    ----------
    level : array-like of int, shape (n_samples,)
        Level that covers each row, -1 for none.
    n_tests : array-like of shape (n_levels,)
        Number of neighbors, or of regions, at each level.
    region : array-like of int, shape (n_samples,), optional
        Position, from 0, of the region of the level that contains each row; regions are tested
        in order. Not used for rows without a level.
    dims : array-like of int, shape (n_levels,), optional
        Number of columns per test at each level; each test counts that often.
    classification : float, default=0.0
        Cost of the classification itself. The paper uses 1 for nonparametric regions and 0 for
        boxes.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the rows.

    Returns
    -------
    float
        The mean complexity of a prediction.

    References
    ----------
    Fiterau (2012). Trade-offs in explanatory model learning. Carnegie Mellon University.
    Sections 3.1.1 and 3.1.2.

    Examples
    --------
    Two rows are covered by the first level, one by the second, each with 20 neighbors:

    >>> from pellucid.metrics import eop_complexity
    >>> eop_complexity([0, 0, 1], [20, 20], classification=1)
    27.666666666666668
    """
    tests = np.asarray(n_tests, dtype=np.float64)
    per_test = np.ones(len(tests)) if dims is None else np.asarray(dims, dtype=np.float64)
    if tests.ndim != 1 or tests.shape != per_test.shape:
        raise ValueError(
            f"n_tests has shape {tests.shape} and dims {per_test.shape}; both need one number "
            "per level"
        )
    level = _read_level(level, len(tests))
    weight = read_sample_weight(sample_weight, len(level))
    tests_before = np.concatenate([[0.0], np.cumsum(tests * per_test)])
    effort = tests_before[np.where(level < 0, len(tests), level + 1)]
    if region is not None:
        region = np.asarray(region)
        if region.shape != level.shape:
            raise ValueError(f"region has shape {region.shape}, but level {level.shape}")
        rows = np.flatnonzero(level >= 0)
        at = level[rows]
        if np.any((region[rows] < 0) | (region[rows] >= tests[at])):
            raise ValueError("region must lie between 0 and n_tests - 1 of the row's level")
        effort[rows] = tests_before[at] + (region[rows] + 1) * per_test[at]
    return float(weight @ effort / weight.sum()) + classification


def cart_complexity(model: Any) -> int:
    """Number of nodes of a tree, leaves included.

    Parameters
    ----------
    model : fitted decision tree of scikit-learn, estimator of this package, or tree of either
        Anything with ``node_count``, or with a ``tree_`` that has one.

    Returns
    -------
    int
        The complexity.

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


def _read_level(level: Any, n_levels: int) -> np.ndarray:
    level = np.asarray(level)
    if level.ndim != 1 or (level.size and level.dtype.kind not in "iu"):
        raise ValueError(
            f"level has shape {level.shape} and type {level.dtype}; it must be 1-D and of int"
        )
    if level.size == 0:
        raise ValueError("level is empty; at least one row is needed")
    if not -1 <= level.min() <= level.max() < n_levels:
        raise ValueError(f"level must lie between -1 (none) and {n_levels - 1}, the last level")
    return level


def _times_log(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """P · log2(p / q); 0 if p is 0, or if q is 0, where p differs from 0 only by rounding."""
    ratio = np.divide(p, q, out=np.ones_like(p), where=(p > 0) & (q > 0))
    return np.where(p > 0, p, 0.0) * np.log2(ratio)


def _normalised_information(p_a: np.ndarray, p_b: np.ndarray, p_ab: np.ndarray) -> np.ndarray:
    """I(A; B) / H(A) of each level, from the probabilities of A, of B and of both."""
    mutual = (
        _times_log(p_ab, p_a * p_b)
        + _times_log(p_a - p_ab, p_a * (1 - p_b))
        + _times_log(p_b - p_ab, (1 - p_a) * p_b)
        + _times_log(1 - p_a - p_b + p_ab, (1 - p_a) * (1 - p_b))
    )
    one = np.ones_like(p_a)
    entropy = -_times_log(p_a, one) - _times_log(1 - p_a, one)
    mutual = np.maximum(mutual, 0.0)
    return np.divide(mutual, entropy, out=np.zeros_like(entropy), where=entropy > 0)
