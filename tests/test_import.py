"""Importing the package is cheap: nothing heavy comes along, nothing is compiled."""

import subprocess
import sys

import pytest

import pellucid
import pellucid.cluster

pytestmark = pytest.mark.slow


def loaded(code: str) -> set[str]:
    """Modules in memory after some code, beyond those that scikit-learn itself brings."""
    report = (
        "import sys, sklearn.base, sklearn.utils.validation; before = set(sys.modules);"
        f"{code}; print(*(set(sys.modules) - before))"
    )
    run = [sys.executable, "-c", report]
    return set(subprocess.run(run, capture_output=True, text=True, check=True).stdout.split())


def test_heavy_packages_wait_for_their_first_use():
    modules = loaded("import pellucid.cluster, pellucid.eop, pellucid.metrics")
    assert not modules & {"numba", "matplotlib", "polars", "pandas", "sklearn.cluster"}


def test_the_bare_import_does_not_even_need_scikit_learn():
    code = "import sys, pellucid; print(*sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"sklearn", "scipy", "numpy"} & set(found.stdout.split())
    assert pellucid.IMM is pellucid.cluster.IMM
    assert set(pellucid.__all__) <= set(dir(pellucid))
    with pytest.raises(AttributeError, match="no attribute 'CART'"):
        _ = pellucid.CART


def test_fitting_needs_neither_plots_nor_tables_nor_a_terminal():
    modules = loaded("import pellucid; pellucid.IMM(2, random_state=0).fit([[0.0], [1.0], [5.0]])")
    assert "pellucid._core.kernels.mistakes" in modules
    assert not modules & {"matplotlib", "polars", "pandas", "typer"}
