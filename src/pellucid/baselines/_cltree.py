"""CLTree: dense and sparse regions, found as a tree finds two classes."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np

from pellucid._utils.estimators import Noise, store_parameters
from pellucid._utils.progress import Progress
from pellucid._utils.sklearn_compat import Interval
from pellucid.baselines._unsupervised import FoundSplit, UniqueRows, UnsupervisedTree
from pellucid.cluster._docs import common_parameters
from pellucid.tree.rounding import ThresholdStyle

_NO_GAIN = 1e-12
"""Information gain per point up to which a cut gains nothing but rounding errors."""


class Intervals(NamedTuple):
    """A part of each column of a region, as arrays with one entry per column.

    The positions of its rows in the order of the column, its ends, and the number of virtual
    points.
    """

    start: np.ndarray
    stop: np.ndarray
    low: np.ndarray
    high: np.ndarray
    n: np.ndarray

    def divide(self, cuts: Cuts) -> tuple[Intervals, Intervals]:
        """The parts on the left and on the right of a cut."""
        with np.errstate(divide="ignore", invalid="ignore"):
            share = (cuts.at - self.low) / (self.high - self.low)
        return (
            Intervals(self.start, cuts.position, self.low, cuts.at, self.n * share),
            Intervals(cuts.position, self.stop, cuts.at, self.high, self.n * (1 - share)),
        )

    def where(self, condition: np.ndarray, other: Intervals) -> Intervals:
        """These where the condition holds, and the others elsewhere."""
        return Intervals(*(np.where(condition, a, b) for a, b in zip(self, other)))


class Cuts(NamedTuple):
    """A cut per column: its place, the number of rows below it, and whether there is one."""

    at: np.ndarray
    position: np.ndarray
    exists: np.ndarray

    def where(self, condition: np.ndarray, other: Cuts) -> Cuts:
        """These where the condition holds, and the others elsewhere."""
        return Cuts(*(np.where(condition, a, b) for a, b in zip(self, other)))


def entropy(y: np.ndarray, n: np.ndarray) -> np.ndarray:
    """Entropy of the two classes, times the number of points, in bits."""
    total = y + n
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = [np.where(part > 0, part * np.log2(part / total), 0.0) for part in (y, n)]
    return -(terms[0] + terms[1])


class SortedColumns:
    """The rows of a region, sorted by each column."""

    def __init__(self, X: np.ndarray, weight: np.ndarray) -> None:
        columns = np.ascontiguousarray(X.T)
        self.order = np.argsort(columns, axis=1, kind="stable")
        """Rows of each column, by value."""
        self._values = np.take_along_axis(columns, self.order, axis=1)
        self._below = np.zeros((X.shape[1], len(X) + 1))
        np.cumsum(weight[self.order], axis=1, out=self._below[:, 1:])
        new = np.ones((X.shape[1], len(X) + 1), dtype=bool)
        new[:, 1:-1] = self._values[:, 1:] > self._values[:, :-1]
        # Of rows of equal values, cuts lie below the first and above the last. Place 2 i is below
        # row i, and place 2 i + 1 is above it.
        may_cut = np.stack([new[:, :-1], new[:, 1:]], axis=2).reshape(X.shape[1], -1)
        self._places = [np.flatnonzero(column) for column in may_cut]

    def y(self, part: Intervals) -> np.ndarray:
        """Weight of the rows."""
        return self._at(part.stop) - self._at(part.start)

    def density(self, part: Intervals) -> np.ndarray:
        """Rows per virtual point; infinite where there are rows and no virtual points."""
        y = self.y(part)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(part.n > 0, y / part.n, np.where(y > 0, np.inf, 0.0))

    def best_gains(self, part: Intervals) -> Cuts:
        """The cut of the largest information gain in each column; ties go to the lowest."""
        total, width = self.y(part), part.high - part.low
        all_together, rounding = entropy(total, part.n), _NO_GAIN * (total + part.n)
        best, exists = np.zeros(len(width), dtype=np.intp), np.zeros(len(width), dtype=bool)
        for j in np.flatnonzero(width > 0):
            ends = np.searchsorted(self._places[j], (2 * part.start[j], 2 * part.stop[j]))
            places = self._places[j][slice(*ends)]
            if not len(places):
                continue
            y = self._below[j, (places + 1) // 2] - self._below[j, part.start[j]]
            n = part.n[j] * ((self._values[j, places // 2] - part.low[j]) / width[j])
            gain = all_together[j] - (entropy(y, n) + entropy(total[j] - y, part.n[j] - n))
            largest = gain.max()
            best[j] = places[np.argmax(gain >= largest - rounding[j])]
            exists[j] = largest > rounding[j]
        at = self._values[np.arange(len(width)), best // 2]
        return Cuts(at, best // 2 + best % 2, exists)

    def look_ahead(self, whole: Intervals) -> tuple[np.ndarray, np.ndarray, Cuts]:
        """Density and virtual points of the sparse region of each column, and the cut beside it."""
        first = self.best_gains(whole)
        left, right = whole.divide(first)
        is_right = self.density(right) < self.density(left)
        sparse = right.where(is_right, left)
        second = self.best_gains(sparse)
        left, right = sparse.divide(second)
        near, far = left.where(is_right, right), right.where(is_right, left)
        third = self.best_gains(near)
        left, right = near.divide(third)
        rest = left.where(self.density(left) <= self.density(right), right)
        is_beyond = self.density(near) > self.density(far)
        found = rest.where(third.exists, near).where(~is_beyond, far).where(second.exists, sparse)
        last = third.where(third.exists, second).where(~is_beyond, second)
        last = last.where(second.exists, first)
        return self.density(found), found.n, last._replace(exists=first.exists)

    def _at(self, position: np.ndarray) -> np.ndarray:
        return self._below[np.arange(len(self._below)), position]


@common_parameters
class CLTree(UnsupervisedTree):
    r"""Clustering through decision tree construction: dense regions against sparse ones.

    The rows are one class, Y. As many virtual points, spread uniformly over the box of the data,
    are the other, N. They are never made: a part of the box holds its share of them by volume. A
    tree that separates the classes separates dense regions from sparse ones.

    1. *Virtual points of a node.* A node inherits the virtual points of its region. If these are
       fewer than its rows, it gets as many as it has rows.
    2. *Look-ahead cut.* In each column, the first cut is the one of the largest information gain,

       .. math:: H(E) - \sum_{s \in \{l, r\}} \frac{|E_s|}{|E|} H(E_s), \qquad
                 H = -p_Y \log_2 p_Y - p_N \log_2 p_N.

       The second is the best cut of that side of it which has the lower relative density Y/N. If
       the region between the two is denser than the rest of that side, the second cut stands, and
       the rest is the sparse region. Otherwise the third is the best cut between the two, and the
       sparse region is that side of it which has the lower density. Of all columns, the one with
       the sparse region of the least density is cut, at its last cut.
    3. *Pruning.* From the leaves up, a node is not divided if neither of its parts is, and either
       the relative density of the sparser part is above `min_rd`, so that the parts are one
       region, or both parts have fewer than `min_y` of all rows.

    Each leaf belongs to the reference center that is cheapest for its rows, as in
    :class:`~pellucid.baselines.KDTreeExplainer`. The reference has no influence on the splits.

    Parameters
    ----------
    {n_clusters}
    min_split : int, default=10
        Least number of rows (by weight) of a node that is split.
    min_y : float, default=0.01
        Least share of the rows that a cluster region has.
    min_rd : float, default=0.1
        Relative density above which a sparse region is joined with the region beside it.
    {common}

    Attributes
    ----------
    {attributes}
    relative_density_ : ndarray of shape (node_count,)
        Rows of each node of `tree_` over its virtual points.
    is_dense_ : ndarray of shape (node_count,)
        For each node, whether it is a leaf with at least `min_y` of the rows and a relative density
        above `min_rd`: a cluster of the method.

    See Also
    --------
    CUBT : Splits by variance, pruning and joining by distance.

    Notes
    -----
    A cut lies on a value of the data, and the rows of that value are on either side of it: both
    are tried, so that a gap can belong to either side. A cut with no rows on one side only removes
    an empty margin of the region: it is no split of the tree, and pruning passes over it. Columns
    of equal density are compared by the virtual points of the sparse region: the larger wins, then
    the first column.

    Sparse data are made dense.

    References
    ----------
    Liu, Xia, Yu (2000). Clustering through decision tree construction. CIKM, 20–29.
    doi:10.1145/354756.354775.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from pellucid.baselines import CLTree
    >>> model = CLTree(3, min_y=0.1, random_state=0).fit(load_iris(as_frame=True).data)
    >>> model.n_leaves_, int(model.is_dense_.sum())
    (7, 3)
    """

    relative_density_: np.ndarray
    is_dense_: np.ndarray
    _parameter_constraints: dict[Any, Any] = {
        **UnsupervisedTree._parameter_constraints,
        "min_split": [Interval(Integral, 2, None, closed="left")],
        "min_y": [Interval(Real, 0, 1, closed="both")],
        "min_rd": [Interval(Real, 0, 1, closed="both")],
    }
    min_split: int
    min_y: float
    min_rd: float

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        min_split: int = 10,
        min_y: float = 0.01,
        min_rd: float = 0.1,
        reference: Any = None,
        noise: Noise = "group",
        threshold_style: ThresholdStyle = "round",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        store_parameters(self, locals())

    def _grow_regions(self, rows: UniqueRows, progress: Progress) -> Region:
        """The tree before pruning."""
        return grow_regions(rows, self.min_split, progress)

    def _find_tree(
        self, rows: UniqueRows, progress: Progress
    ) -> tuple[list[FoundSplit], dict[int, int]]:
        root = self._grow_regions(rows, progress)
        least = self.min_y * rows.weight.sum()
        prune(root, least, self.min_rd)
        nodes = kept_nodes(root)
        number = {id(node): i for i, node in enumerate(nodes)}
        splits = []
        for node in nodes:
            if not node.is_end:
                left, right = node.sides
                children = number[id(left)], number[id(right)]
                parts = left.rows, right.rows
                splits.append(FoundSplit(number[id(node)], node.feature, children, parts))
        ends = [node for node in nodes if node.is_end]
        cheapest = rows.costs_of([node.rows for node in ends]).argmin(axis=1)
        # They are in preorder, as the nodes of a built tree are.
        self.relative_density_ = np.array([node.density for node in nodes])
        self.is_dense_ = np.array(
            [n.is_end and n.y >= least and n.density > self.min_rd for n in nodes]
        )
        return splits, {number[id(node)]: int(c) for node, c in zip(ends, cheapest)}


@dataclass(eq=False)
class Region:
    """A node: the distinct rows in a box, and the virtual points there.

    `y` is the weight of the rows, and `n` the number of virtual points. The sides of the cut are
    empty while there is none. `stops` says whether pruning ends the tree here.
    """

    rows: np.ndarray
    y: float
    n: float
    low: np.ndarray
    high: np.ndarray
    feature: int = -1
    sides: tuple[Region, ...] = ()
    stops: bool = False

    def __post_init__(self) -> None:
        self.n = max(self.n, self.y)

    @property
    def density(self) -> float:
        """Rows per virtual point; at most 1."""
        return float(self.y / self.n) if self.n > 0 else 0.0

    @property
    def is_end(self) -> bool:
        """Whether it is a leaf of the pruned tree."""
        return self.stops or not self.sides


def grow_regions(rows: UniqueRows, min_split: float, progress: Progress) -> Region:
    """The tree before pruning."""
    total = float(rows.weight.sum())
    everything = np.arange(len(rows.X))
    root = Region(everything, total, total, rows.X.min(axis=0), rows.X.max(axis=0))
    waiting = [root]
    while waiting:
        region = waiting.pop()
        if region.y >= min_split and divide_region(region, rows):
            waiting += [side for side in region.sides if len(side.rows)]
            progress.step()
    return root


def divide_region(region: Region, rows: UniqueRows) -> bool:
    """Divide a region at its best cut; False if it has none."""
    n_rows, n_features = len(region.rows), len(region.low)
    columns = SortedColumns(rows.X[region.rows], rows.weight[region.rows])
    whole = Intervals(
        np.zeros(n_features, dtype=np.intp),
        np.full(n_features, n_rows),
        region.low,
        region.high,
        np.full(n_features, region.n),
    )
    density, n, cuts = columns.look_ahead(whole)
    able = np.flatnonzero(cuts.exists)
    if not len(able):
        return False
    region.feature = feature = int(able[np.lexsort((able, -n[able], density[able]))[0]])
    low, high = region.low.copy(), region.high.copy()
    low[feature] = high[feature] = cuts.at[feature]
    left, right = whole.divide(cuts)
    parts = np.split(columns.order[feature], [cuts.position[feature]])
    region.sides = tuple(
        Region(np.sort(region.rows[part]), float(columns.y(side)[feature]), side.n[feature], *box)
        for part, side, box in zip(parts, (left, right), ((region.low, high), (low, region.high)))
    )
    return True


def prune(root: Region, least: float, min_rd: float) -> None:
    """Set `stops` in all regions; parts with a weight below `least` are not divided."""
    order, waiting = [], [root]
    while waiting:
        region = waiting.pop()
        if not region.sides:
            region.stops = True
            continue
        order.append(region)
        for side in region.sides:
            if side.y < least:
                side.stops = True
            else:
                waiting.append(side)
    for region in reversed(order):
        sides = region.sides
        if all(side.stops for side in sides):
            sparser = min(side.density for side in sides)
            is_margin = any(side.y == 0 for side in sides)
            region.stops = is_margin or sparser > min_rd or all(side.y < least for side in sides)


def kept_nodes(root: Region) -> list[Region]:
    """The nodes of the pruned tree in preorder, without cuts that only remove a margin.

    Sides of the kept nodes are replaced by what is kept of them.
    """

    def kept(region: Region) -> Region:
        while not region.is_end:
            left, right = region.sides
            if len(left.rows) and len(right.rows):
                break
            region = left if len(left.rows) else right
        return region

    nodes, waiting = [], [kept(root)]
    while waiting:
        region = waiting.pop()
        nodes.append(region)
        if not region.is_end:
            region.sides = tuple(kept(side) for side in region.sides)
            waiting += reversed(region.sides)
    return nodes
