"""Measures of cost, explanation size, agreement with the reference, and rule lists."""

from pellucid.metrics.rule_lists import (
    LevelMeasures,
    cart_complexity,
    eop_complexity,
    level_measures,
)
from pellucid.metrics.trees import (
    kmeans_cost,
    kmedians_cost,
    normalized_partition_cost,
    reference_agreement,
    surrogate_cost,
    weighted_average_depth,
    weighted_average_explanation_size,
)

__all__ = [
    "LevelMeasures",
    "cart_complexity",
    "eop_complexity",
    "kmeans_cost",
    "kmedians_cost",
    "level_measures",
    "normalized_partition_cost",
    "reference_agreement",
    "surrogate_cost",
    "weighted_average_depth",
    "weighted_average_explanation_size",
]
