"""Clusters that can be explained: distances, k-medoids, and the search for both at once."""

from __future__ import annotations

from importlib import import_module

_HOMES = {
    "Medoids": "medoids",
    "SeriesTable": "series",
    "XClusters": "_xclusters",
    "check_matrix": "distances",
    "between": "distances",
    "k_medoids": "medoids",
    "load_matrix": "distances",
    "pairwise": "distances",
    "save_matrix": "distances",
    "series_from_long": "series",
}

__all__ = [
    "Medoids",
    "SeriesTable",
    "XClusters",
    "between",
    "check_matrix",
    "k_medoids",
    "load_matrix",
    "pairwise",
    "save_matrix",
    "series_from_long",
]


def __getattr__(name: str) -> object:
    """Names are fetched on first use: `pellucid.cluster` takes k-medoids from here."""
    if name in _HOMES:
        return getattr(import_module(f"pellucid.xclusters.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'pellucid.xclusters' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
