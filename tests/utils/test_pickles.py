"""Pickles know the version that wrote them."""

import pickle
import warnings

import numpy as np
import pytest
from sklearn.datasets import load_iris

from pellucid import IMM, EOPClassifier, Explanation, KMedoids, XClusters
from pellucid._utils import estimators

X, Y = load_iris(return_X_y=True)


@pytest.mark.parametrize(
    "model",
    [
        IMM(3, random_state=0).fit(X),
        Explanation.of(IMM(3, random_state=0).fit(X)),
        EOPClassifier("stump", random_state=0).fit(X, Y),
    ],
    ids=lambda model: type(model).__name__,
)
def test_another_version_warns(model, monkeypatch):
    data = pickle.dumps(model)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        same = pickle.loads(data)
    assert np.array_equal(same.predict(X), model.predict(X))
    assert not any("version" in name for name in vars(same))
    monkeypatch.setattr(estimators, "__version__", "0.3.0")
    with pytest.warns(UserWarning, match=r"pickled by pellucid 0\.2\.0 and is loaded by 0\.3\.0"):
        pickle.loads(data)


def test_all_models_carry_the_version():
    for kind in (KMedoids, XClusters, IMM):
        if issubclass(kind, estimators.VersionedPickleMixin):
            assert "_pellucid_version" in kind().__getstate__()
