"""What is claimed of XClusters, and whether the figures bear it out."""

from __future__ import annotations

from benchmarks.page import Sheet
from benchmarks.settings import Settings
from benchmarks.store import Row, group, mean, read_rows
from benchmarks.xclusters import searches, sets
from benchmarks.xclusters.searches import DEFAULT, OURS, by_key

_FINE = 0.01
_RECOVERED = 0.95


def sheets(settings: Settings) -> list[Sheet]:
    """A verdict for every claim and data set."""
    rows = read_rows(settings.output / searches.FILE)
    lines = [
        line for (name,), _ in group(rows, "dataset").items() for line in _verdicts(rows, name)
    ]
    headings = ["data", "claim", "figures", "verdict"]
    note = f"Of XClusters with ε = {DEFAULT:g} where nothing else is said."
    return [Sheet("Claims", headings, lines, note)] if lines else []


def _verdicts(rows: list[Row], name: str) -> list[list[str]]:
    grid, two_step = by_key(rows, name, "grid"), by_key(rows, name, "two-step")
    usual, fine = by_key(rows, name, OURS), by_key(rows, name, OURS, _FINE)
    if not (grid and two_step and usual and fine):
        return []
    best, size = mean(grid, "objective"), mean(grid, "evaluations")
    found = [
        _near(usual, best + DEFAULT, f"ε = {DEFAULT:g}: within ε of the grid's best"),
        _few(usual, size, 3, DEFAULT),
        _near(fine, 1.02 * best, f"ε = {_FINE:g}: within 2 % of the grid's best"),
        _few(fine, size, 2, _FINE),
        _below(usual, two_step),
    ]
    if usual[0]["planted"]:
        found.append(_planted(name, usual, two_step))
    return [[sets.TITLES[name], *line] for line in found]


def _near(rows: list[Row], limit: float, claim: str) -> list[str]:
    ours = mean(rows, "objective")
    return [claim, f"{ours:.3f} ≤ {limit:.3f}", _say(ours <= limit)]


def _few(rows: list[Row], size: float, divisor: int, tolerance: float) -> list[str]:
    ours = mean(rows, "evaluations")
    share = {2: "half", 3: "a third"}[divisor]
    claim = f"ε = {tolerance:g}: at most {share} of the grid's evaluations"
    return [claim, f"{ours:.0f} ≤ {size / divisor:.0f}", _say(ours <= size / divisor)]


def _below(rows: list[Row], two_step: list[Row]) -> list[str]:
    ours, theirs = mean(rows, "objective"), mean(two_step, "objective")
    return ["below 2-Step", f"{ours:.3f} < {theirs:.3f}", _say(ours < theirs)]


def _planted(name: str, rows: list[Row], two_step: list[Row]) -> list[str]:
    """Where nothing hides them the planted trends are found; elsewhere, more so than by 2-Step."""
    ours, theirs = mean(rows, "planted"), mean(two_step, "planted")
    if name == sets.PLAIN:
        claim = f"planted trends are found (adjusted Rand at least {_RECOVERED})"
        return [claim, f"{ours:.2f}", _say(ours >= _RECOVERED)]
    claim = "nearer to the planted trends than 2-Step (adjusted Rand)"
    return [claim, f"{ours:.2f} > {theirs:.2f}", _say(ours > theirs)]


def _say(holds: bool) -> str:
    return "holds" if holds else "misses"
