"""The options of ``pellucid xclusters``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pellucid.cli.options import CLUSTERS, NAMES, file_option, flag, option

SERIES = "Series"

Entity = Annotated[
    str, option(metavar=NAMES, text="Columns that name an entity; they explain it.", group=SERIES)
]
Time = Annotated[str, option(metavar="COLUMN", text="Column of dates or times.", group=SERIES)]
Value = Annotated[str, option(metavar="COLUMN", text="Column of what is measured.", group=SERIES)]
Aggregate = Annotated[
    str,
    option(
        metavar="HOW",
        text="For several rows at one time: mean, sum, median, min or max.",
        group=SERIES,
        show_default=True,
    ),
]
Frequency = Annotated[
    str | None,
    option(metavar="HOW", text="Gather times: hour, day, week, month or year.", group=SERIES),
]
MovingAverage = Annotated[
    int | None, option(metavar="N", text="Mean of so many times in a row.", group=SERIES, min=1)
]
Relative = Annotated[
    bool,
    flag("--relative", text="Compare courses, not sizes: divide by the mean.", group=SERIES),
]
Fill = Annotated[
    float | None,
    option(metavar="X", text="Value where an entity has no row, such as 0.", group=SERIES),
]
ClusterRange = Annotated[
    str,
    option("-k", metavar="FROM-TO", text="Numbers of clusters.", group=CLUSTERS, show_default=True),
]
TradeOffPrice = Annotated[
    float,
    option(
        metavar="X",
        text="Price of the tree's nodes: larger for shorter explanations.",
        group=CLUSTERS,
        min=0,
        show_default=True,
    ),
]
Tolerance = Annotated[
    float,
    option(metavar="X", text="Gain not worth a search.", group=CLUSTERS, min=0, show_default=True),
]
Distance = Annotated[
    str,
    option(
        metavar="NAME",
        text="Of series: dtw, euclidean, manhattan or cosine.",
        group=CLUSTERS,
        show_default=True,
    ),
]
Search = Annotated[
    str,
    option(
        metavar="NAME",
        text="branch-and-bound, grid, bayes or two-step.",
        group=CLUSTERS,
        show_default=True,
    ),
]
Entities = Annotated[Path | None, file_option("CSV", "The entities with their cluster.")]
Trends = Annotated[Path | None, file_option("PICTURE", "A drawing of the series of each cluster.")]
