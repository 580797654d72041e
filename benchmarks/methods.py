"""Our methods by the names that the result files use."""

from __future__ import annotations

from typing import Any

from pellucid import IMM, ExGreedy, ExKMC, ExplainableKMeans, ExShallow, ExShallowSearch

TITLES = {
    "imm": "IMM",
    "imm+exkmc 2k": "IMM + expansion to 2k",
    "exshallow": "ExShallow",
    "exshallow*": "ExShallow*",
    "exgreedy": "ExGreedy",
    "kmc": "KMC",
}


def make(method: str, centers: Any, **parameters: Any):
    """An estimator that explains the clustering around some centers."""
    kinds = {"imm": IMM, "imm+exkmc 2k": ExKMC, "exshallow": ExShallow, "exgreedy": ExGreedy}
    if method == "kmc":
        return ExKMC(reference=centers, base=None, n_leaves=len(centers), **parameters)
    if method == "exshallow*":
        kmc = ExKMC(base=None, n_leaves=len(centers))
        return ExShallowSearch(reference=centers, goal_cost=kmc, goal_size=kmc, **parameters)
    if method == "explainable k-means":
        return ExplainableKMeans(reference=centers, random_state=0, faithfulness=0, **parameters)
    return kinds[method](reference=centers, **parameters)


def warm_up(method: str, X: Any, k: int, **parameters: Any) -> None:
    """Compile what a method needs for data of this kind, on a few of its rows."""
    few = X[: max(200, 5 * k)]
    dense = few.toarray() if hasattr(few, "toarray") else few
    make(method, dense[:: len(dense) // k][:k], **parameters).fit(few)
