"""Codes say on which side of any edge a value lies, wherever the edges fall."""

import numpy as np
import pytest

from pellucid._core.data.binning import make_bins


@pytest.mark.parametrize("seed", range(12))
def test_codes_of_values_that_are_cut_off_at_both_ends_are_found(seed):
    """The slots of such a column begin and end at -1 and 1, and one of them ends at 0."""
    X = np.clip(np.random.default_rng(seed).normal(0, 0.5, size=(5000, 1)), -1, 1)
    bins = make_bins(X, np.array([[-0.5], [0.5]]))
    codes = np.searchsorted(bins.edges[0, : bins.n_edges[0]], X[:, 0])
    np.testing.assert_array_equal(bins.codes[0], codes)
