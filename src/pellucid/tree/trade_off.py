"""Trade-off of cost, agreement and size: trees of one clustering that are not dominated."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import nan
from typing import Any, overload

from pellucid._utils.texts import html_table
from pellucid.tree.threshold_tree import ThresholdTree

_MEASURES = ("cost", "waes", "wad")  # measures by which trees are compared


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
    agreement : float
        Share of the rows in the cluster that they have in the reference, by weight.
    faithfulness : float or None
        The `faithfulness` that gives the tree, of :meth:`pellucid.ExplainableKMeans.trade_off`.
    """

    penalty: float
    penalties: tuple[float, float]
    tree: ThresholdTree
    cost: float
    npc: float
    waes: float
    wad: float
    n_leaves: int
    agreement: float = nan
    faithfulness: float | None = None

    @property
    def setting(self) -> str:
        """The parameter that gives the tree, in words."""
        if self.faithfulness is not None:
            return f"faithfulness {self.faithfulness:.3g}"
        return f"depth penalty {self.penalty:.3g}"

    def losses(self, measures: Sequence[str] = _MEASURES) -> tuple[float, ...]:
        """The measures, the less the better.

        Parameters
        ----------
        measures : sequence of str, default=("cost", "waes", "wad")
            Names of attributes; of "agreement", the negative.

        Returns
        -------
        tuple of float
            A number per measure.
        """
        return tuple((-1 if m == "agreement" else 1) * getattr(self, m) for m in measures)

    def dominates(self, other: TradeOffPoint, measures: Sequence[str] = _MEASURES) -> bool:
        """Whether no measure of this tree is worse than the other's, and one is better.

        Parameters
        ----------
        other : TradeOffPoint
            The other tree.
        measures : sequence of str, default=("cost", "waes", "wad")
            What is compared; "agreement" is another one.

        Returns
        -------
        bool
            True if this tree is at least as good in all measures and better in one.
        """
        ours, theirs = self.losses(measures), other.losses(measures)
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
    cost ratio  agreement   WAES    WAD  leaves  setting
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

    def undominated(self, measures: Sequence[str] = _MEASURES) -> TradeOff:
        """Only the points that no other point dominates.

        A point dominates another if it is no worse in any measure and better in one. Of points that
        are equal in all, the first one is kept, which has the least WAES, WAD, cost and penalty.

        Parameters
        ----------
        measures : sequence of str, default=("cost", "waes", "wad")
            What is compared; "agreement" is another one.

        Returns
        -------
        TradeOff
            The trees that no other dominates.
        """
        first: dict[tuple[float, ...], TradeOffPoint] = {}
        for point in self._points:
            first.setdefault(point.losses(measures), point)
        points = list(first.values())
        kept = [p for p in points if not any(q.dominates(p, measures) for q in points)]
        return TradeOff(kept, self.is_complete)

    def to_pandas(self) -> Any:
        """A pandas data frame with one row per point.

        Returns
        -------
        pandas.DataFrame
            A row per tree.
        """
        import pandas as pd

        columns = ["penalty", "cost", "npc", "agreement", "waes", "wad", "n_leaves"]
        columns += ["faithfulness", "tree"]
        columns += ["faithfulness", "tree"]
        table = {name: [getattr(point, name) for point in self._points] for name in columns}
        table["lowest_penalty"] = [point.penalties[0] for point in self._points]
        table["highest_penalty"] = [point.penalties[1] for point in self._points]
        return pd.DataFrame(table)

    def _table(self) -> list[tuple[str, str, str, str, str, str]]:
        lines = [("cost ratio", "agreement", "WAES", "WAD", "leaves", "setting")]
        for p in self._points:
            costs = f"{p.npc:.3f}", f"{p.agreement:.1%}"
            lines.append((*costs, f"{p.waes:.2f}", f"{p.wad:.2f}", str(p.n_leaves), p.setting))
        return lines

    def _remark(self) -> str:
        return "" if self.is_complete else "(there may be more trees between these)"

    def __str__(self) -> str:
        pairs = (zip(row, (10, 9, 5, 5, 6, 0)) for row in self._table())
        lines = ["  ".join(text.rjust(width) for text, width in row) for row in pairs]
        return "\n".join(filter(None, [*lines, self._remark()]))

    def _repr_html_(self) -> str:
        return f"<div>{html_table(self._table())}<p>{self._remark()}</p></div>"

    __repr__ = __str__
