"""Columns that are described but not clustered."""

from __future__ import annotations

from datetime import date, timedelta

import polars as pl

import pellucid
from _support.tables import blobs


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
