"""Trade-off of cost and explanation size: trees of one clustering that are not dominated."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, overload

from pellucid.tree.threshold_tree import ThresholdTree


@dataclass(frozen=True)
class TradeOffPoint:
    """One tree of a trade-off with its measures.

    Attributes
    ----------
    penalty : float
        A depth penalty that gives the tree: the one with the fewest digits in its range.
    penalties : tuple of float
        Smallest and largest penalty known to give the tree; all between them give it too.
    tree : ThresholdTree
    cost : float
        k-means cost of the tree's clusters.
    npc : float
        Normalized partition cost: `cost` divided by the cost of the reference's clusters.
    waes : float
        Weighted average explanation size: mean number of conditions in the rule of a row.
    wad : float
        Weighted average depth: mean depth of the leaf of a row.
    n_leaves : int
    """

    penalty: float
    penalties: tuple[float, float]
    tree: ThresholdTree
    cost: float
    npc: float
    waes: float
    wad: float
    n_leaves: int

    def dominates(self, other: TradeOffPoint) -> bool:
        """Whether no measure of this tree is worse than the other's, and one is better.

        Parameters
        ----------
        other : TradeOffPoint
            The other tree.

        Returns
        -------
        bool
            True if this tree is at least as good in all measures and better in one.
        """
        ours, theirs = (self.cost, self.waes, self.wad), (other.cost, other.waes, other.wad)
        return ours != theirs and all(a <= b for a, b in zip(ours, theirs))


class TradeOff(Sequence[TradeOffPoint]):
    """Trees of one clustering, shortest explanations first; prints as a table.

    Parameters
    ----------
    points : iterable of TradeOffPoint
        The trees.
    is_complete : bool
        Whether every penalty in the searched range gives one of the points; otherwise the search
        stopped early.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from pellucid import ExShallow
    >>> path = ExShallow(5, random_state=0).path(load_iris().data)
    >>> print(path)
      penalty  cost ratio   WAES    WAD  leaves
    ...
    >>> min(path, key=lambda point: point.npc).tree
    ThresholdTree(n_leaves=5, max_depth=..., n_features=4)
    """

    def __init__(self, points: Iterable[TradeOffPoint], is_complete: bool = True) -> None:
        self._points = tuple(sorted(points, key=lambda p: (p.waes, p.wad, p.cost, p.penalty)))
        self.is_complete = is_complete

    @overload
    def __getitem__(self, index: int) -> TradeOffPoint: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[TradeOffPoint, ...]: ...

    def __getitem__(self, index: Any) -> Any:
        return self._points[index]

    def __len__(self) -> int:
        return len(self._points)

    def undominated(self) -> TradeOff:
        """Only the points that no other point dominates.

        A point dominates another if it is no worse in cost, WAES and WAD and better in one. Of
        points that are equal in all three, the one with the least penalty is kept.

        Returns
        -------
        TradeOff
            The trees that no other dominates.
        """
        kept: list[TradeOffPoint] = []
        for point in self._points:  # sorted: a point comes after those that dominate it
            measures = (point.cost, point.waes, point.wad)
            is_duplicate = any((k.cost, k.waes, k.wad) == measures for k in kept)
            if not is_duplicate and not any(k.dominates(point) for k in kept):
                kept.append(point)
        return TradeOff(kept, self.is_complete)

    def to_pandas(self) -> Any:
        """A pandas data frame with one row per point.

        Returns
        -------
        pandas.DataFrame
            A row per tree.
        """
        import pandas as pd

        columns = ("penalty", "cost", "npc", "waes", "wad", "n_leaves", "tree")
        table = {name: [getattr(point, name) for point in self._points] for name in columns}
        table["lowest_penalty"] = [point.penalties[0] for point in self._points]
        table["highest_penalty"] = [point.penalties[1] for point in self._points]
        return pd.DataFrame(table)

    def __str__(self) -> str:
        lines = [f"{'penalty':>9}  {'cost ratio':>10}  {'WAES':>5}  {'WAD':>5}  leaves"]
        lines += [
            f"{p.penalty:>9.4g}  {p.npc:>10.3f}  {p.waes:>5.2f}  {p.wad:>5.2f}  {p.n_leaves:>6}"
            for p in self._points
        ]
        if not self.is_complete:
            lines.append("(there may be more trees between these)")
        return "\n".join(lines)

    __repr__ = __str__
