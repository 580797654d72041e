"""Random problems against exact oracles, as counted by ``python -m tests.fuzz --counts``."""

from __future__ import annotations

import json

from benchmarks.page import Section, Sheet
from benchmarks.settings import Settings

FILE = "fuzz.json"
WORDS = ("cases", "fits", "correct", "clear error")


def sections(settings: Settings) -> list[Section]:
    """Cases, fits and outcomes by estimator."""
    path = settings.output / FILE
    if not path.exists():
        return []
    document = json.loads(path.read_text(encoding="utf-8"))
    lines = []
    for name, counts in sorted(document["estimators"].items()):
        failures = sum(n for word, n in counts.items() if word not in WORDS)
        lines.append([name, *(f"{counts.get(word, 0):,}" for word in WORDS), f"{failures:,}"])
    totals = [sum(int(line[i].replace(",", "")) for line in lines) for i in range(1, 6)]
    lines.append(["all", *(f"{total:,}" for total in totals)])
    note = (
        "`python -m tests.fuzz`: a case is a random table, weights, reference and parameters; a "
        "failure is a crash, a hang, an unclear error or a wrong result. "
    )
    note += document.get("note", "")
    sheet = Sheet("Random problems", ["estimator", *WORDS, "failures"], lines, note.strip())
    return [Section("Random problems", "", [sheet])]
