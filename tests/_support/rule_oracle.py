"""The best rules of tiny data by trying all of them: slow, short, and right by inspection."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np


def intervals(values):
    """Every interval of a column that divides its values, with its number of bounds."""
    cuts = sorted(set(values))
    ends = [-np.inf, *cuts[:-1]], [*cuts[:-1], np.inf]
    for low, high in product(*ends):
        if low < high:
            yield (low, high), int(np.isfinite(low)) + int(np.isfinite(high))


def category_sets(codes):
    """Every set of categories but none and all, which is one condition; and all, which is none."""
    known = sorted(set(codes))
    yield known, 0
    for n in range(1, len(known)):
        for chosen in combinations(known, n):
            yield list(chosen), 1


def boxes(X, is_category, max_conditions):
    """Rows of every box, with its number of conditions."""
    columns = []
    for f, categorical in enumerate(is_category):
        if categorical:
            sets = category_sets(X[:, f])
            columns.append([(np.isin(X[:, f], chosen), size) for chosen, size in sets])
        else:
            found = intervals(X[:, f])
            columns.append([((X[:, f] > a) & (X[:, f] <= b), size) for (a, b), size in found])
    for parts in product(*columns):
        size = sum(each for _, each in parts)
        if size <= max_conditions:
            yield np.logical_and.reduce([rows for rows, _ in parts]), size


def objective(rules, labels, weight, mistake_cost, noise_cost, rule_cost):
    """Explained weight less the cost of mistakes, noise and rules; a rule is (rows, cluster)."""
    value = 0.0
    for cluster in set(labels) - {-1}:
        own = [rows for rows, c in rules if c == cluster]
        if own:
            value += weight[np.logical_or.reduce(own) & (labels == cluster)].sum()
    for rows, cluster in rules:
        value -= mistake_cost * weight[rows & (labels != cluster) & (labels != -1)].sum()
        value -= noise_cost * weight[rows & (labels == -1)].sum()
    return value - rule_cost * len(rules)


def best_objective(
    X, labels, weight, *, is_category, n_rules, max_conditions, mistake_cost, rule_cost
):
    """The largest objective of at most `n_rules` rules; noise costs as much as other mistakes."""
    rows = {tuple(inside.tolist()) for inside, _ in boxes(X, is_category, max_conditions)}
    costs = mistake_cost, mistake_cost, rule_cost
    candidates = []
    for inside in map(np.array, rows):
        for cluster in sorted(set(labels.tolist()) - {-1}):
            value = objective([(inside, cluster)], labels, weight, *costs)
            if value > 0:  # a rule that alone costs more than it explains helps no set
                candidates.append((inside, cluster))
    best = 0.0
    for n in range(1, n_rules + 1):
        for rules in combinations(candidates, n):
            best = max(best, objective(rules, labels, weight, *costs))
    return best
