"""Joint clustering and explanation (XClusters), k-medoids and distance matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pellucid._utils.imports import lazy_attributes

if TYPE_CHECKING:
    from pellucid.xclusters._kmedoids import KMedoids
    from pellucid.xclusters._xclusters import XClusters
    from pellucid.xclusters.distances.pairwise import (
        between,
        check_matrix,
        load_matrix,
        pairwise,
        save_matrix,
    )
    from pellucid.xclusters.medoids import Medoids, k_medoids
    from pellucid.xclusters.series import SeriesTable, series_from_long, series_from_wide

__all__ = [
    "KMedoids",
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
    "series_from_wide",
]

# Type checkers use the imports above, so that a wrong name is an error.
if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_attributes(
        __name__,
        {
            "_kmedoids": "KMedoids",
            "_xclusters": "XClusters",
            "distances.pairwise": "between check_matrix load_matrix pairwise save_matrix",
            "medoids": "Medoids k_medoids",
            "series": "SeriesTable series_from_long series_from_wide",
        },
    )
