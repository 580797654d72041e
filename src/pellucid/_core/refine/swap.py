"""The stronger level of polishing: take one leaf out, put another split in elsewhere."""

from __future__ import annotations

from collections.abc import Callable

from pellucid._core.refine.polish_state import PolishState
from pellucid._core.refine.regrow import apply_split, possible_splits
from pellucid._core.refine.removals import Removal, possible_removals, remove


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
    removals = _without_twins(possible_removals(state, leaves_only=True))
    splits = {
        is_new: possible_splits(state, is_new=is_new) for is_new in {r.vacates for r in removals}
    }
    pairs = [
        (state.rank(removal.loss - split.gain), removal, split)
        for removal in removals
        for split in splits[removal.vacates]
        if split.leaf != removal.child
    ]
    pairs.sort(key=lambda pair: (pair[0], pair[1].child, pair[2].leaf))
    for _, removal, split in pairs[:tries]:
        trial = state.copy()
        remove(trial, removal)
        apply_split(trial, split, state.routes.cluster[removal.child] if removal.vacates else None)
        trial.settle()
        improve(trial)
        if trial.is_cheaper_than(state):
            return trial
    return None


def _without_twins(removals: list[Removal]) -> list[Removal]:
    """Two leaves that are all there is of two clusters: it is the same to take out either."""
    vacating = {removal.child for removal in removals if removal.vacates}
    return [
        removal
        for removal in removals
        if not (removal.vacates and removal.sibling in vacating and removal.sibling < removal.child)
    ]
