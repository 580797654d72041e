"""Parts of a tree that could be taken out, and what that costs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pellucid._core.refine.moving_center_split import Moments, MovingRows
from pellucid._core.refine.polish_state import PolishState
from pellucid.tree import LEAF


class Removal(NamedTuple):
    """A child that could be taken out, its rows going to its sibling.

    Attributes
    ----------
    loss : float
        What the cost rises by.
    child, parent, sibling : int
    vacates : bool
        Whether some cluster would have no more rows.
    """

    loss: float
    child: int
    parent: int
    sibling: int
    vacates: bool


def remove(state: PolishState, removal: Removal) -> None:
    """Take the child out; its sibling comes into the place of their parent."""
    state.routes.replace(removal.parent, removal.sibling)
    state.routes.follow()


def prune(state: PolishState) -> None:
    """Take out splits with an empty side, or with one and the same cluster on both sides."""
    routes = state.routes
    for node in reversed(routes.inner()):
        left, right = routes.children(node)
        is_idle = routes.left[left] == routes.left[right] == LEAF and (
            routes.cluster[left] == routes.cluster[right]
        )
        if is_idle or not len(routes.rows[left]) or not len(routes.rows[right]):
            routes.replace(node, left if len(routes.rows[left]) else right)
            routes.follow()


def drop_useless(state: PolishState) -> bool:
    """Take out the part without which the tree is cheapest, if it is cheaper then.

    The centers must be the means of the clusters.
    """
    routes = state.routes
    clusters = routes.cluster[routes.leaves()]
    if len(clusters) == len(np.unique(clusters)):
        return False
    useless = [r for r in possible_removals(state) if r.loss < -state.least_gain and not r.vacates]
    if useless:
        remove(state, min(useless, key=lambda removal: (state.rank(removal.loss), removal.child)))
    return bool(useless)


def possible_removals(state: PolishState, *, leaves_only: bool = False) -> list[Removal]:
    """What it costs to take out each child, or each leaf; the centers must be means."""
    routes, moments = state.routes, state.moments()
    found = []
    for parent in routes.inner():
        children = routes.children(parent)
        found += [
            _removal(state, moments, parent, child, sibling)
            for child, sibling in (children, children[::-1])
            if routes.left[child] == LEAF or not leaves_only
        ]
    return found


def _removal(state, moments: Moments, parent: int, child: int, sibling: int) -> Removal:
    routes = state.routes
    rows = routes.rows[child]
    own, other = (routes.cluster[routes.reach[node][rows]] for node in (child, sibling))
    after = moments.copy()
    MovingRows(state.problem, rows, other, own, state.origin).move(own != other, after)
    vacates = bool(((moments.counts > 0) & (after.counts == 0)).any())
    return Removal(moments.share() - after.share(), child, parent, sibling, vacates)
