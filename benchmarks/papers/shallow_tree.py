"""Which definitions of EvalWAD lead to the trees of the ShallowTree package, where ours differ.

The published package counts distinct rows, and rounds the number of rows on the left of an
estimated node up. The first node where two trees differ shows which of both matters: there the
package's split must be at least as good as ours under the definition that it uses.
"""

from __future__ import annotations

import sys
from fractions import Fraction
from functools import cache
from math import ceil
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from sklearn.cluster import KMeans

from benchmarks import data
from benchmarks.jobs import Job
from benchmarks.page import Section, Sheet
from benchmarks.settings import Settings
from benchmarks.store import Store, group, read_rows
from pellucid import ExShallow

FILE = "exshallow_package.csv"
DATA = ("iris", "wine", "ecoli", "breast_tissue", "vowel", "yeast")
PENALTY = 0.03
DEFINITIONS = {
    "paper": (False, False),
    "distinct": (True, False),
    "rounded": (False, True),
    "both": (True, True),
}
"""Whether only distinct rows are counted, and whether numbers of rows are rounded up."""


class Choice(NamedTuple):
    """Two splits of one node: the package's and ours."""

    X: np.ndarray
    centers: np.ndarray
    killers: frozenset[tuple[int, bool]]
    theirs: tuple[int, float]
    ours: tuple[int, float]


def jobs(settings: Settings) -> list[Job]:
    """Trees for many starts of k-means, where ShallowTree can be imported."""
    columns = ("rows", "distinct_rows", "same_rows", "same_splits", *DEFINITIONS)
    store = Store(settings.output / FILE, ("dataset", "seed"), columns)
    if _package() is None:
        return []
    names = [name for name in DATA if name in data.names(settings.data)]
    seeds = range(settings.n_seeds(usual=40, quick=2))
    return [_job(store, n, s, settings.data) for n in settings.choose(names) for s in seeds]


@cache
def _package() -> Any:
    """ShallowTree's class, or None. Of ExKMC, which need not be there, it takes the nodes."""
    try:
        import ExKMC.Tree  # noqa: F401
    except ImportError:
        module: Any = ModuleType("ExKMC.Tree")
        module.Tree = type("Tree", (), {"__init__": lambda self, k, random_state=None: None})
        module.Node = lambda: SimpleNamespace(feature=None, value=None, left=None, right=None)
        sys.modules |= {"ExKMC": ModuleType("ExKMC"), "ExKMC.Tree": module}
    try:
        from ShallowTree.ShallowTree import ShallowTree
    except (ImportError, OSError):
        return None
    return ShallowTree


def _job(store: Store, name: str, seed: int, folder: Path | None) -> Job:
    def measure() -> dict[str, object]:
        X, k = data.load(name, folder)
        X = np.ascontiguousarray(X, dtype=np.float64)
        centers = KMeans(k, n_init=1, random_state=seed).fit(X).cluster_centers_
        root = _package()(k)._fit_tree(X, centers, PENALTY)
        model = ExShallow(depth_penalty=PENALTY, reference=centers).fit(X)
        labels = np.empty(len(X), dtype=np.int64)
        _assign(root, X, np.arange(len(X)), labels)
        choice = _first_difference(root, model.tree_, 0, X, centers, frozenset())
        at_least_as_good = {
            key: choice is None
            or _objective(choice, choice.theirs, *definition)
            <= _objective(choice, choice.ours, *definition) + 1e-12
            for key, definition in DEFINITIONS.items()
        }
        return {
            "rows": len(X),
            "distinct_rows": len(np.unique(X, axis=0)),
            "same_rows": int((labels == model.labels_).all()),
            "same_splits": int(choice is None),
            **{key: int(value) for key, value in at_least_as_good.items()},
        }

    return Job(store, {"dataset": name, "seed": seed}, measure)


def _assign(node: Any, X: np.ndarray, rows: np.ndarray, labels: np.ndarray) -> None:
    if node.left is None:
        labels[rows] = node.value
        return
    is_left = X[rows, node.feature] <= node.value
    _assign(node.left, X, rows[is_left], labels)
    _assign(node.right, X, rows[~is_left], labels)


