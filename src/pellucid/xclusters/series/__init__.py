"""Time series from long tables."""
