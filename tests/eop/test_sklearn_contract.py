"""The EOP classifiers pass scikit-learn's estimator checks."""

import pytest
from sklearn.linear_model import RidgeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

import pellucid.eop
from _support.extended import EXTENDED
from _support.sklearn_checks import expected_failures
from pellucid import ATEOPClassifier, EOPClassifier

CLASSIFIERS = [
    EOPClassifier(max_error=0.1, max_levels=2),  # faster than the default
    EOPClassifier(
        "stump", regions="nonparametric", leftover="neighbours", relax=0.2, calibration=0
    ),
    ATEOPClassifier(),
]
if EXTENDED:
    CLASSIFIERS += [
        EOPClassifier(),
        EOPClassifier("stump"),
        EOPClassifier("linear_svm", regions="nonparametric", calibration=0),
        EOPClassifier("knn", regions="ellipse", calibration=0.2, n_bootstraps=3),
        EOPClassifier(RidgeClassifier(), regions="polyhedron", projections=4, n_bootstraps=2),
        ATEOPClassifier("logistic", max_error=0.2, leftover="majority"),
    ]


def test_every_classifier_is_checked():
    public = {getattr(pellucid.eop, name) for name in pellucid.eop.__all__}
    classifiers = {thing for thing in public if hasattr(thing, "predict")}
    assert classifiers == set(map(type, CLASSIFIERS))


@pytest.mark.slow
@parametrize_with_checks(CLASSIFIERS, expected_failed_checks=expected_failures)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore:class.* too few rows")
def test_scikit_learn_checks(estimator, check):
    check(estimator)
