"""Synthetic card data: planted trends, misfits and drifts."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score
from sklearn.tree import DecisionTreeClassifier

from pellucid.datasets import make_card_trends


@pytest.fixture(scope="module")
def card():
    return make_card_trends(random_state=0)


def one_hot(table):
    columns = [table[name].to_numpy() for name in table.columns]
    return np.hstack([column[:, None] == np.unique(column) for column in columns])


def test_shape_of_the_data(card):
    assert card.series.shape == (2551, 49)
    assert card.times.astype(str).tolist()[:: len(card.times) - 1] == ["2020-02-24", "2021-01-25"]
    assert np.isfinite(card.series).all()
    assert (card.series > 0).all()
    assert (card.weights > 0).all()
    assert len(card.explanation.unique()) == 2551
    assert [card.explanation[name].n_unique() for name in card.explanation.columns] == [
        7,
        2,
        5,
        92,
        2,
    ]


def test_random_state():
    first, again = (make_card_trends(50, random_state=3) for _ in range(2))
    other = make_card_trends(50, random_state=4)
    assert first.series.tobytes() == again.series.tobytes()
    assert first.explanation.equals(again.explanation)
    assert first.series.tobytes() != other.series.tobytes()


def test_planted_trends_follow_from_a_small_tree(card):
    tree = DecisionTreeClassifier(random_state=0).fit(one_hot(card.explanation), card.labels)
    assert tree.score(one_hot(card.explanation), card.labels) == 1.0
    assert tree.get_n_leaves() <= 8  # ages are 0/1 columns here
    assert np.bincount(card.labels).min() > 300


def test_actual_trends_differ_for_misfits(card):
    wrong = np.mean(card.trends != card.labels)
    assert 0.01 < wrong < 0.04
    tree = DecisionTreeClassifier(random_state=0).fit(one_hot(card.explanation), card.trends)
    assert tree.get_n_leaves() > 60


def test_drifts_are_independent_of_the_demographics(card):
    shares = [np.bincount(card.drifts[card.labels == label]) for label in range(5)]
    shares = np.array([share / share.sum() for share in shares])
    assert np.abs(shares - 1 / 3).max() < 0.08
    ends = [np.median(card.series[(card.labels == 4) & (card.drifts == d), -1]) for d in range(3)]
    assert ends[2] < 0.95 * ends[0] < ends[0] < 0.95 * ends[1]


def test_trends_without_noise_are_separable():
    card = make_card_trends(400, misfits=0, drift=0, noise=0.01, random_state=0)
    assert np.array_equal(card.trends, card.labels)
    means = np.array([card.series[card.labels == label].mean(axis=0) for label in range(5)])
    nearest = ((card.series[:, None] - means) ** 2).sum(axis=2).argmin(axis=1)
    assert adjusted_rand_score(card.labels, nearest) > 0.95


def test_series_are_relative_to_the_weeks_before():
    card = make_card_trends(100, noise=0, drift=0, moving_average=1, random_state=0)
    np.testing.assert_allclose(card.series[:, :11].mean(axis=1), 1)
    collapse, surge = (card.series[card.trends == kind, -1] for kind in (0, 2))
    assert collapse.max() < 0.7 < 1.2 < surge.min()


def test_moving_average():
    raw = make_card_trends(20, moving_average=1, random_state=0)
    smooth = make_card_trends(20, moving_average=4, random_state=0)
    wanted = [np.convolve(series, np.ones(4) / 4, "valid") for series in raw.series]
    np.testing.assert_allclose(smooth.series, wanted)
    np.testing.assert_array_equal(smooth.times, raw.times[3:])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_groups": 0}, "n_groups=0 must be between 1 and 2576"),
        ({"n_groups": 3000}, "n_groups=3000 must be between 1 and 2576"),
        ({"misfits": 1.5}, "misfits=1.5 must be between 0 and 1"),
        ({"moving_average": 62}, "between 1 and 61"),
        ({"drift": -1}, "drift=-1 must be at least 0"),
        ({"noise": float("nan")}, "noise=nan must be at least 0"),
    ],
)
def test_invalid_arguments(change, message):
    with pytest.raises(ValueError, match=message):
        make_card_trends(**change)
