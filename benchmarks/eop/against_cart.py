"""EOP and CART on ten real data sets, counted alike."""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
from sklearn.metrics import f1_score
from sklearn.tree import DecisionTreeClassifier

from benchmarks.eop import ten_sets
from benchmarks.eop.choice import Trial, folds, most_accurate, simplest
from benchmarks.jobs import Job
from benchmarks.page import Section, Sheet
from benchmarks.settings import Settings
from benchmarks.store import Row, Store, group, mean, read_rows
from pellucid import EOPClassifier
from pellucid.eop.tuning import MIN_SHARE

FILE = "eop_cart.csv"
COLUMNS = ("accuracy", "f1", "inequalities", "tests", "classes", "rare", "chosen", "seconds")
METHODS = {
    "cart": "CART, pruned (one standard error)",
    "cart_accurate": "CART, pruned (most accurate)",
    "eop": "EOP",
    "cart_same_size": "CART with as many tests as EOP",
}
POINTS, F1_POINTS = 0.015, 0.03
N_WANTED = 7
MAX_RATIO = 2.0
_N_ALPHAS = 40


def jobs(settings: Settings) -> list[Job]:
    """Each data set, each split, all methods."""
    store = Store(settings.output / FILE, ("dataset", "seed", "method"), COLUMNS)
    names = ten_sets.names(settings.data)
    names = names[:1] if settings.quick else names
    return [
        _job(store, name, seed, settings)
        for name in names
        for seed in range(settings.n_seeds(usual=3))
    ]


def _job(store: Store, name: str, seed: int, settings: Settings) -> Job:
    key = {"dataset": name, "seed": seed}
    return Job(store, key, lambda: measure(ten_sets.split(name, seed, settings.data)))


def measure(split: Any) -> list[dict[str, Any]]:
    """All methods on one split; processor time, that of CART with the choice of its size."""
    start = time.process_time()
    path = DecisionTreeClassifier(random_state=0).cost_complexity_pruning_path(split.X, split.y)
    alphas = np.unique(np.quantile(path.ccp_alphas, np.linspace(0, 1, _N_ALPHAS)))
    trials = _try_alphas(split, alphas)
    choosing = time.process_time() - start
    found = {
        "cart": lambda: _tree(split, ccp_alpha=simplest(trials, len(split.y))),
        "cart_accurate": lambda: _tree(split, ccp_alpha=most_accurate(trials)),
        "eop": lambda: _list(split, EOPClassifier(random_state=0, n_jobs=1)),
    }
    rows = []
    for method, fit in found.items():
        start = time.process_time()
        figures = fit()
        seconds = time.process_time() - start + (choosing if method != "eop" else 0.0)
        rows.append({"method": method, **figures, "seconds": seconds})
    n_leaves = max(rows[2]["inequalities"] + 1, 2)
    rows.append({"method": "cart_same_size", **_tree(split, max_leaf_nodes=int(n_leaves))})
    return rows


