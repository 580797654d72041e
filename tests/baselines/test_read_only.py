"""Read-only data."""

from __future__ import annotations

import numpy as np

from pellucid.baselines import CARTExplainer


def test_large_values_in_a_read_only_array():
    X = np.array([[0, 3.4e38], [3.4e38, 3.4e38], [-3.4e38, 0]], dtype=np.float32)
    X.flags.writeable = False
    model = CARTExplainer(reference=[[0.0, 3e38], [-3e38, 0.0]]).fit(X)
    assert model.n_leaves_ == 2
