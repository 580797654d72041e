"""The synthetic data are what the ExKMC paper describes."""

import numpy as np
import pytest

from pellucid import ExKMC
from pellucid.baselines import CARTExplainer
from pellucid.datasets import make_synthetic_1, make_synthetic_2


def test_synthetic_1_has_two_outliers_and_two_halves():
    X, y = make_synthetic_1(52, 20, n_flipped=3, outlier=7.0, random_state=0)
    assert X.shape == (52, 20)
    assert np.bincount(y).tolist() == [2, 25, 25]
    assert X[y == 0].tolist() == [[7.0] + [1.0] * 19, [7.0] + [0.0] * 19]
    assert (X[y > 0, 0] == 0).all()
    assert ((X[y == 1, 1:] == 0).sum(axis=1) == 3).all()
    assert ((X[y == 2, 1:] == 1).sum(axis=1) == 3).all()
    assert len(np.unique(X[y == 1], axis=0)) > 20


@pytest.mark.slow
def test_synthetic_1_misleads_cart_and_not_exkmc():
    """The paper: a ratio above five for CART, near the optimum for the others."""
    X, y = make_synthetic_1(1000, 500, n_flipped=50, random_state=0)
    cart = CARTExplainer(random_state=0).fit(X, y)
    ours = ExKMC(n_leaves=3).fit(X, y)
    assert cart.inertia_ > 5 * cart.reference_inertia_
    assert ours.inertia_ < 2 * ours.reference_inertia_


def test_synthetic_2_is_codewords_with_one_column_set_to_zero():
    k, d = 5, 60
    X, y = make_synthetic_2(k, d, random_state=0)
    assert X.shape == (k * d, d)
    assert np.bincount(y).tolist() == [d] * k
    assert set(np.unique(X)) == {-1.0, 0.0, 1.0}
    words = np.stack([np.sign(X[y == i].sum(axis=0)) for i in range(k)])
    for i in range(k):
        rows = X[y == i]
        assert sorted(np.argwhere(rows == 0)[:, 1]) == list(range(d))
        assert (np.where(rows == 0, words[i], rows) == words[i]).all()
    apart = (words[:, None] != words[None]).sum(axis=2)[~np.eye(k, dtype=bool)]
    assert apart.min() >= d / 4


@pytest.mark.parametrize("make", [make_synthetic_1, make_synthetic_2])
def test_random_state(make):
    arguments = (40, 30) if make is make_synthetic_1 else (3, 30)
    more = {"n_flipped": 5} if make is make_synthetic_1 else {}
    first, again, other = (make(*arguments, random_state=s, **more)[0] for s in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_invalid_arguments():
    with pytest.raises(ValueError, match="at least 4 rows"):
        make_synthetic_1(3)
    with pytest.raises(ValueError, match="n_flipped=5 must be between 0 and 4"):
        make_synthetic_1(10, 5, n_flipped=5)
    with pytest.raises(ValueError, match="too small for 100 codewords"):
        make_synthetic_2(100, 4, random_state=0)
    with pytest.raises(ValueError, match="must be at least 1"):
        make_synthetic_2(0)
