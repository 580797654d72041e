"""The page that is shipped is the one that its sources give."""

from __future__ import annotations

import shutil
import subprocess

from _support.browsers import AXE, FRONTEND, leave_out


def test_the_shipped_page_is_current():
    if shutil.which("node") is None or not AXE.exists():
        leave_out(
            "no Node or no frontend/node_modules: whether page.js is current is not tested",
            needs_npm=True,
        )
    done = subprocess.run(
        ["node", "build.mjs", "--check"], cwd=FRONTEND, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr + done.stdout
