"""The clustering of a table."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

import pellucid
from _support.tables import blobs, clustered, decisions, prepare, source
from pellucid._utils.notices import InputError, UsageError, command_line
from pellucid.table_explainer.arguments import ExplainOptions
from pellucid.table_explainer.clustering import FittedTable, cluster_rows
from pellucid.table_explainer.preparing import row_name


def flags(n_rows: int = 400) -> pl.DataFrame:
    """Two measures with two groups, two frequent flags and one rare flag."""
    rng = np.random.default_rng(0)
    table = blobs(n_rows, 2, spread=2.0)
    return table.with_columns(
        kids=pl.Series(rng.random(n_rows) < 0.5).cast(pl.Int64),
        teens=pl.Series(rng.random(n_rows) < 0.4).cast(pl.Int64),
        complained=pl.Series(rng.random(n_rows) < 0.02).cast(pl.Int64),
    )


@pytest.mark.slow
@pytest.mark.parametrize("k", [3, 6])
def test_flags_give_the_same_clusters_however_they_are_written(k):
    numbers = flags()
    names = numbers.columns[2:]
    words = numbers.with_columns(
        pl.col(names).replace_strict({0: "no", 1: "yes"}, return_dtype=pl.String)
    )
    booleans = numbers.with_columns(pl.col(names).cast(pl.Boolean))
    floats = numbers.with_columns(pl.col(names).cast(pl.Float64))
    labels = [
        pellucid.explain(table, k=k, effort="fast", verbose=False).labels.tolist()
        for table in (numbers, words, booleans, floats)
    ]
    assert labels[0] == labels[1] == labels[2] == labels[3]


def test_rare_flags_do_not_make_small_clusters():
    found = pellucid.explain(flags(), k=6, effort="fast", verbose=False)
    assert min(rule.share for rule in found.rules) > 0.05


def test_kmeans_on_the_clustered_data():
    clustering = clustered(prepare(source(blobs())), k=3, seed=4)
    expected = KMeans(3, n_init=10, random_state=4).fit(clustering.prepared.Z)
    assert adjusted_rand_score(clustering.labels, expected.labels_) == 1
    assert clustering.reference.inertia_ == pytest.approx(expected.inertia_)
    assert clustering.as_parameters() == (clustering.reference, None)


def test_kmedians():
    clustering = clustered(prepare(source(blobs())), k=3, objective="kmedians")
    assert clustering.name == "k-medians"
    assert clustering.n_clusters == 3
    reference, labels = clustering.as_parameters()
    assert reference is None
    assert len(labels) == len(clustering.prepared.rows)


def test_given_labels():
    table = blobs(90).with_columns(group=pl.Series(["a", "b", "c"] * 30))
    options = ExplainOptions(labels="group")
    clustering = cluster_rows(prepare(source(table), options), options)
    assert clustering.labels.tolist() == ["a", "b", "c"] * 30
    assert clustering.name == "the given clusters"
    assert 0.5 < clustering.silhouette <= 1


def test_more_clusters_than_rows():
    prepared = prepare(source(blobs(6)))
    for k in (7, (3, 7)):
        with pytest.raises(InputError, match="^k=7 is more than the 6 rows; choose fewer clusters"):
            clustered(prepared, k=k)
    with command_line(), pytest.raises(InputError, match="^-k 7 is more than the 6 rows$"):
        clustered(prepared, k=7)


def test_more_clusters_than_different_rows(recwarn):
    table = pl.DataFrame({"x": [1.5, 2.5] * 20})
    clustering, lines = decisions(clustered, prepare(source(table)), k=4)
    assert clustering.n_clusters == 2
    assert lines == ["made 2 clusters instead of 4, because only 2 rows are different"]
    assert len(recwarn) == 0


def test_two_different_rows_are_two_clusters():
    table = pl.DataFrame({"x": [1.5, 2.5] * 25})
    clustering, lines = decisions(clustered, prepare(source(table)))
    assert sorted(np.bincount(clustering.labels).tolist()) == [25, 25]
    assert lines == ["chose 2 clusters: there are too few different rows for more (k= to change)"]


def test_unknown_handling_of_outliers():
    with pytest.raises(UsageError, match="^outliers= is 'drop'; use one of auto, keep$"):
        pellucid.explain(blobs(), k=3, outliers="drop")


def test_a_better_start_improves_kmeans():
    clustering = clustered(prepare(source(blobs())), k=3)
    prepared = clustering.prepared
    poor = KMeans(3, init=prepared.Z[:3], n_init=1, max_iter=1, random_state=0).fit(prepared.Z)
    start = replace(clustering, reference=poor, labels=poor.labels_)
    better = start.improved_by(clustering.labels)
    assert better.reference.inertia_ <= clustering.reference.inertia_ + 1e-9
    assert clustering.improved_by(poor.labels_).reference is clustering.reference


def test_rows_have_names():
    table = blobs().with_columns(id=pl.Series([f"c{i}" for i in range(240)]))
    prepared = prepare(source(table))
    assert row_name(prepared, 4) == "row 5 (id c4)"
    assert row_name(prepare(source(blobs())), 1233) == "row 1,234"


def test_more_leaves_where_a_leaf_per_cluster_agrees_badly():
    rng = np.random.default_rng(0)
    common = rng.normal(size=(300, 1))
    table = pl.DataFrame((common + rng.normal(size=(300, 2))).round(3), schema=["a", "b"])
    found = pellucid.explain(table, k=2, effort="fast", verbose=False)
    given = pellucid.explain(table, k=2, effort="fast", leaves=2, verbose=False)
    n_leaves = int(found.measures["n_leaves"])
    assert given.measures["agreement"] < 0.9 <= found.measures["agreement"]
    assert given.measures["n_leaves"] == 2 < n_leaves <= 5
    assert sum(len(rule.rules) for rule in found.rules) == n_leaves
    line = (
        f"made {n_leaves} rules for 2 clusters, because with one rule for each, less than 90% of "
        "the rows get their cluster (leaves=2 for one rule each)"
    )
    assert line in found.decisions
    assert line not in given.decisions


@pytest.mark.parametrize("helps", [True, False])
def test_clusters_of_very_few_rows_give_another_number(helps, monkeypatch):
    # Four large groups, and four of ten rows between them: eight clusters have the highest score.
    angles = np.pi / 4 * np.arange(8).repeat([140, 10] * 4)
    radius, spread = np.array([[6, 3], [0.4, 0.1]])[:, np.arange(8).repeat([140, 10] * 4) % 2]
    noise = np.random.default_rng(1).normal(size=(2, 600)) * spread
    x, y = radius * np.array([np.cos(angles), np.sin(angles)]) + noise
    if not helps:
        monkeypatch.setattr(FittedTable, "small_rules", lambda self: self.explanation.rules_[:1])
    found = pellucid.explain(pl.DataFrame({"x": x, "y": y}), effort="fast", verbose=False)
    scores = {score.k: score.score for score in found.number_scores}
    assert max(scores, key=lambda k: scores[k]) == 8
    assert len(found.rules) < 8 if helps else len(found.rules) == 8
    assert any("has only" in text for text in found.warnings) != helps
