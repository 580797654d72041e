"""Random problems against exact oracles, as counted by ``python -m tests.fuzz --counts``."""

from __future__ import annotations

import json

from benchmarks.page import Section, Sheet
from benchmarks.settings import Settings
from tests.fuzz.counts import ENGINE, TABLES, engine_hash, rows_of

FILES = {
    "Random problems": ("fuzz.json", ENGINE),
    "Hostile tables": ("fuzz_tables.json", TABLES),
}
"""By title, a file of counts, and the folders of the package that it is about."""

WORDS = ("cases", "fits", "correct", "clear error")
NOTE = (
    "`python -m tests.fuzz`: a case is a random table, weights, reference and parameters; a "
    "failure is a crash, a hang, an unclear error or a wrong result. "
)
TABLES_NOTE = (
    "`python -m tests.fuzz --only tables`: columns of all kinds, missing and hostile values, "
    "through `explain`, save, load and `predict`: right, or one clear error. "
)


def sections(settings: Settings) -> list[Section]:
    """Cases, fits and outcomes by estimator."""
    sheets = []
    for title, (name, folders) in FILES.items():
        path = settings.output / name
        if not path.exists():
            continue
        document = json.loads(path.read_text(encoding="utf-8"))
        lines = [[n, *(f"{number:,}" for number in row)] for n, row in rows_of(document, WORDS)]
        note = NOTE if folders == ENGINE else TABLES_NOTE
        if "commit" in document:
            note += f"Counted at commit {document['commit']}. "
        if document["engine" if folders == ENGINE else "tables"] != engine_hash(folders=folders):
            lines[-1][0] = "all (stale)"
            note += "The counts are stale: the code has changed since. "
        note += document.get("note", "")
        sheets.append(Sheet(title, ["estimator", *WORDS, "failures"], lines, note.strip()))
    return [Section("Random problems", "", sheets)] * bool(sheets)
