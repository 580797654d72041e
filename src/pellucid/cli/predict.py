"""``pellucid predict``: assign rows to clusters by a saved model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pellucid._utils.notices import InputError, notice
from pellucid._utils.texts import count
from pellucid.cli.checks import OutputFiles
from pellucid.cli.output import working
from pellucid.cli.writing import CLUSTER, NOTE, RULE, check_new_columns, with_rules, write_rows
from pellucid.explanation.explanation import Explanation
from pellucid.table_explainer.prediction import assign_rows, report_assignment
from pellucid.tables.reading import ReadingOptions, read_source


def predict(model: Path, file: Path, files: OutputFiles, reading: ReadingOptions) -> None:
    """Write the rows of `file` with their cluster and rule or region.

    The file is read like the one that the model was made of, unless `reading` says otherwise.
    Rows have no cluster if a value that their path needs is missing. The rule of a row with a
    value that was not in the training data is true for this value. A column of notes says which
    rows these are, if there are any.
    """
    found = read_model(model)
    with working(f"reading {file}"):
        source = read_source(file, reading, ReadingOptions.from_dict(found.reading_ or {}))
    if isinstance(found, Explanation):
        check_new_columns(source, files, CLUSTER, RULE, NOTE)
        assignment = assign_rows(found, source, model=str(model))
        write_rows(with_rules(source, found, assignment), source, files)
        report_assignment(found, assignment)
    else:
        from pellucid.cli.regions import REGION, with_regions

        check_new_columns(source, files, CLUSTER, REGION)
        write_rows(with_regions(source, found), source, files)
    if files.output is not None:
        notice(f"wrote {count(source.table.height, 'row')} with their cluster to {files.output}")


def read_model(path: Path) -> Any:
    """Read a model file written by ``--model``."""
    from pellucid import from_json

    try:
        return from_json(path)
    except ValueError as error:
        raise InputError(
            f"{path} is not a model: {error}",
            hint="create one with pellucid explain FILE --model MODEL",
        ) from error
