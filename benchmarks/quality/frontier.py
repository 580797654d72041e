"""Cost against explanation size: all methods on one data set, as a picture."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from sklearn.cluster import KMeans

from benchmarks import data
from benchmarks.jobs import Job
from benchmarks.measures import MEASURES, measure_tree
from benchmarks.page import Picture, Section
from benchmarks.settings import Settings
from benchmarks.store import Row, Store, group, read_rows
from pellucid import BSIMM, IMM, ExGreedy, ExKMC, ExplainableKMeans, ExShallow
from pellucid.baselines import CARTExplainer
from pellucid.plotting.style import cluster_color

FILE = "quality_frontier.csv"
PICTURE = "frontier.png"
DATA = "digits"
_FACTORS = (1.0, 1.2, 1.5, 2.0)


def _models(centers) -> dict[str, list]:
    sizes = [int(factor * len(centers)) for factor in _FACTORS]
    cheapest = partial(ExplainableKMeans, reference=centers, faithfulness=0)
    return {
        "IMM": [IMM(reference=centers)],
        "BSIMM": [BSIMM(reference=centers)],
        "ExGreedy": [ExGreedy(reference=centers)],
        "ExShallow": [
            ExShallow(reference=centers, depth_penalty=p) for p in (0.01, 0.03, 0.1, 0.3)
        ],
        "ExKMC": [ExKMC(reference=centers, n_leaves=size) for size in sizes],
        "CART": [CARTExplainer(reference=centers, n_leaves=size) for size in sizes],
        "ExplainableKMeans": [
            *(cheapest(n_leaves=size) for size in sizes),
            *(cheapest(depth_penalty=p) for p in (0.02, 0.05, 0.1)),
        ],
    }


def jobs(settings: Settings) -> list[Job]:
    """Each method in several sizes."""
    store = Store(settings.output / FILE, ("method", "number"), MEASURES)
    if settings.quick:
        return []
    X, k = data.load(DATA, settings.data)
    centers = KMeans(k, n_init=10, random_state=0).fit(X).cluster_centers_
    return [
        Job(store, {"method": name, "number": i}, lambda model=model: measure_tree(model.fit(X)))
        for name, models in _models(centers).items()
        for i, model in enumerate(models)
    ]


def sections(settings: Settings) -> list[Section]:
    """The picture."""
    rows = read_rows(settings.output / FILE)
    if not rows:
        return []
    _draw(rows, settings.output / PICTURE)
    caption = (
        f"Cost against explanation size on {DATA}: towards the lower left is better. Points of one "
        "method differ in leaves or in the depth penalty."
    )
    return [Section("Cost against explanation size", "", [Picture(PICTURE, caption)])]


def _draw(rows: list[Row], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6.4, 4.2))
    for i, ((name,), found) in enumerate(group(rows, "method").items()):
        points = sorted((float(row["waes"]), float(row["npc"])) for row in found)
        is_ours = name == "ExplainableKMeans"
        if is_ours:
            points = [p for p in points if not any(q[0] <= p[0] and q[1] < p[1] for q in points)]
        axes.plot(
            *zip(*points),
            marker="osD^vPX"[i % 7],
            color="black" if is_ours else cluster_color(i),
            linestyle="-" if is_ours else ":",
            linewidth=2 if is_ours else 1,
            markersize=7 if is_ours else 5,
            label=name,
        )
    axes.set_xlabel("conditions in the average explanation (WAES)")
    axes.set_ylabel("cost, as a multiple of k-means")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=8)
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    plt.close(figure)
