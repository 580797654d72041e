"""Table 3 of the ExShallow paper: ExShallow* sets out to beat KMC in cost and explanation size."""

from __future__ import annotations

from dataclasses import replace

from benchmarks.measures import MEASURES
from benchmarks.methods import TITLES
from benchmarks.page import Sheet
from benchmarks.store import Row, group
from benchmarks.verdicts import EXPLANATIONS, Cell

METHOD = "exshallow*"
GOAL = "kmc"
ON_GOAL = 1 + 1e-5
"""Files keep six digits: what differs by less is on the goal."""

_GOALS = ("npc", "waes")


def sheet(cells: list[Cell], rows: list[Row], names: dict[str, str]) -> Sheet | None:
    """KMC and ExShallow* by data set and measure, and how often both goals are reached.

    Parameters
    ----------
    cells : list of Cell
        Of all methods.
    rows : list of dict
        What was measured.
    names : dict of str to str
        The paper's name of each data set.
    """
    by_place = {(c.dataset, c.method, c.measure): c for c in cells}
    lines = []
    for (dataset,), of_set in group(rows, "dataset").items():
        pairs = seeds(of_set)
        if not pairs:
            continue
        found = [by_place[dataset, m, measure] for measure in MEASURES for m in (GOAL, METHOD)]
        share = f"{sum(map(reaches, pairs))} of {len(pairs)}"
        lines.append([names[dataset], *(cell.text for cell in found), share])
    if not lines:
        return None
    headings = [f"{measure.upper()}, {TITLES[m]}" for measure in MEASURES for m in (GOAL, METHOD)]
    note = (
        f"{TITLES[METHOD]} searches the depth penalty for a tree that neither costs more nor "
        f"explains at greater length than {TITLES[GOAL]} from the same centers; the last column "
        "counts the seeds in which it finds one."
    )
    return Sheet(
        "Table 3: ExShallow* against KMC", ["data", *headings, "both reached"], lines, note
    )


def seeds(rows: list[Row]) -> list[tuple[Row, Row]]:
    """KMC and ExShallow* of each seed of a data set that has both."""
    by_method = {
        (row["seed"], row["method"]): row for row in rows if row["method"] in (GOAL, METHOD)
    }
    return [
        (by_method[seed, GOAL], by_method[seed, METHOD])
        for seed in dict.fromkeys(seed for seed, _ in by_method)
        if (seed, GOAL) in by_method and (seed, METHOD) in by_method
    ]


def reaches(pair: tuple[Row, Row]) -> bool:
    """Whether ExShallow* is no worse than its goal in cost and size."""
    goal, star = pair
    return all(float(star[m]) <= float(goal[m]) * ON_GOAL for m in _GOALS)


def with_reasons(cells: list[Cell]) -> list[Cell]:
    """The cells, with reasons where those of ExShallow* follow from those of its goal."""
    by_place = {(c.dataset, c.method, c.measure): c for c in cells}
    return [
        replace(cell, why=_why(cell, by_place)) if cell.method == METHOD and cell.why else cell
        for cell in cells
    ]


def _why(cell: Cell, by_place: dict[tuple[str, str, str], Cell]) -> str:
    if (cell.dataset, cell.measure) in EXPLANATIONS:
        return cell.why
    goals = [by_place.get((cell.dataset, GOAL, measure)) for measure in _GOALS]
    stars = [by_place.get((cell.dataset, METHOD, measure)) for measure in _GOALS]
    if None in goals or None in stars:
        return cell.why
    if any(goal.verdict in ("better", "worse") for goal in goals):
        cost, size = (f"{goal.ours:.2f} ({goal.paper:.2f})" for goal in goals)
        return f"Its goal is another here: KMC has an NPC of {cost} and a WAES of {size}."
    if all(star.ours <= goal.ours * ON_GOAL for star, goal in zip(stars, goals)):
        return (
            "Both goals are reached on average; several trees do, and the paper does not say by "
            "which steps its search comes to one of them."
        )
    return cell.why
