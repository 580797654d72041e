"""Costs of clusters in exact arithmetic: floating-point numbers as integers of one unit."""

from __future__ import annotations

from fractions import Fraction

import numpy as np


class Exact:
    """A table of floats as Python integers, multiples of one power of two.

    Attributes
    ----------
    values : ndarray of Python int
    unit : Fraction
    """

    def __init__(self, floats: np.ndarray) -> None:
        ratios = [float(value).as_integer_ratio() for value in floats.ravel()]
        common = max((below for _, below in ratios), default=1)
        whole = np.empty(len(ratios), dtype=object)
        whole[:] = [above * (common // below) for above, below in ratios]
        self.values, self.unit = whole.reshape(floats.shape), Fraction(1, common)


def nearest_shares(X: np.ndarray, centers: np.ndarray, labels: np.ndarray, power: int):
    """For each row, the cost at its center and the least cost, as exact integers of one unit."""
    both = Exact(np.concatenate([X, centers])).values
    rows, centers = both[: len(X)], both[len(X) :]
    costs = (abs(rows[:, None] - centers[None]) ** power).sum(axis=2)
    return costs[np.arange(len(rows)), labels], costs.min(axis=1)


def partition_cost(X: np.ndarray, labels: np.ndarray, weight: np.ndarray, power: int) -> Fraction:
    """Exact cost of the rows at the means (power 2) or lower medians (power 1) of their clusters.

    Label -1 is in no cluster.
    """
    numbers, weights = Exact(X), Exact(weight)
    total = Fraction(0)
    for cluster in np.unique(labels[labels >= 0]):
        of_cluster = np.flatnonzero((labels == cluster) & (weight > 0))
        x, w = numbers.values[of_cluster], weights.values[of_cluster]
        if not len(of_cluster):
            continue
        if power == 2:
            total_weight = int(w.sum())
            squares = int((w[:, None] * x * x).sum())
            sums = (w[:, None] * x).sum(axis=0)
            total += squares - Fraction(int((sums * sums).sum()), total_weight)
        else:
            total += sum(_median_cost(column, w) for column in x.T)
    return total * numbers.unit**power * weights.unit


def _median_cost(values: np.ndarray, weight: np.ndarray) -> int:
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weight[order])
    median = values[order][int(np.argmax(2 * reached >= reached[-1]))]
    return int((weight * abs(values - median)).sum())


def to_float(value: Fraction) -> float:
    """The nearest float; infinity above all floats."""
    try:
        return float(value)
    except OverflowError:
        return float("inf")
