"""Cheaper trees by a walk: parts of a tree are changed at random and mended, over and over.

Only for trees with one leaf for each cluster. What is tried depends on the data alone, neither on
the clock nor on any other source of chance: the same data give the same tree.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from random import Random

from pellucid._core.criteria.induced_cost import InducedCost
from pellucid._core.criteria.problem import Problem
from pellucid._core.growers import grow
from pellucid._core.refine.local_search_data import Ground
from pellucid._core.refine.local_search_tree import ROOT, Room, Standing
from pellucid._utils.progress import Progress
from pellucid.tree import ThresholdTree
from pellucid.tree.rounding import ThresholdStyle

_N_WALKS = 2
"""Trees that are walked from at a time."""

_N_ROUNDS = 5
"""How often they are grown anew, from the means of their leaves, and walked from."""

_PENALTIES = (0.0, 0.01, 0.03, 0.1)
"""Prices on depth of trees that are grown anew."""

_WARMTH = 0.003
"""Share of the cost by which a step may make a tree dearer at first."""

_ASTRAY = 0.03
"""Share of the cost by which a change may at first be short of the goal: few that are further off
come to be of use."""

_NOISE = 0.25
"""Spread of the factors that gains are multiplied by, so that not always the same leaf is split."""

_A_STEP = 1e5
"""Work of a step besides that of its loops."""

_SAME = 1e-9
"""Share by which trees must differ to be told apart."""

_MOST_ROWS = 2**15
"""Rows that can be walked on; their ranks have to fit into 16 bits."""

_MOST_VALUES = 2**19
"""Rows times columns that can be walked on."""


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
        size = _n_rows(problem) * problem.n_features * problem.n_clusters
        return self.least + self.per_value * size


def can_walk(problem: Problem) -> bool:
    """Whether there is anything to walk on, and not too much."""
    n_rows = _n_rows(problem)
    fits = n_rows <= _MOST_ROWS and n_rows * problem.n_features <= _MOST_VALUES
    return fits and problem.n_clusters > 1


def walk_from(
    trees: list[ThresholdTree], problem: Problem, work: Work, threshold_style: ThresholdStyle
) -> ThresholdTree | None:
    """The cheapest tree that walks from the best of some trees come by.

    None if each of them has a leaf without rows.

    Parameters
    ----------
    trees : list of ThresholdTree
        With a leaf for each cluster.
    problem : Problem
        One that can be walked on.
    work : Work
    threshold_style : {"round", "midpoint", "data"}
        Which number of a cut's interval becomes the threshold.
    """
    ground, pool = Ground(problem), problem.pool
    walks = _best(pool.map(lambda tree: Walk(ground, tree), trees))
    for i in range(_N_ROUNDS):
        walks = _best([*walks, *(other for walk in walks for other in walk.regrow())])
        part = work.total(problem) / (_N_ROUNDS * max(len(walks), 1))
        tasks = [partial(walk.go_on, part, i * _N_WALKS + n) for n, walk in enumerate(walks)]
        pool.map(lambda task: task(), tasks)
    return _best(walks)[0].best.lift(threshold_style) if walks else None


class Walk:
    """A walk from tree to tree.

    Parameters
    ----------
    ground : Ground
    tree : ThresholdTree
        Where to begin.

    Attributes
    ----------
    best : Standing
        The best tree that it has come by.
    share : float
        Its share; minus infinity if a leaf has no rows, and then there is no walk.
    """

    def __init__(self, ground: Ground, tree: ThresholdTree) -> None:
        self.ground, self._room = ground, Room(ground)
        self.best = Standing(ground, self._room, tree)
        self.share = self.best.mend(ROOT) if self.best.is_full else -math.inf
        self._regrown = -math.inf

    def regrow(self) -> list[Walk]:
        """Walks from trees that explain the means of the best tree, which are cheap as well."""
        if self._regrown == self.share:
            return []
        self._regrown = self.share
        sums, quiet = self.best.sums[self.best.leaves()], Progress("", 1, 0)
        problem = self.ground.explain(sums)
        growths = [
            grow(InducedCost(problem, penalty), "greedy", "midpoint", quiet)
            for penalty in _PENALTIES
        ]
        return problem.pool.map(lambda found: Walk(self.ground, found.builder.build()), growths)

    def go_on(self, work: float, seed: int) -> None:
        """Take steps from the best tree until so much work is done; the warmth falls to nothing."""
        here, room, random = self.best, self._room, Random(seed)
        cost, begin = self.ground.cost - self.share, room.work
        while (done := (room.work - begin) / work) < 1:
            room.work += _A_STEP
            here = self._step(here, random, _WARMTH * cost * (1 - done), _ASTRAY * cost)

    def _step(self, here: Standing, random: Random, warmth: float, far: float) -> Standing:
        """Change a part of the tree and mend it; where to go on from.

        That is the changed tree unless its share has fallen by more than the warmth.
        """
        trial = here.copy()
        top = change(trial, random)
        if top is None:
            return here
        before = here.share(here.leaves(top))
        after = trial.mend(top, before - warmth, before - far)
        if after <= before - warmth or abs(after - before) <= _SAME * abs(before):
            return here
        trial.mark_above(top)
        share = trial.mend(ROOT)
        if share > self.share + _SAME * abs(self.share):
            self.best, self.share = trial, share
        return trial


def change(tree: Standing, random: Random) -> int | None:
    """Change a part of a tree at random; its top, or None if the tree has become none.

    Grow it anew, or take a leaf out and split another one, or give it a random cut at the top.
    """
    return random.choice((_grow_anew, _move_leaf, _cut_anew))(tree, random)


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
    top = tree.pluck(random.choice(tree.leaves()))
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
    if max(gains, default=0.0) <= 0:
        return None
    best = leaves[gains.index(max(gains))]
    tree.split(best)
    return best


def _best(walks: list[Walk]) -> list[Walk]:
    """The few best walks that differ, best first."""
    chosen: list[Walk] = []
    for walk in sorted(walks, key=lambda walk: -walk.share):
        is_new = not chosen or walk.share < chosen[-1].share * (1 - _SAME)
        if is_new and math.isfinite(walk.share) and len(chosen) < _N_WALKS:
            chosen.append(walk)
    return chosen


def _n_rows(problem: Problem) -> float:
    """Number of rows; one of whole weight is so many, since it must make no difference."""
    weights = problem.weights
    return float(weights.values.sum()) if weights.are_integers else float(problem.n_samples)
