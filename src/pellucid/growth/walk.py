"""Cheaper trees by walks: parts of a tree are changed at random and mended, over and over.

Only for trees with one leaf for each cluster. What is tried depends on the data alone, neither on
the clock nor on any other source of chance: the same data give the same tree.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from random import Random

import numpy as np

from pellucid.cuts.problem import Problem
from pellucid.cuts.thresholds import ThresholdStyle
from pellucid.growth.ground import Ground
from pellucid.growth.plant import Base
from pellucid.growth.standing import ROOT, Room, Standing
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


_NOISE = 0.25
"""Spread of the factors that gains are multiplied by, so that not always the same leaf is split."""

_ASTRAY = 0.06
"""Share of the cost by which a change may at first be short of the goal: few that are further off
come to be of use."""

_A_STEP = 1e5
"""Work of a step besides that of its loops."""


@dataclass(frozen=True)
class Work:
    """How much to do; the unit is about a nanosecond.

    Attributes
    ----------
    least : float
        However small the data are.
    per_value : float
        For each row, column and cluster.
    """

    least: float
    per_value: float

    def total(self, problem: Problem) -> float:
        """For these data."""
        size = min(_size(problem), _MANY_ROWS) * problem.n_features * problem.n_clusters
        return self.least + self.per_value * size


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
    trees, budget = [start.tree for start in starts], work.total(problem)
    share = 1 - _LAST_PART * ground.is_sample
    walkers = _walk(ground, trees, budget * share, _WARMTH)
    if ground.is_sample and _size(problem) <= min(_MANY_ROWS, _MOST_VALUES / problem.n_features):
        trees = [walker.best.lift("midpoint") for walker in walkers] + trees
        walkers = _walk(_everything(problem), trees, budget * _LAST_PART, _LAST_WARMTH)
    return walkers[0].best.lift(threshold_style) if walkers else None


class _Walker:
    """A walk, and the best tree that it has come by."""

    def __init__(self, ground: Ground, tree: ThresholdTree) -> None:
        self.room = Room(ground)
        self.best = Standing(ground, self.room, tree)
        self.most = self.best.mend(ROOT) if self.best.is_full else -math.inf

    def walk(self, work: float, warmth: float, seed: int) -> None:
        """Take steps until so much work is done; the warmth falls to nothing."""
        here, room, random = self.best, self.room, Random(seed)
        cost = here.ground.cost - self.most
        begin = room.work
        self.n_steps = 0
        while (done := (room.work - begin) / work) < 1:
            room.work += _A_STEP
            self.n_steps += 1
            here = self._step(here, random, warmth * cost * (1 - done), _ASTRAY * cost)

    def _step(self, here: Standing, random: Random, warmth: float, far: float) -> Standing:
        """Change a part of the tree and mend it; where to go on from."""
        trial = here.copy()
        top = _change(trial, random)
        if top is None:
            return here
        before = here.share(here.leaves(top))
        after = trial.mend(top, before - warmth, before - far)
        if after <= before - warmth or abs(after - before) <= _SAME * abs(before):
            return here
        trial.mark_above(top)
        share = trial.mend(ROOT)
        if share > self.most * (1 + _SAME):
            self.best, self.most = trial, share
        return trial


def _change(tree: Standing, random: Random) -> int | None:
    """Change a part of a tree at random; its top, or None if the tree is none any more.

    Grow it anew, or take a leaf out and split another one, or give it a random cut at the top.
    """
    way = random.randrange(3)
    if way == 0:
        return _grow_anew(tree, random)
    return _move_leaf(tree, random) if way == 1 else _cut_anew(tree, random)


def _grow_anew(tree: Standing, random: Random) -> int | None:
    """Take a part with at least three leaves out, and split what is left instead."""
    top = random.choice(tree.inner())
    while len(leaves := tree.leaves(top)) == 2 and top != ROOT:
        top = tree.parent(top)
    tree.cut_off(top)
    for _ in leaves[1:]:
        if _split_some(tree, tree.leaves(top), random) is None:
            return None
    return top


def _move_leaf(tree: Standing, random: Random) -> int | None:
    """Take a leaf out, and split another one; the lowest node above both."""
    leaf = random.choice(tree.leaves())
    top = tree.pluck(leaf)
    leaf = _split_some(tree, [i for i in tree.leaves() if i != top], random)
    if leaf is None:
        return None
    tree.mark_above(leaf)
    while leaf not in tree.below(top):
        top = tree.parent(top)
    return top


def _cut_anew(tree: Standing, random: Random) -> int | None:
    """Give a node a random cut."""
    top, feature = random.choice(tree.inner()), random.randrange(tree.ground.rank.shape[1])
    return top if tree.cut(top, feature, random.random()) else None


def _split_some(tree: Standing, leaves: list[int], random: Random) -> int | None:
    """Split about the best of some leaves; which one, or None if none can be."""
    gains = [tree.gain(leaf) * random.lognormvariate(0, _NOISE) for leaf in leaves]
    best = max(range(len(leaves)), key=gains.__getitem__, default=None)
    if best is None or gains[best] <= 0:
        return None
    tree.split(leaves[best])
    return leaves[best]


def _walk(
    ground: Ground, trees: list[ThresholdTree], work: float, warmth: float
) -> list[_Walker]:
    """Walk from the best of some trees once they are mended; best first."""
    team = ground.problem.team
    walkers = _best(team.map(lambda tree: _Walker(ground, tree), trees))
    seeds = {walker: n + 1 for n, walker in enumerate(walkers)}
    team.map(lambda walker: walker.walk(work / len(walkers), warmth, seeds[walker]), walkers)
    return _best(walkers)


def _best(walkers: list[_Walker]) -> list[_Walker]:
    """The few best that differ, best first."""
    chosen: list[_Walker] = []
    for walker in sorted(walkers, key=lambda walker: -walker.most):
        is_new = not chosen or walker.most < chosen[-1].most * (1 - _SAME)
        if is_new and np.isfinite(walker.most) and len(chosen) < _N_WALKS:
            chosen.append(walker)
    return chosen


def _find_ground(problem: Problem, starts: list[Base]) -> Ground | None:
    """All rows if they are few, or else a sample that judges the trees about as all rows do."""
    size, n_rows = _size(problem), float(_SOME_ROWS)
    limit = min(_MANY_ROWS, _MOST_VALUES / problem.n_features)
    n_rows = min(n_rows, size / 2)
    if size > _FEW_ROWS:
        labels = [start.tree.cluster[start.leaf] for start in starts]
        costs = np.array([_price(problem.data, problem, some) for some in labels])
        while n_rows <= min(limit, size / 2):
            ground = _sample(problem, int(n_rows))
            data = problem.data.take(ground.rows)
            data.weights = ground.weights
            prices = [_price(data, problem, some[ground.rows]) for some in labels]
            ratios = np.array(prices) / np.maximum(costs, _TINY)
            if ratios.max() <= (1 + _MISJUDGED) * ratios.min():
                return ground
            n_rows *= 2
    return _everything(problem) if size <= limit else None


def _price(data, problem: Problem, labels: np.ndarray) -> float:
    centers = np.nan_to_num(data.group_centers(labels, problem.n_clusters))
    return data.cost(labels, centers)


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


def _size(problem: Problem) -> float:
    """Number of rows; one of whole weight is so many, since it must make no difference."""
    weights = problem.weights
    return float(weights.values.sum()) if weights.are_whole else float(problem.n_samples)
