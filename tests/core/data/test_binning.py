"""Codes say on which side of any edge a value lies, wherever the edges fall."""

import numpy as np
import pytest

from pellucid._core.data import binning
from pellucid._core.data.binning import make_bins


@pytest.mark.parametrize("seed", range(12))
def test_codes_of_values_that_are_cut_off_at_both_ends_are_found(seed, monkeypatch):
    """The slots of such a column begin and end at -1 and 1, and one of them ends at 0."""
    monkeypatch.setattr(binning, "_FEW_VALUES", 0)  # the compiled loop for many values
    X = np.clip(np.random.default_rng(seed).normal(0, 0.5, size=(5000, 1)), -1, 1)
    bins = make_bins(X, np.array([[-0.5], [0.5]]))
    codes = np.searchsorted(bins.edges[0, : bins.n_edges[0]], X[:, 0])
    np.testing.assert_array_equal(bins.codes[0], codes)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("kind", ["real", "integers", "huge", "constant"])
def test_codes_of_few_values_are_those_of_the_compiled_loop(kind, dtype, monkeypatch):
    random = np.random.default_rng(0)
    X = {
        "real": lambda: random.normal(size=(900, 3)),
        "integers": lambda: random.integers(-4, 5, size=(900, 3)),
        "huge": lambda: random.normal(size=(900, 3)) * 10.0 ** random.integers(-30, 30, (900, 3)),
        "constant": lambda: np.full((900, 3), 0.1),
    }[kind]().astype(dtype)
    centers = X[:4].astype(np.float64) + np.array([0, 1e-3, -0.5])
    found = {}
    for limit in (0, X.size):
        monkeypatch.setattr(binning, "_FEW_VALUES", limit)
        found[limit] = make_bins(X, centers)
    for name in ("codes", "inside", "edges", "center_code"):
        few, many = (getattr(bins, name) for bins in found.values())
        assert few.dtype == many.dtype
        np.testing.assert_array_equal(few, many)
