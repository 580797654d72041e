"""The pictures of the page "How it works": ``python docs/examples/pictures_of_methods.py``."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.patches import Rectangle
from sklearn.cluster import KMeans
from sklearn.datasets import load_wine

from pellucid import (
    IMM,
    ExKMC,
    ExplainableKMeans,
    ExShallow,
    OptimalTree,
    RuleSet,
    explain_clusters,
)
from pellucid.plotting import plot_partition
from pellucid.plotting.regions import plot_level
from pellucid.plotting.style import cluster_color

FOLDER = Path(__file__).parents[1] / "images"
COLUMNS = ["flavanoids", "color_intensity"]
K = 5
TITLE: dict[str, Any] = {"loc": "left", "color": "black"}


def main() -> None:
    """Draw k-means and eight explanations of it, side by side."""
    mpl.use("Agg")
    import matplotlib.pyplot as plt

    warnings.filterwarnings("ignore", "less than half of the rows")
    X = load_wine(as_frame=True).data[COLUMNS]
    X = (X - X.mean()) / X.std()
    kmeans = KMeans(K, n_init=10, random_state=0).fit(X)
    figure, axes = plt.subplots(3, 3, figsize=(13, 12), layout="constrained")
    first, *others, rules, regions = axes.flat
    draw_rows(first, X, [cluster_color(label) for label in kmeans.labels_])
    first.set_title("k-means", **TITLE)
    models = {
        "IMM: fewest mistakes": IMM(reference=kmeans),
        "OptimalTree: proven to have the fewest": OptimalTree(reference=kmeans),
        "ExShallow: low cost, short rules": ExShallow(reference=kmeans),
        "ExKMC: ten leaves": ExKMC(n_leaves=2 * K, reference=kmeans),
        "ExplainableKMeans": ExplainableKMeans(reference=kmeans, random_state=0),
        "ExplainableKMeans(faithfulness=0)": ExplainableKMeans(
            reference=kmeans, faithfulness=0, random_state=0
        ),
    }
    for ax, (title, model) in zip(others, models.items(), strict=True):
        plot_partition(model.fit(X), X, features=tuple(COLUMNS), ax=ax)
        ratio = model.inertia_ / model.reference_inertia_
        ax.set_title(f"{title}\ncost {ratio:.3f}, {model.mistakes_:.0f} rows moved", **TITLE)
        ax.get_legend().remove()
    draw_rules(rules, X, RuleSet().fit(X, kmeans.labels_))
    found = explain_clusters(X, kmeans.labels_, random_state=0)
    plot_level(found.model, X, kmeans.labels_, ax=regions)
    regions.set_title("")
    regions.set_title("Regions: the first level", **TITLE)
    regions.get_legend().remove()
    figure.savefig(FOLDER / "methods.png", dpi=80)


def draw_rows(ax, X, colors) -> None:
    """Draw the rows."""
    ax.scatter(X.iloc[:, 0], X.iloc[:, 1], c=colors, s=16)
    ax.set_xlabel(COLUMNS[0])
    ax.set_ylabel(COLUMNS[1])


def draw_rules(ax, X, model) -> None:
    """Draw the box of each rule; rows that no rule holds are grey."""
    colors = ["lightgrey" if c < 0 else cluster_color(c) for c in model.labels_]
    draw_rows(ax, X, colors)
    limits = [ax.get_xlim(), ax.get_ylim()]
    for rule in model.rules_:
        sides = [list(limit) for limit in limits]
        for condition in rule.conditions:
            sides[condition.feature][int(condition.is_upper)] = condition.threshold
        (left, right), (bottom, top) = sides
        color = cluster_color(rule.cluster)
        box = (left, bottom), right - left, top - bottom
        ax.add_patch(Rectangle(*box, facecolor=color, edgecolor="black", alpha=0.15))
    ax.set_title(
        f"RuleSet: {len(model.rules_)} rules\n{100 * model.coverage_:.0f}% of the rows, "
        f"precision {100 * model.precision_:.1f}%",
        **TITLE,
    )


if __name__ == "__main__":
    main()
