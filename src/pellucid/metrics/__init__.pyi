from pellucid.metrics.rule_lists import LevelMeasures as LevelMeasures
from pellucid.metrics.rule_lists import cart_complexity as cart_complexity
from pellucid.metrics.rule_lists import eop_complexity as eop_complexity
from pellucid.metrics.rule_lists import level_measures as level_measures
from pellucid.metrics.trees import kmeans_cost as kmeans_cost
from pellucid.metrics.trees import kmedians_cost as kmedians_cost
from pellucid.metrics.trees import normalized_partition_cost as normalized_partition_cost
from pellucid.metrics.trees import reference_agreement as reference_agreement
from pellucid.metrics.trees import surrogate_cost as surrogate_cost
from pellucid.metrics.trees import weighted_average_depth as weighted_average_depth
from pellucid.metrics.trees import (
    weighted_average_explanation_size as weighted_average_explanation_size,
)
