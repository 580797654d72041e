"""Synthetic data sets of the papers, or substitutes for their data."""

from pellucid.datasets._synthetic import (
    make_eop_patterns,
    make_synthetic_1,
    make_synthetic_2,
    make_three_features,
    make_xor_triangles,
)
from pellucid.datasets._trends import make_card_trends

__all__ = [
    "make_card_trends",
    "make_eop_patterns",
    "make_synthetic_1",
    "make_synthetic_2",
    "make_three_features",
    "make_xor_triangles",
]
