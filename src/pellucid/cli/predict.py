"""``pellucid predict``: assign rows to clusters by a saved model."""

from __future__ import annotations

from pathlib import Path
from typing import cast

from pellucid._utils.notices import notice
from pellucid.cli import CommandError
from pellucid.cli.progress import working
from pellucid.cli.writing import CLUSTER, NOTE, RULE, write_rows
from pellucid.explanation.explanation import Explanation
from pellucid.table_explainer.prediction import assign_rows, report_assignment
from pellucid.table_explainer.wording import count
from pellucid.tables.reading import ReadingOptions, read_source


def predict(
    model: Path, file: Path, output: Path | None, reading: ReadingOptions, **text: bool
) -> None:
    """Write the rows of `file` with their cluster and rule, to a file or to standard output.

    The file is read like the one that the model was made of, unless `reading` says otherwise.
    Rows have no cluster if a value that their path needs is missing. The rule of a row with a
    value that was not in the training data is true for this value. A column of notes says which
    rows these are, if there are any. `text` has the options of `write_rows`.
    """
    explanation = read_model(model)
    with working(f"reading {file}"):
        source = read_source(file, reading, ReadingOptions.from_dict(explanation.reading_ or {}))
    for name in (CLUSTER, RULE, NOTE):
        if name in source.table.columns:
            raise CommandError(f"{source.name} already has a column {name!r}", hint="rename it")
    found = assign_rows(explanation, source, model=str(model))
    write_rows(output, source, explanation, found.leaf, found.special_rules(explanation), **text)
    report_assignment(explanation, found)
    if output is not None:
        notice(f"wrote {count(source.table.height, 'row')} with their cluster to {output}")


def read_model(path: Path) -> Explanation:
    """Read a model file written by ``--model``."""
    from pellucid import from_json

    try:
        return cast("Explanation", from_json(path))
    except ValueError as error:
        raise CommandError(
            f"{path} is not a model: {error}",
            hint="create one with pellucid explain FILE --model MODEL",
        ) from error
