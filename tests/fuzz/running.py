"""One case by its number: drawn, fitted, checked, and the outcome."""

from __future__ import annotations

import re
import traceback
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import sklearn
from sklearn.exceptions import ConvergenceWarning

import pellucid

from .cut_oracles import check_cuts
from .export_oracles import check_exports
from .other_cases import draw_other_case
from .tree_cases import draw_tree_case
from .tree_oracles import check_tree, check_variants

OTHER = 0.08
"""Share of cases that are not of tree estimators; each takes many times as long."""

VARIANTS, EXPORTS = 0.8, 0.1
"""Shares of the cases that are fitted again in other forms, and whose exports are executed."""

MAX_ROWS_OF_CUTS = 1000
"""Rows of the largest problems whose cuts are compared with all others."""

_PACKAGE = str(Path(pellucid.__file__).parent)
_SCIKIT_LEARN = str(Path(sklearn.__file__).parent)
_NAMES = re.compile(
    r"\b(X|y|column|columns|row|rows|labels?|cluster|clusters|n_clusters|reference|centers|"
    r"sample_weight|weights?|polish|n_leaves|max_depth|max_conditions|k_range|class|classes|"
    r"distances?|n_samples|indices|\w*features)\b"
)
"""Things that a message of an error may name."""


@dataclass(frozen=True)
class Outcome:
    """What became of a case."""

    seed: int
    estimator: str
    kind: str
    """"correct", "clear error", "skipped", "wrong result", "unclear error" or "refused without a
    reason".
    """
    n_fits: int
    message: str = ""
    description: str = ""

    @property
    def is_failure(self) -> bool:
        return self.kind not in ("correct", "clear error", "skipped")


def is_clear(error: BaseException) -> bool:
    """Whether an error is a ValueError of this package or of scikit-learn that names what is wrong.

    The line that raises it must be one of theirs: an error from inside NumPy or SciPy is not clear.
    """
    raised_in = traceback.extract_tb(error.__traceback__)[-1].filename
    known = raised_in.startswith((_PACKAGE, _SCIKIT_LEARN))
    return isinstance(error, ValueError) and known and bool(_NAMES.search(str(error)))


def draw_case(seed: int):
    """The case of a number, and the generator for what follows."""
    rng = np.random.default_rng(seed)
    draw = draw_other_case if rng.random() < OTHER else draw_tree_case
    return draw(rng), rng


TABLES = 8
"""One case in so many is a table, unless all are."""


def is_table(seed: int, only: str | None = None) -> bool:
    """Whether the case of a number is a table; with `only` "models" or an estimator, none is."""
    return only == "tables" or (only is None and seed % TABLES == 0)


def run_case_of(seed: int, only: str | None = None) -> Outcome:
    """Solve the case of a number; tables are skipped if their packages are not installed."""
    if not is_table(seed, only):
        return run_case(seed, only)
    try:
        from .table_cases import run_table_case
    except ModuleNotFoundError as error:
        return Outcome(seed, f"(needs {error.name})", "skipped", 0)
    return run_table_case(seed)


def run_case(seed: int, only: str | None = None) -> Outcome:
    """Fit a case and check the result; other estimators than `only`, if it is one, are skipped."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            case, rng = draw_case(seed)
        except ModuleNotFoundError as error:
            return Outcome(seed, f"(needs {error.name})", "skipped", 0)
        name = case.name
        if only not in (None, "models", name):
            return Outcome(seed, name, "skipped", 0)
        warnings.filterwarnings("error", category=RuntimeWarning, module=r"pellucid\.")
        warnings.filterwarnings("ignore", category=ConvergenceWarning)
        kind, message = _solve(case, rng)
    return Outcome(seed, name, kind, max(case.n_fits, 1), message, case.description)


def _solve(case, rng) -> tuple[str, str]:
    is_fitted = False
    try:
        model = case.fit()
        is_fitted = True
        if case.must_refuse:
            return "wrong result", "the problem has no answer, but there was no error"
        if hasattr(case, "check"):
            case.check(model, rng)
            return "correct", ""
        check_tree(case, model, rng)
        if len(case.X) <= MAX_ROWS_OF_CUTS:
            check_cuts(case, model)
        if len(case.X) <= 100 and rng.random() < EXPORTS:
            check_exports(model, case.X, rng)
        if rng.random() < VARIANTS:
            check_variants(case, model, rng)
    except AssertionError as error:
        return "wrong result", str(error) or _where(error)
    except Exception as error:
        raised_in = traceback.extract_tb(error.__traceback__)[-1].filename
        if getattr(case, "reference", None) == "unfitted" and raised_in.startswith(_SCIKIT_LEARN):
            return "clear error", str(error)  # the reference refuses the data
        if is_fitted or not is_clear(error):
            return "unclear error", _where(error)
        if not case.may_refuse:
            return "refused without a reason", str(error)
        return "clear error", str(error)
    return "correct", ""


def _where(error: BaseException) -> str:
    """The error and the last places of this package in its traceback."""
    frames = traceback.extract_tb(error.__traceback__)
    places = [f"{Path(f.filename).name}:{f.lineno}" for f in frames[-4:]]
    return f"{type(error).__name__}: {error} ({' > '.join(places)})"
