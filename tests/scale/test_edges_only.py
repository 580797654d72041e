"""`exact=False`: only the edges of bins are compared, and the gap is reported."""

from __future__ import annotations

import re

import numpy as np
import pytest

import pellucid
from _support.fitting import assert_same_tree
from pellucid import EMN, IMM, ExGreedy, ExKMC, ExShallow

ESTIMATORS = [IMM, EMN, ExGreedy, ExShallow, ExKMC]


def scan_of(X, **options):
    return pellucid.scan(lambda: [X[:100], X[100:]], **options)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_columns_of_few_values_leave_no_gap(estimator):
    random = np.random.default_rng(0)
    X = random.integers(0, 40, size=(900, 3)).astype(float)
    centers = X[:4] + 0.25
    model = estimator(reference=centers).fit(scan_of(X, exact=False))
    assert model.scan_gap_ == 0
    assert_same_tree(model, estimator(reference=centers).fit(X))
    assert not hasattr(estimator(reference=centers).fit(scan_of(X)), "scan_gap_")


def mistakes_of_root(model, X, centers, labels):
    feature, threshold = model.tree_.feature[0], model.tree_.threshold[0]
    is_left = X[:, feature] <= threshold
    return int((is_left != (centers[labels, feature] <= threshold)).sum())


@pytest.mark.parametrize("seed", range(6))
def test_the_gap_bounds_what_a_split_could_gain(seed):
    random = np.random.default_rng(seed)
    X = random.normal(size=(20_000, 3))
    centers = X[:5].copy()
    labels = ((X[:, None] - centers) ** 2).sum(axis=2).argmin(axis=1)
    exact = IMM(reference=centers).fit(X)
    edges = IMM(reference=centers).fit(scan_of(X, exact=False))
    best, found = (mistakes_of_root(m, X, centers, labels) for m in (exact, edges))
    assert edges.scan_gap_ > 0
    assert best <= found <= best + edges.scan_gap_


def test_fewer_passes_are_taken(capsys):
    random = np.random.default_rng(1)
    X = random.normal(size=(20_000, 3))
    n_passes = []
    for exact in (True, False):
        IMM(reference=X[:5], verbose=1).fit(scan_of(X, exact=exact))
        # Percentages depend on which thread is faster, the number of passes does not.
        n_passes.append(max(map(int, re.findall(r"pass (\d+)", capsys.readouterr().err))))
    assert n_passes[1] < n_passes[0]
