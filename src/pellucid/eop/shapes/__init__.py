"""Shapes of regions and the functions that find them."""
