"""Cuts are found before they are asked for, where they are likely to be."""

from threading import Event

import numpy as np
import pytest

from pellucid._core.criteria.base import Node, NodeRows
from pellucid._core.criteria.column_search import Split
from pellucid._core.growers.prefetch import LookAhead
from pellucid._utils.threads import ThreadPool

NOTHING = np.empty(0, dtype=np.int32)


class Criterion:
    """Cells of any size; each knows what its best cut gains, and a bound for it."""

    min_rows_to_share_columns = 10**9

    def __init__(self, pool, *, nodes_are_independent=True):
        self.problem, self.nodes_are_independent, self.searched = self, nodes_are_independent, []
        self.pool, self.made = pool, []

    def cell(self, name, gain, bound=None, sides=()):
        state = {"name": name, "gain": gain, "bound": gain if bound is None else bound}
        rows = NodeRows(np.arange(5000, dtype=np.int32), NOTHING, NOTHING)
        return Node(rows, state | {"sides": sides})

    def gain_bound(self, cell):
        return cell.state["bound"]

    def best_split(self, cell):
        self.searched.append(cell.state["name"])
        gain = cell.state["gain"]
        return None if gain is None else Split(-gain, 0, 0.0, gain)

    def divide(self, cell, split):
        self.made.append(cell.state["name"])
        return Sides(*cell.state["sides"])


class Sides:
    def __init__(self, left, right):
        self.left, self.right = left, right


def look_ahead(criterion, cells, n_cuts):
    ahead = LookAhead(criterion, n_cuts)
    for cell in cells:
        ahead.expect(cell)
    return ahead, criterion.made


@pytest.fixture
def forest():
    def grow(criterion):
        end = criterion.cell("end", None, bound=None)
        end.state["bound"] = None
        small, child = criterion.cell("small", 1), criterion.cell("child", 8, sides=(end, end))
        return [
            criterion.cell("first", 9, bound=20, sides=(child, small)),
            criterion.cell("second", 7, bound=10, sides=(end, end)),
            criterion.cell("third", 2, bound=3, sides=(end, end)),
        ]

    return grow


@pytest.mark.parametrize(("n_threads", "nodes_are_independent"), [(1, True), (2, False)])
def test_one_alone_looks_for_nothing_else(forest, n_threads, nodes_are_independent):
    with ThreadPool(n_threads) as pool:
        criterion = Criterion(pool, nodes_are_independent=nodes_are_independent)
        cells = forest(criterion)
        ahead, made = look_ahead(criterion, cells, 3)
        assert ahead.best_split(cells[1]).gain == 7
    assert criterion.searched == ["second"]
    assert made == []


def test_likely_cuts_are_found_and_made(forest):
    with ThreadPool(2) as pool:
        criterion = Criterion(pool)
        cells = forest(criterion)
        ahead, made = look_ahead(criterion, cells, 3)
        cut = ahead.best_split(cells[0])
    assert cut.gain == 9
    # Three cuts gain more than the third cell's and than the small one's could.
    assert sorted(criterion.searched) == ["child", "first", "second"]
    assert sorted(made) == ["child", "first", "second"]
    sides = ahead.divide(cells[0], cut)
    assert sides.left is cells[0].state["sides"][0]
    assert ahead.best_split(sides.left).gain == 8
    assert len(criterion.searched) == 3


def test_what_was_not_likely_is_found_when_it_is_asked_for(forest):
    with ThreadPool(2) as pool:
        criterion = Criterion(pool)
        cells = forest(criterion)
        ahead, made = look_ahead(criterion, cells, 1)
        ahead.best_split(cells[0])
        assert "third" not in criterion.searched
        assert ahead.best_split(cells[2]).gain == 2
        ahead.divide(cells[2], ahead.best_split(cells[2]))
    assert criterion.searched.count("third") == made.count("third") == 1


def test_a_cut_is_not_made_before_others_that_may_gain_more_are_known():
    goes_on = Event()

    class Slow(Criterion):
        def best_split(self, cell):
            if (
                cell.state["name"] == "b"
            ):  # until whoever looked at the first one looks at the third
                assert goes_on.wait(timeout=30)
            elif cell.state["name"] != "a":
                goes_on.set()
            return super().best_split(cell)

    with ThreadPool(2) as pool:
        criterion = Slow(pool)
        none = criterion.cell("none", None)
        none.state["bound"] = None
        cells = [criterion.cell(name, 5, bound=10, sides=(none, none)) for name in "abcdef"]
        ahead, made = look_ahead(criterion, cells, 2)
        assert ahead.best_split(cells[0]).gain == 5
    assert sorted(criterion.searched) == list("abcdef")
    assert "a" not in made
    assert made


def test_a_cell_without_a_cut():
    with ThreadPool(2) as pool:
        criterion = Criterion(pool)
        cell = criterion.cell("none", None, bound=5)
        ahead, made = look_ahead(criterion, [cell, criterion.cell("other", None, bound=4)], 2)
        assert ahead.best_split(cell) is None
    assert made == []


def test_errors_are_passed_on(forest):
    class Broken(Criterion):
        def best_split(self, cell):
            raise ValueError("no cut")

    with ThreadPool(2) as pool:
        criterion = Broken(pool)
        cells = forest(criterion)
        ahead, _ = look_ahead(criterion, cells, 3)
        with pytest.raises(ValueError, match="no cut"):
            ahead.best_split(cells[0])
