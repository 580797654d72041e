"""The stronger level of polishing: take one leaf out, put another split in elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from pellucid.cuts.moving import Moments, moving_rows
from pellucid.growth.polish_state import PolishState
from pellucid.growth.regrow import Split, apply_split, possible_splits
from pellucid.growth.routes import Routes
from pellucid.tree import LEAF


class Removal(NamedTuple):
    """A leaf that could be taken out, its rows going to its sibling.

    Attributes
    ----------
    loss : float
        What the cost rises by.
    leaf, parent, sibling : int
    vacates : bool
        Whether its cluster would have no more rows.
    """

    loss: float
    leaf: int
    parent: int
    sibling: int
    vacates: bool


def swap(
    state: PolishState, improve: Callable[[PolishState], None], tries: int
) -> PolishState | None:
    """The first of the most promising swaps after which the polished tree is cheaper, if any.

    Parameters
    ----------
    state : PolishState
        Its centers must be the means of its clusters.
    improve : callable
        Polishes a state.
    tries : int
        How many swaps to try.
    """
    removals = possible_removals(state)
    splits = {
        is_new: possible_splits(state, is_new) for is_new in {r.vacates for r in removals}
    }
    pairs = [
        (removal.loss - split.gain, removal, split)
        for removal in removals
        for split in splits[removal.vacates]
        if split.leaf != removal.leaf
    ]
    pairs.sort(key=lambda pair: (pair[0], pair[1].leaf, pair[2].leaf))
    for _, removal, split in pairs[:tries]:
        trial = state.copy()
        trial.routes.replace(removal.parent, removal.sibling)
        trial.routes.follow()
        apply_split(trial, split)
        trial.settle()
        improve(trial)
        if trial.is_cheaper_than(state):
            return trial
    return None


def possible_removals(state: PolishState) -> list[Removal]:
    """What it costs to take out each leaf."""
    moments = state.moments()
    found = []
    for parent in state.routes.inner():
        children = state.routes.children(parent)
        removals = [
            _removal(state, moments, parent, leaf, sibling)
            for leaf, sibling in (children, children[::-1])
            if state.routes.left[leaf] == LEAF
        ]
        # Two leaves that are all there is of two clusters: to merge them is one and the same.
        found += removals[: 1 if all(removal.vacates for removal in removals) else 2]
    return found


def _removal(state, moments: Moments, parent: int, leaf: int, sibling: int) -> Removal:
    from pellucid.kernels.moving import move_rows

    routes: Routes = state.routes
    rows, own = routes.rows[leaf], routes.cluster[leaf]
    target = routes.cluster[routes.reach[sibling][rows]]
    moving = moving_rows(state.problem, rows, target, np.full_like(target, own), state.origin)
    after = moments.copy()
    move_rows(moving, target != own, *after)
    vacates = bool(moments.counts[own] > 0 and after.counts[own] == 0)
    return Removal(moments.share() - after.share(), leaf, parent, sibling, vacates)
