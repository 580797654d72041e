"""XClusters recovers the planted trends of the card data."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import adjusted_rand_score

from _support.extended import EXTENDED
from pellucid import XClusters
from pellucid.datasets import make_card_trends
from pellucid.xclusters import series_from_long

OPTIONS = {"explanation_distance": "jaccard"}

rarely = pytest.mark.skipif(not EXTENDED, reason="other data are tested")


def fit(card, **options):
    return XClusters(**{**OPTIONS, **options}).fit(card.series, explanation=card.explanation)


def test_planted_trends_without_noise_are_found():
    card = make_card_trends(250, misfits=0, drift=0, noise=0.05, random_state=0)
    model = fit(card, tree_accuracy=1.0)
    assert model.best_k_ == 5
    assert adjusted_rand_score(card.labels, model.labels_) == 1
    assert np.array_equal(model.predict(card.explanation), model.labels_)
    # Seven leaves describe the trends: leisure, outdoor, daily, and two parts of each other one.
    assert model.n_nodes_ == 13


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=rarely)])
def test_planted_trends_are_found_better_than_by_two_step(seed):
    card = make_card_trends(250, random_state=seed)
    ours, two_step = fit(card), fit(card, search="two-step")
    assert ours.objective_ < two_step.objective_
    assert ours.n_nodes_ < two_step.n_nodes_
    found = adjusted_rand_score(card.labels, ours.labels_)
    assert found > adjusted_rand_score(card.labels, two_step.labels_)


@pytest.mark.slow
@rarely  # test_xclusters.py tests the same on other data
@pytest.mark.parametrize("seed", range(6))
def test_branch_and_bound_needs_a_third_of_the_evaluations_of_the_grid(seed):
    card = make_card_trends(100, random_state=seed)
    ours, grid = fit(card), fit(card, search="grid")
    assert len(grid.evaluations_) == 9 * 21
    assert len(ours.evaluations_) <= len(grid.evaluations_) / 3
    assert ours.objective_ <= grid.objective_ + ours.tolerance


def test_long_table_gives_the_same_clusters():
    card = make_card_trends(60, random_state=0)
    names, n_times = card.explanation.columns, len(card.times)
    long = card.explanation[np.repeat(np.arange(60), n_times)].with_columns(
        week=pl.Series(np.tile(card.times, 60)), spent=pl.Series(card.series.ravel())
    )
    long = long.sample(fraction=1, shuffle=True, seed=0)
    for table in (long, long.to_pandas()):
        found = series_from_long(table, entity=names, time="week", value="spent")
        order = card.explanation.with_row_index("row").sort(names)["row"].to_numpy()
        np.testing.assert_allclose(found.series, card.series[order])
        model = XClusters(**OPTIONS, k_range=(3, 5)).fit(found.series, explanation=found.entities)
        direct = XClusters(**OPTIONS, k_range=(3, 5)).fit(
            card.series[order], explanation=card.explanation[order]
        )
        assert np.array_equal(model.labels_, direct.labels_)
        assert str(model.explain()) == str(direct.explain())


def test_series_of_different_lengths_are_clustered():
    card = make_card_trends(40, random_state=0)
    long = pl.DataFrame(
        {
            "who": np.repeat(np.arange(40), 49),
            "sector": np.repeat(card.explanation["sector"].to_numpy(), 49),
            "week": np.tile(card.times, 40),
            "spent": card.series.ravel(),
        }
    )
    late = (pl.col("who") < 10) & (pl.col("week") < card.times[5])
    columns = {"entity": ["who", "sector"], "time": "week", "value": "spent"}
    found = series_from_long(long.filter(~late), **columns, coverage="own")
    assert {len(series) for series in found.series} == {44, 49}
    model = XClusters(
        accuracy_distance="dtw", explanation_distance="jaccard", k_range=(2, 3), max_evaluations=4
    )
    explanation = found.entities[["sector"]]
    model.fit(found.series, explanation=explanation, sample_weight=found.weights)
    assert set(model.labels_) <= {0, 1, 2}
    assert len(model.labels_) == 40
