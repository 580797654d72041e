"""Rule sets beside the published numbers, on noise, on held-out rows, and beside ExShallow's time.

`Cluster-Explorer` is measured if the package ``cluster_explorer`` is installed, and RIPPER if the
package ``wittgenstein`` is.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np
from sklearn.cluster import HDBSCAN, KMeans
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine, make_blobs
from sklearn.preprocessing import scale

from benchmarks.data import load, names
from benchmarks.jobs import Job
from benchmarks.page import Section, Sheet
from benchmarks.settings import Settings
from benchmarks.store import Store, read_rows
from pellucid import ExplainableKMeans, ExShallow, RuleSet

FILE = "quality_rules.csv"
VALUES = ("rules", "conditions", "value", "other", "seconds", "other_seconds")
PUBLISHED = {10: 541, 20: 625}
"""Coverage − 5 × mistakes of DSCluster on digits, by kevinqnb/interpretable-clustering."""

SMALL: dict[str, Callable[[], Any]] = {
    "iris": load_iris,
    "wine": load_wine,
    "cancer": load_breast_cancer,
}
EXPLORER = {"iris": (0.944, 13.7), "wine": (0.889, 35.8), "cancer": (0.879, 65.4)}
"""F1 and seconds of Cluster-Explorer 1.0.2 where it was measured once."""

N_SEEDS, HELD_OUT_ROWS = 10, 10_000


def jobs(settings: Settings) -> list[Job]:
    """Every measurement, by part and case."""
    store = Store(settings.output / FILE, ("part", "case"), VALUES)
    cases: list[tuple[str, str, Any]] = [
        ("digits", f"{n} rules", partial(_digits, n, 1 if settings.quick else N_SEEDS))
        for n in PUBLISHED
    ]
    cases += [("F1", name, partial(_best_rules, name)) for name in SMALL]
    cases += [("noise", f"at least {size} rows", partial(_noise, size)) for size in (25, 30, 40)]
    cases += [
        ("noise of HDBSCAN", f"{name}, {title}", partial(_noise_of, name, model))
        for name in NOISY
        if name != "penguins" or find_spec("palmerpenguins")
        for title, model in {"tree": ExplainableKMeans(), "rule set": RuleSet()}.items()
    ]
    cases += [
        ("held out", name, partial(_held_out, name, settings.data))
        for name in (["iris", "wine"] if settings.quick else names(settings.data))
        if name != "newsgroups20"
    ]
    if find_spec("wittgenstein"):
        cases += [("RIPPER", name, partial(_beside_ripper, name)) for name in [*SMALL, "digits"]]
    cases.append(
        ("time", "100,000 × 20, k = 10", partial(_time, 1000 if settings.quick else 100_000))
    )
    return [Job(store, {"part": part, "case": case}, measure) for part, case, measure in cases]


def _row(rules: Any, value: float, other: Any, seconds: float, other_seconds: Any) -> dict:
    sizes = [rule.size for rule in rules.rules_]
    found = (len(sizes), float(np.mean(sizes)) if sizes else 0.0, value, other, seconds)
    return dict(zip(VALUES, (*found, other_seconds)))


def _timed(fit: Callable[[], Any]) -> tuple[Any, float]:
    start = time.process_time()
    found = fit()
    return found, time.process_time() - start


def _digits(n_rules: int, n_seeds: int) -> dict[str, Any]:
    """The mean of several runs of k-means; conditions of the run with the most."""
    X = load_digits().data
    runs = []
    for seed in range(n_seeds):
        y = KMeans(10, n_init=10, random_state=seed).fit(X).labels_
        model = RuleSet(n_rules, mean_conditions=2.5, min_support=1)
        runs.append((*_timed(partial(model.fit, X, y)),))
    worst = max((run[0] for run in runs), key=lambda m: np.mean([r.size for r in m.rules_]))
    value = float(np.mean([model.objective_ for model, _ in runs]))
    return _row(worst, value, PUBLISHED[n_rules], min(seconds for _, seconds in runs), "")


def _f1(inside: np.ndarray, members: np.ndarray) -> float:
    return float(2 * (inside & members).sum() / max(inside.sum() + members.sum(), 1))


def _clustered(data: Any) -> tuple[np.ndarray, np.ndarray]:
    """The rows of a data set, and labels of k-means on scaled columns."""
    kmeans = KMeans(len(data.target_names), n_init=10, random_state=0)
    return data.data, kmeans.fit(scale(data.data)).labels_


def _best_rules(name: str) -> dict[str, Any]:
    """Mean F1 of one rule per cluster, of at most three columns; scaled data, labels of k-means."""
    X, y = _clustered(SMALL[name]())
    settings = {"max_conditions": 6, "max_columns": 3, "mistake_cost": 0.9, "min_support": 1}
    model = RuleSet(y.max() + 1, every_cluster=True, **settings)
    model.fit(X, y)  # compiles
    model, seconds = _timed(partial(model.fit, X, y))
    held = model.holds(X)
    value = np.mean(
        [
            max(_f1(held[:, i], y == c) for i, r in enumerate(model.rules_) if r.cluster == c)
            for c in range(y.max() + 1)
        ]
    )
    other, other_seconds = _cluster_explorer(X, y) or EXPLORER[name]
    return _row(model, float(value), other, seconds, other_seconds)


def _cluster_explorer(X: np.ndarray, y: np.ndarray) -> tuple[float, float] | None:
    """Mean F1 of the best rule per cluster of its Pareto lists, and seconds."""
    try:
        import pandas as pd
        from cluster_explorer import Explainer
    except ImportError:
        return None
    table = pd.DataFrame(X, columns=[f"x{i}" for i in range(X.shape[1])])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        explainer = Explainer(table, pd.Series(y))
        found, seconds = _timed(partial(explainer.generate_explanations, coverage_threshold=0.5))
    best = []
    for cluster in range(y.max() + 1):
        rules = found[found["Cluster"] == cluster]
        recall, precision = rules["coverage"], 1 - rules["separation_err"]
        best.append(float((2 * recall * precision / (recall + precision)).max()))
    return float(np.mean(best)), seconds


def _beside_ripper(name: str) -> dict[str, Any]:
    """Rules for each cluster, learned from 70% of the rows and judged by the others."""
    import pandas as pd
    from wittgenstein import RIPPER

    X, y = _clustered(SMALL.get(name, load_digits)())
    order = np.random.default_rng(0).permutation(len(X))
    tested, trained = np.split(order, [int(0.3 * len(X))])
    RuleSet().fit(X[trained], y[trained])  # compiles
    model, seconds = _timed(partial(RuleSet().fit, X[trained], y[trained]))
    of_rules = np.array([rule.cluster for rule in model.rules_])
    held = model.holds(X[tested])
    table = pd.DataFrame(X, columns=[f"x{i}" for i in range(X.shape[1])])
    ours, theirs, sizes, other_seconds = 0.0, 0.0, [], 0.0
    for c in range(y.max() + 1):
        other = RIPPER(random_state=0)
        start = time.process_time()
        other.fit(table.iloc[trained], y[trained] == c)
        other_seconds += time.process_time() - start
        sizes += [len(rule.conds) for rule in other.ruleset_.rules]
        is_member = y[tested] == c
        ours += _score(held[:, of_rules == c].any(axis=1), is_member)
        theirs += _score(np.array(other.predict(table.iloc[tested]), dtype=bool), is_member)
    text = f"{theirs:.4f} {len(sizes)} {np.mean(sizes):.2f}"
    return _row(model, ours, text, seconds, other_seconds)


def _score(inside: np.ndarray, members: np.ndarray) -> float:
    """Share of all rows that are explained, minus 5 times the share of mistakes."""
    return float(np.mean(inside & members) - 5 * np.mean(inside & ~members))


def _noise(min_size: int) -> dict[str, Any]:
    """Lowest precision of a cluster that has a rule, with noise; and its share of clusters."""
    X = load_digits().data
    y = HDBSCAN(min_cluster_size=min_size, copy=True).fit(X).labels_
    model, seconds = _timed(partial(RuleSet().fit, X, y))
    predicted = model.predict(X)
    shares = [np.mean(y[predicted == c] == c) for c in range(y.max() + 1) if (predicted == c).any()]
    return _row(model, float(min(shares)), f"{len(shares)} of {y.max() + 1}", seconds, "")


def _noise_of(name: str, model: Any) -> dict[str, Any]:
    """X."""
    load_rows, min_size = NOISY[name]
    X = load_rows()
    y = HDBSCAN(min_cluster_size=min_size, copy=True).fit(X).labels_
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _, seconds = _timed(partial(model.fit, X, y))
    predicted = model.predict(X)
    found = [c for c in range(y.max() + 1) if (predicted == c).any()]
    lowest = min(float(np.mean(y[predicted == c] == c)) for c in found)
    values = (len(found), float(np.mean(y < 0)), lowest, f"{len(found)} of {y.max() + 1}")
    return dict(zip(VALUES, (*values, seconds, "")))


def _penguins() -> np.ndarray:
    from palmerpenguins import load_penguins

    columns = ["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]
    return scale(load_penguins()[columns].dropna().to_numpy())


NOISY: dict[str, tuple[Callable[[], np.ndarray], int]] = {
    "digits": (lambda: load_digits().data, 10),
    "penguins": (_penguins, 10),
    "wine": (lambda: scale(load_wine().data), 10),
}
"""Data, and rows of the smallest cluster of HDBSCAN."""


def _held_out(name: str, folder: Any) -> dict[str, Any]:
    """Precision on 70% of the rows, and on the others, in the mean of three draws."""
    X, k = load(name, folder)
    rows = np.random.default_rng(0).permutation(X.shape[0])[:HELD_OUT_ROWS]
    X = X[np.sort(rows)]
    y = (
        KMeans(k, n_init=3, random_state=0)
        .fit(scale(X, with_mean=isinstance(X, np.ndarray)))
        .labels_
    )
    fits = [
        _timed(partial(RuleSet(held_out=0.3, random_state=seed).fit, X, y)) for seed in range(3)
    ]
    trained = float(np.mean([model.precision_ for model, _ in fits]))
    tested = float(np.mean([model.held_out_precision_ for model, _ in fits]))
    return _row(fits[0][0], tested, trained, min(seconds for _, seconds in fits), "")


def _time(n: int) -> dict[str, Any]:
    """Processor seconds of whole fits to given labels, the least of three, on one thread."""
    X, _ = make_blobs(n, 20, centers=10, cluster_std=4.0, random_state=0)
    y = KMeans(10, n_init=1, random_state=0).fit(X).labels_
    seconds = {}
    for model in (RuleSet(), ExShallow(10, n_jobs=1)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X, y)  # compiles
            seconds[type(model)] = min(_timed(partial(model.fit, X, y))[1] for _ in range(3))
    rules = RuleSet().fit(X, y)
    ours, other = seconds[RuleSet], seconds[ExShallow]
    return _row(rules, ours / other, "", ours, other)


def sections(settings: Settings) -> list[Section]:
    """Each part as a table."""
    rows = read_rows(settings.output / FILE)
    parts = {
        part: [row for row in rows if row["part"] == part]
        for part in dict.fromkeys(r["part"] for r in rows)
    }
    sheets = []
    for part, found in parts.items():
        headings, text, line = _TABLES[part]
        if part == "held out":
            loss = np.mean(
                [float(r["other"]) - float(r["value"]) for r in found if r["value"] != "nan"]
            )
            text = text.format(loss=100 * loss, n=len(found))
        sheets.append(
            Sheet(part[:1].upper() + part[1:], headings, [line(row) for row in found], text)
        )
    return [Section("Rule sets", "", sheets)] if sheets else []


def _percent(value: str) -> str:
    return f"{float(value):.1%}"


def _digits_line(row: dict) -> list[str]:
    return [
        row["case"],
        f"{float(row['value']):.0f}",
        row["other"],
        f"{float(row['conditions']):.2f}",
        f"{float(row['seconds']):.2f}",
    ]


def _f1_line(row: dict) -> list[str]:
    times = f"{float(row['seconds']):.3f}", f"{float(row['other_seconds']):.1f}"
    return [row["case"], f"{float(row['value']):.3f}", f"{float(row['other']):.3f}", *times]


def _ripper_line(row: dict) -> list[str]:
    value, rules, conditions = row["other"].split()
    times = f"{float(row['seconds']):.3f}", f"{float(row['other_seconds']):.1f}"
    ours = f"{float(row['value']):.3f}", row["rules"], f"{float(row['conditions']):.2f}"
    return [row["case"], *ours, f"{float(value):.3f}", rules, conditions, *times]


def _noise_line(row: dict) -> list[str]:
    return [row["case"], row["other"], _percent(row["value"]), row["rules"]]


def _noise_of_line(row: dict) -> list[str]:
    noise = _percent(row["conditions"])
    return [row["case"], noise, row["other"], _percent(row["value"])]


def _held_out_line(row: dict) -> list[str]:
    return [row["case"], row["rules"], _percent(row["other"]), _percent(row["value"])]


def _time_line(row: dict) -> list[str]:
    times = f"{float(row['seconds']):.2f}", f"{float(row['other_seconds']):.2f}"
    return [row["case"], *times, f"{float(row['value']):.1f}"]


_TABLES: dict[str, tuple[list[str], str, Callable[[dict], list[str]]]] = {
    "digits": (
        ["digits, k-means with 10 clusters", "RuleSet", "intercluster", "conditions", "seconds"],
        "Explained rows − 5 × mistakes, with at most 2.5 conditions per rule in the mean. The "
        "other numbers are the published ones of intercluster, which has 2.2 conditions.",
        _digits_line,
    ),
    "F1": (
        ["data", "RuleSet", "Cluster-Explorer", "seconds", "Cluster-Explorer, seconds"],
        "Mean F1 of the best rule per cluster, of at most three columns. Labels of k-means on "
        "scaled columns.",
        _f1_line,
    ),
    "RIPPER": (
        [
            *("data", "RuleSet", "rules", "conditions", "RIPPER", "rules", "conditions"),
            *("seconds", "RIPPER, seconds"),
        ],
        "Share of the rows that the rules of their cluster hold − 5 × share of the rows that rules "
        "of another cluster hold, on 30% of the rows that are held out. Labels of k-means on "
        "scaled columns. RIPPER of wittgenstein learns a list for each cluster.",
        _ripper_line,
    ),
    "noise": (
        ["digits, HDBSCAN", "clusters with a rule", "lowest precision with noise", "rules"],
        "Precision of the rows that are given a cluster, where noise is wrong.",
        _noise_line,
    ),
    "noise of HDBSCAN": (
        ["data", "noise", "clusters with a rule", "lowest precision with noise"],
        "Labels of HDBSCAN, `min_cluster_size=10`; columns are scaled, except those of digits. "
        "Precision counts noise as wrong. A tree gives every row to a cluster; a rule set leaves "
        "rows unexplained.",
        _noise_of_line,
    ),
    "held out": (
        ["data", "rules", "precision", "held out"],
        "Precision is {loss:.1f} points lower on the rows that are held out, 30% of them, than on "
        "the others, in the mean of {n} data sets. At most 10,000 rows of each are used.",
        _held_out_line,
    ),
    "time": (
        ["rows × columns", "RuleSet, seconds", "ExShallow, seconds", "ratio"],
        "Processor time of a fit to given labels, on one thread.",
        _time_line,
    ),
}
