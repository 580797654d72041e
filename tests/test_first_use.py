"""`warm_up` compiles every loop, and progress says when compilation takes long."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import pellucid
from pellucid import first_use
from pellucid._utils import compilation
from pellucid._utils.progress import listening

ROOT = Path(__file__).parent.parent

EVERY_LOOP = """
import warnings
from itertools import islice
from pellucid import ExplainableKMeans, first_use
from pellucid.methods import STREAMED
from tests._support.bounds_run import uncalled
warnings.simplefilter("ignore")
for fit in (
    *first_use.fits_of_form("sparse float64"),
    # The second fit, of ExplainableKMeans, takes long and uses the loops of the others.
    *(fit for i, fit in enumerate(first_use.fits_of_form("float64")) if i != 1),
    *first_use.fits_of_other_estimators(),
):
    fit()
for fit in islice(first_use.fits_of_scans(), len(STREAMED)):
    if not isinstance(fit.func.__self__, ExplainableKMeans):  # as above
        fit()
print(*uncalled())
"""


@pytest.mark.slow
def test_every_loop_is_compiled():
    """Other forms, and scans of other numbers, use the same loops."""
    run = subprocess.run(
        [sys.executable, "-c", EVERY_LOOP],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    assert not run.stdout.split()


def test_the_report(monkeypatch):
    monkeypatch.setattr(first_use, "FORMS", {})
    monkeypatch.setattr(first_use, "fits_of_scans", lambda: iter(()))
    done = []
    monkeypatch.setattr(
        first_use, "fits_of_other_estimators", lambda: iter([lambda: done.append(1)])
    )
    report = pellucid.warm_up()
    assert done == [1]
    assert report.n_compiled == 0
    assert report.seconds >= 0
    assert report.folder is None or Path(report.folder).is_dir()


def test_progress_mentions_compilation_that_takes_long(monkeypatch):
    monkeypatch.setattr(compilation, "_LONG", -1.0)
    listener = compilation._CompilationWatch()
    said = []
    with listening(lambda progress, text: said.append(text)):
        for _ in range(2):
            listener.on_start(None)
            listener.on_end(None)
    assert said == ["compiling (first use)"]


def test_short_compilation_is_not_mentioned():
    listener = compilation._CompilationWatch()
    said = []
    with listening(lambda progress, text: said.append(text)):
        for _ in range(3):
            listener.on_start(None)
            listener.on_end(None)
    assert said == []


@pytest.mark.parametrize("form", first_use.FORMS)
def test_forms_hold_the_same_numbers(form):
    X = np.array([[1.0, 0.0], [0.5, 2.0]])
    stored = first_use.FORMS[form](X)
    np.testing.assert_array_equal(stored.toarray() if hasattr(stored, "toarray") else stored, X)
