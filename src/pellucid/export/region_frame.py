"""Export of a decision list of regions to a data frame with one row per region and cluster."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid._utils.estimators import FrameKind
from pellucid.explanation.region_list import NOWHERE, RegionList
from pellucid.export.frame import make_frame
from pellucid.regions.answer_regions import region_text


def regions_to_frame(model: Any, *, kind: FrameKind | None = None) -> Any:
    """Export regions as a table.

    Parameters
    ----------
    model : fitted EOPClassifier or ATEOPClassifier, ClusterRegions or RegionList
        With regions of any shape and any base classifier.
    kind : {"pandas", "polars", "dict"}, optional
        As in :func:`pellucid.export.to_frame`.

    Returns
    -------
    data frame or dict of str to ndarray
        One row per region and predicted cluster, in the order in which they are tried, and a last
        row for rows in no region. ``level`` and ``region`` (-1 in the last row); ``cluster``
        (None for no answer); ``rule``; ``rows``, the weight of the training rows; ``share`` of
        the weight; ``purity``; and ``column_1``, ``above_1``, ``at_most_1``, ``column_2`` and so
        on, the columns and the ends of boxes (infinite where there is none, NaN for other shapes;
        the end of a date is a number of days since 1970-01-01).

    Examples
    --------
    >>> from pellucid import EOPClassifier
    >>> model = EOPClassifier("stump", random_state=0, calibration=0, min_support=0)
    >>> model = model.fit([[0.0]] * 20 + [[9.0]] * 20, ["a"] * 20 + ["b"] * 20)
    >>> frame = model.to_frame(kind="dict")
    >>> frame["rule"]
    array(['x0 ≤ 0', 'x0 > 0', 'in no region'], dtype='<U12')
    """
    regions = RegionList.of(model, check=False)
    pieces = regions.pieces()
    rest = max(regions.total_ - sum(piece.support for piece in pieces), 0.0)
    total = regions.total_ or 1.0
    default = None if regions.default_ is None else regions.classes_[regions.default_]
    cluster = np.empty(len(pieces) + 1, dtype=object)
    cluster[:] = [*(_plain(piece.answer) for piece in pieces), _plain(default)]
    table = {
        "level": np.array([*(piece.level for piece in pieces), -1]),
        "region": np.array([*(piece.region for piece in pieces), -1]),
        "cluster": cluster,
        "rule": np.array([*(region_text(piece) for piece in pieces), NOWHERE]),
        "rows": np.array([*(piece.support for piece in pieces), rest]),
        "share": np.array([*(piece.share for piece in pieces), rest / total]),
        "purity": np.array([*(piece.purity for piece in pieces), np.nan]),
    }
    n_columns = max((len(piece.features) for piece in pieces), default=0)
    for position in range(n_columns):
        names, above, at_most = zip(
            *(_end(regions, piece, position) for piece in pieces), ("", np.nan, np.nan)
        )
        table[f"column_{position + 1}"] = np.array(names)
        table[f"above_{position + 1}"] = np.array(above, dtype=float)
        table[f"at_most_{position + 1}"] = np.array(at_most, dtype=float)
    return make_frame(table, kind)


def _end(regions: RegionList, piece: Any, position: int) -> tuple[str, float, float]:
    """Name and ends of one column of a region; empty and NaN where there is none."""
    if position >= len(piece.features):
        return "", np.nan, np.nan
    name = str(regions.names_[piece.features[position]])
    return name, *piece.bounds.get(name, (np.nan, np.nan))


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value
