"""The report of an explained table, in the units of the table."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from pellucid._utils.texts import say, texts_in
from pellucid.explanation.explanation import Explanation
from pellucid.report import write_report
from pellucid.report.alternatives import AlternativeTrees, other_trees
from pellucid.table_explainer.fitting import FittedTable
from pellucid.table_explainer.profiles import with_profile
from pellucid.table_explainer.table_facts import describe_table


def write_table_report(
    path: Path,
    fitted: FittedTable,
    explanation: Explanation,
    *,
    title: str | None = None,
    **options: Any,
) -> Path:
    """Write the report of an explained table, completely or not at all.

    Parameters
    ----------
    path : Path
    fitted : FittedTable
    explanation : Explanation
        The explanation of `fitted`, perhaps with other names of clusters.
    title : str, optional
        Title of the page; default: the name of the file.
    **options
        As in :func:`pellucid.report.write_report`.
    """
    prepared = fitted.prepared
    name = Path(prepared.source.name).name
    shown = with_profile(prepared)
    # Of rows that were read in batches, the page shows a sample.
    if shown.height < fitted.n_rows and options.get("rows", "rows") == "rows":
        with texts_in(options.get("language", "en")):
            options["rows"] = say("sampledRows")
    return write_report(
        path,
        explanation,
        shown,
        fitted=fitted.model,
        title=title or name,
        reference=fitted.clustering.name,
        # The labels of rows that were read in batches are not stored.
        trade_off=_trade_off(fitted) if hasattr(fitted.model, "labels_") else None,
        made={"data": name, "rows": str(fitted.n_rows)},
        number_of_clusters=_numbers(fitted),
        table=describe_table(fitted),
        **options,
    )


def _numbers(fitted: FittedTable) -> list[dict[str, Any]]:
    """The numbers of clusters that were tried, for the page."""
    number = fitted.clustering.number
    return [
        {
            "k": score.k,
            "score": score.silhouette,
            "stability": score.stability,
            "smallest": score.smallest,
            "agreement": score.agreement,
            "chosen": score.k == fitted.n_clusters,
        }
        for score in (() if number is None else number.scores)
    ]


def _trade_off(fitted: FittedTable) -> AlternativeTrees:
    """Other trees of the same clusters, in the units of the table."""
    model, prepared = fitted.model, fitted.prepared
    names = {name: i for i, name in enumerate(model.cluster_names_.tolist())}
    reference = np.array([names.get(label, -1) for label in model.reference_labels_.tolist()])
    found = other_trees(model, prepared.Z, reference)
    if not prepared.is_scaled:
        return found
    restated = [replace(o, tree=prepared.restate(o.tree)[0]) for o in found.trees]
    return AlternativeTrees(restated, found.n_searched)
