"""A part of the local search of `ExplainableKMeans`, where trees only need to be valid."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from pellucid._core.refine.portfolio import EFFORTS, SearchBudget, SearchWork


@contextmanager
def short_search(share: float) -> Iterator[None]:
    """Every effort has this share of its search."""
    whole = dict(EFFORTS)
    for name, budget in whole.items():
        EFFORTS[name] = replace(
            budget,
            search_work=_part(budget.search_work, share),
            work_with_more_leaves=_part(budget.work_with_more_leaves, share),
        )
    try:
        yield
    finally:
        EFFORTS.update(whole)


def _part(work: SearchWork | None, share: float) -> SearchWork | None:
    return None if work is None else SearchWork(*(share * part for part in work))


def balanced_with_work(constant: float) -> SearchBudget:
    """The balanced effort with a search of constant work."""
    work = SearchWork(constant, 0, 0)
    return replace(EFFORTS["balanced"], search_work=work, work_with_more_leaves=work)
