"""Distances between rows: numeric, categorical, dynamic time warping, and their matrices."""
