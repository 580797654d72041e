"""How the number of clusters is chosen and reported."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np
import polars as pl
import pytest
from sklearn.datasets import load_digits, load_wine, make_blobs
from sklearn.metrics import pairwise_distances, silhouette_score

import pellucid
from _support.extended import EXTENDED, seeds
from _support.tables import blobs, clustered, decisions, prepare, source
from pellucid.table_explainer.arguments import read_number
from pellucid.table_explainer.clustering import Clustering
from pellucid.table_explainer.number_of_clusters import (
    ChosenNumber,
    NumberScore,
    _silhouette,
    choose_from,
    choose_number,
    row_keys,
    silhouette,
)


def overlapping(seed: int) -> pl.DataFrame:
    X, _ = make_blobs(220, 4, centers=5, cluster_std=3.5, random_state=seed)
    return pl.DataFrame(X, schema=list("abcd"))


def uniform(seed: int) -> pl.DataFrame:
    return pl.DataFrame(np.random.default_rng(seed).random((180, 3)), schema=list("abc"))


def wine(seed: int) -> pl.DataFrame:
    return pl.from_pandas(load_wine(as_frame=True).data)


def mixed(seed: int) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    return overlapping(seed).with_columns(
        kind=pl.Series(rng.choice(["x", "y", "z"], 220)), spent=pl.Series(rng.lognormal(3, 1, 220))
    )


TABLES = (mixed, overlapping, uniform) if EXTENDED else (mixed,)


@cache
def clustering_of(make: Callable[[int], pl.DataFrame], seed: int) -> Clustering:
    """The clustering of a table with a random seed."""
    numbers = None if EXTENDED else (3, 6)
    return clustered(prepare(source(make(3))), k=numbers, seed=seed)


@pytest.mark.slow
@pytest.mark.parametrize("make", TABLES)
def test_the_number_does_not_depend_on_the_seed(make):
    chosen = [clustering_of(make, seed) for seed in seeds(6)]
    assert len({clustering.n_clusters for clustering in chosen}) == 1
    assert len({clustering.number for clustering in chosen}) == 1


@pytest.mark.slow
@pytest.mark.parametrize("k", [3, 4, 5, 6] if EXTENDED else [6])
def test_clear_groups_are_found(k):
    clustering, lines = decisions(clustered, prepare(source(blobs(60 * k, k))))
    assert clustering.n_clusters == k
    assert len(lines) == 1
    assert lines[0].startswith(f"chose {k} clusters: silhouette score {clustering.silhouette:.3f} ")
    assert lines[0].endswith(" (k= to change)")


@pytest.mark.slow
@pytest.mark.parametrize("make", [*TABLES, wine])
def test_the_score_that_is_printed_is_that_of_the_clusters_that_are_shown(make):
    found = pellucid.explain(make(0), k="2-4", effort="fast", verbose=False)
    Z = found.fitted.prepared.Z
    score = silhouette_score(Z, found.model.reference_labels_)
    assert found.measures["silhouette"] == pytest.approx(score)
    (line,) = [text for text in found.decisions if text.startswith("chose ")]
    assert f"silhouette score {score:.3f} (1 is perfect, below 0.25 is weak)" in line


@pytest.mark.slow
@pytest.mark.parametrize("make", TABLES)
def test_no_cluster_is_very_small(make):
    sizes = np.bincount(clustering_of(make, 0).labels)
    assert sizes.min() >= 0.02 * sizes.sum()


@pytest.mark.slow
def test_a_range_is_compared_with_the_agreement_of_trees():
    found = pellucid.explain(overlapping(0), k="3-6", effort="fast", verbose=False)
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
    found = pellucid.explain(blobs(180, 3), k=(3, 4), effort="fast", verbose=False)
    assert found.number_scores[0].agreement == 1.0
    assert found.number_scores[1].agreement > 0.5


@pytest.mark.slow
def test_the_largest_number_tried_is_named():
    _, lines = decisions(clustered, prepare(source(blobs(400, 8))), k=(7, 8))
    assert '; 8 is the largest number tried (k="8-16" tries more)' in lines[-1]
    _, lines = decisions(clustered, prepare(source(blobs(200, 4))), k=(4, 5))
    assert "largest number tried" not in lines[-1]


def test_no_more_clusters_than_rows_are_advised():
    def reasons(n_rows):
        scores = (scored(3, 0.5),)
        return "; ".join(ChosenNumber(3, scores, largest=3, n_rows=n_rows).reasons(0.5))

    assert '(k="3-4" tries more)' in reasons(5)
    assert "largest number" not in reasons(4)


def test_other_good_numbers_are_named():
    values = {2: 0.2, 3: 0.46, 4: 0.38, 5: 0.4, 6: 0.47, 7: 0.38, 8: 0.30}
    number = choose_from([scored(k, value) for k, value in values.items()], 500, 10)
    assert (number.k, number.others) == (6, (3,))
    text = "; ".join(number.reasons(0.8))
    assert "silhouette score 0.800 (1 is perfect, below 0.25 is weak)" in text
    assert "3 clusters are a good answer too" in text


@pytest.mark.slow
def test_two_groups_that_are_far_apart():
    rng = np.random.default_rng(0)
    X = np.r_[rng.normal(0, 1, size=(30, 3)), rng.normal(30, 1, size=(30, 3))]
    assert choose_number(X).k == 2


@pytest.mark.slow
def test_the_silhouette_score_of_a_large_table_is_that_of_a_sample():
    X, y = make_blobs(3000, 3, centers=4, random_state=0)
    assert silhouette(X, y) == pytest.approx(silhouette_score(X, y), abs=0.02)
    assert np.isnan(silhouette(X, np.zeros(3000, dtype=int)))


@pytest.mark.parametrize("k", ["five", "0", 0, -1, "5-3", "1-4", (1, 4), "3-", 2.5, (3, 4, 5)])
def test_numbers_that_cannot_be_read(k):
    with pytest.raises(ValueError, match=r"^k= is .*; it must be a positive integer, a range such"):
        read_number(k)


@pytest.mark.slow
def test_the_next_best_number_is_another_one():
    Z, _ = make_blobs(200, centers=5, random_state=0, cluster_std=1.5)
    number = choose_number(Z, range(3, 7))
    seen = [number.k]
    while (number := number.next_best()) is not None:
        assert number.scores  # all scores stay, to be printed
        seen.append(number.k)
    assert len(seen) == len(set(seen)) > 2


@pytest.mark.slow
def test_a_tree_with_a_very_small_cluster_gets_another_number():
    # Handwritten digits: the tree of eight clusters has one of less than 2 % of the rows.
    table = load_digits(as_frame=True).data.iloc[: 700 if EXTENDED else 300]
    for seed in range(2 if EXTENDED else 1):
        found = pellucid.explain(table, random_state=seed, effort="fast", verbose=False)
        sizes = [rule.n_samples for rule in found.rules]
        is_named = any("has only" in text for text in found.warnings)
        assert min(sizes) >= 0.02 * len(table) or is_named


def test_few_different_rows():
    number = choose_number(np.zeros((20, 2)))
    assert number.k == 1
    assert number.reasons(float("nan")) == ["there are too few different rows for more"]


def scored(k: int, silhouette: float, **values: float) -> NumberScore:
    usual = {"stability": 1.0, "smallest": 0.2, "agreement": 1.0, "cost": 1.0}
    return NumberScore(k, silhouette, **{**usual, **values})


def test_stable_and_explained_numbers_have_a_higher_score():
    assert scored(3, 0.4).score > scored(3, 0.4, stability=0.3).score
    assert scored(3, 0.4).score > scored(3, 0.4, agreement=0.7).score
    assert scored(3, 0.4).score > scored(2, 0.4).score
    # Perfect agreement is no reason for a number whose tree agrees well anyway.
    assert scored(3, 0.4, agreement=0.96).score == scored(3, 0.4).score


def test_the_last_number_before_the_silhouette_falls_is_chosen():
    scores = [scored(3, 0.57), scored(4, 0.55), scored(5, 0.40), scored(6, 0.39)]
    assert choose_from(scores, 500, 10).k == 4
    # Numbers with tiny clusters are not chosen, but their silhouette score is known.
    scores[1] = replace(scores[1], smallest=0.001)
    assert choose_from(scores, 500, 10).k == 3


def test_the_fast_silhouette_score_equals_that_of_scikit_learn():
    rng = np.random.default_rng(0)
    for _ in range(30):
        n = int(rng.integers(5, 50))
        distances = pairwise_distances(rng.normal(size=(n, 2)).round(1))
        labels = rng.integers(0, 4, n)
        if 1 < len(np.unique(labels)) < n:
            wanted = silhouette_score(distances, labels, metric="precomputed")
            assert _silhouette(distances, labels) == pytest.approx(wanted)
    assert _silhouette(distances, np.zeros(n, dtype=int)) == 0.0


def test_keys_of_rows_depend_on_their_values_only():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (60, 2)).astype(float)
    order = rng.permutation(60)
    keys, others = row_keys(list(X.T)), row_keys(list(X[order].T))
    assert len(set(keys.tolist())) == 60
    assert sorted(keys.tolist()) == sorted(others.tolist())


@pytest.mark.slow
def test_the_choice_does_not_depend_on_the_order_of_the_rows():
    X, _ = make_blobs(900, 3, centers=5, cluster_std=2.0, random_state=0)
    order = np.random.default_rng(0).permutation(900)
    number = choose_number(X, range(4, 7))
    assert number.scores == choose_number(X[order], range(4, 7)).scores
    assert "numbers were compared on 600 rows" in number.reasons(0.5)


def test_tables_of_few_rows_have_a_warning():
    table = pl.DataFrame({"a": [1.0, 2.0, 9.0, 9.5, 1.5], "b": [3.0, 4.0, 3.5, 2.0, 1.0]})
    found = pellucid.explain(table, k=2, effort="fast", verbose=False)
    assert found.warnings[0] == (
        "the table has only 5 rows; clusters of so few rows may be due to chance"
    )


def test_numbers_beyond_single_precision_are_compared():
    X = np.repeat([0.0, 1.0, 5.0], 20) * 1e40 + np.arange(60) * 1e37
    found = pellucid.explain(
        pl.DataFrame({"a": X}), k="2-4", scale="none", outliers="keep", verbose=0
    )
    assert len(found.rules) == 3
