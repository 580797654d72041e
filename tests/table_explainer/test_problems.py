"""Warnings about explanations that should not be trusted."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import pellucid
from _support.tables import blobs
from pellucid._utils.notices import command_line
from pellucid.table_explainer.clustering import find_problems


def warnings_of(table, **options):
    return pellucid.explain(table, effort="fast", verbose=False, **options).warnings


def diagonal(n_rows: int = 300) -> pl.DataFrame:
    """Labels that no single threshold separates."""
    X = np.random.default_rng(0).random((n_rows, 2))
    return pl.DataFrame(X, schema=["a", "b"]).with_columns(
        group=pl.Series(np.where(((X * 6).astype(int).sum(axis=1)) % 2, "odd", "even"))
    )


@pytest.mark.slow
def test_a_good_explanation_has_no_warning():
    assert warnings_of(blobs(), k="2-4") == []


def test_low_agreement():
    found = pellucid.explain(diagonal(), labels="group", leaves=2, effort="fast", verbose=False)
    agreement = 100 * found.measures["agreement"]
    assert agreement < 80
    line = (
        f"only {agreement:.1f}% of the rows get the cluster of the given clusters from the rules; "
        "leaves=4 allows more rules"
    )
    assert line in found.warnings
    with command_line():
        assert any("--leaves 4 allows more rules" in text for text in find_problems(found.fitted))


def test_a_rule_for_rows_of_other_clusters():
    rng = np.random.default_rng(0)
    table = pl.DataFrame(
        {"a": rng.random(300), "b": rng.random(300), "group": rng.choice(list("xyz"), 300)}
    )
    found = pellucid.explain(table, labels="group", effort="fast", verbose=False)
    impure = [rule for rule in found.rules if rule.purity < 0.5]
    assert impure
    for rule in impure:
        assert (
            f"only {100 * rule.purity:.1f}% of the rows that the rule of cluster {rule.cluster} "
            "selects are in that cluster; leaves=6 allows more rules"
        ) in found.warnings


def test_a_cluster_without_a_rule():
    rng = np.random.default_rng(0)
    group = np.where(rng.random(300) < 0.1, "rare", np.where(rng.random(300) < 0.5, "x", "y"))
    table = pl.DataFrame({"a": rng.random(300), "b": rng.random(300)}).with_columns(
        group=pl.Series(group)
    )
    found = pellucid.explain(table, labels="group", effort="fast", verbose=False)
    without = [rule.cluster for rule in found.rules if not rule.rules]
    lines = [text for text in found.warnings if text.startswith("no rule leads to cluster")]
    assert len(lines) == len(without)
    if without:
        rows = int((group == without[0]).sum())
        assert lines[0] == (
            f"no rule leads to cluster {without[0]} ({rows} rows); leaves=6 allows more rules"
        )


@pytest.mark.slow
def test_weak_separation():
    table = pl.DataFrame(np.random.default_rng(0).random((150, 6)), schema=list("abcdef"))
    found = pellucid.explain(table, k=3, effort="fast", verbose=False)
    score = found.measures["silhouette"]
    assert (
        f"the clusters overlap (silhouette score {score:.3f}, below 0.25 is weak); columns= with "
        "fewer columns may separate them better"
    ) in found.warnings


@pytest.mark.slow
def test_many_dropped_rows():
    values = blobs(200)
    table = values.with_columns(
        size=pl.when(pl.int_range(200) % 5 == 0).then(None).otherwise(pl.col("size"))
    )
    assert (
        '40 of 200 rows were not clustered because of missing numbers; missing="median" keeps them'
    ) in warnings_of(table, missing="drop", k=3)
    assert not any("missing numbers" in text for text in warnings_of(table, k=3))


@pytest.mark.slow
def test_small_clusters():
    far = pl.DataFrame({"size": [400.0], "weight": [-300.0]})
    texts = warnings_of(pl.concat([blobs(150), far]), k=4, outliers="keep")
    assert any(text.endswith("has only 1 row (0.7%); a smaller k= may be better") for text in texts)


def test_small_clusters_of_small_tables_are_no_problem():
    far = pl.DataFrame({"size": [400.0], "weight": [-300.0]})
    found = pellucid.explain(
        pl.concat([blobs(30), far]), k=4, outliers="keep", effort="fast", verbose=False
    )
    assert 1 in [rule.n_samples for rule in found.rules]
    assert not any("has only 1 row" in text for text in found.warnings)


def test_the_overlap_of_small_tables_is_a_problem():
    table = pl.DataFrame(np.random.default_rng(0).random((30, 6)), schema=list("abcdef"))
    assert any("the clusters overlap" in text for text in warnings_of(table, k=3))
