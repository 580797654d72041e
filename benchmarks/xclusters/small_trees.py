"""Clusters with small trees, which need not predict all clusters correctly."""

from __future__ import annotations

from sklearn.metrics import adjusted_rand_score

from benchmarks.jobs import Job
from benchmarks.page import Picture, Sheet
from benchmarks.settings import Settings
from benchmarks.store import Store, read_rows
from benchmarks.xclusters import drawings, sets
from pellucid import XClusters

FILE = "xclusters_small_trees.csv"
WANTED = 0.9
_MOST_LEAVES = 40
"""Larger trees are no pictures to look at."""

_VALUES = ("k", "alpha", "n_nodes", "accuracy", "evaluations", "planted", "planted_rules")


def jobs(settings: Settings, name: str) -> list[Job]:
    """One fit for each data set whose tree is not small anyway, with its pictures."""
    if name == sets.PLAIN:
        return []
    store = Store(settings.output / FILE, ("dataset", "wanted"), _VALUES)
    return [Job(store, {"dataset": name, "wanted": WANTED}, _measure(settings, name))]


def _measure(settings: Settings, name: str):
    def measure():
        from pellucid.plotting import plot_tree, plot_trends

        data = sets.load(name, settings.data)
        how = {"accuracy_distance": "precomputed", "explanation_distance": "jaccard"}
        model = XClusters(**how, tree_accuracy=WANTED)
        model.fit(data.distances, explanation=data.explanation)
        figure = plot_trends(model, data.series, times=data.times, label=data.label, max_lines=80)
        drawings.save_small(figure, settings.output / f"xclusters_small_trees_{name}.png")
        if model.tree_.n_leaves <= _MOST_LEAVES:
            tree = plot_tree(model).figure
            drawings.save_small(tree, settings.output / f"xclusters_tree_{name}.png", dpi=70)
        found = {
            "k": model.best_k_,
            "alpha": model.best_alpha_,
            "n_nodes": model.n_nodes_,
            "accuracy": model.accuracy_,
            "evaluations": len(model.evaluations_),
        }
        if data.planted is not None:
            predicted = model.predict(data.explanation)
            found["planted"] = float(adjusted_rand_score(data.planted, model.labels_))
            found["planted_rules"] = float(adjusted_rand_score(data.planted, predicted))
        return found

    return measure


def sheets(settings: Settings) -> list[Sheet | Picture]:
    """The measures of the small trees, and the pictures that exist."""
    rows = read_rows(settings.output / FILE)
    if not rows:
        return []
    lines = [
        [
            sets.TITLES[row["dataset"]],
            f"{row['k']}, {float(row['alpha']):.3g}",
            row["n_nodes"],
            f"{float(row['accuracy']):.3f}",
            row["evaluations"],
            f"{float(row['planted']):.2f}" if row["planted"] else "–",
            f"{float(row['planted_rules']):.2f}" if row["planted_rules"] else "–",
        ]
        for row in rows
    ]
    headings = ["data", "k, α", "nodes", "F1", "evaluations", "planted", "planted, by the rules"]
    note = (
        f"`XClusters(tree_accuracy={WANTED})`: the tree stops growing when it "
        "reaches this F1. *Planted* is the agreement (adjusted Rand) of the clusters with the "
        "planted trends, and of the clusters that the rules predict."
    )
    found: list[Sheet | Picture] = [Sheet("Small trees", headings, lines, note)]
    for row in rows:
        name = row["dataset"]
        captions = {
            f"xclusters_small_trees_{name}.png": f"Clusters of {sets.TITLES[name]}, small tree",
            f"xclusters_tree_{name}.png": f"The tree for the clusters of {sets.TITLES[name]}",
        }
        found += [
            Picture(file, caption)
            for file, caption in captions.items()
            if (settings.output / file).exists()
        ]
    return found
