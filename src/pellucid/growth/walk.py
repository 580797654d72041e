"""Cheaper trees by walks: parts of a tree are changed at random and mended, over and over.

Only for trees with one leaf for each cluster. What is tried depends on the data alone, neither on
the clock nor on any other source of chance: the same data give the same tree.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pellucid._progress import Progress
from pellucid.cuts.induced import InducedCost
from pellucid.cuts.problem import Problem
from pellucid.cuts.thresholds import ThresholdStyle
from pellucid.growth.ground import Ground
from pellucid.growth.plant import Base
from pellucid.growth.searches import grow
from pellucid.tree import ThresholdTree

_WARMTH = 0.01
"""Share of the cost by which a step may make a tree dearer at first."""

_LAST_WARMTH = 0.0
"""The same for the last steps, with all rows."""

_N_WALKS = 2
"""Trees that are walked from."""

_N_ROUNDS = 3
"""How often all trees are grown anew, from the means of their leaves, and walked from."""

_MOST_REGROWN = 3
"""How often at the most this is done before the next steps."""

_PENALTIES = (0.0, 0.01, 0.03, 0.1)
"""Prices on depth of trees that are grown anew."""

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
        trees = [ground.lift(walker.best, "midpoint") for walker in walkers] + trees
        ground = _everything(problem)
        n_steps = work.n_steps(problem, _size(problem))
        walkers = _walk(ground, trees, n_steps * _LAST_PART, _LAST_WARMTH)
    return ground.lift(walkers[0].best, threshold_style) if walkers else None


class _Walker:
    """A walk, and the best tree that it has come by."""

    def __init__(self, ground: Ground, tree: ThresholdTree) -> None:
        from pellucid.kernels.walk import walk

        self.ground, self.best = ground, ground.plant(tree)
        self._regrown = -np.inf
        trees = (self.best,) * 3
        self.share = walk(ground.sample, *trees, ground.room(0), 0, 0.0, 0.0)

    def walk(self, n_steps: int, warmth: float, seed: int) -> None:
        """Take some steps; the warmth falls to nothing."""
        from pellucid.kernels.walk import walk

        ground, room = self.ground, self.ground.room(seed)
        here, trial = (type(self.best)(*(a.copy() for a in self.best)) for _ in range(2))
        cooling = warmth * (ground.cost - self.share) / max(n_steps, 1)
        for done in range(0, n_steps, _STAGE):
            some = min(_STAGE, n_steps - done)
            rest = cooling * (n_steps - done)
            self.share = walk(ground.sample, here, trial, self.best, room, some, rest, cooling)

    def regrow(self) -> list[_Walker]:
        """Walks from trees that explain the means of the best tree, which are cheap as well."""
        if self._regrown == self.share:
            return []
        self._regrown = self.share
        problem = self.ground.explain(self.ground.means(self.best))
        quiet = Progress("", 1, 0)
        growths = (
            grow(InducedCost(problem, penalty), "greedy", "midpoint", quiet)
            for penalty in _PENALTIES
        )
        return [_Walker(self.ground, growth.builder.build()) for growth in growths]


def _walk(
    ground: Ground, trees: list[ThresholdTree], n_steps: float, warmth: float
) -> list[_Walker]:
    """Walk from the best of some trees once they are mended; best first."""
    team = ground.problem.team
    walkers = _best(team.map(lambda tree: _Walker(ground, tree), trees))
    steps = n_steps / (_N_ROUNDS * max(len(walkers), 1))
    steps = int(min(steps, _MOST_STEPS * ground.problem.n_clusters / _N_ROUNDS))
    for i in range(_N_ROUNDS):
        for _ in range(_MOST_REGROWN):
            more = team.map(lambda walker: walker.regrow(), walkers)
            walkers = _best([*walkers, *(walker for some in more for walker in some)])
        seeds = {walker: i * _N_WALKS + n + 1 for n, walker in enumerate(walkers)}
        team.map(lambda walker: walker.walk(steps, warmth, seeds[walker]), walkers)
    return _best(walkers)


def _best(walkers: list[_Walker]) -> list[_Walker]:
    """The few best that differ, best first."""
    chosen: list[_Walker] = []
    for walker in sorted(walkers, key=lambda walker: -walker.share):
        is_new = not chosen or walker.share < chosen[-1].share * (1 - _SAME)
        if is_new and np.isfinite(walker.share) and len(chosen) < _N_WALKS:
            chosen.append(walker)
    return chosen


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
