"""Measurements: peers and papers side by side. Run with ``python -m benchmarks``."""
