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
        # Of 0 and what is not a number, 0.
        np.fmax(place, 0.0, out=place)
        return np.floor(np.minimum(place, self.number, out=place), out=place)

    def ends(self, values: np.ndarray) -> np.ndarray:
        """Largest number in the slot of each value, as far as it is easily found.

        The value itself in the last slot, and where rounding keeps the end from being found.
        """
        slot, low, scale = self.of(values), self.low[:, None], self.scale[:, None]
        with np.errstate(all="ignore"):
            # The largest difference to `low` that is still in the slot, then the largest number
            # that has it: half a unit in the last place of the difference is rounded away.
            above = slot + 1
            apart = above / scale
            apart = np.where(apart * scale >= above, apart * _LESS, apart)
            end = (low + apart) + 0.5 * np.spacing(apart)
            reached = self.of(end)
            high = reached > slot
            if high.any():
                end[high] -= np.abs(end[high]) * (1 - _LESS)
                reached = self.of(end)
            found = (slot < self.number) & (end > values) & (reached == slot)
        return np.where(found, end, values)


_LESS = 1 - 2.0**-53
"""Times a number, the next smaller one."""


def spread_slots(samples: np.ndarray, lengths: np.ndarray, number: int) -> Slots:
    """Slots over the samples without their tails, which would leave too few slots for the rest."""
    every = np.arange(len(samples))
    low = samples[every, lengths // 100]
    with np.errstate(over="ignore"):
        reach = samples[every, lengths - 1 - lengths // 100] - low
    return Slots(low, np.divide(number, reach, out=np.zeros_like(low), where=reach > 0), number)


def choose_edges(
    samples: np.ndarray, lengths: np.ndarray, coordinates: np.ndarray, slots: Slots, width: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Edges of columns: center coordinates and quantiles of samples.

    All values of a sample if they fit. Otherwise evenly spaced ones, moved up to the
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
    n_quantiles = width - 1 - _is_new(coordinates).sum(axis=1)
    is_new = _is_new(samples)
    distinct = is_new.sum(axis=1)
    few = distinct <= n_quantiles
    wanted = np.full((len(samples), min(distinct.max(), width - 1)), np.inf)
    if few.any():
        values = _moved_up(samples[few], is_new[few])[:, : wanted.shape[1]]
        wanted[few, : values.shape[1]] = values
    if not few.all():
        many = slice(None) if not few.any() else ~few
        some = Slots(slots.low[many], slots.scale[many], slots.number)
        n = n_quantiles[many].max() - 1
        wanted[many, :n] = _quantiles(samples[many], lengths[many], n_quantiles[many], some, n)
    candidates = np.concatenate([coordinates, wanted], axis=1)
    candidates.sort(axis=1)
    candidates = _moved_up(candidates, _is_new(candidates))
    edges = np.full((len(samples), width), np.inf)
    n = min(width, candidates.shape[1])
    edges[:, :n] = candidates[:, :n]
    return edges, (edges < np.inf).sum(axis=1), few


def _is_new(values: np.ndarray) -> np.ndarray:
    """Which finite values of each line differ from the one before them."""
    is_new = values < np.inf
    is_new[:, 1:] &= values[:, 1:] != values[:, :-1]
    return is_new


def _moved_up(values: np.ndarray, kept: np.ndarray) -> np.ndarray:
    """The kept values of each line, which are ascending, and infinity after them."""
    left_out = ~kept
    if not (values[left_out] < np.inf).any():
        return values
    values = np.where(left_out, np.inf, values)
    values.sort(axis=1)
    return values


def _quantiles(samples, lengths, n_quantiles, slots: Slots, n: int) -> np.ndarray:
    """Edges at the quantiles of the columns; infinity for those that are not needed."""
    turn = np.arange(1, n + 1)
    is_spare = turn >= n_quantiles[:, None]
    places = turn * lengths[:, None] // n_quantiles[:, None]
    places[is_spare] = 0
    places += samples.shape[1] * np.arange(len(samples))[:, None]
    values = samples.ravel().take(places)
    values[is_spare] = np.inf
    edges = slots.ends(values)
    edges[is_spare] = np.inf
    before = np.zeros(values.shape, dtype=bool)
    np.equal(values[:, 1:], values[:, :-1], out=before[:, 1:])
    before[is_spare] = False
    if before.any():
        first = np.zeros_like(before)
        first[:, :-1] = before[:, 1:] & ~before[:, :-1]
        edges[before] = values[before]
        edges[first] = np.nextafter(values[first], -np.inf)
        edges[:, 1:][before[:, 1:] & before[:, :-1]] = np.inf
    return edges


def codes_of(values: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Number of edges of the column strictly below each value; a line a column in both."""
    codes = np.empty(values.shape, dtype=np.int64)
    for line, some, ends in zip(codes, values, edges):
        line[:] = ends.searchsorted(some)
    return codes


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
    with np.errstate(over="ignore"):
        is_end = (slots.of(np.nextafter(edges, np.inf)) > slot)[is_edge]
    is_last = np.ones(len(place), dtype=bool)
    np.not_equal(place[1:], place[:-1], out=is_last[:-1])
    place = place[is_last]
    n_inner = span[place] - is_end[is_last]
    several = n_inner > 0
    place = place[several]
    first[place] = -1 - 2 * first[place] - (n_inner[several] > 16)
    return first.reshape(n_features, n_slots)
