"""Possible causes of the gaps to the ExKMC paper: within 1 to 2 % of k-means by 4k leaves."""

from __future__ import annotations

from pathlib import Path
from statistics import mean

from sklearn.cluster import KMeans
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from benchmarks import data
from benchmarks.jobs import Job
from benchmarks.measures import cost_ratio
from benchmarks.page import Section, Sheet
from benchmarks.papers.curves import TITLES
from benchmarks.settings import Settings
from benchmarks.store import Row, Store, group, read_rows
from pellucid import ExKMC
from pellucid.metrics import kmeans_cost

FILE = "exkmc_causes.csv"
DATASETS = ("digits", "anuran", "avila")
"""Data sets with a higher cost at 4k leaves, without Covtype, whose fits take minutes."""

VARIANTS = {
    "as in the figure": {},
    "one start of k-means": {"n_init": 1},
    "one iteration of k-means": {"n_init": 1, "max_iter": 1},
    "columns from 0 to 1": {"prepare": MinMaxScaler},
    "columns of variance 1": {"prepare": StandardScaler},
}
"""What is changed: the data (`prepare`) or the parameters of k-means."""

FACTORS = (2, 3, 4, 6, 8, 12, 16, 24, 32)
"""Numbers of leaves, in multiples of k."""

NEAR = 1.02
"""Cost ratio that the paper reaches on eleven data sets with 2k to 4k leaves."""


def jobs(settings: Settings) -> list[Job]:
    """Each variant of each data set, three seeds of k-means."""
    store = Store(settings.output / FILE, ("dataset", "variant", "seed"), ("factor", "ratio"))
    names = [name for name in DATASETS if name in data.names(settings.data)]
    if settings.only:
        names = [name for name in names if name in settings.only]
    if settings.quick:
        names = []
    return [
        _job(store, name, variant, seed, settings.data)
        for name in names
        for variant in VARIANTS
        for seed in range(settings.n_seeds(usual=3))
    ]


def _job(store: Store, name: str, variant: str, seed: int, folder: Path | None) -> Job:
    def measure():
        X, k = data.load(name, folder)
        options = {"n_init": 10, **VARIANTS[variant]}
        scaler = options.pop("prepare", None)
        X = X if scaler is None else scaler().fit_transform(X)
        kmeans = KMeans(n_clusters=k, random_state=seed, **options).fit(X)
        reference = kmeans_cost(X, kmeans.labels_)
        model = ExKMC(reference=kmeans.cluster_centers_, n_leaves=FACTORS[-1] * k).fit(X)
        trees = {tree.n_leaves: tree for tree in model.staged_trees()}
        sizes = {factor: min(factor * k, max(trees)) for factor in FACTORS}
        return [
            {
                "factor": factor,
                "ratio": cost_ratio(kmeans_cost(X, trees[size].predict(X)), reference),
            }
            for factor, size in sizes.items()
        ]

    return Job(store, {"dataset": name, "variant": variant, "seed": seed}, measure)


def needed(rows: list[Row]) -> int | None:
    """The smallest tested number of leaves, in multiples of k, with a mean cost near k-means."""
    near = [factor for factor in FACTORS if ratio(rows, factor) <= NEAR]
    return near[0] if near else None


def ratio(rows: list[Row], factor: int) -> float:
    """Mean cost ratio over the seeds."""
    return mean(float(row["ratio"]) for row in rows if int(row["factor"]) == factor)


def sections(folder: Path) -> list[Section]:
    """Cost ratios of all variants."""
    rows = read_rows(folder / FILE)
    lines = []
    for (name,), of_set in group(rows, "dataset").items():
        for (variant,), found in group(of_set, "variant").items():
            factor = needed(found)
            lines.append(
                [
                    TITLES[name],
                    variant,
                    " / ".join(f"{ratio(found, f):.3f}" for f in (2, 3, 4)),
                    f"{factor}k" if factor else f"more than {FACTORS[-1]}k",
                    str(len({row["seed"] for row in found})),
                ]
            )
    if not lines:
        return []
    headings = ["data", "variant", "at 2k / 3k / 4k leaves", "leaves for 2 %", "seeds"]
    sheet = Sheet("Other data and other references", headings, lines)
    text = (
        "The paper says that on eleven data sets 2k to 4k leaves come within 1 to 2 % of "
        "the cost of k-means. Cost of ExKMC with IMM as its base over that of k-means, means over "
        "the seeds, and the smallest number of leaves at which the mean is within 2 %, out of "
        f"{', '.join(f'{factor}k' for factor in FACTORS)}. Our trees are those of the published "
        "package (*Trees beside those of the published packages*): the algorithm is not the cause."
    )
    if min(ratio(found, 4) for found in group(rows, "dataset", "variant").values()) > NEAR:
        text += " None of the variants comes within 2 % by 4k leaves; no other cause is known."
    known = {row["dataset"] for row in rows}
    missing = ", ".join(TITLES[name] for name in DATASETS if name not in known)
    text += f" Not measured: {missing}." if missing else ""
    return [Section("ExKMC, figure 2: tested causes", text, [sheet])]
