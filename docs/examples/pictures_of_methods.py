"""The pictures of the page "How it works": ``python docs/examples/pictures_of_methods.py``."""

from __future__ import annotations

import warnings
from pathlib import Path

import matplotlib as mpl
from sklearn.cluster import KMeans
from sklearn.datasets import load_wine

from pellucid import IMM, ExKMC, ExplainableKMeans, ExShallow, explain_clusters
from pellucid.plotting import plot_partition
from pellucid.plotting.regions import plot_level
from pellucid.plotting.style import cluster_color

FOLDER = Path(__file__).parents[1] / "images"
COLUMNS = ["flavanoids", "color_intensity"]
K = 5


def main() -> None:
    """Draw k-means and five explanations of it, side by side."""
    mpl.use("Agg")
    import matplotlib.pyplot as plt

    warnings.filterwarnings("ignore", "less than half of the rows")
    X = load_wine(as_frame=True).data[COLUMNS]
    X = (X - X.mean()) / X.std()
    kmeans = KMeans(K, n_init=10, random_state=0).fit(X)
    figure, axes = plt.subplots(2, 3, figsize=(13, 8), layout="constrained")
    first, *others = axes.flat
    colors = [cluster_color(label) for label in kmeans.labels_]
    first.scatter(X.iloc[:, 0], X.iloc[:, 1], c=colors, s=16)
    first.set_xlabel(COLUMNS[0])
    first.set_ylabel(COLUMNS[1])
    first.set_title("k-means", loc="left")
    models = {
        "IMM: fewest mistakes": IMM(reference=kmeans),
        "ExShallow: low cost, short rules": ExShallow(reference=kmeans),
        "ExKMC: ten leaves": ExKMC(n_leaves=2 * K, reference=kmeans),
        "ExplainableKMeans": ExplainableKMeans(reference=kmeans, random_state=0),
    }
    for ax, (title, model) in zip(others, models.items()):
        plot_partition(model.fit(X), X, features=tuple(COLUMNS), ax=ax)
        ratio = model.inertia_ / model.reference_inertia_
        ax.set_title(f"{title}\ncost {ratio:.3f}, {model.mistakes_:.0f} rows moved", loc="left")
        ax.get_legend().remove()
    found = explain_clusters(X, kmeans.labels_, random_state=0)
    plot_level(found.model, X, kmeans.labels_, ax=others[-1])
    others[-1].set_title("")
    others[-1].set_title("Regions: the first level", loc="left")
    others[-1].get_legend().remove()
    figure.savefig(FOLDER / "methods.png", dpi=80)


if __name__ == "__main__":
    main()
