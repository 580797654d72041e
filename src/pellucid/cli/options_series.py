"""The options of ``pellucid xclusters``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pellucid.cli.options import CLUSTERS, NAMES, file_option, flag, option

SERIES = "Series"

Entity = Annotated[
    str,
    option(
        metavar=NAMES, text="Columns that identify an entity; the rules use them.", group=SERIES
    ),
]
Time = Annotated[str, option(metavar="COLUMN", text="Column of dates or times.", group=SERIES)]
Value = Annotated[
    str, option(metavar="COLUMN", text="Column of the measured values.", group=SERIES)
]
Aggregate = Annotated[
    str,
    option(
        metavar="HOW",
        text="How to combine several rows of one time: mean, sum, median, min or max.",
        group=SERIES,
        show_default=True,
    ),
]
Frequency = Annotated[
    str | None,
    option(metavar="HOW", text="Aggregate times by hour, day, week, month or year.", group=SERIES),
]
MovingAverage = Annotated[
    int | None,
    option(metavar="N", text="Window of a moving average, in times.", group=SERIES, min=1),
]
Relative = Annotated[
    bool,
    flag(
        "--relative",
        text="Divide each series by its mean, to compare shapes instead of levels.",
        group=SERIES,
    ),
]
Fill = Annotated[
    float | None,
    option(metavar="X", text="Value for times without a row, such as 0.", group=SERIES),
]
ClusterRange = Annotated[
    str,
    option(
        "-k",
        metavar="FROM-TO",
        text="Range of the number of clusters.",
        group=CLUSTERS,
        show_default=True,
    ),
]
TradeOffWeight = Annotated[
    float,
    option(
        metavar="X",
        text="Weight of the tree's size in the objective: larger values give shorter rules.",
        group=CLUSTERS,
        min=0,
        show_default=True,
    ),
]
Tolerance = Annotated[
    float,
    option(
        metavar="X",
        text="Smallest improvement of the objective that is searched for.",
        group=CLUSTERS,
        min=0,
        show_default=True,
    ),
]
Distance = Annotated[
    str,
    option(
        metavar="NAME",
        text="Distance between series: dtw, euclidean, manhattan or cosine.",
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
Trends = Annotated[Path | None, file_option("IMAGE", "A plot of the series of each cluster.")]
