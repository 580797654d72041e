"""Arithmetic on data: exact costs, sums by group, and the compiled loops."""
