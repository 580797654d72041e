"""Random thresholds between the reference centers: the cheapest of several random trees."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import field
from numbers import Integral
from typing import Literal

import numpy as np
from sklearn.utils import check_random_state

from pellucid._core.criteria.random_cuts import DrawnCuts, Trees, draw_cuts
from pellucid._core.data.dataset import Dataset
from pellucid._core.growers.growing_tree import grow_greedily
from pellucid._utils.sklearn_compat import Interval, StrOptions
from pellucid.cluster._docs import common_parameters
from pellucid.cluster._reference_tree import BaseReferenceTree
from pellucid.tree import ThresholdTree

_ROUNDING = 1e-12  # part of a cost that rounding can change


@common_parameters
class RandomThresholds(BaseReferenceTree):
    r"""A tree with one leaf per cluster and random cuts, the best of several draws.

    The cuts depend on the centers only, not on the rows. It has the best guarantees in theory; on
    real data other methods cost less.

    On average, and for any rows, a draw costs at most
    :math:`1 + \mathrm{H}_{k-1} = 1 + \sum_{j=1}^{k-1} 1/j` times the reference with k-medians and
    ``"gamlath"``; with k-means :math:`O(k \log^2 k)` times (``"gamlath"``) or
    :math:`O(k \log k \log\log k)` times (``"makarychev-shan"``).

    All cuts of a draw come from one distribution. For k-medians, cuts are uniform over the lengths
    between neighbouring coordinates. For k-means, a column and two neighbouring coordinates
    a < b of reference centers in it are drawn with probability proportional to (b - a)^2; the
    threshold t between them, with density proportional to min(t - a, b - t), its distance to the
    nearer of the two. The cut is made in every leaf in which it separates reference centers; one
    that separates none in any leaf is drawn again. This repeats until each leaf has one center.

    Parameters
    ----------
    {n_clusters}
    method : {"makarychev-shan", "gamlath"}, default="makarychev-shan"
        ``"gamlath"`` draws as described. ``"makarychev-shan"`` also draws again when a cut
        separates two very close centers of a leaf. The distance of two centers is there the sum of
        (b - a)^2 over all neighbouring coordinates a < b that lie between the two, in all
        columns; very close is at most D / k^3, with D the largest distance of two centers that
        still share a leaf.
    n_draws : int, default=10
        Number of trees to choose from. More draws under the same `random_state` begin with the
        same trees, so the cost never increases.
    {common}

    Attributes
    ----------
    draw_costs_ : ndarray of shape (n_draws,)
        Cost of the clusters of each drawn tree, before polish.
    {attributes}

    Notes
    -----
    `random_state` also seeds the draws.

    References
    ----------
    Makarychev, Shan (2021). Near-optimal algorithms for explainable k-medians and k-means. ICML.

    Gamlath, Jia, Polak, Svensson (2021). Nearly-tight and oblivious algorithms for explainable
    clustering. NeurIPS.

    Gupta, Pittu, Svensson, Yuan (2023). The price of explainability for clustering. FOCS.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from pellucid import RandomThresholds
    >>> model = RandomThresholds(3, n_draws=50, random_state=0).fit(load_iris(as_frame=True).data)
    >>> print(model.explain())
    cluster 0: 2 < petal length (cm) ≤ 5.1
        66 rows (44.0%, 93.9% pure)
    cluster 1: petal length (cm) ≤ 2
        50 rows (33.3%, 100.0% pure)
    cluster 2: petal length (cm) > 5.1
        34 rows (22.7%, 100.0% pure)
    >>> (model.draw_costs_ / model.reference_inertia_)[:5].round(2)
    array([1.04, 1.04, 1.11, 1.58, 2.06])
    """

    _parameter_constraints = {
        "method": [StrOptions({"makarychev-shan", "gamlath"})],
        "n_draws": [Interval(Integral, 1, None, closed="left")],
    }
    method: Literal["makarychev-shan", "gamlath"] = "makarychev-shan"
    n_draws: int = 10
    draw_costs_: np.ndarray = field(init=False)

    def _grow(self, problem, progress):
        seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        options = {"method": self.method, "objective": self.objective}
        trees = draw_cuts(problem.centers, self.n_draws, seed, **options)
        # Of equal centers, which no tree separates, rows have the first.
        _, first, group = np.unique(problem.centers, axis=0, return_index=True, return_inverse=True)
        labels = first[group.reshape(-1)][problem.labels].astype(np.intp)
        groupings = _groupings(problem.data, trees)
        self._changes, rounding = cost_changes(problem.data, problem.centers, labels, groupings)
        # Of draws that rounding cannot tell apart, the exact costs decide; ties go to the first.
        near = np.flatnonzero(self._changes <= self._changes.min() + rounding)
        draws = near[np.sort(np.unique(self._changes[near], return_index=True)[1])]
        groupings = _groupings(problem.data, Trees(*(part[draws] for part in trees)))
        costs = [0] if len(draws) == 1 else list(map(problem.own_cost, groupings))
        criterion = DrawnCuts(problem, trees, int(draws[np.argmin(costs)]))
        return grow_greedily(criterion, self.threshold_style, progress)

    def _store_growth(self, problem, growth, found):
        self.draw_costs_ = found.reference_inertia + self._changes


def _groupings(data: Dataset, trees: Trees) -> Iterator[np.ndarray]:
    """The cluster of each row, by tree."""
    names = ("feature", "threshold", "children_left", "children_right", "cluster")
    none = np.zeros(trees.cluster.shape[1])
    counts = {"n_node_samples": none.astype(np.intp), "weighted_n_node_samples": none}
    for parts in zip(*trees):
        tree = ThresholdTree(n_features=data.X.shape[1], **counts, **dict(zip(names, parts)))
        yield tree.leaf_values(data.X, tree.cluster, count_threads=lambda: data.pool.n_threads)[0]


def cost_changes(
    data: Dataset, centers: np.ndarray, labels: np.ndarray, groupings: Iterable[np.ndarray]
) -> tuple[np.ndarray, float]:
    """Costs of groupings less that of the labels, at own centers; and what rounding can change."""
    moments = data.moments(labels, centers)
    found = [data.centers_and_costs(groups, labels, centers, moments) for groups in groupings]
    costs, before = np.array([[cost for _, cost in pair] for pair in found]).T
    return costs - before, _ROUNDING * float(max(costs.max(), before.max()))
