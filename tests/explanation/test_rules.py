"""Rules: fewest conditions, right rows, right words."""

import numpy as np
import pytest
from sklearn.datasets import load_wine, make_blobs

from pellucid import IMM, ExKMC
from pellucid.explanation.conditions import Condition
from pellucid.explanation.rules import Rule, path_conditions, simplify
from pellucid.tables.column_formats import format_number
from pellucid.tables.encoding import Indicator


def condition(feature, threshold, is_upper):
    return Condition(feature, threshold, is_upper, f"x{feature}")


def test_only_the_tightest_bounds_survive():
    path = [
        condition(1, 30, False),
        condition(2, 20, True),
        condition(1, 70, False),
        condition(1, 90, True),
        condition(1, 80, True),
    ]
    assert simplify(path) == (
        condition(1, 70, False),
        condition(2, 20, True),
        condition(1, 80, True),
    )


def test_text_of_a_rule():
    def text(*conditions):
        return Rule(0, 0, conditions, 1, 1.0, 1.0).text

    alcohol = Condition(0, 12.8, False, "alcohol")
    assert text(alcohol, Condition(6, 2.1, True, "flavanoids")) == (
        "alcohol > 12.8 and flavanoids ≤ 2.1"
    )
    assert text(alcohol, Condition(0, 14.0, True, "alcohol")) == "12.8 < alcohol ≤ 14"
    assert text() == "always"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (590.0, "590"),
        (12.80, "12.8"),
        (0.0, "0"),
        (-0.0, "0"),
        (-0.25, "-0.25"),
        (1e-7, "1e-07"),
        (1e20, "1e+20"),
    ],
)
def test_numbers_are_short_and_exact(value, text):
    assert format_number(value) == text
    assert float(format_number(value)) == value


@pytest.mark.parametrize("value", np.random.default_rng(0).normal(size=20) * 1e3)
def test_numbers_read_back_exactly(value):
    assert float(format_number(value)) == value


def test_the_rule_of_a_leaf_holds_for_its_rows_and_no_others():
    X, _ = make_blobs(500, 3, centers=8, cluster_std=3, random_state=1)
    model = ExKMC(8, random_state=0).fit(X)
    leaves = model.apply(X)
    for rule in model._leaf_rules:
        holds = np.all([c.holds(X) for c in rule.conditions], axis=0)
        np.testing.assert_array_equal(holds, leaves == rule.leaf)
        assert rule.n_samples == holds.sum()
        assert rule.share == pytest.approx(holds.mean())
        agree = model.reference_labels_[holds] == rule.cluster
        assert rule.purity == pytest.approx(agree.mean())
        assert len(rule.conditions) <= len(path_conditions(model.tree_, rule.leaf))


def test_a_cluster_with_several_leaves_is_an_or_of_rules():
    X, _ = make_blobs(500, 3, centers=8, cluster_std=3, random_state=1)
    model = ExKMC(8, random_state=0).fit(X)
    for rule in model.rules_:
        assert rule.n_samples == (model.labels_ == rule.cluster).sum()
        shares = [part.share for part in rule.rules]
        assert shares == sorted(shares, reverse=True)
        assert rule.text.count(" or ") == len(rule.rules) - 1
    assert any(len(rule.rules) > 1 for rule in model.rules_)
    assert sum(rule.share for rule in model.rules_) == pytest.approx(1.0)


def test_weights_count_in_share_and_purity():
    X = np.array([[0.0], [1.0], [10.0], [11.0]])
    model = IMM(threshold_style="data")
    model.fit(X, [0, 0, 1, 0], sample_weight=[1, 1, 5, 3])
    rules = {rule.cluster: rule for rule in model.rules_}
    assert rules[1].n_samples == 2
    assert rules[1].share == pytest.approx(0.8)
    assert rules[1].purity == pytest.approx(5 / 8)


def test_explaining_rows_gives_rule_path_and_values():
    wine = load_wine()
    model = IMM(3, random_state=0).fit(wine.data)
    rows = wine.data[[0, 60, 140]]
    explained = model.explain(rows)
    for i, one in enumerate(explained):
        assert one.row == i
        assert one.cluster == model.predict(rows)[i]
        assert one.leaf == model.apply(rows)[i]
        for step, value in one.path:
            assert value == rows[i, step.feature]
            assert (value <= step.threshold) == step.is_upper
        assert str(one) == f"row {i}: cluster {one.cluster} because {one.rule.text}"
    assert len(explained) == 3


def test_rule_list_prints_one_cluster_after_the_other():
    model = IMM(3, random_state=0).fit(load_wine().data)
    lines = str(model.explain()).splitlines()
    assert len(lines) == 6
    assert lines[0].startswith("cluster 0: ")
    assert lines[1].strip().startswith(f"{(model.labels_ == 0).sum()} rows (")


def test_a_category_that_holds_and_does_not_is_both_said():
    north, south = Indicator("region", "North"), Indicator("region", "South")
    no, yes = Condition(0, 0.5, True, north), Condition(0, 0.5, False, north)
    other = Condition(1, 0.5, True, south)
    assert simplify([other, yes]) == (yes,)
    assert simplify([no, other, yes]) == (no, yes)
