"""Cheaper trees by walks: parts of a tree are changed at random and mended, over and over.

Only for trees with one leaf for each cluster. What is tried depends on the data alone, neither on
the clock nor on any other source of chance: the same data give the same tree.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pellucid.cuts.problem import Problem
from pellucid.cuts.thresholds import ThresholdStyle
from pellucid.growth.ground import Ground
from pellucid.growth.plant import Base
from pellucid.tree import ThresholdTree

_WARMTH = 0.005
"""Share of the cost by which a step may make a tree dearer at first."""

_N_WALKS = 2
"""Trees that are walked from."""

_STAGE = 50
"""Steps between which a walk can be interrupted."""

_SAME = 1e-9
"""Share by which trees must differ to be told apart."""

_TINY = 1e-300
"""Keeps from dividing by 0."""

_MOST_STEPS = 100
"""Steps for each cluster; with more there is little to find."""

_FEW_ROWS = 2048
"""Rows of which no sample is taken."""

_SOME_ROWS = 4096
"""Rows of a sample, unless they turn out to be too few."""

_MANY_ROWS = 2**15
"""Rows above which only a sample is walked on."""

_MISJUDGED = 0.01
"""Share by which a sample may misjudge one tree more than another."""

_MOST_VALUES = 2**19
"""Rows times columns that can be walked on."""

_LAST_PART = 0.3
"""Share of the work that is kept for all rows, if at first there is a sample."""


@dataclass(frozen=True)
class Work:
    """How much to do. A step on n rows is about 12 n (columns / 8 + 3) of it.

    Attributes
    ----------
    least : float
        However small the data are.
    per_value : float
        For each row, column and cluster.
    """

    least: float
    per_value: float

    def n_steps(self, problem: Problem, n_rows: float) -> int:
        """Steps on so many rows, of all walks together."""
        size = min(_size(problem), _MANY_ROWS) * problem.n_features * problem.n_clusters
        a_step = 12 * n_rows * (problem.n_features / 8 + 3)
        return int((self.least + self.per_value * size) / a_step)


def walk_from(
    starts: list[Base], problem: Problem, work: Work, threshold_style: ThresholdStyle
) -> ThresholdTree | None:
    """The cheapest tree that walks from some trees come by; None if there is no walk.

    Parameters
    ----------
    starts : list of Base
        Trees with a leaf for each cluster, and the leaf of each row.
    problem : Problem
    work : Work
    threshold_style : {"round", "midpoint", "data"}
        Which number of a cut's interval becomes the threshold.
    """
    ground = _find_ground(problem, starts)
    if ground is None or problem.n_clusters < 2:
        return None
    trees = [start.tree for start in starts]
    is_sample = len(ground.rows) < problem.n_samples
    n_steps = work.n_steps(problem, _size(problem, ground))
    walkers = _walk(ground, trees, n_steps * (1 - _LAST_PART * is_sample), _WARMTH)
    if is_sample and _size(problem) <= min(_MANY_ROWS, _MOST_VALUES / problem.n_features):
        trees = [w.ground.lift(w.best, "midpoint") for w in walkers] + trees
        ground = _everything(problem)
        n_steps = work.n_steps(problem, _size(problem))
        walkers = _walk(ground, trees, n_steps * _LAST_PART, 0.0)
    return ground.lift(walkers[0].best, threshold_style) if walkers else None


class _Walker:
    """A walk, and the best tree that it has come by."""

    def __init__(self, ground: Ground, planted) -> None:
        from pellucid.kernels.walk import descend

        self.ground, self.best = ground, planted
        self.share = descend(ground.sample, planted, ground.room(0))

    def walk(self, n_steps: int, warmth: float, seed: int) -> None:
        """Take some steps; the warmth falls to nothing."""
        from pellucid.kernels.walk import walk

        ground, room = self.ground, self.ground.room(seed)
        here, trial = type(self.best)(*(array.copy() for array in self.best)), ground.bare()
        cooling = warmth * (ground.cost - self.share) / max(n_steps, 1)
        for done in range(0, n_steps, _STAGE):
            some = min(_STAGE, n_steps - done)
            rest = cooling * (n_steps - done)
            self.share = walk(ground.sample, here, trial, self.best, room, some, rest, cooling)


def _walk(
    ground: Ground, trees: list[ThresholdTree], n_steps: float, warmth: float
) -> list[_Walker]:
    """Walk from the best of some trees once they are mended; best first."""
    team = ground.problem.team
    walkers = team.map(lambda tree: _Walker(ground, ground.plant(tree)), trees)
    walkers = sorted(
        (walker for walker in walkers if np.isfinite(walker.share)), key=lambda w: -w.share
    )
    chosen: list[_Walker] = []
    for walker in walkers:
        if not chosen or walker.share < chosen[-1].share * (1 - _SAME):
            chosen.append(walker)
    chosen = chosen[:_N_WALKS]
    steps = int(min(n_steps / max(len(chosen), 1), _MOST_STEPS * ground.problem.n_clusters))
    team.map(
        lambda i: chosen[i].walk(steps, warmth, seed=i + 1),
        range(len(chosen)),
    )
    return sorted(chosen, key=lambda walker: -walker.share)


def _find_ground(problem: Problem, starts: list[Base]) -> Ground | None:
    """All rows if they are few, or else a sample that judges the trees about as all rows do."""
    size, n_rows = _size(problem), float(_SOME_ROWS)
    limit = min(_MANY_ROWS, _MOST_VALUES / problem.n_features)
    n_rows = min(n_rows, size / 2)
    if size > _FEW_ROWS:
        labels = [start.tree.cluster[start.leaf] for start in starts]
        costs = np.array([_price(problem, some) for some in labels])
        while n_rows <= min(limit, size / 2):
            ground = _sample(problem, int(n_rows))
            ratios = np.array([ground.price(some) for some in labels]) / np.maximum(costs, _TINY)
            if ratios.max() <= (1 + _MISJUDGED) * ratios.min():
                return ground
            n_rows *= 2
    return _everything(problem) if size <= limit else None


def _price(problem: Problem, labels: np.ndarray) -> float:
    centers = np.nan_to_num(problem.data.group_centers(labels, problem.n_clusters))
    return problem.data.cost(labels, centers)


def _everything(problem: Problem) -> Ground:
    return Ground(problem, np.arange(problem.n_samples), problem.weights.values)


def _sample(problem: Problem, n_rows: int) -> Ground:
    """Rows that count for the others too; far from their center they are more likely.

    Half of the chances go by weight, half by what rows pay for their reference center.
    """
    weight = problem.weights.values
    costs = problem.costs[np.arange(problem.n_samples), problem.labels].astype(np.float64)
    chance = weight / weight.sum() + costs / max(costs.sum(), 1.0)
    ends = np.cumsum(chance)
    marks = (np.arange(n_rows) + 0.5) * (ends[-1] / n_rows)
    rows, hits = np.unique(np.searchsorted(ends, marks, side="right"), return_counts=True)
    return Ground(problem, rows, hits * weight[rows] / chance[rows] * (ends[-1] / n_rows))


def _size(problem: Problem, ground: Ground | None = None) -> float:
    """Number of rows; one of whole weight is so many, since it must make no difference."""
    if ground is not None and len(ground.rows) < problem.n_samples:
        return len(ground.rows)
    weights = problem.weights
    return float(weights.values.sum()) if weights.are_whole else float(problem.n_samples)
