"""The explanation problem on partitioned data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from pellucid._core.batches.batch import Encoder, WeightUnits
from pellucid._core.batches.partitions import Partitions, Task


class BatchBins(NamedTuple):
    """Bins of the columns; the attributes are those of `pellucid._core.data.binning.Bins`."""

    edges: np.ndarray
    inside: np.ndarray
    center_code: np.ndarray


@dataclass(frozen=True)
class BatchProblem:
    """The data in partitions, and the clustering to be explained.

    `cost_unit` is the value of one unit of cost, a power of two; `units_per_row` are the units of
    weight that count as one row, as in `Weights`. `criteria` maps classes of criteria in memory to
    those on batches. If `is_exact` is false, thresholds inside bins are not searched, and `gaps`
    has, by node, the objective of the best edge less a lower bound of all thresholds.
    """

    is_in_memory = False
    partitions: Partitions
    encoder: Encoder
    centers: np.ndarray
    bins: BatchBins
    cost_unit: float = 1.0
    units_per_row: float = 1.0
    is_exact: bool = True
    criteria: Mapping[type[Any], Callable[..., Any]] = field(default_factory=dict)
    gaps: dict[int, float] = field(default_factory=dict)

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return self.centers.shape[1]

    @property
    def n_clusters(self) -> int:
        """Number of reference centers."""
        return len(self.centers)

    @property
    def n_bins(self) -> int:
        """Bins per column."""
        return self.bins.edges.shape[1]

    @property
    def weight_units(self) -> WeightUnits:
        """How weights become integers."""
        return self.encoder.weight_units

    def criterion(self, kind: type[Any], *parameters: Any) -> Any:
        """The criterion of a kind for this problem, given its form in memory."""
        return self.criteria[kind](self, *parameters)

    def map(self, task: Task) -> Any:
        """Merged results of a task over all batches."""
        return self.partitions.map_encoded(task, self.encoder)
