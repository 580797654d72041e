"""XClusters finds what the card data were made from."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from pellucid import XClusters
from pellucid.datasets import make_card_trends

HOW = {"accuracy_distance": "euclidean", "explanation_distance": "jaccard"}


def fit(card, **how):
    return XClusters(**{**HOW, **how}).fit(card.series, explanation=card.explanation)


def test_planted_trends_are_found_where_nothing_hides_them():
    card = make_card_trends(250, misfits=0, drift=0, noise=0.05, random_state=0)
    model = fit(card)
    assert model.best_k_ == 5
    assert adjusted_rand_score(card.labels, model.labels_) == 1
    assert np.array_equal(model.predict(card.explanation), model.labels_)
    # Seven leaves tell the planted trends: leisure, outdoor, daily, and both parts of the others.
    assert model.n_nodes_ == 13


@pytest.mark.parametrize("seed", [0, 1])
def test_what_is_hidden_is_found_better_than_by_clustering_first(seed):
    card = make_card_trends(250, random_state=seed)
    ours, two_step = fit(card), fit(card, search="two-step")
    assert ours.objective_ < two_step.objective_
    assert ours.n_nodes_ < two_step.n_nodes_
    found = adjusted_rand_score(card.labels, ours.labels_)
    assert found > adjusted_rand_score(card.labels, two_step.labels_)
