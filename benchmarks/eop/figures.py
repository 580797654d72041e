"""What the tables of the EOP part reckon: means, paired tests, cells of ours beside theirs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import stats

from benchmarks.store import Row

NOTHING = "–"


def column(rows: Sequence[Row], method: str, measure: str) -> np.ndarray:
    """A measure of one method, by data set in the order of the rows; NaN where it is unknown.

    Several splits of one data set are averaged.
    """
    names = list(dict.fromkeys(row["dataset"] for row in rows))
    found: dict[str, list[float]] = {name: [] for name in names}
    for row in rows:
        if row["method"] == method and row[measure]:
            found[row["dataset"]].append(float(row[measure]))
    return np.array([np.mean(found[name]) if found[name] else np.nan for name in names])


def both(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Those pairs in which both numbers are finite."""
    finite = np.isfinite(a) & np.isfinite(b)
    return a[finite], b[finite]


def paired_p(a: np.ndarray, b: np.ndarray) -> float:
    """Two-sided p-value of the paired t-test; NaN for fewer than two pairs or no difference."""
    a, b = both(a, b)
    if len(a) < 2 or np.ptp(a - b) == 0:
        return float("nan")
    return float(stats.ttest_rel(a, b).pvalue)


def mean(values: np.ndarray) -> float:
    """Mean of the finite ones; NaN if there are none."""
    finite = values[np.isfinite(values)]
    return float(finite.mean()) if len(finite) else float("nan")


def cell(ours: float, paper: float | None = None, digits: int = 3) -> str:
    """Ours (the paper's)."""
    text = _number(ours, digits)
    return text if paper is None or np.isnan(paper) else f"{text} ({_number(paper, digits)})"


def p_text(p: float) -> str:
    """A p-value for people."""
    if np.isnan(p):
        return NOTHING
    return f"p = {p:.3f}" if p >= 0.001 else "p < 0.001"


def _number(value: float, digits: int) -> str:
    if np.isnan(value):
        return NOTHING
    return "Inf" if np.isinf(value) else f"{value:.{digits}f}"
