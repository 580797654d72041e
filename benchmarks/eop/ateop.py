"""Figure 9: how right ATEOP is inside its regions, and on all rows, as more error is allowed."""

from __future__ import annotations

import numpy as np

from benchmarks.eop import sets
from benchmarks.eop.methods import METHODS
from benchmarks.jobs import Job
from benchmarks.page import Picture, Section, Sheet
from benchmarks.plots import Line, Panel, draw
from benchmarks.settings import Settings
from benchmarks.store import Store, group, read_rows

FILE = "eop_ateop.csv"
PICTURE = "eop_ateop.png"
ERRORS = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45)
DATA = (2, 5, 8)
"""Numbers of the generated sets: an easy one, one in the middle, a hard one."""


def jobs(settings: Settings) -> list[Job]:
    """Each set, each allowed error."""
    store = Store(
        settings.output / FILE, ("dataset", "error"), ("inside", "all", "answered", "cart")
    )
    numbers, errors = (DATA[:1], ERRORS[1::4]) if settings.quick else (DATA, ERRORS)
    return [
        Job(
            store,
            {"dataset": sets.generated_name(number), "error": error},
            lambda number=number, error=error: _measure(number, error, settings.quick),
        )
        for number in numbers
        for error in errors
    ]


def _measure(number: int, error: float, quick: bool) -> dict[str, float]:
    from pellucid import ATEOPClassifier

    split = sets.split_generated(number, quick)
    model = ATEOPClassifier(max_error=error, random_state=0, n_jobs=2).fit(split.X, split.y)
    right = model.predict(split.X_test) == split.y_test
    inside = ~model.abstained(split.X_test)
    majority = np.bincount(split.y).argmax()
    right_or_majority = np.where(inside, right, split.y_test == majority)
    tree, _ = METHODS["cart"].fit(split.X, split.y, quick)
    return {
        "inside": float(right[inside].mean()) if inside.any() else float("nan"),
        "all": float(right_or_majority.mean()),
        "answered": float(inside.mean()),
        "cart": float(tree.score(split.X_test, split.y_test)),
    }


def sections(settings: Settings) -> list[Section]:
    """The picture and its figures."""
    rows = read_rows(settings.output / FILE)
    if not rows:
        return []
    panels, lines = [], []
    for (name,), found in group(rows, "dataset").items():
        errors = [float(row["error"]) for row in found]
        shown = {"inside the regions": "inside", "all rows": "all", "CART, all rows": "cart"}
        curves = [Line(t, errors, [float(r[c]) for r in found]) for t, c in shown.items()]
        asked = Line("1 − ε", errors, [1 - error for error in errors])
        answered = Line("share answered", errors, [float(r["answered"]) for r in found])
        panels.append(Panel(name, [*curves, asked, answered], "ε"))
        for row, error in zip(found, errors):
            texts = [f"{float(row[c]):.3f}" for c in ("inside", "answered", "all", "cart")]
            verdict = "holds" if keeps_its_promise(row) else "misses"
            lines.append([name, f"{error:g}", texts[0], verdict, *texts[1:]])
    draw(panels, settings.output / PICTURE, n_columns=3, y_label="share of test rows")
    caption = (
        "ATEOP as ε grows: how right it is on the test rows that it answers, how many those are, "
        "and how right it is on all rows when the others get the most frequent class."
    )
    headings = ["data", "ε", "right inside", "at least 1 − ε", "answered", "all rows", "CART"]
    sheet = Sheet("Figure 9", headings, lines)
    return [Section("ATEOP: figure 9", "", [Picture(PICTURE, caption), sheet])]


def keeps_its_promise(row: dict[str, str]) -> bool:
    """Whether the test rows inside are right often enough; where nothing is inside, it is kept."""
    inside = float(row["inside"])
    return np.isnan(inside) or inside >= 1 - float(row["error"])