def _first_difference(
    node: Any,
    tree: Any,
    i: int,
    X: np.ndarray,
    centers: np.ndarray,
    killers: frozenset[tuple[int, bool]],
) -> Choice | None:
    """The first node where rows or centers are divided in another way."""
    if node.left is None or tree.feature[i] < 0:
        return None
    theirs, ours = (node.feature, node.value), (int(tree.feature[i]), float(tree.threshold[i]))
    left, left_centers = (_is_left(points, theirs) for points in (X, centers))
    if (left != _is_left(X, ours)).any() or (left_centers != _is_left(centers, ours)).any():
        return Choice(X, centers, killers, theirs, ours)
    for child, place, rows, kept, is_left in (
        (node.left, tree.children_left[i], left, left_centers, True),
        (node.right, tree.children_right[i], ~left, ~left_centers, False),
    ):
        below = killers | {(theirs[0], is_left)}
        found = _first_difference(child, tree, place, X[rows], centers[kept], below)
        if found:
            return found
    return None


def _is_left(points: np.ndarray, split: tuple[int, float]) -> np.ndarray:
    return points[:, split[0]] <= split[1]


def _objective(choice: Choice, split: tuple[int, float], distinct: bool, rounded: bool) -> float:
    """Price + λ DExp of a split."""
    X, centers = choice.X, choice.centers
    costs = ((X[:, None] - centers) ** 2).sum(axis=2)
    left, left_centers = _is_left(X, split), _is_left(centers, split)
    cost = costs[np.ix_(left, left_centers)].min(axis=1).sum()
    cost += costs[np.ix_(~left, ~left_centers)].min(axis=1).sum()
    counted = _is_left(np.unique(X, axis=0) if distinct else X, split)
    n, n_left = len(counted), int(counted.sum())
    k, k_left = len(centers), int(left_centers.sum())
    shares = Fraction(n_left, n), Fraction(k_left, k)
    depth = n + sum(
        _depths(part, of, *shares, rounded)
        for part, of in ((n_left, k_left), (n - n_left, k - k_left))
    )
    for size, is_left in ((n_left, True), (n - n_left, False)):
        depth -= size * ((split[0], is_left) in choice.killers)
    return float(cost / costs.min(axis=1).sum() + PENALTY * depth / n)


def _depths(n: Any, k: int, of_rows: Fraction, of_centers: Fraction, rounded: bool) -> Any:
    """Sum of the depths of n rows in a tree of k leaves that is divided in these proportions."""
    if k == 1:
        return 0
    k_left = min(max(ceil(k * of_centers), 1), k - 1)
    n_left = n * of_rows
    if rounded:
        n_left = min(max(ceil(n_left), 1), n - 1) if n > 1 else int(k_left > k - k_left)
    return n + sum(
        _depths(part, of, of_rows, of_centers, rounded)
        for part, of in ((n_left, k_left), (n - n_left, k - k_left))
    )


def sections(folder: Path) -> list[Section]:
    """How often the trees are the same, and which definition explains the others."""
    lines = []
    for (name,), rows in group(read_rows(folder / FILE), "dataset").items():
        other = [row for row in rows if row["same_splits"] == "0"]
        same = sum(int(row["same_rows"]) for row in rows)
        counts = [len(rows), same, *(sum(int(row[key]) for row in other) for key in DEFINITIONS)]
        size = f"{int(rows[0]['rows']):,} ({int(rows[0]['distinct_rows']):,})"
        lines.append([name, size, *map(str, counts[:2]), str(len(other)), *map(str, counts[2:])])
    if not lines:
        return []
    headings = ["data", "rows (distinct)", "trees", "same labels", "another split"]
    headings += ["as good: as here", "distinct rows", "rounded rows", "both"]
    text = (
        "ExShallow and `ShallowTree._fit_tree` of the package ShallowTree 0.0.11, from the same "
        "centers of `KMeans(n_init=1)`. The package counts distinct rows in EvalWAD, and rounds "
        "numbers of rows up. "
        "Where the trees differ, the last columns say at how many of the first nodes with another "
        "split the package's split has at most our objective: with the definition used here, with "
        "distinct rows, with rounded numbers of rows, and with both, which is the package's."
    )
    sheet = Sheet("Where splits differ", headings, lines)
    return [Section("ExShallow: trees of the published package", text, [sheet])]
