"""Every estimator keeps scikit-learn's contract, and none is forgotten."""

import inspect

import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.utils.estimator_checks import parametrize_with_checks

import pellucid
import pellucid.cluster
import pellucid.eop
from _support.extended import EXTENDED
from _support.references import check_weights_are_repetitions
from _support.sklearn_checks import expected_failures
from pellucid import IMM, BeamSearch, ExGreedy, ExKMC, ExShallow, KMedoids, RuleSet, XClusters
from pellucid.methods import METHODS

pytestmark = pytest.mark.slow

PARAMETERS = {
    "BSIMM": {"beam_width": 3},
    "ExGreedy": {"search": BeamSearch(3, 2)},
    "ExShallow": {"polish": True},
    "ExShallowSearch": {"goal_cost": IMM(), "goal_size": 2.0, "max_fits": 10},
    "ExplainableKMeans": {"effort": "fast"},
    "OptimalTree": {"criterion": "surrogate"},
    "RandomThresholds": {"n_draws": 3},
}
ESTIMATORS = [method.estimator(**PARAMETERS.get(method.name, {})) for method in METHODS]
ESTIMATORS.append(ExKMC(base=ExShallow()))
ELSEWHERE = [KMedoids(), RuleSet(), XClusters()]  # checked beside their other tests
OTHER_OBJECTIVE = [
    clone(model).set_params(objective="kmedians") for model in (ExGreedy(), IMM(), ExKMC())
]
CHECKED = ESTIMATORS + OTHER_OBJECTIVE
if not EXTENDED:  # without classes that are checked already: their input is read by the same code
    CHECKED = [m for m in ESTIMATORS if not isinstance(getattr(m, "base", None), ExShallow)]
    CHECKED.append(OTHER_OBJECTIVE[0])


@parametrize_with_checks(CHECKED, expected_failed_checks=expected_failures)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("estimator", ESTIMATORS + OTHER_OBJECTIVE, ids=repr)
def test_weights_are_repetitions(estimator):
    check_weights_are_repetitions(estimator)


def test_every_public_estimator_is_checked():
    public = {
        thing
        for module in (pellucid, pellucid.cluster)
        for thing in (getattr(module, name) for name in module.__all__)
        if inspect.isclass(thing) and issubclass(thing, BaseEstimator)
    }
    checked = {type(estimator) for estimator in CHECKED + ELSEWHERE}
    assert public == checked | {pellucid.EOPClassifier, pellucid.ATEOPClassifier}


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
def test_clone_keeps_parameters(estimator):
    twin = clone(estimator).set_params(n_clusters=4, threshold_style="midpoint")
    assert twin.get_params(deep=False)["n_clusters"] == 4
    assert estimator.n_clusters is None
