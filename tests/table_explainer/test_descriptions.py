"""Suggested names of clusters, and columns that are described but not clustered."""

from __future__ import annotations

import re
from datetime import date, timedelta

import numpy as np
import polars as pl
import pytest

import pellucid
from _support.extended import seeds
from _support.tables import blobs, prepare, source
from pellucid.explanation.cluster_names import Claim, _without_contradictions, category_words
from pellucid.table_explainer.explainer import suggest_names
from pellucid.tables.encoding import Indicator


def names_of(table: pl.DataFrame, labels: np.ndarray) -> list[str]:
    return suggest_names(prepare(source(table)), labels, range(int(labels.max()) + 1))


def test_names_describe_the_columns_in_which_a_cluster_differs_most():
    found = names_of(blobs(90), np.arange(90) % 3)
    assert found[0] in ("low size, high weight", "high weight, low size")
    assert found[1] in ("medium size, medium weight", "medium weight, medium size")
    assert found[2] in ("high size, low weight", "low weight, high size")


def test_claims_of_the_rule_come_first():
    n = np.arange(120)
    table = pl.DataFrame(
        {
            # `other` separates the groups less well than `used` does, but the rule has `used`.
            "used": np.where(n % 2, 10.0, 2.0) + n % 7 / 10,
            "other": np.where(n % 2, 5.0, 4.0) + n % 11 / 20,
        }
    )
    found = pellucid.explain(table, k=2, method="imm", verbose=False)
    for rule, name in zip(found.rules, found.suggested_names):
        assert name.claims[0].column == rule.rules[0].conditions[0].column
        assert name.claims[0].share == 1.0
        assert name.claims[0].others == 0.0


