"""`RuleSet`: rules, measures, prediction, and what is refused."""

import warnings

import duckdb
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from _support.sklearn_checks import expected_failures
from pellucid import EOPClassifier, RuleSet, from_json
from pellucid.export import to_sql_columns
from pellucid.rules import boxes, problem


@pytest.mark.slow
@parametrize_with_checks(
    [RuleSet(), RuleSet(n_rules=3, overlap=False)], expected_failed_checks=expected_failures
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def wine():
    X, _ = load_wine(return_X_y=True)
    return X, KMeans(3, n_init=10, random_state=0).fit(X).labels_


def same_rules(first, second):
    assert list(map(str, first.rules_)) == list(map(str, second.rules_))


def test_iris_rules_are_few_and_short():
    X, y = load_iris(return_X_y=True, as_frame=True)
    rules = RuleSet().fit(X, y)
    assert [rule.cluster for rule in rules.rules_] == [0, 1, 2]
    assert rules.rules_[0].text == "petal length (cm) ≤ 2"
    assert max(rule.size for rule in rules.rules_) <= 3
    assert rules.coverage_ > 0.85
    assert rules.precision_ == 1


def test_measures_are_those_of_the_rows(wine):
    X, y = wine
    rules = RuleSet(mistake_cost=1).fit(X, y)
    held = rules.holds(X)
    for position, rule in enumerate(rules.rules_):
        rows = held[:, position]
        assert rule.n_samples == rows.sum()
        assert rule.precision == np.mean(y[rows] == rule.cluster)
        assert rule.coverage == (rows & (y == rule.cluster)).sum() / (y == rule.cluster).sum()
        assert rule.holds(X).tolist() == rows.tolist()
        assert rule.size == sum(1 for _ in rule.conditions)
    explained = np.zeros(len(y), dtype=bool)
    wrong = 0
    for position, rule in enumerate(rules.rules_):
        explained |= held[:, position] & (y == rule.cluster)
        wrong += (held[:, position] & (y != rule.cluster)).sum()
    assert rules.coverage_ == explained.mean()
    assert rules.objective_ == explained.sum() - wrong
    predicted = rules.predict(X)
    assert (predicted == rules.labels_).all()
    assert rules.precision_ == np.mean(predicted[predicted != -1] == y[predicted != -1])


def test_the_most_precise_rule_decides():
    X = np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]]).repeat(10, axis=0)
    y = np.array([0, 0, 0, 1, 1, 1]).repeat(10)
    y[29], y[30] = 1, 0  # both rules may hold mistakes
    rules = RuleSet(mistake_cost=0.5, max_conditions=1, min_support=1).fit(X, y)
    rows = rules.explain_all(X)
    best = {rule.cluster: rule.precision for rule in rules.rules_}
    for row in rows:
        assert row.cluster == (max((r.cluster for r in row.rules), key=best.get, default=-1))


def test_unexplained_rows_have_their_own_label(wine):
    X, y = wine
    rules = RuleSet(n_rules=1).fit(X, y)
    assert set(rules.predict(X)) == {-1, rules.rules_[0].cluster}
    names = np.array(["low", "middle", "high"])[y]
    rules = RuleSet(n_rules=1).fit(X, names)
    assert "unexplained" in rules.predict(X)
    assert str(rules.explain(X)[int(np.argmax(rules.labels_ == "unexplained"))]).endswith(
        "unexplained, because no rule holds"
    )
    taken = np.where(names == "low", "unexplained", names)
    assert RuleSet(n_rules=1).fit(X, taken).unexplained_ == "unexplained_"


def test_weights_count_as_copies_and_row_order_does_not_matter(wine):
    X, y = wine
    weight = np.random.default_rng(0).integers(0, 4, len(y))
    weighted = RuleSet(min_support=3).fit(X, y, sample_weight=weight)
    copies = np.repeat(np.arange(len(y)), weight)
    repeated = RuleSet(min_support=3).fit(X[copies], y[copies])
    assert [r.text for r in weighted.rules_] == [r.text for r in repeated.rules_]
    assert weighted.objective_ == repeated.objective_
    order = np.random.default_rng(1).permutation(len(y))
    same_rules(RuleSet().fit(X, y), RuleSet().fit(X[order], y[order]))
    same_rules(RuleSet().fit(X, y), RuleSet().fit(sparse.csr_array(X), y))
    same_rules(RuleSet().fit(X, y), RuleSet().fit(np.asfortranarray(X), y))


