"""Every method of the registry is known everywhere, and what the registry says of it is true."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import pellucid
from _support.tree_estimators import REFERENCE_TREES
from fuzz.tree_cases import DRAWS, ESTIMATORS
from pellucid import cluster, first_use
from pellucid.cli.app import app
from pellucid.methods import BY_WORD, METHODS, STREAMED, one_of

DOCS = Path(__file__).parent.parent / "docs"
NAMES = [method.name for method in METHODS]
OPTIONS = {
    "leaves": "n_leaves",
    **{
        name: name
        for name in (
            "objective",
            "polish",
            "depth_penalty",
            "max_depth",
            "max_conditions",
            "faithfulness",
            "effort",
        )
    },
}
"""Parameters of `explain`, and what estimators call them."""

every_method = pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)


def rows() -> np.ndarray:
    random = np.random.default_rng(0)
    return random.normal(size=(60, 2)) + 6 * random.integers(3, size=(60, 1))


def in_code(text: str) -> list[str]:
    """Names between backquotes."""
    return re.findall(r"`(\w+)`", text)


def test_the_registry_has_all_estimators_of_trees():
    assert sorted(NAMES) == sorted(cluster.__all__)
    assert set(NAMES) <= set(pellucid.__all__)
    for method in METHODS:
        assert getattr(pellucid, method.name) is method.estimator


@every_method
def test_the_options_are_parameters_of_the_class(method):
    known = method.estimator().get_params(deep=False)
    assert set(method.options) == {name for name, own in OPTIONS.items() if own in known}


@every_method
def test_methods_that_stream_fit_batches(method):
    X = rows()
    data = pellucid.scan(lambda: iter(np.array_split(X, 2)))
    model = method.estimator(reference=X[:3], random_state=0)
    if method.streams:
        assert model.fit(data).n_leaves_ >= 3
    else:
        names = one_of(each.name for each in STREAMED.values())
        with pytest.raises(ValueError, match=f"needs all rows in memory; on a scan, use {names}"):
            model.fit(data)


def test_methods_of_labels_need_no_centers():
    X = rows()
    labels = np.digitize(X[:, 0], [2.0, 5.0])
    # The centers change, but neither the order of the rows nor their labels do.
    stretched = np.exp(X)
    for method in METHODS:
        if method.from_labels:
            first, second = (method.estimator().fit(Z, labels).labels_ for Z in (X, stretched))
            np.testing.assert_array_equal(first, second)


@pytest.mark.slow
def test_explain_takes_every_method_with_a_word():
    table = pl.DataFrame(rows().round(2), schema=["a", "b"])
    for word, method in BY_WORD.items():
        parameters = {"effort": "fast"} if "effort" in method.options else {}
        found = pellucid.explain(table, k=3, method=word, verbose=False, **parameters)
        assert type(found.model) is method.estimator
        assert found.explanation.method_ == method.name


def test_the_command_line_knows_every_method():
    result = CliRunner().invoke(app, ["explain", "x.csv", "--method", "magic"])
    assert result.exit_code == 2
    assert f"use one of {', '.join(BY_WORD)}" in result.stderr
    page = CliRunner().invoke(app, ["explain", "--help"], env={"COLUMNS": "400"}).stdout
    assert f"How the tree is built: {', '.join(BY_WORD)}. Default" in page


def test_spark_knows_the_methods_that_stream():
    pytest.importorskip("pyspark")
    from pellucid.spark import Explainer

    listed = re.search(r"method : \{(.*?)\}", Explainer.__doc__ or "")
    assert listed is not None
    assert re.findall(r'"(\w+)"', listed[1]) == list(STREAMED)
    assert Explainer.method.doc == f"one of {', '.join(STREAMED)}"


def test_warm_up_fits_every_method():
    fitted = {type(fit.args[0]) for fit in first_use.fits_of_form("float64") if fit.args}
    assert fitted == {method.estimator for method in METHODS}
    streamed = {type(fit.func.__self__) for fit in first_use.fits_of_scans()}
    assert streamed == {method.estimator for method in STREAMED.values()}


def test_the_tests_of_all_trees_have_every_method():
    assert {method.estimator for method in METHODS} <= {type(model) for model in REFERENCE_TREES}
    assert set(NAMES) <= set(ESTIMATORS)
    assert set(DRAWS) <= set(NAMES)


def table_row(method) -> str:
    """The line of a method in the table of the documentation."""
    costs = ["k-means", "k-medians"] if "objective" in method.options else ["k-means"]
    cells = [
        f"`{method.name}`",
        "–" if method.word is None else f"`{method.word}`",
        "labels" if method.from_labels else ", ".join(costs),
        "yes" if "leaves" in method.options else "no",
        "yes" if "polish" in method.options else "always",
        "yes" if method.streams else "no",
    ]
    return f"| {' | '.join(cells)} |"


def test_the_documentation_has_every_method():
    page = (DOCS / "methods.md").read_text(encoding="utf-8")
    section = page.split("## What each method can do\n\n")[1].split("\n\n")[0]
    assert section.splitlines()[2:] == [table_row(method) for method in METHODS]


def test_pages_list_the_methods_that_stream():
    streamed = {method.name for method in STREAMED.values()}
    assert streamed <= set(in_code(pellucid.scan.__doc__ or ""))
    estimators = (DOCS / "scale.md").read_text().split("## Estimators\n\n")[1].split(", with")[0]
    assert set(in_code(estimators)) == streamed
    line = next(s for s in (DOCS / "choosing.md").read_text().splitlines() if "(scale.md)" in s)
    assert set(in_code(line)) == streamed


def test_names_as_alternatives():
    assert one_of(["imm"]) == "imm"
    assert one_of(iter(["imm", "emn"])) == "imm or emn"
