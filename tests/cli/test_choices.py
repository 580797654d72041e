"""The options that belong to a method reach it, and the others are refused."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from sklearn.datasets import make_blobs
from typer.testing import CliRunner

from pellucid import IMM, ExplainableKMeans, ExShallow
from pellucid.cli.app import app


@pytest.fixture
def file(tmp_path):
    X, _ = make_blobs(150, 3, centers=4, cluster_std=4.0, random_state=1)
    pl.DataFrame(X.round(2), schema=list("abc")).write_csv(tmp_path / "data.csv")
    return tmp_path / "data.csv"


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def measures(*arguments) -> dict:
    result = run("explain", *arguments, "--json")
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)["measures"]


@pytest.mark.slow
def test_polish_lowers_the_cost(file):
    plain, yes, deep = (
        measures(file, "-k", 4, "--method", "imm", "--scale", "none", "--polish", how)
        for how in ("no", "yes", "deep")
    )
    assert yes["cost_ratio"] < plain["cost_ratio"]
    assert deep["cost_ratio"] <= yes["cost_ratio"]
    model = IMM(4, polish=True, random_state=0).fit(pl.read_csv(file))
    assert yes["cost_ratio"] == pytest.approx(model.inertia_ / model.reference_inertia_)


@pytest.mark.slow
def test_a_depth_penalty_and_limits_shorten_the_rules(file):
    cheap = measures(
        file, "-k", 4, "--method", "exshallow", "--depth-penalty", 0, "--scale", "none"
    )
    short = measures(
        file, "-k", 4, "--method", "exshallow", "--depth-penalty", 10, "--scale", "none"
    )
    assert short["conditions"] <= cheap["conditions"]
    model = ExShallow(4, depth_penalty=10, random_state=0).fit(pl.read_csv(file))
    assert short["cost_ratio"] == pytest.approx(model.inertia_ / model.reference_inertia_)
    limits = ("--max-depth", 2, "--max-conditions", 2, "--effort", "fast", "--scale", "none")
    limited = measures(file, "-k", 4, "--method", "explainable", *limits)
    assert limited["max_depth"] == 2
    assert limited["conditions"] <= 2
    model = ExplainableKMeans(4, max_depth=2, max_conditions=2, effort="fast", random_state=0)
    model.fit(pl.read_csv(file))
    assert limited["cost_ratio"] == pytest.approx(model.inertia_ / model.reference_inertia_)


@pytest.mark.slow
def test_the_objective_changes_what_is_explained(file):
    result = run("explain", file, "-k", 4, "--objective", "kmedians", "--scale", "none")
    assert "compared with k-medians" in result.stdout
    found = measures(file, "-k", 4, "--objective", "kmedians", "--scale", "none")
    model = ExShallow(4, objective="kmedians", random_state=0).fit(pl.read_csv(file))
    assert found["cost_ratio"] == pytest.approx(model.inertia_ / model.reference_inertia_)
    compared = run("compare", file, "-k", 4, "--objective", "kmedians")
    assert "ExplainableKMeans is skipped: it minimises the k-means cost" in compared.stderr
    assert "cost compared with k-medians" in compared.stdout
    assert "ExplainableKMeans" not in compared.stdout
    path = run("path", file, "-k", 4, "--objective", "kmedians")
    assert "cost compared with k-medians" in path.stdout


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (
            ["--method", "exshallow", "--leaves", 9],
            "--leaves requires --method explainable, exkmc or spex; exshallow makes one leaf per "
            "cluster",
        ),
        (
            ["--method", "exshallow", "--max-depth", 3],
            "--max-depth requires --method explainable; exshallow does not support it",
        ),
        (
            ["--method", "imm", "--depth-penalty", 0.1],
            "--depth-penalty requires --method explainable or exshallow; imm does not support it",
        ),
        (
            ["--method", "explainable", "--polish", "deep"],
            "--polish requires --method exshallow, exgreedy, imm, exkmc, bsimm, emn or spex; "
            "explainable always polishes its trees",
        ),
        (
            ["--method", "explainable", "--objective", "kmedians"],
            "--objective requires --method exshallow, exgreedy, imm, exkmc, bsimm, emn or spex; "
            "explainable minimises the k-means cost",
        ),
        (
            ["--polish", "yes", "--objective", "kmedians"],
            "--polish minimises the k-means cost; remove it with --objective kmedians",
        ),
    ],
)
def test_what_a_method_does_not_know_is_refused(file, options, line):
    result = run("explain", file, *options)
    assert result.stderr.splitlines() == [f"error: {line}"]
    assert result.exit_code == 2


def test_leaves_are_checked_once_the_number_of_clusters_is_known(tmp_path):
    places = [[x, y] for x in (0, 9, 18) for y in (0, 9)]
    X, y = make_blobs(120, centers=places, cluster_std=0.2, random_state=3)
    table = pl.DataFrame(X, schema=["a", "b"]).with_columns(group=pl.Series(np.char.mod("g%d", y)))
    table.write_csv(tmp_path / "data.csv")
    few = ("--method", "exkmc", "--leaves", 2)
    for options, clusters in ((["--exclude", "group"], "-k"), (["--labels", "group"], "--labels")):
        result = run("explain", tmp_path / "data.csv", *few, *options)
        assert result.exit_code == 2
        error, hint = result.stderr.splitlines()[-2:]
        assert error == f"error: --leaves 2 is less than the 6 clusters of {clusters}"
        assert hint == "hint: every cluster needs at least one leaf"


@pytest.mark.slow
def test_labels_are_followed_unless_another_method_is_asked_for(file):
    table = pl.read_csv(file)
    group = (
        pl.when(pl.col("a") > table["a"].quantile(0.7))
        .then(pl.lit("high"))
        .otherwise(pl.lit("low"))
    )
    table.with_columns(group=group).write_csv(file)
    followed = run("explain", file, "--labels", "group")
    assert (
        "tree by ExplainableKMeans, which keeps the labels as closely as it can" in followed.stderr
    )
    assert measures(file, "--labels", "group")["agreement"] == 1.0
    asked = run("explain", file, "--labels", "group", "--method", "exshallow")
    assert asked.exit_code == 0
    assert "tree by" not in asked.stderr
