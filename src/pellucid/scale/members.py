"""Which rows of a leaf count in a search."""

ALL, ACTIVE, PASSIVE = range(3)
"""All rows; those in the leaf of their own center; the others."""
