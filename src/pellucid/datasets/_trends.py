"""Synthetic card spending of demographic groups during an outbreak, with planted trends."""

from __future__ import annotations

from itertools import product
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import Bunch, check_random_state

from pellucid._utils.imports import import_optional

AGES = (10, 20, 30, 40, 50, 60, 70)
SEXES = ("female", "male")
CHANNELS = ("offline", "online")
SECTORS = {
    "leisure": (
        "airlines, hotels, guest houses, travel agencies, duty free, coaches, cruises, car rental, "
        "tour guides, luggage, cinemas, concerts, theatres, theme parks, museums, exhibitions, "
        "sports events, karaoke, saunas, casinos"
    ),
    "going out": (
        "Korean food, Chinese food, Japanese food, Western food, chicken, pizza, burgers, noodles, "
        "cafes, bakeries, pubs, buffets, clothing, shoes, bags, watches, jewellery, cosmetics, "
        "hairdressers, nail studios, eyewear, gifts, flowers, perfume"
    ),
    "household": (
        "supermarkets, corner shops, butchers, fishmongers, greengrocers, rice, side dishes, "
        "frozen food, health food, drinks, pet food, baby food, furniture, kitchenware, bedding, "
        "lighting, appliances, computers, DIY, paint, plants, home gyms"
    ),
    "outdoor": (
        "golf courses, golf gear, camping sites, camping gear, fishing, bicycles, hiking gear, "
        "swimming, tennis, boats, gardens, day trips"
    ),
    "daily": (
        "fuel, electricity, gas and water, telephone, insurance, pharmacies, clinics, dentists, "
        "public transport, parking, laundries, repairs, schools, taxes"
    ),
}
TRENDS = ("collapse", "waves", "surge", "summer", "steady")
DRIFTS = ("none", "growth", "decline")

_FIRST_WEEK = np.datetime64("2019-12-02")
_N_WEEKS = 61
# The week of 17 February 2020; spending is relative to the mean of the weeks before.
_OUTBREAK = 11


