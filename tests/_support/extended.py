"""Cases that repeat what other tests show; they run with ``make test-extended`` only."""

from __future__ import annotations

import os

EXTENDED = os.environ.get("PELLUCID_TESTS") == "extended"
"""Whether every variant is tested."""


def examples(number: int) -> int:
    """How many random examples are tried: a third in the ordinary run."""
    return number if EXTENDED else number // 3
