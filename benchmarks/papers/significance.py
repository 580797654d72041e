"""Significance marks of table 2 of the ExShallow paper: one-sided t-tests against ExShallow."""

from __future__ import annotations

from scipy.stats import ttest_ind

from benchmarks.measures import MEASURES
from benchmarks.methods import TITLES
from benchmarks.page import Sheet
from benchmarks.store import Row, group

OTHERS = ("exgreedy", "imm", "kmc")
PAPER = {("npc", "exgreedy"): 9, ("npc", "imm"): 11, ("npc", "kmc"): 13} | {
    ("waes", "exgreedy"): 15,
    ("waes", "imm"): 14,
}
"""Data sets, of 16, on which the paper's text says that ExShallow is significantly better."""

LEVEL = 0.05


def mark(ours: list[float], other: list[float], *, larger_is_better: bool) -> str:
    """Whether the other method is significantly worse or better than ExShallow, or neither."""
    if len(ours) < 2 or len(other) < 2:
        return ""
    if len({*ours}) == len({*other}) == 1:  # no variance: the test is undefined
        p_less, p_greater = float(other[0] >= ours[0]), float(other[0] <= ours[0])
    else:
        p_less = ttest_ind(other, ours, alternative="less").pvalue
        p_greater = ttest_ind(other, ours, alternative="greater").pvalue
    if larger_is_better:
        p_less, p_greater = p_greater, p_less
    if p_greater < LEVEL:
        return "worse"
    return "better" if p_less < LEVEL else ""


def sheets(rows: list[Row], names: dict[str, str]) -> list[Sheet]:
    """The marks, and how often ExShallow is better, beside the paper's counts."""
    lines, counts = [], dict.fromkeys([(m, o) for m in MEASURES for o in OTHERS], 0)
    for (dataset,), of_set in group(rows, "dataset").items():
        by_method = {m: found for (m,), found in group(of_set, "method").items()}
        cells = []
        for measure in MEASURES:
            values = {
                m: [float(r[measure]) for r in by_method.get(m, [])] for m in ("exshallow", *OTHERS)
            }
            marks = [
                mark(values["exshallow"], values[m], larger_is_better=measure == "nmi")
                for m in OTHERS
            ]
            for other, found in zip(OTHERS, marks):
                counts[measure, other] += found == "worse"
            cells.append(" / ".join(found or "–" for found in marks))
        lines.append([names[dataset], *cells])
    others = ", ".join(TITLES[m] for m in OTHERS)
    note = (
        f"Whether {others} are significantly worse or better than ExShallow: one-sided t-tests "
        "with equal variances at 95 %, as in the paper. The colours of its table are not in the "
        "text that we have; its text has the counts below."
    )
    columns = [measure.upper() for measure in MEASURES]
    marks_sheet = Sheet("Table 2: significance", ["data", *columns], lines, note)
    n, tallies = len(lines), []
    for other in OTHERS:
        cells = []
        for measure in MEASURES:
            paper = PAPER.get((measure, other))
            cells.append(
                f"{counts[measure, other]} of {n}" + (f" ({paper} of 16)" if paper else "")
            )
        tallies.append([TITLES[other], *cells])
    title = "Table 2: data sets on which ExShallow is significantly better"
    return [marks_sheet, Sheet(title, ["than", *columns], tallies, "Ours (the paper's).")]
