"""Values and weights outside of the numeric domain are refused; weights far apart are not."""

from __future__ import annotations

import numpy as np
import pytest

from pellucid import ATEOPClassifier, EOPClassifier

X = np.random.default_rng(0).normal(size=(30, 2))
Y = (X[:, 0] > 0).astype(int)


@pytest.mark.parametrize("estimator", [EOPClassifier, ATEOPClassifier])
def test_values_beyond_the_domain_are_refused(estimator):
    far = X.copy()
    far[3, 1] = 1.7e308
    with pytest.raises(ValueError, match="column 1"):
        estimator(random_state=0).fit(far, Y)


def test_weights_below_the_smallest_that_counts_are_zero():
    weight = np.r_[np.ones(20), np.full(10, 1e-25)]
    model = EOPClassifier("stump", random_state=0).fit(X, Y, sample_weight=weight)
    other = EOPClassifier("stump", random_state=0).fit(X[:20], Y[:20])
    np.testing.assert_array_equal(model.predict(X), other.predict(X))


def test_tiny_weights_are_refused():
    with pytest.raises(ValueError, match="sample_weight"):
        EOPClassifier("stump").fit(X, Y, sample_weight=np.full(30, 5e-324))
