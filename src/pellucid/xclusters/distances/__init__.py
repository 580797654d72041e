"""Distances between rows: numeric, categorical and dynamic time warping; distance matrices."""
