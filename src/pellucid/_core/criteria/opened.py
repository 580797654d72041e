"""Thresholds strictly inside bins, once their rows are known."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pellucid._core.criteria.mistake_scans import ObjectiveTerms


class Opened(NamedTuple):
    """Rows of some bins, sorted by value.

    Attributes
    ----------
    values : ndarray of float64
    codes : ndarray
        Bin of each row.
    change : ndarray of int64
        What each row adds to the amount as it goes left.
    weight : ndarray of int64
    """

    values: np.ndarray
    codes: np.ndarray
    change: np.ndarray
    weight: np.ndarray


def look_inside(
    opened: Opened,
    feature: int,
    position: np.ndarray,
    edges: np.ndarray,
    levels: np.ndarray,
    objective: ObjectiveTerms,
    cuts: np.ndarray,
) -> None:
    """Put thresholds inside opened bins in the place of worse ones.

    The amount at the edge before a bin is known; each of its rows changes it as it goes left. So
    the values of the rows are judged as if they were edges.

    Parameters
    ----------
    opened : Opened
    feature : int
    position, edges, levels, objective
        Of the feature, as `pellucid._core.kernels.gap_objectives` has them.
    cuts : ndarray of shape (n_gaps, 2)
        Least objective so far in each gap between centers, and its threshold.
    """
    values, codes, change, weight = opened
    if not len(values):
        return
    new = (codes[1:] != codes[:-1]).nonzero()[0]
    first, last = np.zeros(len(new) + 1, dtype=np.intp), np.full(len(new) + 1, len(codes) - 1)
    first[1:], last[:-1] = new + 1, new
    bins, sizes = codes[first].astype(np.intp), last - first + 1
    gap = position.searchsorted(bins) - 1
    is_cut = np.empty(len(values), dtype=bool)
    is_cut[:-1] = values[1:] != values[:-1]
    # Past the last value of a bin comes its edge; where a center sits on that edge, the thresholds
    # between the two are cuts of their own.
    is_cut[last] = (bins == position[gap + 1]) & (values[last] < edges[bins])
    places = is_cut.nonzero()[0]

    def follow(moves: np.ndarray, level: np.ndarray) -> np.ndarray:
        sums = moves.cumsum()
        sums += np.repeat(level[bins - 1] - sums[first] + moves[first], sizes)
        return sums[places]

    starts = np.append(first, len(values))[gap.searchsorted(np.arange(len(position)))]
    # One more, which a look at the inside of the bin after the last edge asks for.
    lines = np.zeros((3, len(places) + 1), dtype=np.int64)
    lines[0, :-1], lines[2, :-1] = follow(change, levels[0]), follow(weight, levels[2])
    nothing_inside = np.zeros(len(places) + 1, dtype=bool)
    begins = places.searchsorted(starts)
    found, _ = objective.judge_column(feature, begins, lines, nothing_inside, -np.inf)
    for g in (found[:, 0] <= cuts[:, 0]).nonzero()[0].tolist():
        if found[g, 0] < np.inf:
            best = found[g, 0], values[places[int(found[g, 1])]]
            cuts[g] = min(best, tuple(cuts[g]))
