"""Numbers in sentences."""

from __future__ import annotations

import math


def count(number: int, noun: str, plural: str | None = None) -> str:
    """A number with its noun in the singular or plural.

    Examples
    --------
    >>> from pellucid.table_explainer.wording import count
    >>> count(1, "row"), count(2500, "row")
    ('1 row', '2,500 rows')
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def percent(share: float) -> str:
    """A share in percent; a dash for NaN."""
    return "-" if math.isnan(share) else f"{100 * share:.1f}%"
