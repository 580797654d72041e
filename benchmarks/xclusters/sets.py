"""Trends and who has them: the population of Seoul, and made-up card spending."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.settings import Refused, Settings
from pellucid.datasets import make_card_trends
from pellucid.xclusters import pairwise, series_from_long

PLAIN = "plain_card"
"""Where nothing but noise hides what is planted."""

EVALUATIONS = "evaluations"
"""No data set either: the evaluations of the search on eight of them."""

DISTANCES = "distances"
"""Nor this: Euclidean distance beside dynamic time warping on the same."""

MEDOIDS = "medoids"
"""No data set but k-medoids by itself, which `--only` can name."""

SEOUL = "ds4c_seoul_floating.csv.gz"
TITLES = {
    "seoul": "Seoul",
    "card": "card",
    "plain_card": "card, nothing unexplained",
    "small_card": "card, small",
}
PAPER = {"seoul": "DS4C", "card": "Credit Card"}
"""What the paper calls them."""

_CARDS = {
    "card": {},
    "plain_card": {"n_groups": 800, "misfits": 0.0, "drift": 0.0, "noise": 0.05},
    "small_card": {"n_groups": 60},
}


@dataclass(frozen=True)
class TrendSet:
    """Trends, who has them, and how far they are from each other."""

    series: np.ndarray
    times: np.ndarray
    explanation: Any
    distances: np.ndarray
    planted: np.ndarray | None
    label: str
    """What the values are."""

    def distances_by(self, metric: str) -> np.ndarray:
        """Distances of the trends by another metric."""
        return pairwise(self.series, metric)


def chosen(settings: Settings) -> list[str]:
    """Names of the data sets that are asked for and there, and of the other part."""
    names = ["card", PLAIN, "small_card", EVALUATIONS, DISTANCES, MEDOIDS]
    if settings.data is not None and (settings.data / SEOUL).exists():
        names.insert(0, "seoul")
    elif "seoul" in settings.only:
        raise Refused(f"seoul needs {SEOUL} in the folder given by --data")
    if settings.only:
        return settings.choose(names)
    if settings.quick:
        return ["small_card", MEDOIDS]
    return [name for name in names if name != "small_card"]


@lru_cache(maxsize=1)
def load(name: str, folder: Path | None) -> TrendSet:
    """A data set with the distances of its trends."""
    if name == "seoul":
        return _load_seoul(folder)
    card = make_card_trends(random_state=0, **_CARDS[name])
    distances = pairwise(card.series, "dtw")
    label = "spending, 1 = before the outbreak"
    return TrendSet(card.series, card.times, card.explanation, distances, card.labels, label)


def _load_seoul(folder: Path) -> TrendSet:
    import polars as pl

    table = pl.read_csv(folder / SEOUL)
    table = table.rename({"city": "district", "birth_year": "age"})
    # Hours of a day are rows of one time, so their mean is the day's.
    found = series_from_long(
        table, entity=["district", "age", "sex"], time="date", value="fp_num", moving_average=7
    )
    distances = pairwise(found.series, "dtw")
    return TrendSet(found.series, found.times, found.entities, distances, None, "people")
