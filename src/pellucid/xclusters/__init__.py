"""Clusters that can be explained: distances, k-medoids, and the search for both at once."""

from pellucid.xclusters.series import SeriesTable, series_from_long

__all__ = ["SeriesTable", "series_from_long"]
