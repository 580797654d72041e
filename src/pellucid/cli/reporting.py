"""The report of a command, in the units of the table."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from pellucid.cli.checks import check_page as check_page
from pellucid.cli.fitting import FittedExplanation
from pellucid.report import write_report
from pellucid.report.alternatives import AlternativeTrees, other_trees


def write_explanation_report(path: Path, fitted: FittedExplanation) -> None:
    """Write the report of a fitted model into a file."""
    prepared = fitted.prepared
    name = Path(prepared.source.name).name
    made = {"data": name, "rows": f"{len(prepared.rows):,}"}
    if prepared.is_scaled:
        made["columns"] = "standardized before clustering"
    write_report(
        path,
        fitted.explanation,
        prepared.table,
        fitted=fitted.model,
        title=name,
        reference=fitted.reference,
        trade_off=_trade_off(fitted),
        made=made,
    )


def _trade_off(fitted: FittedExplanation) -> AlternativeTrees:
    """Other trees of the same clusters, in the units of the table."""
    model, prepared = fitted.model, fitted.prepared
    names = {name: i for i, name in enumerate(model.cluster_names_.tolist())}
    reference = np.array([names.get(label, -1) for label in model.reference_labels_.tolist()])
    Z = prepared.Z
    found = other_trees(model, Z, reference)
    if not prepared.is_scaled:
        return found
    restated = [replace(o, tree=prepared.restate(o.tree)[0]) for o in found.trees]
    return AlternativeTrees(restated, found.note)
