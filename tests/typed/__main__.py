"""Check the types that users see: the package, the probes and the examples of the README.

Run by `make lint` as ``python -m tests.typed``.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
MIN_COMPLETENESS = 0.99
"""Share of the public names whose type pyright must know."""

_PYTHON = re.compile(r"```python\n(.*?)```", flags=re.DOTALL)


def run(*command: str) -> subprocess.CompletedProcess[str]:
    """Run a module of this environment, in the root of the repository."""
    # pyright does not find the package if it is installed as editable.
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    return subprocess.run(
        [sys.executable, "-m", *command],
        cwd=ROOT,
        env=environment,
        text=True,
        capture_output=True,
        check=False,
    )


def pyright(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run pyright with the packages of this environment."""
    return run("pyright", "--pythonpath", sys.executable, *arguments)


def completeness() -> float:
    """Share of the public names of the package whose type is known to pyright."""
    done = pyright("--verifytypes", "pellucid", "--ignoreexternal", "--outputjson")
    found = json.loads(done.stdout)["typeCompleteness"]
    for symbol in found["symbols"]:
        is_known = symbol["isTypeKnown"] and not symbol["isTypeAmbiguous"]
        if symbol["isExported"] and not is_known:
            reasons = [each["message"].splitlines()[0] for each in symbol["diagnostics"]]
            print(f"{symbol['name']}: {'; '.join(reasons) or 'partially unknown'}")
    return found["completenessScore"]


def main() -> int:
    """Print what is wrong, and the completeness; 1 if anything is wrong."""
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        readme = Path(folder) / "readme_examples.py"
        blocks = _PYTHON.findall((ROOT / "README.md").read_text(encoding="utf-8"))
        readme.write_text("\n".join(blocks), encoding="utf-8")
        # Outside the repository, all rules of the standard mode apply, as they do for users.
        probes = Path(folder) / "probes.py"
        probes.write_text((ROOT / "tests/typed/probes.py").read_text(encoding="utf-8"))
        settings = Path(folder) / "pyrightconfig.json"
        settings.write_text(json.dumps({"extraPaths": [str(ROOT / "src")]}))
        users = [str(probes), str(readme)]
        for done in (run("mypy", *users), pyright("-p", folder), pyright()):
            if done.returncode:
                failed = True
                print(done.stdout + done.stderr)
    share = completeness()
    print(f"{100 * share:.1f} % of the public names have a complete type")
    return int(failed or share < MIN_COMPLETENESS)


if __name__ == "__main__":
    raise SystemExit(main())