def test_a_sample_of_many_rows_is_the_same_in_any_order(monkeypatch, wine):
    monkeypatch.setattr(problem, "MAX_ROWS", 60)  # so that few rows are sampled as many would be
    X, y = wine
    found = RuleSet(mistake_cost=2).fit(X, y)
    order = np.random.default_rng(1).permutation(len(y))
    same_rules(found, RuleSet(mistake_cost=2).fit(X[order], y[order]))
    same_rules(found, RuleSet(mistake_cost=2).fit(sparse.csr_array(X), y))
    assert found.coverage_ > 0.7
    assert found.precision_ > 0.9


def test_rules_without_mistakes_beside_noise():
    """Both costs are infinite then."""
    y = np.where(np.random.default_rng(5).random(150) < 0.1, -1, load_iris().target)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = RuleSet(min_precision=1.0).fit(load_iris().data, y)
    assert len(model.rules_) >= 3
    assert all(fitted.precision_with_noise == 1 for fitted in model.rules_)


def test_noise_is_not_described_and_counted_apart():
    generator = np.random.default_rng(0)
    X = np.concatenate([generator.normal(m, 0.3, (60, 2)) for m in (0, 3)])
    X = np.concatenate([X, generator.uniform(-2, 5, (60, 2))])
    y = np.repeat([0, 1, -1], 60)
    rules = RuleSet().fit(X, y)
    assert set(rules.classes_) == {0, 1}
    for rule in rules.rules_:
        inside = rule.holds(X)
        assert rule.n_noise == (inside & (y == -1)).sum()
        assert rule.n_samples == (inside & (y >= 0)).sum()
        assert rule.precision_with_noise == np.mean(y[inside] == rule.cluster)
    ignoring = RuleSet(noise_cost=0).fit(X, y)
    assert sum(r.n_noise for r in ignoring.rules_) > sum(r.n_noise for r in rules.rules_)
    strict = RuleSet(min_precision=0.97).fit(X, y)
    assert all(rule.precision_with_noise >= 0.97 for rule in strict.rules_)
    as_cluster = RuleSet(noise="cluster").fit(X, y)
    assert as_cluster.unexplained_ == -2
    none = np.where(y == -1, None, np.array(["a", "b", ""])[y])
    assert [r.text for r in RuleSet().fit(X, none).rules_] == [r.text for r in rules.rules_]


@pytest.mark.slow
def test_limits_hold():
    X = load_digits().data
    y = KMeans(10, n_init=3, random_state=0).fit(X).labels_
    rules = RuleSet(8, max_conditions=4, max_columns=2, mean_conditions=2).fit(X, y)
    assert len(rules.rules_) <= 8
    assert max(len({c.feature for c in rule.conditions}) for rule in rules.rules_) <= 2
    assert np.mean([rule.size for rule in rules.rules_]) <= 2
    apart = RuleSet(overlap=False, min_support=0.3).fit(X, y)
    assert apart.holds(X).sum(axis=1).max() == 1
    each = RuleSet(10, every_cluster=True).fit(X, y)
    assert each.uncovered_ == []


@pytest.mark.slow
def test_digits_beat_the_published_numbers():
    X = load_digits().data
    y = KMeans(10, n_init=10, random_state=0).fit(X).labels_
    for n_rules, bound in ((20, 900), (10, 700)):
        rules = RuleSet(n_rules, mean_conditions=2.5, min_support=1).fit(X, y)
        assert len(rules.rules_) <= n_rules
        assert np.mean([rule.size for rule in rules.rules_]) <= 2.5
        assert rules.objective_ >= bound


def test_categories_are_sets():
    generator = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "city": generator.choice(["Bonn", "Kiel", "Ulm", "Trier"], 400),
            "age": generator.integers(18, 80, 400),
            "since": pd.Timestamp("2020-01-01")
            + pd.to_timedelta(generator.integers(0, 900, 400), "D"),
        }
    )
    y = np.where(table.city.isin(["Kiel", "Ulm"]) & (table.age > 40), "a", "b")
    rules = RuleSet().fit(table, y)
    assert rules.rules_[0].text == "city is Kiel or Ulm and age > 40"
    assert rules.rules_[0].size == 2
    assert (rules.predict(table)[y == "a"] == "a").all()
    assert rules.predict(table.iloc[:, ::-1]).tolist() == rules.predict(table).tolist()


def test_bounds_keep_a_distance_where_clusters_are_mixed(monkeypatch):
    X = np.random.default_rng(0).normal(size=(400, 2))
    mixed = X[:, 0] + np.random.default_rng(1).normal(scale=0.5, size=400) > 0
    sharp = X[:, 0] > 0
    precision, exact = {}, set()
    for margin in (0.0, boxes.MARGIN):
        monkeypatch.setattr(boxes, "MARGIN", margin)
        fits = [RuleSet(held_out=0.5, random_state=s).fit(X, mixed) for s in range(10)]
        precision[margin] = np.mean([rules.held_out_precision_ for rules in fits])
        assert RuleSet().fit(X, sharp).coverage_ == 1
        exact.add(str(RuleSet(min_support=5).fit(X, mixed).rules_))
    assert len(exact) == 1
    assert precision[boxes.MARGIN] > precision[0.0] + 0.01


