"""Tasks that all criteria share: sums over parts of columns, and extreme values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from pellucid.scale.batches import Batch
from pellucid.scale.columns import PartRequest, PartSums
from pellucid.scale.routing import Routing, rows_by_leaf


class NodeRowSums(Protocol):
    """What a criterion sums over the rows of a part; it is sent to the batches."""

    def rows(self, batch: Batch, leaf: np.ndarray, numbers: list[int]) -> dict[int, np.ndarray]:
        """Rows of some nodes that count in the search."""

    def n_channels(self, node: int) -> int:
        """Sums per part."""

    def channels(self, batch: Batch, node: int, feature: int, rows: np.ndarray) -> np.ndarray:
        """The terms of some rows of a node: (len(rows), n_channels), int64."""


@dataclass(frozen=True)
class PartSumsTask:
    """Sums over the parts of several columns of several nodes."""

    routing: Routing
    criterion: NodeRowSums
    requests: Sequence[PartRequest]

    def __call__(self, batch: Batch) -> list[PartSums]:
        """Sums of one batch."""
        from pellucid.scale.kernels import add_values_by_part, extremes_by_part

        leaf = self.routing.leaves(batch)
        nodes = sorted({request.node for request in self.requests})
        rows_of = self.criterion.rows(batch, leaf, nodes)
        found = []
        for request in self.requests:
            n_channels = self.criterion.n_channels(request.node)
            result = PartSums.empty(request.n_parts, n_channels)
            rows = rows_of[request.node]
            rows = rows[request.bins[batch.column_codes(request.feature)[rows]]]
            values = batch.values(request.feature, rows)
            parts = request.parts(values)
            is_inside = parts >= 0
            rows, values, parts = rows[is_inside], values[is_inside], parts[is_inside]
            if len(rows):
                terms = self.criterion.channels(batch, request.node, request.feature, rows)
                add_values_by_part(parts, terms, result.sums)
                extremes_by_part(parts, values, result.lowest, result.highest)
            found.append(result)
        return found

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
class NeighbourTask:
    """Largest value that is at most a threshold, and smallest above it, by request.

    Attributes
    ----------
    passive : bool
        Whether the rows that do not count in the search are meant, instead of the others.
    """

    routing: Routing
    criterion: NodeRowSums
    requests: Sequence[SideRequest]
    passive: bool = False

    def __call__(self, batch: Batch) -> np.ndarray:
        """Minus the largest value, and the smallest: (n_requests, 2)."""
        leaf = self.routing.leaves(batch)
        nodes = sorted({request.node for request in self.requests})
        rows = self.criterion.passive_rows if self.passive else self.criterion.rows
        rows_of = rows(batch, leaf, nodes)
        found = np.full((len(self.requests), 2), np.inf)
        for out, (node, feature, threshold) in zip(found, self.requests):
            values = batch.values(feature, rows_of[node])
            is_left = values <= threshold
            out[0] = -values.max(initial=-np.inf, where=is_left)
            out[1] = values.min(initial=np.inf, where=~is_left)
        return found

    def merge(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """Extremes of two batches."""
        return np.minimum(first, second)


@dataclass(frozen=True)
class ColumnRangeTask:
    """Least and largest value of every column in some nodes."""

    routing: Routing
    nodes: list[int]

    def __call__(self, batch: Batch) -> np.ndarray:
        """Least values, and minus the largest: (n_nodes, 2, n_features)."""
        rows_of = rows_by_leaf(self.routing.leaves(batch), self.nodes)
        found = np.full((len(self.nodes), 2, batch.n_features), np.inf)
        for out, node in zip(found, self.nodes):
            if len(rows_of[node]):
                for feature in range(batch.n_features):
                    values = batch.values(feature, rows_of[node])
                    out[:, feature] = values.min(), -values.max()
        return found

    def merge(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """Extremes of two batches."""
        return np.minimum(first, second)
