"""All that a page knows: counts, rules and a few rows, as plain lists and dictionaries."""

from __future__ import annotations

import platform
from typing import Any

import numpy as np

from pellucid.plotting.palette import cluster_color, text_color
from pellucid.report.columns import Table, clipped
from pellucid.report.profiles import Profile, short
from pellucid.report.sample import sample_rows, typical_rows, values_of, written_row
from pellucid.report.subject import Subject
from pellucid.report.trees import Candidate, describe_tree

MOST_COLUMNS = 16
"""Columns with distributions, unless the tree asks about more."""

MOST_ASKED = 24
"""Columns with distributions, even if the tree asks about more."""

_MOST_COUNTS = 60_000
"""Numbers in all distributions of all trees together."""


def make_payload(
    subject: Subject,
    X: Any,
    *,
    title: str | None = None,
    reference: str | None = None,
    trade_off: Any = "auto",
    max_points: int = 2000,
    n_typical: int = 3,
    made: dict[str, str] | None = None,
) -> dict[str, Any]:
    """What the page shows; the parameters are those of :func:`pellucid.report.write_report`."""
    explanation = subject.explanation
    table = Table(X, explanation)
    n_clusters = len(explanation.cluster_names_)
    trees, own = subject.trees(trade_off)
    profiles, places, n_shown = _choose_columns(table, explanation, trees, own, n_clusters)
    shown = profiles[:n_shown]
    trees, own = _affordable(trees, own, sum(p.n_bins for p in shown) * n_clusters)
    values = {p.column.name: p.column.values for p in profiles if not p.is_number}
    asked = {name for c in trees for name in table.ask(c.tree, explanation.tree_columns_)}
    rows = sample_rows(trees[own].position, n_clusters, max_points)
    return {
        "format": 1,
        "title": clipped(title) if title else None,
        "method": explanation.method_,
        "reference": reference or _reference_word(subject.fitted),
        "rows": table.n_rows,
        "columnsInData": len(table.names),
        "clusters": [_cluster(i, name) for i, name in enumerate(explanation.cluster_names_)],
        "columns": [
            {
                "name": clipped(p.column.name),
                "asked": p.column.name in asked,
                "shown": i < n_shown,
                "fill": _fill(explanation, p),
                **p.describe(),
            }
            for i, p in enumerate(profiles)
        ],
        "order": [places[name] for name in table.names if name in places],
        "dataNames": [clipped(name) for name in table.names] if len(table.names) <= 500 else [],
        "trees": [
            {
                **describe_tree(candidate, explanation, places, values),
                "clusters": _clusters(candidate, shown, n_clusters, n_typical),
                "points": candidate.position[rows].tolist(),
            }
            for candidate in trees
        ],
        "own": own,
        "points": {
            "rows": len(rows),
            "values": [values_of(p, rows) for p in shown],
        },
        "made": {**_made(subject), **(made or {})},
    }


def _choose_columns(table: Table, explanation: Any, trees: list[Candidate], own: int, n: int):
    """Columns of the page, those with distributions first, and how many those are."""
    asked: dict[str, None] = {}
    for candidate in [trees[own], *trees]:
        asked.update(dict.fromkeys(table.ask(candidate.tree, explanation.tree_columns_)))
    position = trees[own].position
    kept: dict[str, Profile] = {}
    strength: dict[str, float] = {}
    for name in table.names:
        profile = Profile(table.read(name))
        strength[name] = float(np.abs(np.nan_to_num(profile.differences(position, n))).max())
        kept[name] = profile
        if name not in asked and len(kept) > MOST_COLUMNS + len(asked):
            weakest = min((c for c in kept if c not in asked), key=lambda c: strength[c])
            del kept[weakest]
    others = sorted((c for c in kept if c not in asked), key=lambda c: -strength[c])
    names = [*asked, *others[: max(MOST_COLUMNS - len(asked), 0)]]
    n_shown = min(len(names), max(MOST_COLUMNS, min(len(asked), MOST_ASKED)))
    return [kept[c] for c in names], {c: i for i, c in enumerate(names)}, n_shown


