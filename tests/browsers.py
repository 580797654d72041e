"""Where the tools of the report's tests are, and what to do where they are not."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

FRONTEND = Path(__file__).parents[1] / "frontend"
AXE = FRONTEND / "node_modules" / "axe-core" / "axe.min.js"


def leave_out(reason: str, *, needs_npm: bool = False) -> None:
    """Skip, or fail where the tests in a browser are insisted on.

    What comes from npm is insisted on only where there is npm: a machine that tests need not be
    one that builds the page.
    """
    insists = os.environ.get("PELLUCID_BROWSER_TESTS") == "require"
    if insists and not (needs_npm and shutil.which("npm") is None):
        pytest.fail(reason)
    pytest.skip(reason)
