"""What the papers measure of a tree."""

from __future__ import annotations

from sklearn.metrics import normalized_mutual_info_score

from pellucid.metrics import weighted_average_depth, weighted_average_explanation_size

MEASURES = ("npc", "waes", "wad", "nmi")


def measure_tree(model) -> dict[str, float]:
    """Cost over that of the reference, explanation size, depth, and agreement of a fitted model."""
    return {
        "npc": cost_ratio(model.inertia_, model.reference_inertia_),
        "waes": weighted_average_explanation_size(model.tree_),
        "wad": weighted_average_depth(model.tree_),
        "nmi": float(normalized_mutual_info_score(model.reference_labels_, model.labels_)),
    }


def cost_ratio(cost: float, reference: float) -> float:
    """1 for two partitions without any cost."""
    if reference == 0:
        return 1.0 if cost == 0 else float("inf")
    return float(cost / reference)
