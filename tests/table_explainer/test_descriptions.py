"""Suggested names of clusters, and columns that are described but not clustered."""

from __future__ import annotations

from datetime import date, timedelta

import numpy as np
import polars as pl
import pytest

import pellucid
from _support.tables import blobs, source
from pellucid.table_explainer.descriptions import plain_name, suggest_names
from pellucid.table_explainer.preparing import prepare


def names_of(table: pl.DataFrame, labels: np.ndarray) -> list[str]:
    return suggest_names(prepare(source(table)), labels, range(int(labels.max()) + 1))


def test_names_describe_the_columns_in_which_a_cluster_differs_most():
    found = names_of(blobs(90), np.arange(90) % 3)
    assert found[0] in ("low size, high weight", "high weight, low size")
    assert found[1] == "average"
    assert found[2] in ("high size, low weight", "low weight, high size")


def test_categories_are_names_too():
    table = pl.DataFrame(
        {
            "channel": ["hotel"] * 30 + ["shop"] * 30,
            "member": [1] * 30 + [0] * 30,
            "noise": np.tile(np.arange(15.0) + 0.5, 4),
        }
    )
    first, second = names_of(table, np.repeat([0, 1], 30))
    assert set(first.split(", ")) == {"hotel", "member"}
    assert set(second.split(", ")) == {"shop", "no member"}


def test_vague_categories_have_the_name_of_their_column():
    table = pl.DataFrame(
        {"discount": ["None"] * 30 + ["Gold"] * 30, "noise": np.tile(np.arange(15.0) + 0.5, 4)}
    )
    assert names_of(table, np.repeat([0, 1], 30)) == ["discount None", "Gold"]


def test_numbers_of_two_kinds_are_not_flags():
    noise = np.tile(np.arange(15.0) + 0.5, 4)
    for values, names in (((1, 2), ["a 1", "a 2"]), ((1, 0), ["a", "no a"])):
        table = pl.DataFrame({"a": np.repeat(values, 30), "noise": noise})
        assert names_of(table, np.repeat([0, 1], 30)) == names


def test_dates_and_years_are_early_or_late():
    table = pl.DataFrame({"year": [1950, 1951] * 15 + [2010, 2011] * 15})
    assert names_of(table, np.repeat([0, 1], 30)) == ["early year", "late year"]


def test_names_are_different():
    labels = np.random.default_rng(0).integers(0, 4, 240)
    found = names_of(blobs(), labels)
    assert len(set(found)) == 4


@pytest.mark.parametrize(
    ("column", "words"),
    [
        ("dep_delay", "dep delay"),
        ("GDP", "GDP"),
        ("(k$)", "(k$)"),
        ("Age", "age"),
        ("body_mass_g", "body mass"),
        ("g", "g"),
    ],
)
def test_column_names_as_words(column, words):
    assert plain_name(column) == words


@pytest.mark.slow
def test_names_reach_every_export(tmp_path):
    found = pellucid.explain(blobs(), k=3, names="suggested", verbose=False)
    names = found.suggested_names
    assert [rule.cluster for rule in found.rules] == names
    assert set(found.labels) == set(names)
    for name in names:
        assert name in found.to_sql()
        assert name in found.to_json()
        assert name in str(found)
    page = found.report(tmp_path / "report.html").read_text()
    assert all(name in page for name in names)


@pytest.mark.slow
def test_some_clusters_can_be_renamed():
    found = pellucid.explain(blobs(), k=3, verbose=False)
    renamed = found.rename({1: "middle"})
    assert [rule.cluster for rule in renamed.rules] == ["0", "middle", "2"]
    assert found.rules[1].cluster == 1
    assert set(renamed.predict(blobs())) == {"0", "middle", "2"}
    with pytest.raises(ValueError, match="there is no cluster 7 to rename; the clusters are 0, 1"):
        found.rename({7: "x"})
    with pytest.raises(ValueError, match="names is 'best'; use a dict, or \"suggested\""):
        found.rename("best")


def test_profile_columns_are_described_by_cluster():
    n = 90
    table = blobs(n).with_columns(
        revenue=pl.Series([[100.0, 2000.0, 30.0][i % 3] + i % 2 for i in range(n)]),
        churn=pl.Series([["yes", "no", None][i % 3] for i in range(n)]),
        active=pl.Series([int(i % 3 == 0) for i in range(n)]),
        since=pl.Series([date(2020 + i % 3, 1, 1) + timedelta(days=i % 2) for i in range(n)]),
        year=pl.Series([1990 + i % 3 for i in range(n)]),
    )
    columns = ["revenue", "churn", "active", "since", "year"]
    found = pellucid.explain(table, k=3, profile=columns, verbose=False)
    assert found.fitted.prepared.roles.used == ["size", "weight"]
    assert list(found.profile) == columns
    order = [rule.cluster for rule in found.rules]
    group = {found.labels[i]: i for i in range(3)}
    expected = {
        "revenue": ["100.5", "2,000", "30.5"],
        "churn": ["yes (100%)", "no (100%)", "-"],
        "active": ["1 (100%)", "0 (100%)", "0 (100%)"],
        "since": ["2020-01-01", "2021-01-01", "2022-01-01"],
        "year": ["1990", "1991", "1992"],
    }
    for column, texts in found.profile.items():
        wanted = [expected[column][group[cluster]] for cluster in order]
        if column in ("revenue", "since"):
            # The mean of two adjacent values may be rounded to either.
            wanted = [text[:6] for text in wanted]
            texts = [text[: len(w)] for text, w in zip(texts, wanted)]
        assert texts == wanted


def test_there_is_no_profile_by_default():
    assert pellucid.explain(blobs(), k=3, verbose=False).profile == {}
