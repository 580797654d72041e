"""Where the tools of the report's tests are, and what to do where they are not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

FRONTEND = Path(__file__).parents[1] / "frontend"
AXE = FRONTEND / "node_modules" / "axe-core" / "axe.min.js"


def leave_out(reason: str) -> None:
    """Skip, or fail where the tests in a browser are insisted on."""
    if os.environ.get("PELLUCID_BROWSER_TESTS") == "require":
        pytest.fail(reason)
    pytest.skip(reason)
