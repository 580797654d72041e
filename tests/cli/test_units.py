"""A tree that was grown on scaled and 0/1 columns says the same in the units of the file."""

from __future__ import annotations

import io

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from _support.extended import seeds
from _support.tables import prepare
from pellucid.cli.app import app
from pellucid.table_explainer.arguments import ExplainOptions
from pellucid.table_explainer.clustering import cluster_rows, fit_tree
from pellucid.tables.reading import TableSource


def mixed(seed: int) -> pl.DataFrame:
    random = np.random.default_rng(seed)
    n = 150
    return pl.DataFrame(
        {
            "large": random.normal(1e6, 2e5, n).round(-3),
            "small": random.exponential(1e-3, n),
            "whole": random.integers(0, 20, n),
            "kind": random.choice(["a", "b", "c"], n),
            "gappy": [None if v < 0.1 else v for v in random.random(n).tolist()],
            "flag": random.random(n) > 0.5,
        }
    )


@pytest.mark.parametrize("seed", seeds(4))
@pytest.mark.parametrize("missing", ["drop", "median"])
def test_rows_have_the_clusters_of_the_tree_on_scaled_columns(seed, missing):
    table = mixed(seed)
    options = ExplainOptions(k=5, missing=missing, seed=seed)
    clustering = cluster_rows(prepare(TableSource("table", table), options), options)
    prepared = clustering.prepared
    used = table[prepared.rows]
    for method in ("exshallow", "exkmc", "spex"):
        fitted = fit_tree(clustering, ExplainOptions(method=method))
        assert prepared.is_scaled
        found = fitted.explanation.predict(used)
        assert found.tolist() == fitted.model.labels_.tolist()
        leaves = fitted.explanation.apply(used)
        old_leaves = [fitted.old_leaf[leaf] for leaf in leaves.tolist()]
        assert old_leaves == fitted.model.tree_.apply(prepared.Z).tolist()
        shown = {rule.leaf: rule.n_samples for rule in fitted.explanation._leaf_rules}
        assert shown == {leaf: int((leaves == leaf).sum()) for leaf in shown}


def test_what_is_clustered_is_scaled_once():
    prepared = prepare(TableSource("table", mixed(0)))
    numbers = [j for j, name in enumerate(prepared.encoding.names) if isinstance(name, str)]
    np.testing.assert_allclose(prepared.Z[:, numbers].mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(prepared.Z[:, numbers].std(axis=0), 1)
    # Rows with different categories have the squared distance 1 in the column.
    codes = np.unique(np.delete(prepared.Z, numbers, axis=1)).tolist()
    assert codes == [0.0, pytest.approx(np.sqrt(0.5))]
    assert prepared.Z is prepared.Z


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.mark.slow
def test_rows_are_given_the_clusters_that_explain_gave_them(tmp_path):
    """Codes, truth values and texts as categories, in a file and in one that looks different."""
    table = pl.DataFrame(
        {
            "code": [1, 2, 3] * 40,
            "flag": [True, True, False, False] * 30,
            "word": ["1", "2", "x", "y"] * 30,
        }
    )
    table.write_csv(tmp_path / "data.csv")
    for name in table.columns:
        options = ("--columns", name, "--categorical", name, "-k", table[name].n_unique())
        files = ("--model", tmp_path / "model.json", "--output", tmp_path / "rows.csv")
        result = run("explain", tmp_path / "data.csv", *options, *files)
        assert result.exit_code == 0, result.stderr
        told = run("predict", tmp_path / "model.json", tmp_path / "data.csv")
        assert told.stdout == (tmp_path / "rows.csv").read_text()
        assert pl.read_csv(tmp_path / "rows.csv").group_by(name, "cluster").len().height == len(
            table[name].unique()
        )


def clusters(text: str, by: str) -> dict:
    return {row[by]: row["cluster"] for row in pl.read_csv(io.StringIO(text)).to_dicts()}


@pytest.mark.parametrize(
    ("known", "others"),
    # Only numbers are left in a column of words, or a word comes into one of numbers.
    [(["1", "2", "x", "y"], ["1", "2"]), (["1", "2", "3"], ["1", "2", "other"])],
)
def test_categories_are_known_again_in_a_file_that_looks_different(tmp_path, known, others):
    for name, values in (("data.csv", known * 30), ("others.csv", others)):
        (tmp_path / name).write_text("\n".join(["kind", *values, ""]))
    options = ("--categorical", "kind", "-k", len(known), "--output", tmp_path / "rows.csv")
    result = run("explain", tmp_path / "data.csv", *options, "--model", tmp_path / "model.json")
    assert result.exit_code == 0, result.stderr
    told = run("predict", tmp_path / "model.json", tmp_path / "others.csv").stdout
    expected = {str(k): c for k, c in clusters((tmp_path / "rows.csv").read_text(), "kind").items()}
    found = {str(k): c for k, c in clusters(told, "kind").items()}
    assert {k: found[k] for k in ("1", "2")} == {k: expected[k] for k in ("1", "2")}
