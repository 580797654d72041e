"""Cases that repeat what other tests show; they run with ``make test-extended`` only."""

from __future__ import annotations

import os

EXTENDED = os.environ.get("PELLUCID_TESTS") == "extended"
"""Whether every variant is tested."""


def examples(number: int) -> int:
    """How many random examples are tried: a third in the ordinary run."""
    return number if EXTENDED else number // 3


def seeds(number: int) -> range:
    """The seeds of a test with random data: a third, at least two, in the ordinary run."""
    return range(number if EXTENDED else max(2, number // 3))
