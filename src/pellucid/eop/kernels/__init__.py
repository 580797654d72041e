"""Compiled loops of the region search."""
