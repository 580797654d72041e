"""Cuts are found before they are asked for, where they are likely to be."""

from threading import Event

import numpy as np
import pytest

from pellucid._core.criteria.base import Cell
from pellucid._core.criteria.column_search import Cut
from pellucid._core.growers.prefetch import LookAhead
from pellucid._utils.threads import ThreadPool

NOTHING = np.empty(0, dtype=np.int32)


class Criterion:
    """Cells of any size; each knows what its best cut gains, and a bound for it."""

    one_thread_below = 10**9

    def __init__(self, pool, *, in_any_order=True):
        self.problem, self.in_any_order, self.searched = self, in_any_order, []
        self.pool = pool

    def cell(self, name, gain, bound=None, sides=()):
        memo = {"name": name, "gain": gain, "bound": gain if bound is None else bound}
        return Cell(np.arange(5000, dtype=np.int32), NOTHING, NOTHING, memo=memo | {"sides": sides})

    def most_gain(self, cell):
        return cell.memo["bound"]

    def best_cut(self, cell):
        self.searched.append(cell.memo["name"])
        gain = cell.memo["gain"]
        return None if gain is None else Cut(-gain, 0, 0.0, gain)


class Sides:
    def __init__(self, left, right):
        self.left, self.right = left, right


def look_ahead(criterion, cells, n_cuts):
    made = []

    def divide(cell, cut):
        made.append(cell.memo["name"])
        return Sides(*cell.memo["sides"])

    ahead = LookAhead(criterion, divide, n_cuts)
    for cell in cells:
        ahead.expect(cell)
    return ahead, made


@pytest.fixture
def forest():
    def grow(criterion):
        end = criterion.cell("end", None, bound=None)
        end.memo["bound"] = None
        small, child = criterion.cell("small", 1), criterion.cell("child", 8, sides=(end, end))
        return [
            criterion.cell("first", 9, bound=20, sides=(child, small)),
            criterion.cell("second", 7, bound=10, sides=(end, end)),
            criterion.cell("third", 2, bound=3, sides=(end, end)),
        ]

    return grow


@pytest.mark.parametrize(("n_threads", "in_any_order"), [(1, True), (2, False)])
def test_one_alone_looks_for_nothing_else(forest, n_threads, in_any_order):
    with ThreadPool(n_threads) as pool:
        criterion = Criterion(pool, in_any_order=in_any_order)
        cells = forest(criterion)
        ahead, made = look_ahead(criterion, cells, 3)
        assert ahead.best_cut(cells[1]).gain == 7
    assert criterion.searched == ["second"]
    assert made == []


def test_likely_cuts_are_found_and_made(forest):
    with ThreadPool(2) as pool:
        criterion = Criterion(pool)
        cells = forest(criterion)
        ahead, made = look_ahead(criterion, cells, 3)
        cut = ahead.best_cut(cells[0])
    assert cut.gain == 9
    # Three cuts gain more than the third cell's and than the small one's could.
    assert sorted(criterion.searched) == ["child", "first", "second"]
    assert sorted(made) == ["child", "first", "second"]
    sides = ahead.make(cells[0], cut)
    assert sides.left is cells[0].memo["sides"][0]
    assert ahead.best_cut(sides.left).gain == 8
    assert len(criterion.searched) == 3


def test_what_was_not_likely_is_found_when_it_is_asked_for(forest):
    with ThreadPool(2) as pool:
        criterion = Criterion(pool)
        cells = forest(criterion)
        ahead, made = look_ahead(criterion, cells, 1)
        ahead.best_cut(cells[0])
        assert "third" not in criterion.searched
        assert ahead.best_cut(cells[2]).gain == 2
        ahead.make(cells[2], ahead.best_cut(cells[2]))
    assert criterion.searched.count("third") == made.count("third") == 1


def test_a_cut_is_not_made_before_others_that_may_gain_more_are_known():
    goes_on = Event()

    class Slow(Criterion):
        def best_cut(self, cell):
            if cell.memo["name"] == "b":  # until whoever looked at the first one looks at the third
                assert goes_on.wait(timeout=30)
            elif cell.memo["name"] != "a":
                goes_on.set()
            return super().best_cut(cell)

    with ThreadPool(2) as pool:
        criterion = Slow(pool)
        none = criterion.cell("none", None)
        none.memo["bound"] = None
        cells = [criterion.cell(name, 5, bound=10, sides=(none, none)) for name in "abcdef"]
        ahead, made = look_ahead(criterion, cells, 2)
        assert ahead.best_cut(cells[0]).gain == 5
    assert sorted(criterion.searched) == list("abcdef")
    assert "a" not in made
    assert made


def test_a_cell_without_a_cut():
    with ThreadPool(2) as pool:
        criterion = Criterion(pool)
        cell = criterion.cell("none", None, bound=5)
        ahead, made = look_ahead(criterion, [cell, criterion.cell("other", None, bound=4)], 2)
        assert ahead.best_cut(cell) is None
    assert made == []


def test_errors_are_passed_on(forest):
    class Broken(Criterion):
        def best_cut(self, cell):
            raise ValueError("no cut")

    with ThreadPool(2) as pool:
        criterion = Broken(pool)
        cells = forest(criterion)
        ahead, _ = look_ahead(criterion, cells, 3)
        with pytest.raises(ValueError, match="no cut"):
            ahead.best_cut(cells[0])
