"""The file of counts: what was tried, on which version of the engine, by which runs.

Needs the standard library only: the benchmarks print these counts.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from typing import Any

WORDS = ("fits", "cases", "correct", "clear error", "skipped")
"""Words that are no failures."""

ENGINE = ("_core", "cluster", "reference", "tree", "scale")
"""Folders of the package whose files decide how trees are found."""

TABLES = ("tables", "table_explainer", "explanation", "export")
"""Folders whose files decide how tables are read, explained, saved and predicted."""


def engine_hash(package: Path | None = None, folders: tuple[str, ...] = ENGINE) -> str:
    """A hash of the sources of some folders: the same on every machine."""
    if package is None:
        package = Path(str(find_spec("pellucid").origin)).parent
    whole = hashlib.sha256()
    for folder in folders:
        for path in sorted((package / folder).rglob("*.py"), key=lambda path: path.as_posix()):
            content = path.read_bytes().replace(b"\r\n", b"\n")
            name = path.relative_to(package).as_posix()
            whole.update(f"{name} {len(content)}\n".encode() + content)
    return whole.hexdigest()[:16]


def commit() -> str:
    """The commit that is checked out, with a "+" if files have changed; "unknown" without Git."""

    def git(*arguments: str) -> str:
        command = ["git", "-C", str(Path(__file__).parents[2]), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    try:
        return git("rev-parse", "--short=12", "HEAD") + "+" * bool(git("status", "-s", "--", "src"))
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def version() -> dict[str, str]:
    """What the counts are about: the engine, the code for tables, and the commit."""
    return {"engine": engine_hash(), "tables": engine_hash(folders=TABLES), "commit": commit()}


def read_counts(path: Path) -> dict[str, Any]:
    """The counts of a file; none if there is no file."""
    if not path.exists():
        return {**version(), "estimators": {}, "runs": []}
    return json.loads(path.read_text(encoding="utf-8"))


def add_counts(documents: list[dict[str, Any]]) -> dict[str, Any]:
    """The sums of several counts of the same engine that have no case in common."""
    if len({document.get("engine") for document in documents}) > 1:
        raise ValueError("the counts are of different versions of the engine")
    runs = sorted((run for d in documents for run in d["runs"]), key=lambda run: run["first_seed"])
    for run, following in zip(runs, runs[1:]):
        if following["first_seed"] < run["next_seed"]:
            raise ValueError(
                f"seed {following['first_seed']} is counted twice; give runs seeds of their own "
                "(--first-seed)"
            )
    sums: dict[str, Counter] = {}
    for document in documents:
        for name, words in document["estimators"].items():
            sums.setdefault(name, Counter()).update(words)
    estimators = {name: dict(sorted(sums[name].items())) for name in sorted(sums)}
    return {**documents[0], "estimators": estimators, "runs": runs}


def write_counts(path: Path, document: dict[str, Any]) -> None:
    """Replace a file of counts as a whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    part.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    os.replace(part, path)


def rows_of(document: dict[str, Any], words: tuple[str, ...]) -> list[tuple[str, list[int]]]:
    """For each estimator, and for all together: the numbers of some words, and of failures."""
    rows = []
    for name, counts in sorted(document["estimators"].items()):
        failures = sum(n for word, n in counts.items() if word not in WORDS)
        rows.append((name, [*(counts.get(word, 0) for word in words), failures]))
    total = [sum(numbers) for numbers in zip(*(numbers for _, numbers in rows))]
    return [*rows, ("all", total or [0] * (len(words) + 1))]


def table(document: dict[str, Any]) -> str:
    """The counts by estimator as text."""
    lines = [("", [*WORDS, "failures"]), *rows_of(document, WORDS)]
    return "\n".join(
        f"{name:20}" + "".join(f"{n:>14,}" if isinstance(n, int) else f"{n:>14}" for n in numbers)
        for name, numbers in lines
    )
