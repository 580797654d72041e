"""Trees that grow leaf by leaf up to a number of leaves: CART and the k-d tree."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from pellucid._core.criteria.base import Node
from pellucid._core.criteria.column_search import Split
from pellucid._core.criteria.surrogate_cost import SurrogateCost
from pellucid._core.data.arrays import stable_argsort
from pellucid._core.growers.best_first import grow_best_first
from pellucid._core.growers.cart import grow_cart
from pellucid.cluster._docs import common_parameters
from pellucid.cluster._reference_tree import BaseLeafwiseTree
from pellucid.tree import ThresholdTree

_EQUAL = 1e-9  # relative difference up to which variances count as equal


class BaselineTree(BaseLeafwiseTree):
    """Base of the baselines, of which the smaller trees of the same fit are known."""

    def _store_growth(self, problem, growth, found):
        self._builder = growth.builder

    def staged_trees(self) -> Iterator[ThresholdTree]:
        """The trees with one leaf, two leaves, and so on up to `tree_` before polish.

        Yields
        ------
        ThresholdTree
            The tree with one more leaf than the one before.
        """
        check_is_fitted(self)
        for n_splits in range(len(self._builder.splits) + 1):
            yield self._builder.build(n_splits)


@common_parameters
class CARTExplainer(BaselineTree):
    """A classification tree that predicts the reference clusters.

    scikit-learn's ``DecisionTreeClassifier(max_leaf_nodes=n_leaves)`` (Gini impurity, best leaf
    first) is fitted to the labels of the reference and converted to a threshold tree. It counts
    misclassified rows but not their cost, which this baseline is to show.

    Every training row reaches the same leaf as in scikit-learn's tree, and each leaf has the
    majority cluster of its rows. scikit-learn rounds the data to single precision; thresholds here
    are chosen between the original values.

    Parameters
    ----------
    {n_clusters}
    n_leaves : int, default=None
        Largest number of leaves. None: the number of clusters. A tree that reproduces the
        reference is not split further.
    {common}

    Attributes
    ----------
    {attributes}

    See Also
    --------
    pellucid.ExKMC : Trees of any size that minimise the cost.

    Notes
    -----
    `random_state` is also that of scikit-learn's tree, which decides between equally good splits.

    References
    ----------
    Breiman, Friedman, Stone, Olshen (1984). Classification and regression trees.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from pellucid.baselines import CARTExplainer
    >>> model = CARTExplainer(3, random_state=0).fit(load_iris(as_frame=True).data)
    >>> model.n_leaves_
    3
    >>> print(f"{model.inertia_ / model.reference_inertia_:.3f}")
    1.037
    """

    def _grow(self, problem, progress):
        n_leaves = self._max_leaves(problem.n_clusters)
        return grow_cart(problem, n_leaves, self.threshold_style, progress, self.random_state)


@common_parameters
class KDTreeExplainer(BaselineTree):
    """A tree of balanced halves: splits at the median of the column of largest variance.

    The leaf with the most rows (by weight) is split next, at the median of its column of largest
    variance, until there are `n_leaves`; leaves whose rows are all equal are never split. Each leaf
    belongs to the reference center that is cheapest for its rows. The reference has no influence
    on the splits, which this baseline is to show.

    The median is the lowest value with at least half of the weight at or below it, or, if no row
    is above that, the next lower value. Ties of variance go to the first column.

    Parameters
    ----------
    {n_clusters}
    n_leaves : int, default=None
        Largest number of leaves. None: the number of clusters.
    {common}

    Attributes
    ----------
    {attributes}

    References
    ----------
    Bentley (1975). Multidimensional binary search trees used for associative searching.
    Communications of the ACM.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from pellucid.baselines import KDTreeExplainer
    >>> model = KDTreeExplainer(3, n_leaves=4, random_state=0).fit(load_iris(as_frame=True).data)
    >>> model.tree_.n_node_samples[model.tree_.leaves]
    array([44, 31, 41, 34])
    """

    def _grow(self, problem, progress):
        n_leaves = self._max_leaves(problem.n_clusters)
        return grow_best_first(MedianCut(problem), self.threshold_style, progress, n_leaves)


class MedianCut(SurrogateCost):
    """The column of largest variance at its median; the heaviest cell has the most to gain."""

    def gain_bound(self, node: Node) -> float:
        """The weight of the cell, used as the gain of its cut."""
        return self.problem.weights.total_of(node.rows.active)

    def best_splits(self, node: Node, n: int = 1) -> list[Split]:
        """The only cut of the cell; none if all its rows are equal."""
        # Sums of units are exact: neither the order of the rows nor their storage matters.
        weight = self.problem.weights.units_of(node.rows.active)
        spread = self._variances(node.rows.active, weight)
        if (largest := spread.max()) < 0:
            return []
        feature = int(np.argmax(spread >= largest * (1 - _EQUAL)))
        at = weighted_median_below(self.problem.values(feature, node.rows.active), weight)
        return [Split(-largest, feature, at, gain=self.gain_bound(node))]

    def _variances(self, rows: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """Weighted variance of each column over the given rows; -1 for a constant column."""
        X, total = self.problem.X, int(weight.sum())
        if sparse.issparse(X):
            X = X.tocsr()[rows].tocsc()
            stored = [slice(*ends) for ends in zip(X.indptr[:-1], X.indptr[1:])]
            columns = (
                (X.data[part].astype(np.float64), weight[X.indices[part]]) for part in stored
            )
        else:
            columns = ((self.problem.values(j, rows), weight) for j in range(X.shape[1]))
        return np.array([variance(*column, total, len(rows)) for column in columns])


def variance(values: np.ndarray, weight: np.ndarray, total: int, n_rows: int) -> float:
    """Weighted variance of a column of `n_rows` rows of weight `total`; -1 when it is constant.

    Rows that are not among `values` are 0. Zeros are summed apart, so that stored zeros change no
    bit. The distinct other values are summed in ascending order, so that order and copies of rows
    change none, as differences to the least value, so that no digits are lost far from 0.
    """
    nonzero = values != 0
    if not nonzero.all():
        values, weight = values[nonzero], weight[nonzero]
    low, high = values.min(initial=np.inf), values.max(initial=-np.inf)
    if len(values) < n_rows:
        low, high = min(low, 0.0), max(high, 0.0)
    if low == high:
        return -1.0
    if (weight == 1).all():
        ordered, summed = np.sort(values), np.arange(1, len(values) + 1)
    else:
        order = stable_argsort(values)
        ordered, summed = values[order], weight[order].cumsum()
    last = np.append(np.flatnonzero(ordered[1:] != ordered[:-1]), len(ordered) - 1)
    values, share = ordered[last] - low, np.diff(summed[last], prepend=0) / total
    at_zero = (total - int(weight.sum())) / total
    mean = (share * values).sum() - at_zero * low
    away = (share * (values - mean) ** 2).sum()
    return float(away + at_zero * (low + mean) ** 2)


def weighted_median_below(values: np.ndarray, weight: np.ndarray) -> float:
    """The lower median by integer weights, or the next lower value if that is the largest value."""
    order = np.argsort(values, kind="stable")
    ordered, cumulated = values[order], np.cumsum(weight[order])
    median = ordered[np.searchsorted(cumulated, (cumulated[-1] + 1) // 2)]
    return float(median if median < ordered[-1] else ordered[ordered < ordered[-1]][-1])
