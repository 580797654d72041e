"""CLTree: dense and sparse regions, found as a tree finds two classes."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np

from pellucid._utils.estimators import Noise, store_parameters
from pellucid._utils.progress import Progress
from pellucid._utils.sklearn_compat import Interval
from pellucid.baselines._unsupervised import UniqueRows, UnsupervisedTree
from pellucid.cluster._docs import common_parameters
from pellucid.tree.from_sklearn import SklearnSplit
from pellucid.tree.rounding import ThresholdStyle

_NO_GAIN = 1e-12  # information gain per point up to which a cut gains nothing but rounding errors


class ColumnPart(NamedTuple):
    """A part of a column of a region: the positions of its rows, its ends, its virtual points."""

    start: int
    stop: int
    low: float
    high: float
    n: float

    def divide(self, cut: ColumnCut) -> tuple[ColumnPart, ColumnPart]:
        """The parts on the left and on the right of a cut."""
        share = (cut.at - self.low) / (self.high - self.low)
        return (
            ColumnPart(self.start, cut.position, self.low, cut.at, self.n * share),
            ColumnPart(cut.position, self.stop, cut.at, self.high, self.n * (1 - share)),
        )


class ColumnCut(NamedTuple):
    """A cut of a column: its place, and the number of rows below it."""

    at: float
    position: int


def entropy(y: Any, n: Any) -> Any:
    """Entropy of the two classes, times the number of points, in bits."""
    total = y + n
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = [np.where(part > 0, part * np.log2(part / total), 0.0) for part in (y, n)]
    return -(terms[0] + terms[1])


class SortedColumn:
    """The rows of a region, sorted by one column; `below` is the weight below each position."""

    def __init__(self, values: np.ndarray, weight: np.ndarray) -> None:
        self.order = np.argsort(values, kind="stable")
        self._values = values[self.order]
        self._below = np.append(0.0, np.cumsum(weight[self.order]))
        is_new = np.ones(len(values) + 1, dtype=bool)
        is_new[1:-1] = self._values[1:] > self._values[:-1]
        # Of rows of equal values, cuts lie below the first and above the last. Place 2 i is below
        # row i, and place 2 i + 1 is above it.
        self._places = np.flatnonzero(np.column_stack([is_new[:-1], is_new[1:]]))

    def y(self, part: ColumnPart) -> float:
        """Weight of the rows."""
        return self._below[part.stop] - self._below[part.start]

    def density(self, part: ColumnPart) -> float:
        """Rows per virtual point; infinite where there are rows and no virtual points."""
        y = self.y(part)
        if part.n > 0:
            return y / part.n
        return np.inf if y > 0 else 0.0

    def best_cut(self, part: ColumnPart) -> ColumnCut | None:
        """The cut of the largest information gain, if any gains; ties go to the lowest."""
        ends = np.searchsorted(self._places, (2 * part.start, 2 * part.stop))
        places = self._places[slice(*ends)]
        if part.high <= part.low or not len(places):
            return None
        total = self.y(part)
        y = self._below[(places + 1) // 2] - self._below[part.start]
        n = part.n * ((self._values[places // 2] - part.low) / (part.high - part.low))
        gain = entropy(total, part.n) - (entropy(y, n) + entropy(total - y, part.n - n))
        rounding, largest = _NO_GAIN * (total + part.n), gain.max()
        if largest <= rounding:
            return None
        row, is_above = divmod(int(places[np.argmax(gain >= largest - rounding)]), 2)
        return ColumnCut(float(self._values[row]), row + is_above)

    def look_ahead(self, whole: ColumnPart) -> tuple[float, float, ColumnCut] | None:
        """Density and virtual points of the sparse region, and the cut beside it, if there is one.

        Steps and names are those of the paper: up to three cuts, each in the sparser side.
        """
        first = self.best_cut(whole)
        if first is None:
            return None
        left, right = whole.divide(first)
        is_right = self.density(right) < self.density(left)
        sparse = right if is_right else left
        second = self.best_cut(sparse)
        if second is None:
            return self.density(sparse), sparse.n, first
        left, right = sparse.divide(second)
        near, far = (left, right) if is_right else (right, left)
        if self.density(near) > self.density(far):
            return self.density(far), far.n, second
        third = self.best_cut(near)
        if third is None:
            return self.density(near), near.n, second
        rest = min(near.divide(third), key=self.density)
        return self.density(rest), rest.n, third


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
        total = float(rows.weight.sum())
        everything = np.arange(len(rows.X))
        root = Region(everything, total, total, rows.X.min(axis=0), rows.X.max(axis=0))
        waiting = [root]
        while waiting:
            region = waiting.pop()
            if region.y >= self.min_split and divide_region(region, rows):
                waiting += [side for side in region.sides if len(side.rows)]
                progress.step()
        return root

    def _find_tree(
        self, rows: UniqueRows, progress: Progress
    ) -> tuple[list[SklearnSplit], dict[int, int]]:
        root = self._grow_regions(rows, progress)
        least = self.min_y * rows.weight.sum()
        prune(root, least, self.min_rd)
        nodes = kept_nodes(root)
        splits = []
        for node in nodes:
            if not node.is_end:
                left, right = node.sides
                children = left.number, right.number
                parts = left.rows, right.rows
                splits.append(SklearnSplit(node.number, node.feature, children, parts))
        ends = [node for node in nodes if node.is_end]
        cheapest = rows.costs_of([node.rows for node in ends]).argmin(axis=1)
        # They are in preorder, as the nodes of a built tree are.
        self.relative_density_ = np.array([node.density for node in nodes])
        self.is_dense_ = np.array(
            [n.is_end and n.y >= least and n.density > self.min_rd for n in nodes]
        )
        return splits, {node.number: int(c) for node, c in zip(ends, cheapest)}


@dataclass(eq=False)
class Region:
    """A node: the distinct rows in a box, and the virtual points there.

    `y` is the weight of the rows, and `n` the number of virtual points. The sides of the cut are
    empty while there is none. `stops` says whether pruning ends the tree here. `number` is that in
    the pruned tree.
    """

    rows: np.ndarray
    y: float
    n: float
    low: np.ndarray
    high: np.ndarray
    feature: int = -1
    sides: tuple[Region, ...] = ()
    stops: bool = False
    number: int = -1

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


def divide_region(region: Region, rows: UniqueRows) -> bool:
    """Divide a region at its best cut; False if it has none."""
    X, weight = rows.X[region.rows], rows.weight[region.rows]
    found = []
    for feature, ends in enumerate(zip(region.low.tolist(), region.high.tolist())):
        column = SortedColumn(X[:, feature], weight)
        whole = ColumnPart(0, len(X), *ends, region.n)
        if (ahead := column.look_ahead(whole)) is not None:
            density, n, cut = ahead
            found.append((density, -n, feature, column, whole, cut))
    if not found:
        return False
    _, _, region.feature, column, whole, cut = min(found, key=lambda each: each[:3])
    low, high = region.low.copy(), region.high.copy()
    low[region.feature] = high[region.feature] = cut.at
    boxes = (region.low, high), (low, region.high)
    region.sides = tuple(
        Region(np.sort(region.rows[members]), float(column.y(part)), part.n, *box)
        for members, part, box in zip(
            np.split(column.order, [cut.position]), whole.divide(cut), boxes
        )
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
    """The nodes of the pruned tree in preorder, without cuts that only remove a margin."""

    def kept(region: Region) -> Region:
        while not region.is_end:
            filled = [side for side in region.sides if len(side.rows)]
            if len(filled) == 2:
                break
            region = filled[0]
        return region

    nodes: list[Region] = []
    waiting = [kept(root)]
    while waiting:
        region = waiting.pop()
        region.number = len(nodes)
        nodes.append(region)
        if not region.is_end:
            region.sides = tuple(kept(side) for side in region.sides)
            waiting += reversed(region.sides)
    return nodes