def _try_alphas(split: Any, alphas: np.ndarray) -> list[Trial]:
    right, nodes = np.zeros((2, len(alphas)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # classes with fewer rows than folds
        parts = list(folds(split.y))
    for train, test in parts:
        for i, alpha in enumerate(alphas):
            tree = DecisionTreeClassifier(ccp_alpha=alpha, random_state=0)
            tree.fit(split.X[train], split.y[train])
            right[i] += np.sum(tree.predict(split.X[test]) == split.y[test])
            nodes[i] += tree.tree_.node_count
    return [Trial(*found) for found in zip(alphas, right, nodes)]


def _tree(split: Any, **parameters: Any) -> dict[str, Any]:
    """A tree has an inequality per inner node; a row is tested by those on its path."""
    tree = DecisionTreeClassifier(random_state=0, **parameters).fit(split.X, split.y)
    is_leaf = tree.tree_.children_left < 0
    answered = np.unique(tree.tree_.value[is_leaf, 0].argmax(axis=1))
    return {
        **_judge(split, tree.predict(split.X_test), tree.classes_[answered]),
        "inequalities": tree.tree_.node_count // 2,
        "tests": tree.decision_path(split.X_test).sum() / len(split.X_test) - 1,
        "chosen": ", ".join(f"{name} {value:.3g}" for name, value in parameters.items()),
    }


def _judge(split: Any, answers: np.ndarray, answered: np.ndarray) -> dict[str, Any]:
    """Accuracy, macro F1, and classes that are answered and that are not although not rare."""
    classes, sizes = np.unique(split.y, return_counts=True)
    missing = np.setdiff1d(classes[sizes >= MIN_SHARE * len(split.y)], answered)
    return {
        "accuracy": np.mean(answers == split.y_test),
        "f1": f1_score(split.y_test, answers, average="macro", zero_division=0),
        "classes": len(answered),
        "rare": len(missing),
    }


def _list(split: Any, model: EOPClassifier) -> dict[str, Any]:
    """All inequalities that `explain` prints; a row is tested by those of all earlier regions."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model.fit(split.X, split.y)
    n_facets = [level.regions.n_facets for level in model.levels_]
    before = np.concatenate([[0], np.cumsum([facets.sum() for facets in n_facets])])
    level, region = model.apply(split.X_test).T
    tests = np.full(len(level), float(before[-1]))
    for index, facets in enumerate(n_facets):
        rows = level == index
        tests[rows] = before[index] + np.cumsum(facets)[region[rows]]
    answered = np.setdiff1d(model.classes_, model.uncovered_classes_)
    return {
        **_judge(split, model.predict(split.X_test), answered),
        "inequalities": model.n_inequalities_,
        "tests": tests.mean(),
        "chosen": f"ε {model.max_error_:g}, η {model.complexity_penalty_:.3g}",
    }


def sections(settings: Settings) -> list[Section]:
    """The comparison, set by set, and the verdict."""
    rows = read_rows(settings.output / FILE)
    if not rows:
        return []
    cells = group(rows, "dataset", "method")
    names = [name for name in ten_sets.TEN if (name, "eop") in cells]
    n_splits = min(len(cells[name, "eop"]) for name in names)
    text = (
        f"The ten sets ({', '.join(ten_sets.TEN)}) were named before the learner was changed, and "
        "its defaults were chosen on others (yeast, mice, robot, waveform, avila, breast tissue, "
        f"letter). At most {ten_sets.MAX_ROWS:,} rows each; means over {n_splits} random splits, "
        "two thirds for learning. EOP with its defaults, which choose ε and η by cross-validation "
        "on the training rows. CART is pruned by cost and complexity, by 3-fold cross-validation "
        "too, and beside it has as many tests as EOP: its leaves are split best-first up to as "
        "many inner nodes as the list has inequalities. Inequalities: all that the rules of EOP "
        "print, and the inner nodes of CART. Tests: those evaluated for the average test row. "
        "Seconds: of the processor, one thread, with the choice of ε and η and of the pruning."
    )
    shown = ("accuracy", "f1", "inequalities", "tests", "seconds")
    sheets = [_sheet(name, cells) for name in shown]
    return [Section("EOP beside CART, counted alike", text, [_verdicts(names, cells), *sheets])]


def _sheet(what: str, cells: dict[tuple[str, ...], list[Row]]) -> Sheet:
    digits = 3 if what in ("accuracy", "f1") else 1
    methods = [m for m in METHODS if what != "seconds" or m != "cart_same_size"]
    lines = [
        [name, *(f"{mean(cells.get((name, m), []), what):.{digits}f}" for m in methods)]
        for name in ten_sets.TEN
        if (name, "eop") in cells
    ]
    title = "Macro F1" if what == "f1" else what.capitalize()
    return Sheet(title, ["data", *(METHODS[m] for m in methods)], lines)


def _verdicts(names: list[str], cells: dict[tuple[str, ...], list[Row]]) -> Sheet:
    lines, n_accurate, n_f1, n_fast, n_missing = [], 0, 0, 0, 0.0
    for name in names:
        eop, same, cart = (cells[name, m] for m in ("eop", "cart_same_size", "cart"))
        gap, f1_gap = (mean(eop, what) - mean(same, what) for what in ("accuracy", "f1"))
        ratio, missing = mean(eop, "seconds") / mean(cart, "seconds"), mean(eop, "rare")
        n_accurate, n_f1 = n_accurate + (gap >= -POINTS), n_f1 + (f1_gap >= -F1_POINTS)
        n_fast, n_missing = n_fast + (ratio <= MAX_RATIO), n_missing + missing
        verdict = "holds" if gap >= -POINTS and f1_gap >= -F1_POINTS else "misses"
        size = f"{mean(eop, 'inequalities'):.1f}"
        gaps = [f"{100 * gap:+.1f}", f"{100 * f1_gap:+.1f}"]
        lines.append([name, size, *gaps, verdict, f"{missing:.1f}", f"{ratio:.1f}"])
    headings = ["data", "tests", "points of accuracy", "points of macro F1", "verdict"]
    headings += ["classes of 2 % without a region", "time / tuning CART"]
    note = (
        f"Wanted beside CART with as many tests: accuracy within {100 * POINTS:g} points on at "
        f"least {N_WANTED} of ten sets ({n_accurate} of {len(names)}), macro F1 at most "
        f"{100 * F1_POINTS:g} points lower ({n_f1} of {len(names)}), no class with 2 % of the "
        f"rows without a region ({n_missing:.1f}), and at most {MAX_RATIO:g} times the time of "
        f"tuning CART ({n_fast} of {len(names)})."
    )
    return Sheet("Verdicts", headings, lines, note)
