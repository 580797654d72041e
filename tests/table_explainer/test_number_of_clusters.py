"""How the number of clusters is chosen and reported."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from sklearn.datasets import load_digits, load_wine, make_blobs
from sklearn.metrics import silhouette_score

import pellucid
from _support.extended import EXTENDED, seeds
from _support.tables import blobs, clustered, decisions, source
from pellucid.table_explainer.arguments import read_number
from pellucid.table_explainer.number_of_clusters import (
    ChosenNumber,
    NumberScore,
    choose_number,
    silhouette,
)
from pellucid.table_explainer.preparing import prepare


def overlapping(seed: int) -> pl.DataFrame:
    X, _ = make_blobs(220, 4, centers=5, cluster_std=3.5, random_state=seed)
    return pl.DataFrame(X, schema=list("abcd"))


def uniform(seed: int) -> pl.DataFrame:
    return pl.DataFrame(np.random.default_rng(seed).random((180, 3)), schema=list("abc"))


def mixed(seed: int) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    return overlapping(seed).with_columns(
        kind=pl.Series(rng.choice(["x", "y", "z"], 220)), spent=pl.Series(rng.lognormal(3, 1, 220))
    )


@pytest.mark.slow
@pytest.mark.parametrize("make", [overlapping, uniform, mixed])
def test_the_number_does_not_depend_on_the_seed(make):
    prepared = prepare(source(make(0)))
    chosen = [clustered(prepared, seed=seed) for seed in seeds(6)]
    assert len({clustering.n_clusters for clustering in chosen}) == 1
    assert len({clustering.number for clustering in chosen}) == 1


@pytest.mark.slow
@pytest.mark.parametrize("k", [3, 4, 5, 6])
def test_clear_groups_are_found(k):
    clustering, lines = decisions(clustered, prepare(source(blobs(60 * k, k))))
    assert clustering.n_clusters == k
    assert len(lines) == 1
    assert lines[0].startswith(f"chose {k} clusters: silhouette score {clustering.silhouette:.2f} ")
    assert lines[0].endswith(" (k= to change)")


@pytest.mark.slow
@pytest.mark.parametrize("make", [overlapping, uniform, mixed])
def test_the_score_that_is_printed_is_that_of_the_clusters_that_are_shown(make):
    found = pellucid.explain(make(0), verbose=False)
    Z = found.fitted.prepared.Z
    score = silhouette_score(Z, found.model.reference_labels_)
    assert found.measures["silhouette"] == pytest.approx(score)
    (line,) = [text for text in found.decisions if text.startswith("chose ")]
    assert f"silhouette score {score:.2f} (1 is perfect, below 0.25 is weak)" in line


@pytest.mark.slow
@pytest.mark.parametrize("make", [overlapping, uniform, mixed])
def test_no_cluster_is_very_small(make):
    clustering = clustered(prepare(source(make(3))))
    sizes = np.bincount(clustering.labels)
    assert sizes.min() >= 0.02 * sizes.sum()


@pytest.mark.slow
def test_a_range_is_compared_with_the_agreement_of_trees():
    found = pellucid.explain(overlapping(0), k="3-6", verbose=False)
    assert [score.k for score in found.number_scores] == [3, 4, 5, 6]
    for score in found.number_scores:
        assert 0.5 < score.agreement <= 1
        assert 0 < score.smallest <= 1 / score.k
        assert -1 <= score.stability <= 1
    assert len(found.rules) in (3, 4, 5, 6)
    chosen = next(s for s in found.number_scores if s.k == len(found.rules))
    assert chosen.agreement == pytest.approx(found.measures["agreement"], abs=0.05)


@pytest.mark.slow
def test_the_agreement_is_that_of_a_tree():
    found = pellucid.explain(blobs(180, 3), k=(3, 4), verbose=False)
    assert found.number_scores[0].agreement == 1.0
    assert found.number_scores[1].agreement > 0.5


@pytest.mark.slow
def test_no_trees_are_fitted_to_choose_from_all_numbers(monkeypatch):
    def fail(*args):
        raise AssertionError("a tree was fitted")

    monkeypatch.setattr("pellucid.table_explainer.clustering.with_agreement", fail)
    clustering = clustered(prepare(source(blobs())))
    assert all(score.agreement is None for score in clustering.number.scores)
    assert [score.k for score in clustering.number.scores] == list(range(2, 11))


@pytest.mark.slow
def test_the_largest_number_tried_is_named():
    _, lines = decisions(clustered, prepare(source(blobs(400, 8))), k=(2, 8))
    assert '; 8 is the largest number tried (k="8-16" tries more)' in lines[-1]
    _, lines = decisions(clustered, prepare(source(blobs(400, 4))), k=(2, 6))
    assert "largest number tried" not in lines[-1]


@pytest.mark.slow
def test_other_good_numbers_are_named():
    rng = np.random.default_rng(0)
    # Three groups of two groups each.
    centers = np.array([[0, 0], [0, 5.5], [20, 0], [20, 5.5], [40, 0], [40, 5.5]])
    X = centers[np.arange(300) % 6] + rng.normal(0, 0.5, size=(300, 2))
    number = choose_number(X)
    assert {number.k, *number.others} >= {3, 6}
    text = "; ".join(number.reasons(0.8))
    assert f"{number.others[0]} clusters are a good answer too" in text


def test_few_different_rows():
    assert choose_number(np.zeros((20, 2))).k == 1
    number = ChosenNumber(1, ())
    assert number.reasons(float("nan")) == ["there are too few different rows for more"]


@pytest.mark.slow
def test_two_groups_that_are_far_apart():
    rng = np.random.default_rng(0)
    X = np.r_[rng.normal(0, 1, size=(100, 3)), rng.normal(30, 1, size=(100, 3))]
    assert choose_number(X).k == 2


@pytest.mark.slow
def test_the_silhouette_score_of_a_large_table_is_that_of_a_sample():
    X, y = make_blobs(5000, 3, centers=4, random_state=0)
    assert silhouette(X, y) == pytest.approx(silhouette_score(X, y), abs=0.02)
    assert np.isnan(silhouette(X, np.zeros(5000, dtype=int)))


def test_an_unstable_number_has_a_lower_score():
    stable, unstable = NumberScore(3, 0.4, 1.0, 0.2), NumberScore(3, 0.4, 0.3, 0.2)
    assert stable.score > unstable.score


@pytest.mark.parametrize("k", ["five", "0", 0, -1, "5-3", "1-4", (1, 4), "3-", 2.5, (3, 4, 5)])
def test_numbers_that_cannot_be_read(k):
    with pytest.raises(ValueError, match=r"^k= is .*; it must be a positive integer, a range such"):
        read_number(k)


@pytest.mark.slow
def test_the_next_best_number_is_another_one():

    Z, _ = make_blobs(300, centers=5, random_state=0, cluster_std=1.5)
    number = choose_number(Z)
    seen = [number.k]
    while (number := number.next_best()) is not None:
        assert number.scores  # all scores stay, to be printed
        seen.append(number.k)
    assert len(seen) == len(set(seen)) > 2


@pytest.mark.slow
def test_a_tree_with_a_very_small_cluster_gets_another_number():
    # Handwritten digits: the tree of eight clusters has one of less than 2 % of the rows.

    table = load_digits(as_frame=True).data.iloc[:700]
    for seed in range(2 if EXTENDED else 1):
        found = pellucid.explain(table, random_state=seed, verbose=False)
        sizes = [rule.n_samples for rule in found.rules]
        is_named = any("has only" in text for text in found.warnings)
        assert min(sizes) >= 0.02 * len(table) or is_named


@pytest.mark.slow
def test_the_printed_score_is_that_of_the_final_clusters():

    found = pellucid.explain(load_wine(as_frame=True).data, verbose=False)
    score = silhouette_score(found.fitted.prepared.Z, found.model.reference_labels_)
    assert f"silhouette score {score:.2f} " in " ".join(found.decisions)
