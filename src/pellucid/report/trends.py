"""Series of each cluster: its medoid and the range of its middle half."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.report.profiles import short
from pellucid.xclusters.series.series import read_fitted_series

_MOST_TIMES = 160
"""Points of a line; of more times, every so-many-th."""


def describe_trends(model: Any, series: Any, times: Any = None) -> dict[str, Any]:
    """Lines for the page.

    Parameters
    ----------
    model : fitted XClusters
    series : SeriesTable, array of shape (n_samples, n_times), or list of 1-D arrays
        Those that the model was fitted on.
    times : array of shape (n_times,), optional
        When they were measured; those of a `SeriesTable`, or 0, 1, ..., when left out.
    """
    lines, times = read_fitted_series(model, series, times)
    n_times = max(map(len, lines))
    if times is not None and len(times) < n_times:
        raise ValueError(f"{len(times)} times, but there are series of {n_times} values")
    first, last = (0, n_times - 1) if times is None else (times[0], times[n_times - 1])
    is_even = all(len(one) == n_times for one in lines)
    table = np.array(lines) if is_even else None
    clusters = []
    for cluster, medoid in enumerate(model.medoid_indices_.tolist()):
        entry: dict[str, Any] = {"medoid": _thinned(lines[medoid], n_times)}
        members = np.flatnonzero(model.labels_ == cluster)
        if table is not None and len(members) > 1:
            low, high = np.nanquantile(table[members], [0.25, 0.75], axis=0)
            entry["low"], entry["high"] = _thinned(low, n_times), _thinned(high, n_times)
        clusters.append(entry)
    return {"first": _moment(first), "last": _moment(last), "clusters": clusters}


def _thinned(line: np.ndarray, n_times: int) -> list[Any]:
    step = max(1, -(-n_times // _MOST_TIMES))
    return [short(value, 4) for value in line[::step].tolist()]


def _moment(time: Any) -> str:
    """Display text of a time; a date without a time of day."""
    text = str(time)
    for ending in ("T00:00:00", " 00:00:00"):
        text = text.partition(ending)[0]
    return text
