"""Parts of a pass over the data: shared work, merged results, margins and neighbours."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass

import numpy as np
import pytest

from pellucid._core.data.arrays import Weights
from pellucid._utils.threads import ThreadPool
from pellucid.scale.batches import Batch, RawBatch
from pellucid.scale.column_loops import costs_in_units, own_margins
from pellucid.scale.members import ALL
from pellucid.scale.partitions import LocalPartitions
from pellucid.scale.routing import Routing
from pellucid.scale.tasks import NeighbourTask, SideRequest


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


@pytest.mark.parametrize("weights", ["ones", "integers", "fractions"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_own_margins_are_lower_bounds(weights, dtype):
    random = np.random.default_rng(0)
    centers = random.normal(size=(4, 3)).astype(dtype).astype(np.float64)
    n_rows = 700
    columns = (centers[random.integers(4, size=n_rows)] + random.normal(size=(n_rows, 3))).T
    columns = np.ascontiguousarray(columns, dtype=dtype)
    columns[:, :2] = ((centers[0] + centers[1]) / 2)[:, None]  # a tie, up to rounding
    values = {
        "ones": np.ones(n_rows),
        "integers": random.integers(1, 4, size=n_rows).astype(np.float64),
        "fractions": random.uniform(0.5, 2, size=n_rows),
    }[weights]
    weight, unit = Weights.of(values), 2.0**-30
    labels = np.sort(random.integers(4, size=n_rows))
    starts = np.searchsorted(labels, np.arange(5))
    costs, margins = own_margins(columns, starts, centers, weight, unit)
    exact = costs_in_units(columns, centers, weight, unit)
    rows = np.arange(n_rows)
    np.testing.assert_array_equal(costs, exact[rows, labels])
    others = exact.copy()
    others[rows, labels] = np.iinfo(np.int64).max
    margin = others.min(axis=1) - costs
    is_sure = margins >= 0
    assert (margins[is_sure] <= margin[is_sure]).all()
    assert (margins[is_sure] > 0).all()
    assert (margin[~is_sure] <= 40 * weight.units[~is_sure].max()).all()
    assert is_sure.any()
    # A row has the same bound beside other rows.
    some = np.flatnonzero(random.random(n_rows) < 0.2)
    of_some = own_margins(
        np.ascontiguousarray(columns[:, some]),
        np.searchsorted(labels[some], np.arange(5)),
        centers,
        Weights(weight.units[some], weight.units_per_weight, values[some], *_flags(weight)),
        unit,
    )
    np.testing.assert_array_equal(of_some, (costs[some], margins[some]))


def _flags(weights: Weights) -> tuple[bool, bool]:
    return weights.are_ones, weights.are_integers


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
        leaf_of_center = None

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
