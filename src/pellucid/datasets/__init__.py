"""Data sets that the papers made up."""

from pellucid.datasets._exkmc import make_synthetic_1, make_synthetic_2

__all__ = ["make_synthetic_1", "make_synthetic_2"]