def make_card_trends(
    n_groups: int = 2551,
    *,
    misfits: float = 0.03,
    drift: float = 0.25,
    noise: float = 0.1,
    lag: float = 1.0,
    moving_average: int = 13,
    random_state: Any = None,
) -> Bunch:
    """Weekly card spending of demographic groups during an outbreak, with planted trends.

    A substitute for the paper's data, which are not public: spending of people of one age and sex
    in one business category, in shops or online, from December 2019 to January 2021. Each group
    has one of five planted trends, which depends on its sector, channel and age:

    ======== ===================== =============================================
    trend    course                groups
    ======== ===================== =============================================
    collapse falls and stays down  leisure
    waves    a dip in each wave    going out, offline
    surge    rises and stays up    household, under 60
    summer   a dip, then a boom    outdoor
    steady   none                  daily; going out, online; household, 60 and over
    ======== ===================== =============================================

    Two components do not depend on the demographics: a few groups follow the trend of others
    (`misfits`), and every group has one of three slow drifts (`drift`). Therefore, the most
    coherent clusters do not have the shortest explanations.

    Parameters
    ----------
    n_groups : int, default=2551
        Number of groups, drawn from 2,576 possible ones (7 ages, 2 sexes, 92 categories in 5
        sectors, 2 channels).
    misfits : float, default=0.03
        Fraction of groups whose trend is drawn at random.
    drift : float, default=0.25
        Size of the drift at the end, as a logarithm. With 0.25, a third of the groups spend 28%
        more than their trend, and a third 22% less. 0 is no drift.
    noise : float, default=0.1
        Standard deviation of the logarithm of a week's amount.
    lag : float, default=1.0
        Standard deviation of the time shift of a group relative to its trend, in weeks.
    moving_average : int, default=13
        Window length of the moving average in weeks; 13 weeks are the 90 days of the paper. 1 is
        no average.
    random_state : int, RandomState instance or None, default=None
        Seed of the random numbers.

    Returns
    -------
    Bunch
        ``series`` (n_groups, n_weeks): spending relative to the group's mean before the outbreak.
        ``times``: Monday of the last week of each window. ``explanation``: a polars table with the
        columns age (20 for 20 to 29, 70 for 70 and over), sex, sector, category and channel.
        ``weights``: total spending of each group. ``labels``: the planted trend that follows from
        the demographics, as an index into ``trend_names``. ``trends``: the trend that the group
        actually follows. ``drifts``: its drift, as an index into ``drift_names``.

    References
    ----------
    Hwang, Whang (2023). XClusters: Explainability-first clustering, AAAI.

    Examples
    --------
    >>> from pellucid.datasets import make_card_trends
    >>> card = make_card_trends(random_state=0)
    >>> card.series.shape, card.explanation.columns
    ((2551, 49), ['age', 'sex', 'sector', 'category', 'channel'])
    >>> card.trend_names
    ('collapse', 'waves', 'surge', 'summer', 'steady')
    """
    pl = import_optional("polars", "this data set")
    business = [(sector, name) for sector, names in SECTORS.items() for name in names.split(", ")]
    groups = [
        Group(age, sex, sector, category, channel)
        for age, sex, (sector, category), channel in product(AGES, SEXES, business, CHANNELS)
    ]
    if not 1 <= n_groups <= len(groups):
        raise ValueError(f"n_groups={n_groups} must be between 1 and {len(groups)}")
    if not 0 <= misfits <= 1:
        raise ValueError(f"misfits={misfits} must be between 0 and 1")
    if not 1 <= moving_average <= _N_WEEKS:
        raise ValueError(
            f"moving_average={moving_average} must be between 1 and {_N_WEEKS}, the number of weeks"
        )
    for name, size in (("drift", drift), ("noise", noise), ("lag", lag)):
        if not size >= 0:
            raise ValueError(f"{name}={size} must be at least 0")
    random = check_random_state(random_state)
    groups = [groups[i] for i in np.sort(random.choice(len(groups), n_groups, replace=False))]
    labels = np.array([TRENDS.index(planted_trend(group)) for group in groups])
    trends = labels.copy()
    misfit_groups = np.flatnonzero(random.uniform(size=n_groups) < misfits)
    trends[misfit_groups] = random.randint(len(TRENDS), size=len(misfit_groups))
    drifts = random.randint(len(DRIFTS), size=n_groups)
    weeks = np.arange(_N_WEEKS) - lag * random.normal(size=(n_groups, 1))
    ramp = np.clip((weeks - _OUTBREAK) / (_N_WEEKS - _OUTBREAK), 0, 1)
    strength = np.exp(0.15 * random.normal(size=(n_groups, 1)))
    logs = strength * np.choose(trends[:, None], _log_trends(weeks))
    logs += drift * np.array([0.0, 1.0, -1.0])[drifts, None] * ramp
    logs += noise * random.normal(size=logs.shape)
    spending = np.exp(logs)
    spending /= spending[:, :_OUTBREAK].mean(axis=1, keepdims=True)
    windows = np.lib.stride_tricks.sliding_window_view(spending, moving_average, axis=1)
    amounts = np.exp(random.normal(size=n_groups) + [_log_weekly_amount(group) for group in groups])
    return Bunch(
        series=windows.mean(axis=2),
        times=_FIRST_WEEK + 7 * np.arange(moving_average - 1, _N_WEEKS),
        explanation=pl.DataFrame(dict(zip(Group._fields, zip(*groups)))),
        weights=np.round(amounts * spending.sum(axis=1), 2),
        labels=labels,
        trends=trends,
        drifts=drifts,
        trend_names=TRENDS,
        drift_names=DRIFTS,
    )


class Group(NamedTuple):
    """A demographic group in a business category and a sales channel."""

    age: int
    sex: str
    sector: str
    category: str
    channel: str


def planted_trend(group: Group) -> str:
    """Trend that follows from the demographics of a group."""
    if group.sector == "going out":
        return "steady" if group.channel == "online" else "waves"
    if group.sector == "household":
        return "steady" if group.age >= 60 else "surge"
    return {"leisure": "collapse", "outdoor": "summer", "daily": "steady"}[group.sector]


def _log_trends(weeks: np.ndarray) -> list[np.ndarray]:
    """Logarithm of the spending in the given weeks, for each trend."""
    first, second, third = (_bump(weeks, at, 3.5) for at in (14, 38, 54))
    return [
        -1.1 * _step(weeks, _OUTBREAK, 1.2) + 0.2 * _step(weeks, 30, 4),
        -0.7 * first - 0.5 * second - 0.8 * third,
        0.45 * _step(weeks, 13, 2) + 0.1 * second + 0.15 * third,
        -0.2 * first + 0.6 * _bump(weeks, 30, 7) - 0.2 * third,
        np.zeros_like(weeks),
    ]


def _bump(weeks: np.ndarray, middle: float, width: float) -> np.ndarray:
    return np.exp(-0.5 * ((weeks - middle) / width) ** 2)


def _step(weeks: np.ndarray, middle: float, width: float) -> np.ndarray:
    return 1 / (1 + np.exp(-(weeks - middle) / width))


def _log_weekly_amount(group: Group) -> float:
    """Logarithm of the weekly spending of a group before the outbreak."""
    by_age = (-2.0, 0.0, 0.7, 1.0, 0.8, 0.2, -0.8)[AGES.index(group.age)]
    return 10.0 + by_age + (0.8 if group.sector in ("household", "daily") else 0.0)