def test_a_middle_interval_of_the_rule_is_medium():
    table = pl.DataFrame({"size": np.arange(90) // 30 * 10.0 + np.arange(90) % 7})
    found = pellucid.explain(table, k=3, effort="fast", verbose=False, outliers="keep")
    by_rule = {rule.text: name for rule, name in zip(found.rules, found.suggested_names)}
    assert sorted(by_rule.values()) == ["high size", "low size", "medium size"]
    assert next(text for text, name in by_rule.items() if "< size ≤" in text and name)
    assert by_rule[next(t for t in by_rule if "< size ≤" in t)] == "medium size"


def test_a_single_value_is_an_equation():
    table = pl.DataFrame({"legs": [0, 4, 4, 4, 6] * 24, "noise": np.arange(120) % 17 / 3})
    labels = np.array([0, 1, 1, 1, 2] * 24)
    found = pellucid.explain(
        table.with_columns(group=labels), labels="group", effort="fast", verbose=False
    )
    assert [name.split(", ")[0] for name in found.suggested_names] == [
        "legs = 0",
        "legs = 4",
        "legs = 6",
    ]


@pytest.mark.parametrize(
    ("column", "value", "categories", "words"),
    [
        ("channel", "hotel", ("hotel", "shop"), "hotel"),
        ("Partner", "Yes", ("Yes", "No"), "Partner"),
        ("Partner", "No", ("Yes", "No"), "without Partner"),
        ("survived", "no", ("yes", "no"), "not survived"),
        ("has_kids", "no", ("yes", "no"), "has_kids is no"),
        ("member", 0, (0, 1), "without member"),
        ("member", 1, (0, 1, None), "member"),
        ("flag", "T", ("T", "F"), "flag"),
        ("yes", "n", ("n", "y"), "yes is n"),
        ("a", 1, (1, 2), "a = 1"),
        ("backup", "No", ("Yes", "No", "No internet service"), "without backup"),
        (
            "backup",
            "No internet service",
            ("Yes", "No", "No internet service"),
            "without internet service",
        ),
        ("discount", "None", ("None", "Gold"), "discount is None"),
        ("discount", None, (None, "Gold"), "discount is missing"),
        ("grade", "T", ("T", "F", "G"), "grade is T"),
    ],
)
def test_categories_in_words(column, value, categories, words):
    assert category_words(Indicator(column, value, categories=categories)) == words


def test_no_word_repeats_another():
    table = pl.DataFrame(
        {
            "internet_service": ["No"] * 40 + ["DSL", "Fiber"] * 20,
            "backup": ["No internet service"] * 40 + ["Yes", "No"] * 20,
            "charges": np.r_[np.arange(40) % 9 + 10.0, np.arange(40) % 9 + 60.0],
        }
    )
    first, _ = names_of(table, np.repeat([0, 1], 40))
    words = first.split(", ")
    assert len(words) == 2
    assert "low charges" in words
    assert {"without internet_service", "without internet service"} & set(words)


def test_columns_keep_their_spelling():
    table = pl.DataFrame({"CAtBat (n)": np.arange(60) / 4, "pricemm": 9 - (np.arange(60) ^ 9) / 8})
    first, second = names_of(table, np.repeat([0, 1], 30))
    assert set(first.split(", ")) == {"low CAtBat (n)", "high pricemm"}
    assert set(second.split(", ")) == {"high CAtBat (n)", "low pricemm"}


def test_braces_in_columns_and_categories():
    table = pl.DataFrame({"a{}": np.arange(60) / 4, "kind": ["{x}"] * 30 + ["{y}"] * 30})
    first, _ = names_of(table, np.repeat([0, 1], 30))
    assert set(first.split(", ")) == {"low a{}", "{x}"}


def test_dates_and_years_are_early_or_late():
    table = pl.DataFrame({"year built": [1950, 1951] * 15 + [2010, 2011] * 15})
    assert names_of(table, np.repeat([0, 1], 30)) == ["early year built", "late year built"]


def test_high_is_not_below_medium():
    """Measured by halves of the rows, "high" may hold for a cluster of lower numbers."""
    high, middle, low = (
        Claim(f"{word} x", "x", "", 0.7, 0.3, side=side, level=level)
        for word, side, level in (("high", 1, 0.1), ("medium", 0, 0.5), ("low", -1, -1.0))
    )
    other = Claim("high y", "y", "", 0.8, 0.3, side=1, level=0.2)
    assert _without_contradictions([[high, other], [middle], [low]]) == [[other], [middle], [low]]
    assert _without_contradictions([[high], [other], [low]]) == [[high], [other], [low]]


def test_names_are_different():
    labels = np.random.default_rng(0).integers(0, 4, 240)
    found = names_of(blobs(), labels)
    assert len(set(found)) == 4


def test_clusters_that_differ_by_a_threshold_only_are_named_by_their_rules():
    table = pl.DataFrame({"size": np.repeat([1.0, 2.0, 3.0, 4.0, 5.0], 20) * 10})
    found = pellucid.explain(table, k=5, effort="fast", verbose=False)
    names = found.suggested_names
    assert len(set(names)) == 5
    assert all("(" not in name for name in names)


def random_table(seed: int) -> pl.DataFrame:
    """Groups in skewed, constant, small-integer and categorical columns, with noise."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(40, 160))
    group = rng.integers(0, int(rng.integers(2, 6)), n)
    kind = np.array(["No", "Yes", "blue", "red", "green", None], dtype=object)
    table = {
        "a b": rng.normal(3.0 * group, 1.0),
        "spent": np.exp(rng.normal(group, 0.7)).round(2),
        "n": rng.poisson(1 + 2 * group),
        "noise": rng.normal(size=n).round(1),
        "kind": kind[np.where(rng.random(n) < 0.8, group, rng.integers(0, 6, n))],
        "member": rng.integers(0, 2, n) * (group > 0),
    }
    kept = rng.permutation(list(table))[: int(rng.integers(2, 7))].tolist()
    return pl.DataFrame({name: table[name].tolist() for name in kept}, strict=False)


BOUND = re.compile(
    r"(?:(?P<low>[-.\de]+) (?P<strict><|≤) )?(?P<name>.+?) (?P<sign>[>≥≤=]) (?P<x>\S+)"
)


def rows_with(table: pl.DataFrame, claim: Claim) -> np.ndarray:
    """The rows for which the text of a condition on numbers is true."""
    found = BOUND.fullmatch(claim.condition)
    values = table[found["name"]].to_numpy()
    compare = {">": np.greater, "≥": np.greater_equal, "≤": np.less_equal, "=": np.equal}
    holds = compare[found["sign"]](values, float(found["x"]))
    if found["low"]:
        low = compare["≥" if found["strict"] == "≤" else ">"](values, float(found["low"]))
        holds &= low
    return holds


@pytest.mark.slow
def test_every_claim_is_true():
    n_claims = 0
    for seed in seeds(36):
        table = random_table(seed)
        found = pellucid.explain(table, k=2 + seed % 4, effort="fast", verbose=False)
        table = table[found.fitted.prepared.rows]
        labels, names = found.model.labels_, found.suggested_names
        assert len(set(names)) == len(names)
        for cluster, name in zip(found.model.cluster_names_, names):
            mine = labels == cluster
            assert name == ", ".join(c.words for c in name.claims) or not name.claims
            for claim in name.claims:
                n_claims += 1
                assert claim.share >= 0.6
                assert claim.share > claim.others
                if claim.column in ("kind", "member"):
                    continue
                holds = rows_with(table, claim)
                assert claim.share == pytest.approx(holds[mine].mean())
                assert claim.others == pytest.approx(holds[~mine].mean())
                values = table[claim.column].to_numpy()
                if claim.words.startswith("high "):
                    assert np.mean(values[mine] > np.median(values)) >= 0.6
                if claim.words.startswith("low "):
                    assert np.mean(values[mine] < np.median(values)) >= 0.6
    assert n_claims > 5 * len(seeds(36))


@pytest.mark.slow
def test_claims_about_categories_are_true():
    for seed in seeds(10):
        table = random_table(seed).with_columns(
            member=pl.Series(["a", None, "b"]).sample(
                len(random_table(seed)), with_replacement=True, seed=seed
            )
        )
        prepared = prepare(source(table.select("member")))
        labels = (table["member"] == "a").fill_null(False).to_numpy().astype(int)
        others, mine = suggest_names(prepared, labels, [0, 1])
        assert mine.claims[0].condition == "member is a"
        assert (mine.claims[0].share, mine.claims[0].others) == (1.0, 0.0)
        assert all(c.share >= 0.6 and c.share > c.others for c in others.claims)


@pytest.mark.slow
def test_names_reach_every_export(tmp_path):
    found = pellucid.explain(blobs(), k=3, names="suggested", effort="fast", verbose=False)
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
    found = pellucid.explain(blobs(), k=3, effort="fast", verbose=False)
    assert found.rename({1: "middle"}) is found
    assert [rule.cluster for rule in found.rules] == ["0", "middle", "2"]
    assert set(found.predict(blobs())) == {"0", "middle", "2"}
    with pytest.raises(ValueError, match="there is no cluster 7 to rename; the clusters are "):
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
    found = pellucid.explain(table, k=3, profile=columns, effort="fast", verbose=False)
    assert found.fitted.prepared.roles.used == ["size", "weight"]
    assert list(found.profile) == columns
    order = [rule.cluster for rule in found.rules]
    group = {found.labels[i]: i for i in range(3)}
    expected = {
        "revenue": ["100.5", "2,000", "30.5"],
        "churn": ["yes (100%)", "yes (0%)", "-"],
        "active": ["1 (100%)", "1 (0%)", "1 (0%)"],
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
    assert pellucid.explain(blobs(), k=3, effort="fast", verbose=False).profile == {}


def test_a_cluster_that_differs_in_nothing_is_average():
    table = pl.DataFrame({"a": np.arange(120) % 10 / 4, "b": np.arange(120) // 10 / 4})
    assert names_of(table, np.arange(120) % 2 * 0)[0] == "average"


def test_a_rule_beyond_the_median_is_not_high():
    keepers = pl.DataFrame({"diving": np.r_[np.arange(90) % 13, 70 + np.arange(10) % 13]})
    found = pellucid.explain(keepers, k=2, effort="fast", verbose=False, outliers="keep")
    assert sorted(found.suggested_names) == ["high diving", "not high diving"]
    (claim,) = next(n for n in found.suggested_names if n == "not high diving").claims
    assert (claim.share, claim.others) == (1.0, 0.0)


def test_one_of_two_categories_that_are_answers_has_the_name_of_its_column():
    answers = ["yes", "perhaps", "no", "no"] * 30
    group = np.array([0, 0, 1, 1] * 30)
    table = pl.DataFrame({"resp": answers, "size": group * 9.0 + np.arange(120) % 7})
    found = pellucid.explain(
        table.with_columns(group=group), labels="group", columns="resp", verbose=False
    )
    assert "resp is perhaps or yes" in found.suggested_names
