"""Tiny data sets with ties, duplicates, constant columns and weights, exact in float64."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from _support.oracles import Data, nearest


@st.composite
def tiny_data(draw, max_rows=12, max_features=3, max_clusters=5, weights=True, objective="kmeans"):
    """Whole and half numbers only, so that every cost is exact and ties are real ties."""
    n = draw(st.integers(1, max_rows))
    d = draw(st.integers(1, max_features))
    k = draw(st.integers(1, max_clusters))
    X = draw(hnp.arrays(np.float64, (n, d), elements=st.integers(-4, 4).map(float)))
    halves = st.integers(-9, 9).map(lambda i: i / 2)
    centers = draw(hnp.arrays(np.float64, (k, d), elements=halves))
    weight = np.ones(n)
    if weights:
        weight = draw(hnp.arrays(np.float64, n, elements=st.integers(1, 3).map(float)))
    return Data(X, centers, nearest(X, centers, objective), weight, objective)
