"""Random problems against exact oracles, as counted by ``python -m tests.fuzz --counts``."""

from __future__ import annotations

import json

from benchmarks.page import Section, Sheet
from benchmarks.settings import Settings
from tests.fuzz.counts import engine_hash, rows_of

FILE = "fuzz.json"
WORDS = ("cases", "fits", "correct", "clear error")


def sections(settings: Settings) -> list[Section]:
    """Cases, fits and outcomes by estimator."""
    path = settings.output / FILE
    if not path.exists():
        return []
    document = json.loads(path.read_text(encoding="utf-8"))
    lines = [
        [name, *(f"{number:,}" for number in numbers)] for name, numbers in rows_of(document, WORDS)
    ]
    is_stale = document.get("engine") != engine_hash()
    if is_stale:
        lines[-1][0] = "all (stale)"
    note = (
        "`python -m tests.fuzz`: a case is a random table, weights, reference and parameters; a "
        "failure is a crash, a hang, an unclear error or a wrong result. "
    )
    if "commit" in document:
        note += f"Counted at commit {document['commit']}. "
    if is_stale:
        note += "The counts are stale: the engine has changed since. "
    note += document.get("note", "")
    sheet = Sheet("Random problems", ["estimator", *WORDS, "failures"], lines, note.strip())
    return [Section("Random problems", "", [sheet])]
