"""The options of ``pellucid xclusters``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pellucid.cli.options import CLUSTERS, NAMES, file_option, flag, option

SERIES = "Series"

Entity = Annotated[
    str | None,
    option(
        metavar=NAMES,
        text="Columns that describe an entity; the rules use them. Default: columns with one "
        "value per entity, if --id or a wide table gives the entities.",
        group=SERIES,
    ),
]
Identity = Annotated[
    str | None,
    option(
        "--id",
        metavar=NAMES,
        text="Columns that name an entity; the rules do not use them. Default: columns of "
        "--entity with a different text for each entity.",
        group=SERIES,
    ),
]
Time = Annotated[
    str | None,
    option(metavar="COLUMN", text="Column of dates or times, in a long table.", group=SERIES),
]
Value = Annotated[
    str | None,
    option(metavar="COLUMN", text="Column of the measured values, in a long table.", group=SERIES),
]
Times = Annotated[
    str | None,
    option(
        metavar=NAMES,
        text="Columns of a wide table, one per time: names, patterns such as 'y19*', or ranges "
        "such as 1952:2007. Default: columns whose names are years or dates.",
        group=SERIES,
    ),
]
Weight = Annotated[
    str,
    option(
        metavar="COLUMN",
        text="Weight of an entity: none (all entities count the same), value (the sum of its "
        "values), or the mean of a column.",
        group=SERIES,
        show_default=True,
    ),
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
    option(
        "--fill-value",
        "--fill",
        metavar="X",
        text="Value for missing times, such as 0.",
        group=SERIES,
    ),
]
Interpolate = Annotated[
    bool, flag("--interpolate", text="Interpolate missing times linearly.", group=SERIES)
]
Coverage = Annotated[
    str,
    option(
        metavar="WHAT",
        text="Series that start late or end early: equal (an error), common (only the times of "
        "all entities), or own (series of different lengths, for dtw).",
        group=SERIES,
        show_default=True,
    ),
]
ClusterRange = Annotated[
    str | None,
    option(
        "-k",
        metavar="FROM-TO",
        text="Number of clusters, or range of it. Default: 3-11; for fewer than 12 entities, "
        "from 2 to one less than their number.",
        group=CLUSTERS,
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
        text="Stop the search when the objective can improve by at most this.",
        group=CLUSTERS,
        min=0,
        show_default=True,
    ),
]
TreeAccuracy = Annotated[
    float,
    option(
        metavar="X",
        text="Share of the entities that the tree must assign to their cluster: smaller values "
        "give smaller trees. A warning is printed if no tree reaches it.",
        group=CLUSTERS,
        min=0.01,
        max=1,
        show_default=True,
    ),
]
Distance = Annotated[
    str,
    option(
        metavar="NAME",
        text="Distance between series: euclidean, manhattan, cosine, or dtw.",
        group=CLUSTERS,
        show_default=True,
    ),
]
Search = Annotated[
    str,
    option(
        metavar="NAME",
        text="branch-and-bound, grid, bayes (requires the package bayesian-optimization) or "
        "two-step (requires the package kneed).",
        group=CLUSTERS,
        show_default=True,
    ),
]
Entities = Annotated[Path | None, file_option("FILE", "The entities with their cluster.")]
Trends = Annotated[Path | None, file_option("IMAGE", "A plot of the series of each cluster.")]
