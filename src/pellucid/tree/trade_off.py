"""What a tree costs against how long its explanations are: the trees that are worth a look."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from pellucid.tree.threshold_tree import ThresholdTree


@dataclass(frozen=True)
class TradeOffPoint:
    """One tree of a trade-off, and what it is worth.

    Attributes
    ----------
    penalty : float
        A depth penalty that gives the tree, the roundest of its range.
    penalties : tuple of float
        The smallest and the largest penalty known to give it; all between them do, too.
    tree : ThresholdTree
    cost : float
        k-means cost of the tree's clusters.
    npc : float
        The same over the cost of the reference's clusters.
    waes : float
        Conditions needed to explain the average row.
    wad : float
        Questions asked of the average row.
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
        """Whether nothing speaks for the other: no measure is better, and one is worse."""
        ours, theirs = (self.cost, self.waes, self.wad), (other.cost, other.waes, other.wad)
        return ours != theirs and all(a <= b for a, b in zip(ours, theirs))


class TradeOff(Sequence):
    """Trees of one clustering from the shortest explanations to the longest; prints as a table.

    Parameters
    ----------
    points : iterable of TradeOffPoint
    is_complete : bool
        Whether every penalty in the range that was looked at gives one of the trees that were
        found; else the search was cut short.

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

    def __getitem__(self, index):
        return self._points[index]

    def __len__(self) -> int:
        return len(self._points)

    def undominated(self) -> TradeOff:
        """Without the points for which another is as good in cost, WAES and WAD, better in one.

        Of points alike in all three the one of least penalty stays.
        """
        kept: list[TradeOffPoint] = []
        for point in self._points:  # what dominates a point comes before it
            measures = (point.cost, point.waes, point.wad)
            alike = any((k.cost, k.waes, k.wad) == measures for k in kept)
            if not alike and not any(k.dominates(point) for k in kept):
                kept.append(point)
        return TradeOff(kept, self.is_complete)

    def to_pandas(self) -> Any:
        """One row a point, as a pandas data frame."""
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
