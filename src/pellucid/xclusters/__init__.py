"""Joint clustering and explanation (XClusters), k-medoids and distance matrices."""

from __future__ import annotations

from pellucid._utils.lazy import lazy_attributes

__getattr__, __dir__, __all__ = lazy_attributes(
    __name__,
    {
        "KMedoids": "_kmedoids",
        "Medoids": "medoids",
        "SeriesTable": "series.series",
        "XClusters": "_xclusters",
        "between": "distances.pairwise",
        "check_matrix": "distances.pairwise",
        "k_medoids": "medoids",
        "load_matrix": "distances.pairwise",
        "pairwise": "distances.pairwise",
        "save_matrix": "distances.pairwise",
        "series_from_long": "series.series",
        "series_from_wide": "series.series",
    },
)
