"""CUBT: a tree of least deviance, pruned and joined by how close its leaves are."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any, Literal

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist
from sklearn.exceptions import ConvergenceWarning

from pellucid._utils.estimators import Noise, store_parameters
from pellucid._utils.progress import Progress
from pellucid._utils.sklearn_compat import Interval, StrOptions
from pellucid.baselines._unsupervised import UniqueRows, UnsupervisedTree
from pellucid.cluster._docs import common_parameters
from pellucid.tree.from_sklearn import SklearnSplit
from pellucid.tree.rounding import ThresholdStyle

_EQUAL = 1e-9  # relative difference up to which gains count as equal
_BLOCK = 1024  # rows whose distances to all others are in memory at a time


@common_parameters
class CUBT(UnsupervisedTree):
    r"""Clustering using unsupervised binary trees: grow, prune, join.

    The clusters are the method's own. The reference gives their number, and each of them the name
    of a reference cluster: the pairing of clusters and reference centers that has the least cost.

    1. *Maximal tree.* The deviance of a node t with the share :math:`\alpha_t` of the rows is

       .. math:: R(t) = \alpha_t \operatorname{trace} \operatorname{Cov}(X_t)
                 = \frac{1}{n} \sum_{x \in t} \|x - \bar x_t\|^2,

       and a node is split where :math:`R(t) - R(t_l) - R(t_r)` is largest. A split leaves at least
       `min_size` rows on either side and reduces the deviance by at least `min_deviance` times that
       of all rows.
    2. *Pruning.* Two sibling leaves l and r become one leaf while their dissimilarity is at most
       `min_distance` or there are more than `n_leaves` leaves, the least dissimilar first. With
       :math:`d_l(i)` the distances of the rows of l to their nearest rows of r in ascending order,

       .. math:: d^\delta(l, r) = \max(\bar d_l^\delta, \bar d_r^\delta), \qquad
                 \bar d_l^\delta = \frac{1}{\delta n_l} \sum_{i \le \delta n_l} d_l(i)

       is the larger of the means of the smallest δ-share of the distances (`nearest_share`).
    3. *Joining.* While there are more than k groups of leaves, siblings or not, the two whose
       union adds the least deviance, or the two that are the least dissimilar, become one.

    Parameters
    ----------
    {n_clusters}
    n_leaves : int, default=None
        Largest number of leaves after pruning. None: the number of clusters, so that nothing has
        to be joined.
    min_size : int, default=10
        Least number of rows (by weight) of a leaf of the maximal tree, *minsize*.
    min_deviance : float, default=0.001
        Least reduction of the deviance by a split, as a share of that of all rows, *mindev*.
    min_distance : float, default=0.0
        Dissimilarity up to which sibling leaves are pruned, in the units of the data, *mindist*.
    nearest_share : float, default=0.4
        Share δ of the nearest distances that are averaged. A row is counted in part where δ n is
        not an integer.
    join : {"deviance", "dissimilarity"}, default="deviance"
        What is least for two groups that are joined: the deviance that their union adds,
        :math:`R(t_i \cup t_j) - R(t_i) - R(t_j)`, or the dissimilarity of step 2.
    {common}

    Attributes
    ----------
    {attributes}
    max_n_leaves_ : int
        Number of leaves of the maximal tree.

    See Also
    --------
    CLTree : Dense and sparse regions by information gain.
    pellucid.ExKMC : Splits by the cost at the reference centers.

    Notes
    -----
    Sparse data are made dense. Time is O(n d²) per level of the tree and O(n² d) for pruning.

    References
    ----------
    Fraiman, Ghattas, Svarc (2013). Interpretable clustering using unsupervised binary trees.
    Advances in Data Analysis and Classification 7(2), 125–145. doi:10.1007/s11634-013-0129-3.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from pellucid.baselines import CUBT
    >>> model = CUBT(3, n_leaves=5, random_state=0).fit(load_iris(as_frame=True).data)
    >>> model.max_n_leaves_, model.n_leaves_
    (11, 5)
    >>> print(f"{model.inertia_ / model.reference_inertia_:.3f}")
    1.096
    """

    max_n_leaves_: int
    _parameter_constraints: dict[Any, Any] = {
        **UnsupervisedTree._parameter_constraints,
        "n_leaves": [Interval(Integral, 1, None, closed="left"), None],
        "min_size": [Interval(Integral, 1, None, closed="left")],
        "min_deviance": [Interval(Real, 0, 1, closed="both")],
        "min_distance": [Interval(Real, 0, None, closed="left")],
        "nearest_share": [Interval(Real, 0, 1, closed="right")],
        "join": [StrOptions({"deviance", "dissimilarity"})],
    }
    n_leaves: int | None
    min_size: int
    min_deviance: float
    min_distance: float
    nearest_share: float
    join: Literal["deviance", "dissimilarity"]

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        n_leaves: int | None = None,
        min_size: int = 10,
        min_deviance: float = 0.001,
        min_distance: float = 0.0,
        nearest_share: float = 0.4,
        join: Literal["deviance", "dissimilarity"] = "deviance",
        reference: Any = None,
        noise: Noise = "group",
        threshold_style: ThresholdStyle = "round",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        store_parameters(self, locals())

    def _find_tree(
        self, rows: UniqueRows, progress: Progress
    ) -> tuple[list[SklearnSplit], dict[int, int]]:
        k = rows.problem.n_clusters
        splits, leaves = grow_by_deviance(rows, self.min_size, self.min_deviance, progress)
        self.max_n_leaves_ = len(leaves)
        n_leaves = k if self.n_leaves is None else self.n_leaves
        if n_leaves > 1 and self.max_n_leaves_ < min(n_leaves, k):
            found = f"the maximal tree has {self.max_n_leaves_} leaves for {k} clusters"
            hint = "lower min_size or min_deviance, or use fewer clusters"
            warnings.warn(f"{found}; {hint}", ConvergenceWarning, stacklevel=4)
        groups = LeafGroups(rows, leaves, self.nearest_share)
        splits = prune(splits, groups, n_leaves, self.min_distance)
        joined = groups.join(k, self.join)
        _, position = linear_sum_assignment(rows.costs_of([groups.rows[g] for g in joined]))
        cluster = {leaf: int(c) for g, c in zip(joined, position) for leaf in joined[g]}
        return splits, cluster


def grow_by_deviance(
    rows: UniqueRows, min_size: float, min_deviance: float, progress: Progress
) -> tuple[list[SklearnSplit], dict[int, np.ndarray]]:
    """The splits of the maximal tree, and the rows of each leaf."""
    mean = np.average(rows.X, axis=0, weights=rows.weight)
    least = min_deviance * (rows.weight @ ((rows.X - mean) ** 2).sum(axis=1))
    splits: list[SklearnSplit] = []
    leaves, waiting = {0: np.arange(len(rows.X))}, [0]
    while waiting:
        node = waiting.pop(0)
        members = leaves[node]
        cut = best_cut(rows.X[members], rows.weight[members], min_size)
        if cut is None or cut[0] < least * (1 - _EQUAL):
            continue
        _, feature, value = cut
        goes_left = rows.X[members, feature] <= value
        children = 2 * len(splits) + 1, 2 * len(splits) + 2
        parts = members[goes_left], members[~goes_left]
        splits.append(SklearnSplit(node, feature, children, parts))
        del leaves[node]
        leaves.update(zip(children, parts))
        waiting += children
        progress.step()
    return splits, leaves


def best_cut(X: np.ndarray, weight: np.ndarray, min_size: float) -> tuple[float, int, float] | None:
    """The cut that reduces the deviance most, as the reduction times n, the feature and the value.

    With S the sum of the rows on the left about the mean of all, and W_l and W_r the weights,
    the deviance falls by |S|² W / (W_l W_r), over n. Ties go to the lowest feature, then value.
    """
    total = weight.sum()
    if total < 2 * min_size:
        return None
    parts = weight[:, None] * (X - np.average(X, axis=0, weights=weight))
    found: list[tuple[np.ndarray, np.ndarray]] = []
    for column in X.T:
        order = np.argsort(column, kind="stable")
        values, left = column[order], np.cumsum(weight[order])
        ends = np.flatnonzero(
            (values[:-1] < values[1:]) & (left[:-1] >= min_size) & (total - left[:-1] >= min_size)
        )
        sums = np.cumsum(parts[order], axis=0)[ends]
        gain = (sums**2).sum(axis=1) * total / (left[ends] * (total - left[ends]))
        found.append((gain, values[ends]))
    largest = max(float(gain.max(initial=0.0)) for gain, _ in found)
    for feature, (gain, values) in enumerate(found):
        near = values[gain >= largest * (1 - _EQUAL)]
        if largest > 0 and len(near):
            return largest, feature, float(near[0])
    return None


class LeafGroups:
    """Groups of rows that are merged in turn; at the start, each leaf is a group."""

    def __init__(
        self, rows: UniqueRows, leaves: dict[int, np.ndarray], nearest_share: float
    ) -> None:
        self._all, self._share = rows, nearest_share
        self.rows = dict(leaves)
        order = np.concatenate(list(leaves.values()))
        starts = np.cumsum([0, *(len(part) for part in leaves.values())])[:-1]
        nearest = np.empty((len(leaves), len(order)))
        for start in range(0, len(order), _BLOCK):
            block = slice(start, start + _BLOCK)
            distances = cdist(rows.X[order], rows.X[block])
            nearest[:, block] = np.minimum.reduceat(distances, starts, axis=0)
        self._nearest = dict(zip(leaves, nearest))
        """Distance of every distinct row to the nearest row of each group."""

    def dissimilarity(self, a: int, b: int) -> float:
        """The larger mean of the nearest distances, from either side."""
        return max(self._nearest_mean(a, b), self._nearest_mean(b, a))

    def _nearest_mean(self, a: int, b: int) -> float:
        rows = self.rows[a]
        distance, weight = self._nearest[b][rows], self._all.weight[rows]
        order = np.argsort(distance, kind="stable")
        up_to = np.cumsum(weight[order])
        wanted = self._share * up_to[-1]
        counted = np.diff(np.minimum(up_to, wanted), prepend=0.0)
        return float(counted @ distance[order] / wanted)

    def added_deviance(self, a: int, b: int) -> float:
        """The deviance, times n, that the union of two groups adds to theirs."""
        (mean, weight), (other, more) = self._mean_and_weight(a), self._mean_and_weight(b)
        return float(weight * more / (weight + more) * ((mean - other) ** 2).sum())

    def _mean_and_weight(self, group: int) -> tuple[np.ndarray, float]:
        rows = self.rows[group]
        weight = self._all.weight[rows]
        return np.average(self._all.X[rows], axis=0, weights=weight), weight.sum()

    def merge(self, a: int, b: int, name: int) -> None:
        self.rows[name] = np.sort(np.concatenate([self.rows.pop(a), self.rows.pop(b)]))
        self._nearest[name] = np.minimum(self._nearest.pop(a), self._nearest.pop(b))

    def join(self, n_groups: int, by: str) -> dict[int, list[int]]:
        """Merge the closest pair until there are `n_groups`; returns what each is made of."""
        measure = self.added_deviance if by == "deviance" else self.dissimilarity
        made_of = {g: [g] for g in sorted(self.rows)}
        pairs = {(a, b): measure(a, b) for a in self.rows for b in self.rows if a < b}
        while len(self.rows) > n_groups:
            a, b = min(pairs, key=lambda pair: (pairs[pair], pair))
            pairs = {pair: value for pair, value in pairs.items() if not {a, b} & {*pair}}
            self.merge(a, b, name=a)
            made_of[a] += made_of.pop(b)
            pairs |= {(min(a, g), max(a, g)): measure(a, g) for g in self.rows if g != a}
        return made_of


def prune(
    splits: list[SklearnSplit], groups: LeafGroups, n_leaves: int, min_distance: float
) -> list[SklearnSplit]:
    """Undo splits into two leaves, the least dissimilar first, and return the others.

    Pruning ends at `n_leaves` leaves if the dissimilarity is above `min_distance`.
    """
    kept = {split.node: split for split in splits}
    parent = {child: split.node for split in splits for child in split.children}
    dissimilarity: dict[int, float] = {}
    candidates = list(kept)
    while True:
        for node in candidates:
            children = kept[node].children
            if all(child in groups.rows for child in children):
                dissimilarity[node] = groups.dissimilarity(*children)
        if not dissimilarity:
            break
        node = min(dissimilarity, key=lambda n: (dissimilarity[n], n))
        if len(groups.rows) <= n_leaves and dissimilarity[node] > min_distance:
            break
        del dissimilarity[node]
        groups.merge(*kept.pop(node).children, name=node)
        candidates = [parent[node]] if node in parent else []
    return list(kept.values())
