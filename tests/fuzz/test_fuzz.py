"""The oracles find planted mistakes, exact costs are exact, and cases repeat by their number."""

from __future__ import annotations

import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from _support.extended import EXTENDED, examples
from pellucid import EMN, IMM, ExGreedy, ExKMC, SpEx

from .campaign import Campaign, accumulate, table
from .exact import partition_cost
from .numbers import STORAGES, store
from .running import draw_case, is_clear, run_case
from .tree_cases import TreeCase
from .tree_oracles import WrongResult, check_tree, check_variants


def test_exact_costs():
    X = np.array([[0.0], [1.0], [5e-324], [1e300]])
    cost = partition_cost(X, np.array([0, 0, 1, -1]), np.array([1.0, 3.0, 1.0, 1.0]), 2)
    assert cost == Fraction(3, 4)
    cost = partition_cost(X[:3], np.array([0, 0, 0]), np.array([1.0, 0.5, 0.5]), 1)
    assert cost == Fraction(1, 2) + Fraction(5e-324) / 2  # the lower median is 0


def test_storages_hold_the_same_numbers():
    rng = np.random.default_rng(0)
    X = rng.integers(-1, 2, (6, 3)).astype(float)
    for storage in STORAGES:
        stored = store(rng, X, storage)
        dense = stored.toarray() if hasattr(stored, "toarray") else np.asarray(stored)
        np.testing.assert_array_equal(dense, X, err_msg=storage)


@pytest.fixture
def solved():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2))
    case = TreeCase("IMM", IMM(reference=X[:3], n_jobs=1), "", X, X, reference="rows")
    return case, case.fit()


def test_right_result_passes(solved):
    case, model = solved
    check_tree(case, model, np.random.default_rng(0))


@pytest.mark.parametrize(
    ("attribute", "changed"),
    [
        ("labels_", lambda labels: np.roll(labels, 1)),
        ("inertia_", lambda inertia: inertia * (1 + 1e-6)),
        ("inertia_", lambda inertia: np.nan),
        ("reference_labels_", lambda labels: np.roll(labels, 1)),
        ("tree_", lambda tree: tree.replace(threshold=tree.threshold + 0.5)),
        ("tree_", lambda tree: tree.replace(n_node_samples=tree.n_node_samples + 1)),
        ("n_leaves_", lambda n: n + 1),
        ("rules_", lambda rules: rules[:-1]),
    ],
)
def test_planted_mistakes_are_found(solved, attribute, changed):
    case, model = solved
    setattr(model, attribute, changed(getattr(model, attribute)))
    with pytest.raises(WrongResult):
        check_tree(case, model, np.random.default_rng(0))


def test_cases_repeat_by_their_number():
    for seed in range(20):
        (first, _), (second, _) = draw_case(seed), draw_case(seed)
        assert first.description == second.description
        np.testing.assert_array_equal(first.X, second.X)
        assert repr(first.model) == repr(second.model)


def test_errors_that_are_clear():
    def error_of(call):
        with pytest.raises(Exception) as caught:  # noqa: PT011
            call()
        return caught.value

    assert is_clear(error_of(lambda: IMM(2).fit([[np.nan], [1.0]])))
    assert is_clear(error_of(lambda: IMM(3).fit([[0.0], [1.0]])))
    assert not is_clear(error_of(lambda: np.zeros(3)[5]))
    assert not is_clear(error_of(lambda: np.zeros((2, 2)) @ np.zeros(3)))


def test_campaign_counts_and_accumulates(tmp_path):
    campaign = Campaign(0.0, 1, 0, show=lambda text: None)
    campaign.counts.update({("IMM", "cases"): 2, ("IMM", "fits"): 3, ("IMM", "correct"): 2})
    counts = accumulate(tmp_path / "fuzz.json", campaign)
    counts = accumulate(tmp_path / "fuzz.json", campaign)
    assert counts["IMM", "fits"] == 6
    assert table(counts).splitlines()[-1].split() == ["all", "6", "4", "4", "0", "0"]


@pytest.mark.parametrize("first", range(0, 480 if EXTENDED else 80, 80))
def test_short_run(first):
    outcomes = [run_case(seed) for seed in range(first, first + 80)]
    assert [outcome for outcome in outcomes if outcome.is_failure] == []


@settings(max_examples=examples(60), deadline=None, derandomize=True)
@given(st.data())
def test_small_tables(data):
    """Tables that Hypothesis can shrink: few distinct numbers of any magnitude, whole weights."""
    n, d = data.draw(st.integers(1, 8)), data.draw(st.integers(1, 3))
    numbers = st.sampled_from([0.0, -0.0, 1.0, 1 / 3, -1e100, 1e100, 1e-60, 2.0**53, 0.1])
    X = data.draw(hnp.arrays(np.float64, (n, d), elements=numbers))
    centers = X[data.draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=4))]
    weight = data.draw(st.lists(st.integers(1, 3), min_size=n, max_size=n))
    method = data.draw(st.sampled_from([EMN, ExGreedy, ExKMC, IMM, SpEx]))
    objective = data.draw(st.sampled_from(["kmeans", "kmedians"]))
    model = method(reference=centers, objective=objective, n_jobs=1)
    case = TreeCase(method.__name__, model, "", X, X, weight=weight, reference="rows")
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = case.fit()
        check_tree(case, fitted, rng)
        check_variants(case, fitted, rng)
