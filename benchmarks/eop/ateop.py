"""Figure 9: how right ATEOP is inside its regions, and on all rows, as more error is allowed."""

from __future__ import annotations

from functools import cache

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

CONFIDENCES = {"default": {}, "0.9": {"confidence": 0.9}}
"""The default, which bears the claim, and beside it regions that must bear out ε with less
confidence."""


def jobs(settings: Settings) -> list[Job]:
    """Each set, each allowed error."""
    store = Store(
        settings.output / FILE,
        ("dataset", "error", "confidence"),
        ("inside", "all", "answered", "cart", "rows", "further_inside"),
    )
    numbers, errors = (DATA[:1], ERRORS[1::4]) if settings.quick else (DATA, ERRORS)
    keys = [
        {"dataset": sets.generated_name(number), "error": error, "confidence": name}
        for number in numbers
        for error in errors
        for name in CONFIDENCES
    ]
    by_name = {sets.generated_name(number): number for number in numbers}
    return [
        Job(
            store,
            key,
            lambda key=key: _measure(
                by_name[key["dataset"]], key["error"], key["confidence"], settings.quick
            ),
        )
        for key in keys
    ]


def _measure(number: int, error: float, confidence: str, quick: bool) -> dict[str, float]:
    from pellucid import ATEOPClassifier

    split = sets.split_generated(number, quick)
    more = CONFIDENCES[confidence]
    model = ATEOPClassifier(max_error=error, **more, random_state=0, n_jobs=2)
    model.fit(split.X, split.y)
    right = model.predict(split.X_test) == split.y_test
    inside = ~model.abstained(split.X_test)
    further, classes = sets.further_rows(number, quick)
    further_right = (model.predict(further) == classes)[~model.abstained(further)]
    majority = np.bincount(split.y).argmax()
    right_or_majority = np.where(inside, right, split.y_test == majority)
    return {
        "inside": float(right[inside].mean()) if inside.any() else float("nan"),
        "all": float(right_or_majority.mean()),
        "answered": float(inside.mean()),
        "cart": _accuracy_of_cart(number, quick),
        "rows": int(inside.sum()),
        "further_inside": float(further_right.mean()) if len(further_right) else float("nan"),
    }


@cache
def _accuracy_of_cart(number: int, quick: bool) -> float:
    split = sets.split_generated(number, quick)
    tree, _ = METHODS["cart"].fit(split.X, split.y, quick)
    return float(tree.score(split.X_test, split.y_test))


def sections(settings: Settings) -> list[Section]:
    """The picture and its figures."""
    rows = read_rows(settings.output / FILE)
    if not rows:
        return []
    panels, lines = [], []
    for (name,), found in group(rows, "dataset").items():
        plain = [row for row in found if row["confidence"] == "default"]
        shown = {"inside": "inside", "all rows": "all", "CART": "cart", "answered": "answered"}
        curves = [_line(title, plain, what) for title, what in shown.items()]
        errors = [float(row["error"]) for row in plain]
        curves.append(Line("1 − ε", errors, [1 - error for error in errors]))
        panels.append(Panel(name, curves, "ε"))
        for row in found:
            shown = ("inside", "further_inside", "answered", "all", "cart")
            texts = [_text(float(row[c])) for c in shown]
            for what in ("further_inside", "inside"):
                texts.insert(shown.index(what) + 1, verdict(row, what))
            lines.append([name, row["error"], row["confidence"], *texts])
    draw(panels, settings.output / PICTURE, n_columns=3, y_label="share of test rows")
    caption = (
        "ATEOP as ε grows: how right it is on the test rows that it answers, how many those are, "
        "and how right it is on all rows when the others get the most frequent class."
    )
    headings = [
        "data",
        "ε",
        "confidence",
        "right inside",
        "at least 1 − ε",
        "of further rows",
        "at least 1 − ε",
        "answered",
        "all rows",
        "CART",
    ]
    sheet = Sheet("Figure 9", headings, lines)
    return [Section("ATEOP: figure 9", "", [Picture(PICTURE, caption), sheet])]


def _text(share: float) -> str:
    return "–" if np.isnan(share) else f"{share:.3f}"


def verdict(row: dict[str, str], what: str) -> str:
    """Whether the rows inside are right often enough, as a word for the page."""
    if np.isnan(float(row[what])):
        return "no rows"
    return "holds" if is_accurate_inside(row, what) else "misses"


def _line(title: str, rows: list, what: str) -> Line:
    return Line(title, [float(r["error"]) for r in rows], [float(r[what]) for r in rows])


def is_accurate_inside(row: dict[str, str], what: str = "inside") -> bool:
    """Whether the rows inside are right often enough; true if no row is inside."""
    inside = float(row[what])
    return np.isnan(inside) or inside >= 1 - float(row["error"])


def is_beyond_chance(row: dict[str, str]) -> bool:
    """Whether the accuracy is missed by more than two standard errors of the test."""
    error, n = float(row["error"]), max(int(row["rows"]), 1)
    return not is_accurate_inside(row) and (
        1 - error - float(row["inside"]) > 2 * np.sqrt(error * (1 - error) / n)
    )