def test_held_out_rows_are_measured_only(wine):
    X, y = wine
    rules = RuleSet(held_out=0.3, random_state=0).fit(X, y)
    assert 0.7 < rules.held_out_precision_ <= 1
    assert sum(r.n_samples for r in rules.rules_) < 0.75 * len(y)
    assert np.isnan(RuleSet().fit(X, y).held_out_precision_)


def test_without_labels_k_means_is_described(wine):
    X, _ = wine
    kmeans = KMeans(3, n_init=10, random_state=0)
    found = RuleSet(n_clusters=3, random_state=0).fit(X)
    same_rules(found, RuleSet().fit(X, kmeans.fit(X).labels_))
    same_rules(found, RuleSet(reference=kmeans).fit(X))


def test_impossible_requests_say_what_would_work(wine):
    X, y = wine
    with pytest.raises(ValueError, match="n_rules=3 or more, or every_cluster=False"):
        RuleSet(2, every_cluster=True).fit(X, y)
    same = np.zeros((40, 2))
    with pytest.raises(ValueError, match="describes cluster 0, 1: .* smaller min_precision"):
        RuleSet(every_cluster=True, min_precision=0.9).fit(same, np.repeat([0, 1], 20))
    with pytest.warns(ConvergenceWarning, match="every row is unexplained; use a smaller"):
        rules = RuleSet().fit(same, np.repeat([0, 1], 20))
    assert (rules.predict(same) == -1).all()
    with pytest.raises(ValueError, match="min_precision"):
        RuleSet(min_precision=1.5).fit(X, y)
    with pytest.raises(ValueError, match="every label of y is noise"):
        RuleSet().fit(X, np.full(len(y), -1))


def test_exports_agree_with_the_rules():
    generator = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "city": generator.choice(["Bonn", "Kiel", "Ulm"], 300),
            "x": generator.normal(size=300),
            "y": generator.normal(size=300),
        }
    )
    labels = np.where(table.city == "Ulm", 2, np.where(table.x + table.y > 0, 1, 0))
    rules = RuleSet(min_support=5).fit(table, labels)
    held = rules.holds(table)
    assert held.sum(axis=1).max() > 1
    expected = [None if c == -1 else c for c in rules.predict(table).tolist()]
    query = duckdb.connect()
    query.register("given", table)
    found = query.sql(rules.to_sql(dialect="duckdb", table="given")).df()
    assert [None if pd.isna(c) else int(c) for c in found["cluster"]] == expected
    found = query.sql(rules.to_sql_columns(dialect="duckdb", table="given")).df()
    for position in range(len(rules.rules_)):
        assert (found[f"rule_{position + 1}"] == held[:, position]).all()
    restored = from_json(rules.to_json())
    assert restored.predict(table).tolist() == expected
    space: dict = {}
    exec(rules.to_python(), space)
    assert [space["cluster_of"](row) for row in table.to_dict("records")] == expected
    listed = rules.to_frame(kind="pandas")
    assert len(listed) == len(rules.rules_) + 1
    with pytest.raises(TypeError, match="to_sql_columns is for a RuleSet"):
        to_sql_columns(EOPClassifier(max_error=0.1, calibration=0).fit(table[["x", "y"]], labels))


def test_the_report_has_cards_overlaps_and_what_is_unexplained(tmp_path, wine):
    X, y = wine
    names = np.array(["<low>", "middle", "high"])[y]
    rules = RuleSet(mistake_cost=1, min_support=3).fit(X, names)
    page = rules.report(tmp_path / "rules.html", title="A & B").read_text(encoding="utf-8")
    assert page.count('class="card"') == len(rules.rules_)
    assert "A &amp; B" in page
    assert "<low>" not in page
    held = rules.holds(X)
    n_none = (~held.any(axis=1)).sum()
    assert f"No rule holds for {n_none} of {len(X)} rows" in page
    overlap = (held.sum(axis=1) > 1).any()
    assert ("rows that satisfy both" in page) == overlap
    shares = rules.cluster_coverage_
    sizes = np.array([(names == label).mean() for label in rules.classes_])
    assert (shares * sizes).sum() == pytest.approx(rules.coverage_)


def test_a_single_cluster_is_described_by_the_rule_of_all_rows():
    X = np.random.default_rng(0).normal(size=(900, 4))
    rules = RuleSet().fit(X, np.zeros(900, dtype=int))
    assert [rule.text for rule in rules.rules_] == ["always"]
    assert rules.coverage_ == rules.precision_ == 1
    assert (rules.predict(X) == 0).all()
