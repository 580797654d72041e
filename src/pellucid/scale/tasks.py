"""Tasks that all criteria share: sums over parts of columns, and extreme values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from pellucid.scale.batches import Batch, PickedRows
from pellucid.scale.columns import PartRequest, PartSums
from pellucid.scale.members import ACTIVE, ALL
from pellucid.scale.partitions import ExactTask
from pellucid.scale.problem import ScaleProblem
from pellucid.scale.routing import Routing


class RowRouting(Protocol):
    """Where the rows of a batch are; it is sent to the batches."""

    def leaves(self, batch: Batch) -> Any:
        """The leaf of each row, or all of its nodes if they overlap."""


class NodeRowSums(Protocol):
    """What a criterion sums over the rows of a part; it is sent to the batches."""

    @property
    def leaf_of_center(self) -> np.ndarray | None:
        """The leaf of each center, -1 if it is not open. If given, only rows that are in the leaf
        of their own center count in the search.
        """

    @property
    def needs_costs(self) -> bool:
        """Whether `channels` needs the costs of the rows."""

    def select(self, batch: Batch, request: PartRequest, leaf: Any) -> np.ndarray:
        """Rows that count in the node of a request and are in its bins, ascending.

        `leaf` is what the routing found for the rows.
        """

    def n_channels(self, node: int) -> int:
        """Sums per part."""

    def channels(self, node: int, feature: int, rows: PickedRows) -> np.ndarray:
        """The terms of some rows of a node: (n_rows, n_channels), int64."""


def requests_by_leaf(nodes: Sequence[int], routing: Routing) -> np.ndarray:
    """The requests of each leaf, if nodes[r] is the node of request r: (n_nodes, most per leaf).

    Where a leaf has fewer requests, the number is len(nodes), which stands for no request.
    """
    order, n_nodes = np.argsort(nodes, kind="stable"), len(routing.left)
    counts = np.bincount(nodes, minlength=n_nodes)
    place = np.arange(len(nodes)) - (counts.cumsum() - counts)[np.take(nodes, order)]
    table = np.full((n_nodes, int(counts.max())), len(nodes), dtype=np.uint64)
    table[np.take(nodes, order), place] = order
    return table


def rows_of_node(
    batch: Batch, feature: int, first: int, last: int, leaf: np.ndarray, node: int
) -> np.ndarray:
    """Rows of a node in the bins first .. last of a column, ascending.

    NumPy compares many codes at once.
    """
    codes, number = batch.codes[feature], batch.codes.dtype.type
    # Smaller codes wrap around.
    is_inside = codes - number(first) <= number(last - first)
    return (is_inside & (leaf == node)).nonzero()[0].astype(np.int32)


def rows_in_bins(batch: Batch, request: PartRequest, leaf: np.ndarray) -> np.ndarray:
    """All rows of the node of a request that are in its bins, ascending."""
    feature, wanted = request.feature, request.bins.nonzero()[0]
    first, last = int(wanted[0]), int(wanted[-1])
    rows = rows_of_node(batch, feature, first, last, leaf, request.node)
    if len(wanted) <= last - first:  # mostly the bins are neighbours
        rows = rows[request.bins.take(batch.codes[feature].take(rows))]
    return rows


def add_picked_rows(
    batches: Iterable[Batch],
    pick: Callable[[Batch], list[PickedRows]],
    add: Callable[[int, PickedRows], None],
) -> None:
    """Call ``add(r, rows)`` with the rows that ``pick(batch)[r]`` gives, those of many batches
    together.
    """
    picked: list[list[PickedRows]] = []
    n_rows, limit = 0, 0
    for batch in batches:
        picked.append(pick(batch))
        n_rows += sum(rows.n_rows for rows in picked[-1])
        limit = max(limit, batch.n_rows)
        if 2 * n_rows > limit:  # as many as a batch may have
            _add_joined(picked, add)
            picked, n_rows = [], 0
    _add_joined(picked, add)


def _add_joined(picked: list[list[PickedRows]], add: Callable[[int, PickedRows], None]) -> None:
    for place, parts in enumerate(zip(*picked)):
        rows = PickedRows.joined(parts)
        if rows.n_rows:
            add(place, rows)


def add_to_parts(
    request: PartRequest, criterion: NodeRowSums, rows: PickedRows, found: PartSums
) -> None:
    """Add the sums of some rows of a request."""
    from pellucid.scale.kernels import add_values_by_part, extremes_by_part

    values = rows.values.astype(np.float64)
    parts = request.parts(values)
    is_inside = parts >= 0
    if not is_inside.all():
        rows, values, parts = rows.take(is_inside.nonzero()[0]), values[is_inside], parts[is_inside]
    if rows.n_rows:
        terms = criterion.channels(request.node, request.feature, rows)
        add_values_by_part(parts, terms, found.sums)
        extremes_by_part(parts, values, found.lowest, found.highest)


@dataclass(frozen=True)
class PartSumsTask(ExactTask):
    """Sums over the parts of several columns of several nodes."""

    routing: RowRouting
    criterion: NodeRowSums
    requests: Sequence[PartRequest]

    def __call__(self, batch: Batch) -> list[PartSums]:
        """Sums of one batch."""
        return self.over([batch])

    def over(self, batches: Iterable[Batch]) -> list[PartSums]:
        """Sums of several batches. The few rows of all of them are worked on together."""
        found = [
            PartSums.empty(request.n_parts, self.criterion.n_channels(request.node))
            for request in self.requests
        ]

        def add(place: int, rows: PickedRows) -> None:
            add_to_parts(self.requests[place], self.criterion, rows, found[place])

        add_picked_rows(batches, self._pick, add)
        return found

    def _pick(self, batch: Batch) -> list[PickedRows]:
        leaf, criterion = self.routing.leaves(batch), self.criterion
        return [
            batch.pick(
                criterion.select(batch, request, leaf),
                request.feature,
                for_costs=criterion.needs_costs,
            )
            for request in self.requests
        ]

    def merge(self, first: list[PartSums], second: list[PartSums]) -> list[PartSums]:
        """Sums of two batches."""
        return [a.merge(b) for a, b in zip(first, second)]


class SideRequest(NamedTuple):
    """A threshold of a node, whose neighbouring values are wanted.

    Attributes
    ----------
    node, feature : int
    threshold : float
    """

    node: int
    feature: int
    threshold: float


@dataclass(frozen=True)
class NeighbourTask(ExactTask):
    """Largest value that is at most a threshold, and smallest above it, by request.

    Attributes
    ----------
    bins : sequence of int
        The bin of each threshold.
    kind : int
        Which rows of the nodes are meant: one of `pellucid.scale.members`.
    """

    routing: Routing
    criterion: NodeRowSums
    requests: Sequence[SideRequest]
    bins: Sequence[int]
    kind: int = ALL

    def __call__(self, batch: Batch) -> np.ndarray:
        """Minus the largest value, and the smallest: (n_requests, 2)."""
        leaf = self.routing.leaves(batch)
        found = np.array([self._near(batch, leaf, *pair) for pair in zip(self.requests, self.bins)])
        far = np.isinf(found).any(axis=1).nonzero()[0]
        if len(far):
            found[far] = self._search_all(batch, leaf, [self.requests[place] for place in far])
        return found

    def _near(
        self, batch: Batch, leaf: np.ndarray, request: SideRequest, number: int
    ) -> tuple[float, float]:
        """The neighbours in the bin of the threshold and those beside it; infinity if there are
        none.
        """
        node, feature, threshold = request
        rows = rows_of_node(batch, feature, max(number - 1, 0), number + 1, leaf, node)
        if self.kind != ALL:
            assert self.criterion.leaf_of_center is not None
            is_own = self.criterion.leaf_of_center.take(batch.labels_of(rows)) == node
            rows = rows[is_own == (self.kind == ACTIVE)]
        values = batch.columns[feature].take(rows).astype(np.float64)
        is_left = values <= threshold
        below = values.max(initial=-np.inf, where=is_left)
        return -float(below), float(values.min(initial=np.inf, where=~is_left))

    def _search_all(
        self, batch: Batch, leaf: np.ndarray, requests: Sequence[SideRequest]
    ) -> np.ndarray:
        """The neighbours among all rows."""
        from pellucid.scale.kernels import find_neighbours

        nodes, features, thresholds = zip(*requests)
        leaf_of_center = self.criterion.leaf_of_center
        if leaf_of_center is None:
            leaf_of_center = np.full(len(batch.starts) - 1, -1, dtype=np.int32)
        found = np.full((len(nodes) + 1, 2), np.inf)
        found[-1] = -np.inf
        find_neighbours(
            leaf=leaf,
            labels=batch.labels,
            members=(self.kind, leaf_of_center),
            request_of_leaf=requests_by_leaf(nodes, self.routing),
            columns=batch.columns,
            feature=np.append(features, 0).astype(np.uint64),
            threshold=np.append(thresholds, 0.0),
            out=found,
        )
        return found[:-1]

    def merge(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """Extremes of two batches."""
        return np.minimum(first, second)


def find_sides(
    problem: ScaleProblem,
    routing: Routing,
    criterion: NodeRowSums,
    requests: Sequence[SideRequest],
    kind: int = ALL,
) -> np.ndarray:
    """The result of a `NeighbourTask` over all rows."""
    edges = problem.bins.edges
    bins = [int(edges[feature].searchsorted(value)) for _, feature, value in requests]
    return problem.map(NeighbourTask(routing, criterion, requests, bins, kind))


@dataclass(frozen=True)
class ColumnRangeTask(ExactTask):
    """Least and largest value of every column in some nodes."""

    routing: Routing
    nodes: list[int]

    def __call__(self, batch: Batch) -> np.ndarray:
        """Least values, and minus the largest: (n_nodes, 2, n_features)."""
        leaf = self.routing.leaves(batch)
        found = np.full((len(self.nodes), 2, batch.n_features), np.inf)
        for out, node in zip(found, self.nodes):
            rows = (leaf == node).nonzero()[0]
            if len(rows):
                values = batch.columns[:, rows]
                out[:] = values.min(axis=1), -values.max(axis=1)
        return found

    def merge(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """Extremes of two batches."""
        return np.minimum(first, second)