def _affordable(trees: list[Candidate], own: int, n_counts: int) -> tuple[list[Candidate], int]:
    """As many of the trees as keep the file small, the model's own among them."""
    most = max(1, _MOST_COUNTS // max(n_counts, 1))
    if len(trees) <= most:
        return trees, own
    kept = {own, *np.linspace(0, len(trees) - 1, max(most - 1, 1)).astype(int).tolist()}
    kept = {own} if most == 1 else kept
    order = sorted(kept)
    return [trees[i] for i in order], order.index(own)


def _clusters(
    candidate: Candidate, shown: list[Profile], n_clusters: int, n_typical: int
) -> list[dict[str, Any]]:
    """What there is to say of each cluster of one tree."""
    position = candidate.position
    sizes = np.bincount(position, minlength=n_clusters)
    counts = [profile.counts(position, n_clusters) for profile in shown]
    means = [p.means(position, n_clusters) if p.is_number else None for p in shown]
    apart = np.array([p.differences(position, n_clusters) for p in shown])
    typical = typical_rows(shown, position, n_clusters, n_typical) if n_typical else None
    return [
        {
            "rows": int(sizes[c]),
            "apart": [short(v, 3) for v in apart[:, c].tolist()],
            "means": [None if m is None else [short(m[0][c]), short(m[1][c])] for m in means],
            "counts": [table[c] for table in counts],
            "typical": [] if typical is None else [written_row(shown, r) for r in typical[c]],
        }
        for c in range(n_clusters)
    ]


def _cluster(position: int, label: Any) -> dict[str, str]:
    color = cluster_color(position)
    return {"label": clipped(str(label)), "color": color, "ink": text_color(color)}


def _fill(explanation: Any, profile: Profile) -> Any:
    """What a missing value counts as: a number, the position of a category, or None."""
    name = profile.column.name
    if name not in explanation.fill_:
        return None
    value = explanation.fill_[name]
    if profile.is_number:
        return float(value)
    values = profile.column.values
    return values.index(value) if value in values else len(values)


def _reference_word(fitted: Any) -> str:
    """What is explained, in words."""
    if not hasattr(fitted, "reference_labels_"):
        return "the reference"
    reference = getattr(fitted, "reference", None)
    if reference is None:
        return "k-medians" if getattr(fitted, "objective", "kmeans") == "kmedians" else "k-means"
    if np.ndim(reference) == 1 and not hasattr(reference, "fit"):
        return "the given clusters"
    name = type(reference).__name__
    known = {"KMeans": "k-means", "MiniBatchKMeans": "k-means", "ndarray": "the given centers"}
    return known.get(name, name)


def _made(subject: Subject) -> dict[str, str]:
    """Versions and parameters."""
    import numba
    import sklearn

    import pellucid

    fitted = subject.fitted
    made = {"method": subject.explanation.method_ or "not known"}
    if hasattr(fitted, "get_params"):
        for name, value in fitted.get_params(deep=False).items():
            made[name] = _parameter(value)
    made["pellucid"] = pellucid.__version__
    made["Python"] = platform.python_version()
    made["NumPy"], made["scikit-learn"] = np.__version__, sklearn.__version__
    made["Numba"] = numba.__version__
    return made


def _parameter(value: Any) -> str:
    """A parameter in a few words; never an address in memory."""
    if isinstance(value, (list, tuple)) or (np.ndim(value) and hasattr(value, "__len__")):
        return f"{'×'.join(map(str, np.shape(value)))} values"
    if isinstance(value, (str, int, float, bool, type(None), np.generic)):
        return clipped(str(value))
    if hasattr(value, "get_params"):
        return clipped(" ".join(repr(value).split()))
    return type(value).__name__
