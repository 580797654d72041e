"""Data sets that the papers made up."""

from pellucid.datasets._exkmc import make_synthetic_1, make_synthetic_2
from pellucid.datasets._patterns import make_eop_patterns, make_three_features, make_xor_triangles

__all__ = [
    "make_eop_patterns",
    "make_synthetic_1",
    "make_synthetic_2",
    "make_three_features",
    "make_xor_triangles",
]
