"""Parts of a pass over the data: shared work, merged results, margins and neighbours."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass

import numpy as np
import pytest

from pellucid._core.batches.batch import ALL, Batch, RawBatch, costs_at
from pellucid._core.batches.induced_cost import (
    ExcessRequest,
    ExcessSums,
    InducedCostRows,
    InducedCostTask,
    NodeCenters,
)
from pellucid._core.batches.partitions import LocalPartitions
from pellucid._core.batches.routing import Routing
from pellucid._core.batches.tasks import NeighbourTask, SideRequest
from pellucid._core.data.arrays import Weights
from pellucid._utils.threads import ThreadPool
from pellucid.tree import TreeBuilder


@dataclass
class _Concatenation:
    """A task whose merged result shows the order of the batches. The first batch is the slowest."""

    waits_for: threading.Event | None = None

    def __call__(self, raw: RawBatch) -> list[float]:
        value = float(raw.X[0, 0])
        if value == 3:
            assert self.waits_for is None or self.waits_for.set() is None
        if value == 0 and self.waits_for is not None:
            assert self.waits_for.wait(10)
        if value == 7:
            raise ZeroDivisionError
        if value > 7:
            time.sleep(0.01)
        return [value]

    def merge(self, first: list[float], second: list[float]) -> list[float]:
        return first + second


def test_results_are_merged_in_the_order_of_the_batches():
    batches = [RawBatch(np.array([[i]])) for i in (0, 1, 2, 3, 4)]
    with ThreadPool(2) as pool:
        # The first batch is done after the fourth: another thread has taken those between.
        task = _Concatenation(threading.Event())
        assert LocalPartitions(lambda: batches, pool).map_raw(task) == [0, 1, 2, 3, 4]
        assert LocalPartitions(lambda: [], pool).map_raw(task) is None


def test_an_error_stops_all_threads():
    taken = []

    def read():
        for i in [7, *range(8, 200)]:
            taken.append(i)
            yield RawBatch(np.array([[i]]))

    with ThreadPool(2) as pool, pytest.raises(ZeroDivisionError):
        LocalPartitions(read, pool).map_raw(_Concatenation())
    assert len(taken) < 190


@pytest.mark.parametrize("seed", range(4))
def test_nearest_centers_after_each_split(seed):
    random = np.random.default_rng(seed)
    k, n_rows, unit = 6, 400, 2.0**-20
    centers = np.round(random.normal(size=(k, 2)), 1)
    X = np.round(centers[random.integers(k, size=n_rows)] + random.normal(size=(n_rows, 2)), 1)
    starts, weights = np.arange(0, n_rows + k, n_rows // k)[: k + 1], Weights.equal(n_rows)
    starts[-1] = n_rows
    codes = np.zeros(X.T.shape, dtype=np.uint8)
    batch = Batch(np.ascontiguousarray(X.T), starts, weights, codes, np.empty(0))
    builder, of_node = TreeBuilder(2), {0: np.arange(k)}
    while of_node:
        infos = {node: NodeCenters(c, *[np.empty(0)] * 3) for node, c in of_node.items()}
        routing = Routing.of(builder)
        found = InducedCostRows(infos, centers, unit).nearest_centers(batch, routing)
        for node, of_leaf in of_node.items():
            rows = (routing.leaves(batch) == node).nonzero()[0]
            costs = costs_at(batch, centers[of_leaf], unit)[rows]
            order = costs.argsort(axis=1, kind="stable")[:, :2]
            least, second = np.take_along_axis(costs, order, axis=1).T
            expected = *of_leaf[order].T, least, second - least
            for values, right in zip(found, expected):
                np.testing.assert_array_equal(values[rows], right)
        children = {}
        for node, of_leaf in of_node.items():
            j = int(np.ptp(centers[of_leaf], axis=0).argmax())
            low, high = centers[of_leaf, j].min(), centers[of_leaf, j].max()
            if low < high:
                pair = builder.split(node, feature=j, threshold=(low + high) / 2)
                is_left = centers[of_leaf, j] <= (low + high) / 2
                children |= dict(zip(pair, (of_leaf[is_left], of_leaf[~is_left])))
        of_node = {node: of_leaf for node, of_leaf in children.items() if len(of_leaf) > 1}


@pytest.mark.parametrize("seed", range(4))
def test_excess_in_ranges_of_edges(seed):
    random = np.random.default_rng(seed)
    n_rows, k, n_bins, unit = 600, 6, 16, 2.0**-20
    centers = random.normal(size=(k, 3))
    X = np.round(centers[random.integers(k, size=n_rows)] + random.normal(size=(n_rows, 3)), 1)
    labels = ((X[:, None] - centers) ** 2).sum(axis=2).argmin(axis=1)
    labels[:20] = random.integers(k, size=20)  # own centers that are not the nearest
    order = np.argsort(labels, kind="stable")
    X, labels = X[order], labels[order]
    edges = np.sort(np.column_stack([random.uniform(-3, 3, (3, n_bins - 1 - k)), centers.T]))
    edges = np.column_stack([edges, np.full(3, np.inf)])
    codes = np.array([line.searchsorted(x) for line, x in zip(edges, X.T)], dtype=np.uint8)
    starts, weights = np.searchsorted(labels, np.arange(k + 1)), Weights.equal(n_rows)
    columns = np.ascontiguousarray(X.T)
    batch = Batch(columns, starts, weights, codes, np.empty(0))
    threshold = float(np.sort(centers[:, 0])[3:5].mean())
    routing = Routing(
        *map(np.array, ([0, -1, -1], [threshold, np.nan, np.nan], [1, -1, -1], [2, -1, -1]))
    )
    of_node = (centers[:, 0] <= threshold).nonzero()[0]
    center_code = np.array([line.searchsorted(x) for line, x in zip(edges, centers.T)])
    info = NodeCenters.of(of_node, center_code, n_bins)
    criterion = InducedCostRows({1: info}, centers, unit)
    costs = costs_at(batch, centers[of_node], unit)
    nearest = costs.argmin(axis=1)
    is_inside = X[:, 0] <= threshold
    n_known = 0
    for feature in range(3):
        position = np.sort(center_code[feature, of_node])
        ranges = np.column_stack([position[:-1], position[1:] - 1])
        ranges[-1] = n_bins, -1  # nothing is wanted there
        by_gap, by_bin = np.zeros(len(ranges), dtype=int), np.zeros((2, n_bins), dtype=int)
        rank, rows = info.rank[feature], is_inside.nonzero()[0]
        for i, g in ((i, g) for i in rows for g in range(len(ranges) - 1)):
            is_left, b = rank[nearest[i]] <= g, codes[feature, i]
            if b > ranges[g, 0] if is_left else b <= ranges[g, 1]:
                there = (rank > g) if is_left else (rank <= g)
                excess = costs[i][there].min() - costs[i, nearest[i]]
                by_gap[g] += excess
                if ranges[g, 0] < b <= ranges[g, 1]:
                    by_bin[int(is_left), b] += excess
        task = InducedCostTask(routing, criterion, [ExcessRequest(1, feature, ranges)])
        found = task(batch)[0]
        np.testing.assert_array_equal(found.by_gap, by_gap)
        np.testing.assert_array_equal(found.by_bin, by_bin)
        margins = ExcessSums.empty(len(ranges), n_bins)
        task.rows(batch, task.requests[0], margins, task.members(batch))
        assert (margins.by_gap <= by_gap).all()
        n_known += (margins.by_gap > 0).sum()
    assert n_known > 0  # the excess of some rows is known without their costs


@pytest.mark.parametrize("threshold", [-9.0, -0.5, 0.0, 0.3, 1.0, 99.0])
def test_neighbours_are_those_of_all_rows(threshold):
    random = np.random.default_rng(0)
    values = np.round(random.normal(size=300), 1)
    values[values > 0.6] += 2  # bins beside the threshold without rows
    edges = np.append(np.linspace(-3, 3, 21), np.inf)
    codes = edges.searchsorted(values)[None].astype(np.uint8)
    batch = Batch(values[None], np.array([0, 300]), Weights.equal(300), codes, np.empty(0))
    routing = Routing(*(np.array([number]) for number in (-1, np.nan, -1, -1)))

    class _Rows:
        centers_of_node = None

    task = NeighbourTask(
        routing,
        _Rows(),
        [SideRequest(0, 0, threshold)],
        [int(edges.searchsorted(threshold))],
        ALL,
    )
    below, above = values[values <= threshold], values[values > threshold]
    expected = [-below.max(initial=-np.inf), above.min(initial=np.inf)]
    np.testing.assert_array_equal(task(batch), [expected])
