"""``pellucid rules``: short rules for the clusters that can be described."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from pellucid._utils.estimators import Noise
from pellucid._utils.texts import count, percent
from pellucid.cli.checks import OutputFiles
from pellucid.cli.compare import read_clusters
from pellucid.cli.output import show_line, show_measures, working
from pellucid.cli.regions import REGION, with_regions
from pellucid.cli.writing import (
    CLUSTER,
    RULE,
    FileStep,
    check_new_columns,
    draw,
    read_names,
    write_and_show,
    write_rows,
)
from pellucid.explanation.region_list import NOWHERE, RegionList
from pellucid.explanation.rules import label_text
from pellucid.table_explainer.arguments import ExplainOptions
from pellucid.table_explainer.clustering import Clustering
from pellucid.table_explainer.descriptions import suggest_names
from pellucid.tables.reading import ReadingOptions, TableSource


def rules(
    file: Path,
    options: ExplainOptions,
    files: OutputFiles,
    reading: ReadingOptions,
    settings: dict[str, Any],
) -> None:
    """Find and print rules; `settings` are parameters of :class:`pellucid.RuleSet`."""
    clustering = read_clusters(file, options, reading)
    prepared = clustering.prepared
    if files.output is not None:
        check_new_columns(prepared.source, files, CLUSTER, RULE)
    found = _find(clustering, settings, options.seed)
    names = _names(found, clustering, files)
    found.rules_ = type(found.rules_)(
        [replace(r, cluster=names.get(r.cluster, r.cluster)) for r in found.rules_]
    )
    exported = RegionList.of(
        found,
        columns=prepared.encoding.input_names,
        fill=prepared.fill,
        reading=prepared.source.options.to_dict(),
    ).rename_clusters(names)
    found.uncovered_ = [names.get(cluster, cluster) for cluster in found.uncovered_]
    title = files.title or Path(prepared.source.name).name
    steps: list[FileStep] = [
        (
            "the rows with their cluster",
            files.output,
            lambda path: write_rows(_with_rules(prepared.source, exported), prepared.source, files),
        ),
        ("the plot of the rules", files.plot, lambda path: draw(path, partial(_plot, found))),
        (
            "the report",
            files.report,
            lambda path: found.report(path, _matrix(clustering), title=title),
        ),
    ]

    def show() -> None:
        if files.as_json:
            print(json.dumps(_plain(found), indent=2, ensure_ascii=False))
        else:
            _show(found, clustering)

    write_and_show(files, steps, exported, show)


def _find(clustering: Clustering, settings: dict[str, Any], seed: int) -> Any:
    """The rules of the clusters, in the units of the table."""
    from pellucid.rules.rule_set import RuleSet

    prepared = clustering.prepared
    noise: Noise = "background" if clustering.noise == "background" else "cluster"
    model = RuleSet(noise=noise, random_state=seed, **settings)
    with working("rules"):
        return model.fit_encoded(
            _matrix(clustering),
            clustering.labels,
            names=prepared.encoding.names,
            formats={name: prepared.roles.formats[name] for name in prepared.roles.numbers},
        )


def _matrix(clustering: Clustering) -> np.ndarray:
    """The columns in the units of the table, with categories as indicators."""
    features = clustering.prepared.features
    return np.column_stack([np.asarray(column, dtype=float) for column in features])


def _names(found: Any, clustering: Clustering, files: OutputFiles) -> dict[Any, str]:
    """The names of ``--names`` by cluster."""
    clusters = found.classes_.tolist()
    if files.names == "suggested":
        return dict(zip(clusters, suggest_names(clustering.prepared, clustering.labels, clusters)))
    return {} if files.names is None else read_names(files.names, clusters)


def _with_rules(source: TableSource, exported: RegionList) -> pl.DataFrame:
    """The table with the cluster of each row, and the rule that decides."""
    table = with_regions(source, exported).rename({REGION: RULE})
    texts = pl.col(RULE).str.replace(r"^\d+\. ", "").replace(NOWHERE, "unexplained")
    return table.with_columns(texts)


def _plot(found: Any) -> Any:
    from pellucid.plotting import plot_rules

    return plot_rules(found)


def _plain(found: Any) -> dict[str, Any]:
    def number(value: float) -> float | None:
        return None if np.isnan(value) else float(value)

    return {
        "rules": [
            {
                "cluster": rule.cluster,
                "rule": rule.text,
                "conditions": rule.size,
                "rows": rule.n_samples,
                "coverage": rule.coverage,
                "precision": rule.precision,
                "noise": rule.n_noise,
                "precision_with_noise": rule.precision_with_noise,
                "held_out_precision": number(rule.held_out_precision),
            }
            for rule in found.rules_
        ],
        "explained": number(found.coverage_),
        "precision": number(found.precision_),
        "held_out_precision": number(found.held_out_precision_),
        "without_rule": found.uncovered_,
    }


def _show(found: Any, clustering: Clustering) -> None:
    n_described = len({rule.cluster for rule in found.rules_})
    of = f"{n_described} of {count(len(found.classes_), 'cluster')}"
    show_line(f"{count(len(found.rules_), 'rule')} for {of}", style="bold")
    show_line(str(found.rules_))
    if found.uncovered_:
        show_line(f"no rule: cluster {', '.join(map(label_text, found.uncovered_))}")
    n_noise = int(clustering.is_noise.sum())
    rows = len(clustering.labels) - n_noise
    of = f"of {count(rows, 'row')}{' with a cluster' if n_noise else ''}"
    measures = [("explained", f"{percent(found.coverage_)} {of}")]
    if len(found.rules_):
        measures.append(("precision", percent(found.precision_)))
    if not np.isnan(found.held_out_precision_):
        measures.append(("precision, held out", percent(found.held_out_precision_)))
    if n_noise:
        measures.append(("noise", f"{count(n_noise, 'row')}, which no rule describes"))
    show_measures(measures)
