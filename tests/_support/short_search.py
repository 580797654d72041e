"""A part of the local search of `ExplainableKMeans`, where trees only need to be valid."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from pellucid._core.refine.portfolio import EFFORTS


@contextmanager
def short_search(share: float) -> Iterator[None]:
    """Every effort has this share of its search."""
    whole = dict(EFFORTS)
    for name, budget in whole.items():
        EFFORTS[name] = replace(
            budget,
            search_work=share * budget.search_work,
            search_work_per_value=share * budget.search_work_per_value,
        )
    try:
        yield
    finally:
        EFFORTS.update(whole)
