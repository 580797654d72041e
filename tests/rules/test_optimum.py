"""Small problems: the rules are the best of all, and the search without the proof is close."""

import numpy as np
import pytest

from _support.extended import EXTENDED
from _support.rule_oracle import best_objective
from pellucid import RuleSet
from pellucid.rules import selection

N_PROBLEMS = 1000 if EXTENDED else 60


def small_problem(seed):
    """Few rows and values, so that all sets of boxes can be tried."""
    generator = np.random.default_rng(seed)
    n, d, k = int(generator.integers(6, 14)), int(generator.integers(1, 3)), 2
    X = generator.integers(0, int(generator.integers(3, 6)), (n, d)).astype(float)
    labels = generator.integers(-1 if seed % 3 == 0 else 0, k, n)
    labels[:2] = 0, 1
    weight = generator.integers(1, 4, n) if seed % 2 else np.ones(n, dtype=int)
    settings = {
        "n_rules": int(generator.integers(1, 4)),
        "max_conditions": int(generator.integers(1, 4)),
        "mistake_cost": float(generator.choice([0.5, 1, 2, 5])),
    }
    return X, labels, weight, settings, int(generator.integers(0, 3))


def compare(seed):
    """The best objective, and that of a fit, both less the cost of rules."""
    X, labels, weight, settings, rule_cost = small_problem(seed)
    best = best_objective(
        X, labels, weight, is_category=[False] * X.shape[1], rule_cost=rule_cost, **settings
    )
    rules = RuleSet(min_support=rule_cost, **settings).fit(X, labels, sample_weight=weight)
    return best, rules.objective_ - rule_cost * len(rules.rules_), rules


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_small_problems_are_solved_and_proven():
    for seed in range(N_PROBLEMS):
        best, found, rules = compare(seed)
        assert found == pytest.approx(best), seed
        assert rules.is_optimal_, seed
        assert rules.upper_bound_ == pytest.approx(best), seed


def structured_problem(seed):
    """Two boxes of rows among others, with a twentieth of the labels drawn at random."""
    generator = np.random.default_rng(seed)
    X = generator.integers(0, 6, (80, 3)).astype(float)
    labels = np.zeros(80, dtype=int)
    for cluster in (1, 2):
        low = generator.integers(0, 4, 3)
        high = low + generator.integers(1, 4, 3)
        used = generator.permutation(3)[:2]
        labels[np.logical_and(low <= X, high >= X)[:, used].all(axis=1)] = cluster
    flipped = generator.random(80) < 0.05
    labels[flipped] = generator.integers(0, 3, flipped.sum())
    return X, labels, int(generator.integers(2, 6))


@pytest.mark.slow
def test_the_search_alone_is_close_to_the_optimum(monkeypatch):
    ratios = []
    for seed in range(40 if EXTENDED else 8):
        X, labels, n_rules = structured_problem(seed)
        best = RuleSet(n_rules, min_support=0).fit(X, labels)
        assert best.is_optimal_
        with monkeypatch.context() as context:
            context.setattr(selection, "is_small", lambda *shape: False)
            found = RuleSet(n_rules, min_support=0).fit(X, labels)
        assert not found.is_optimal_
        assert found.objective_ <= best.upper_bound_
        ratios.append(found.objective_ / best.objective_)
    assert np.mean(np.isclose(ratios, 1)) >= 0.75
    assert np.mean(ratios) >= 0.97


def test_several_hundred_rows_are_solved_beyond_the_search(monkeypatch):
    generator = np.random.default_rng(0)
    X = generator.integers(0, 5, (400, 3)).astype(float)
    labels = (X[:, 0] > 2.5).astype(int)
    flipped = generator.random(400) < 0.3
    labels[flipped] = generator.integers(0, 2, flipped.sum())
    settings = {"mistake_cost": 1, "min_support": 0}
    best = RuleSet(**settings).fit(X, labels)
    assert best.is_optimal_
    assert best.upper_bound_ == best.objective_
    monkeypatch.setattr(selection, "is_small", lambda *shape: False)
    assert RuleSet(**settings).fit(X, labels).objective_ < best.objective_
