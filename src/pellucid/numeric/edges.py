"""Where the bins of columns end, and in which of them values lie, for many columns at a time.

A *slot* is one of equal parts of the range of a column. Larger values never have smaller slots, so
that a table over the slots gives the code of most values at one look.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Slots(NamedTuple):
    """The slot of x in column j is floor((x - low[j]) * scale[j]), kept within 0 .. number."""

    low: np.ndarray
    scale: np.ndarray
    number: int

    def of(self, values: np.ndarray) -> np.ndarray:
        """Slots of values, as floats; a line a column."""
        with np.errstate(over="ignore", invalid="ignore"):
            place = (values - self.low[:, None]) * self.scale[:, None]
        place[~(place > 0)] = 0
        return np.floor(np.minimum(place, self.number, out=place), out=place)

    def ends(self, values: np.ndarray) -> np.ndarray:
        """Largest number in the slot of each value, as far as it is easily found.

        The value itself in the last slot, and where rounding keeps the end from being found.
        """
        slot, low, scale = self.of(values), self.low[:, None], self.scale[:, None]
        with np.errstate(all="ignore"):
            # The largest difference to `low` that is still in the slot, then the largest number
            # that has it: half a unit in the last place of the difference is rounded away.
            apart = (slot + 1) / scale
            apart[apart * scale >= slot + 1] *= _LESS
            end = (low + apart) + 0.5 * np.spacing(apart)
            high = self.of(end) > slot
            end[high] -= np.abs(end[high]) * (1 - _LESS)
            found = (slot < self.number) & (end > values) & (self.of(end) == slot)
        return np.where(found, end, values)


_LESS = 1 - 2.0**-53
"""Times a number, the next smaller one."""


def spread_slots(samples: np.ndarray, lengths: np.ndarray, number: int) -> Slots:
    """Slots over all but the tails of the samples, which would leave too few for the rest."""
    every = np.arange(len(samples))
    low = samples[every, lengths // 100]
    with np.errstate(over="ignore"):
        reach = samples[every, lengths - 1 - lengths // 100] - low
    return Slots(low, np.divide(number, reach, out=np.zeros_like(low), where=reach > 0), number)


def choose_edges(
    samples: np.ndarray, lengths: np.ndarray, coordinates: np.ndarray, slots: Slots, width: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Edges of columns: center coordinates and quantiles of samples.

    All values of a sample if there is room for them. Otherwise evenly spaced ones, moved up to the
    end of their slot, so that in most slots one look-up gives the code. A value that fills two
    quantiles has a bin of its own, so that its many rows loosen no bound.

    Parameters
    ----------
    samples : ndarray of shape (n_columns, n_values)
        Ascending; each is filled up with infinity.
    lengths : ndarray of shape (n_columns,)
        Of the samples.
    coordinates : ndarray of shape (n_columns, n_clusters)
        Ascending.
    slots : Slots
    width : int

    Returns
    -------
    edges : ndarray of shape (n_columns, width)
        Ascending, filled up with infinity, at least one.
    n_edges : ndarray of shape (n_columns,)
    few : ndarray of shape (n_columns,), bool
        Whether all values of the sample are among them.
    """
    room = width - 1 - _is_new(coordinates).sum(axis=1)
    is_new = _is_new(samples)
    distinct = is_new.sum(axis=1)
    few = distinct <= room
    wanted = np.full((len(samples), min(distinct.max(), width - 1)), np.inf)
    _keep(wanted, np.flatnonzero(few), samples[few], is_new[few])
    if not few.all():
        many = ~few
        some = Slots(slots.low[many], slots.scale[many], slots.number)
        n = room[many].max() - 1
        wanted[many, :n] = _quantiles(samples[many], lengths[many], room[many], some, n)
    candidates = np.sort(np.concatenate([coordinates, wanted], axis=1), axis=1)
    edges = np.full((len(samples), width), np.inf)
    is_new = _is_new(candidates)
    _keep(edges, np.arange(len(samples)), candidates, is_new)
    return edges, is_new.sum(axis=1), few


def _is_new(values: np.ndarray) -> np.ndarray:
    """Which finite values of each line differ from the one before them."""
    is_new = values < np.inf
    is_new[:, 1:] &= values[:, 1:] != values[:, :-1]
    return is_new


def _keep(out: np.ndarray, lines: np.ndarray, values: np.ndarray, kept: np.ndarray) -> None:
    """Move the kept values of each line to the front of lines of `out`."""
    line, place = np.nonzero(kept)
    n_kept = np.bincount(line, minlength=len(kept))
    rank = np.arange(len(line)) - (np.cumsum(n_kept) - n_kept)[line]
    out[lines[line], rank] = values[line, place]


def _quantiles(samples, lengths, room, slots: Slots, n: int) -> np.ndarray:
    """Edges at the quantiles of the columns; infinity for those that are not needed."""
    turn = np.arange(1, n + 1)
    is_needed = turn < room[:, None]
    places = turn * lengths[:, None] // room[:, None]
    values = np.take_along_axis(samples, np.where(is_needed, places, 0), axis=1)
    values[~is_needed] = np.inf
    before = np.zeros(values.shape, dtype=bool)
    before[:, 1:] = is_needed[:, 1:] & (values[:, 1:] == values[:, :-1])
    edges = np.where(is_needed, slots.ends(values), np.inf)
    if before.any():
        first = np.zeros_like(before)
        first[:, :-1] = before[:, 1:] & ~before[:, :-1]
        edges[before] = values[before]
        edges[first] = np.nextafter(values[first], -np.inf)
        edges[:, 1:][before[:, 1:] & before[:, :-1]] = np.inf
    return edges


def codes_of(values: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Number of edges of the column strictly below each value; a line a column in both."""
    first = np.zeros(values.shape, dtype=np.int64)
    last = np.full(values.shape, edges.shape[1] - 1)
    for _ in range(int(edges.shape[1]).bit_length()):
        middle = (first + last) >> 1
        is_below = np.take_along_axis(edges, middle, axis=1) < values
        first, last = np.where(is_below, middle + 1, first), np.where(is_below, last, middle)
    return first


def shortcuts(edges: np.ndarray, slots: Slots) -> np.ndarray:
    """For each column and slot the code of its values, as a table.

    A slot of several codes, the least of them c, has -1 - 2 c, and 1 less if they are many. An edge
    at the very end of a slot divides no values of the slot; only edges further inside leave more
    than one code.
    """
    n_features, n_slots = len(edges), slots.number + 1
    slot = slots.of(edges)
    is_edge = edges < np.inf
    place = (slot.astype(np.int32) + n_slots * np.arange(n_features)[:, None])[is_edge]
    span = np.bincount(place, minlength=n_features * n_slots).astype(np.int32)
    first = span.reshape(n_features, n_slots).cumsum(axis=1, dtype=np.int32).ravel() - span
    is_last = np.append(place[1:] != place[:-1], True)
    with np.errstate(over="ignore"):
        is_end = (slots.of(np.nextafter(edges, np.inf)) > slot)[is_edge]
    span[place[is_last & is_end]] -= 1
    inner = np.flatnonzero(span)
    first[inner] = -1 - 2 * first[inner] - (span[inner] > 16)
    return first.reshape(n_features, n_slots)
