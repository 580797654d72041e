"""``pellucid regions`` and ``pellucid rules``: clusters described by regions or short rules."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from pellucid._utils.estimators import Noise
from pellucid._utils.files import replacing
from pellucid._utils.notices import notice, option
from pellucid._utils.texts import Message, count, percent
from pellucid.cli.checks import OutputFiles
from pellucid.cli.compare import read_clusters
from pellucid.cli.output import show_line, show_measures, shown_notices, working
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
from pellucid.regions.answer_regions import region_text
from pellucid.table_explainer.arguments import ExplainOptions
from pellucid.table_explainer.clustering import Clustering
from pellucid.table_explainer.descriptions import suggest_names
from pellucid.tables.encoding import Indicator
from pellucid.tables.reading import ReadingOptions, TableSource

REGION = "region"

MAX_LEVELS = 5
"""Levels at most, or as many as clusters: more are not read."""

MIN_SHARE = 0.02
"""Share of the rows that a region has at least, but half of the smallest cluster is enough."""

HELD_OUT = 5
"""One row in this number is left out of a second fit, which shows the error on new rows."""


def regions(
    file: Path,
    options: ExplainOptions,
    files: OutputFiles,
    reading: ReadingOptions,
    *,
    max_error: float,
    shape: str,
) -> None:
    """Find and print regions of a shape in one or two columns that contain rows of one cluster.

    `max_error` is the maximum share of rows of other clusters in a region. The plot has a panel per
    level.
    """
    clustering = read_clusters(file, options, reading)
    prepared = clustering.prepared
    if files.output is not None:
        check_new_columns(prepared.source, files, CLUSTER, REGION)
    # Boxes do not depend on the scale, so the units of the table are used.
    columns = zip(map(str, prepared.encoding.names), prepared.features)
    table = pl.DataFrame({name: column.astype(float) for name, column in columns})
    settings = {"max_error": max_error, "shape": shape, "seed": options.seed}
    found = _find(table, clustering, clustering.labels, **settings)
    held_out = _held_out_error(table, clustering, found, **settings)
    suggested = _suggested_names(found, clustering)
    clusters = [cluster.cluster for cluster in found]
    named = {} if files.names is None else _names(clusters, suggested, files.names)
    _warn_about_errors(found, max_error)
    is_exported = any((files.output, files.sql, files.model, files.report))
    exported = None
    if is_exported and shape != "nonparametric":
        exported = RegionList.of(
            found,
            columns=prepared.encoding.input_names,
            fill=prepared.fill,
            reading=prepared.source.options.to_dict(),
        )
    report = {
        "title": files.title or Path(prepared.source.name).name,
        "cluster_names": named,
        "suggested_names": suggested,
        "reference": clustering.name,
        "language": files.language,
        "decisions": shown_notices(),
        "warnings": _report_warnings(found, max_error),
        "exported": exported,
    }

    def write_report(path: Path) -> None:
        with replacing(path) as unfinished:
            found.report(unfinished, table, **report)

    shown = found.rename_clusters(named)
    renamed = None if exported is None else exported.rename_clusters(named)
    steps = [
        *_steps(found, renamed, table, clustering, files),
        ("the report", files.report, write_report),
    ]
    write_and_show(
        files,
        steps,
        renamed,
        lambda: [_cluster_data(cluster) for cluster in shown],
        lambda: _show_regions(shown, named, held_out),
    )


def _find(table: pl.DataFrame, clustering: Clustering, labels: np.ndarray, **settings: Any) -> Any:
    """The regions of the clusters with these labels."""
    from pellucid import explain_clusters

    roles = clustering.prepared.roles
    sizes = np.unique(labels, return_counts=True)[1]
    with working("regions"):
        return explain_clusters(
            table,
            labels,
            noise="background" if clustering.noise == "background" else "cluster",
            max_error=settings["max_error"],
            regions=settings["shape"],
            random_state=settings["seed"],
            max_levels=max(MAX_LEVELS, len(sizes)),
            min_support=max(1, min(int(MIN_SHARE * len(labels)), int(sizes.min()) // 2)),
            columns=clustering.prepared.encoding.names,
            formats={name: roles.formats[name] for name in roles.numbers},
        )


def _held_out_error(
    table: pl.DataFrame, clustering: Clustering, found: Any, **settings: Any
) -> tuple[float, int] | None:
    """Error in regions that are found without a part of the rows, and rows of this part in them.

    None if a cluster has too few rows.
    """
    used = np.arange(len(table)) if not found.is_noise.any() else np.flatnonzero(~found.is_noise)
    order = np.random.RandomState(settings["seed"]).permutation(used)
    held, kept = order[: len(order) // HELD_OUT], np.sort(order[len(order) // HELD_OUT :])
    labels = clustering.labels
    if not len(held) or min(np.unique(labels[kept], return_counts=True)[1], default=0) < HELD_OUT:
        return None
    if len(np.unique(labels[kept])) < len(found):
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = _find(table[kept.tolist()], clustering, labels[kept], **settings).model
    part = table[held.tolist()]
    inside = ~model.abstained(part)
    wrong = model.predict(part)[inside] != labels[held][inside]
    return (float(wrong.mean()), len(wrong)) if len(wrong) else None


def _suggested_names(found: Any, clustering: Clustering) -> list[str]:
    """A suggested name of each cluster, in the order of the result."""
    labels = np.unique(clustering.labels).tolist()
    names = dict(zip(labels, suggest_names(clustering.prepared, clustering.labels, labels)))
    return [names[cluster.cluster] for cluster in found]


def _names(clusters: list[Any], suggested: Sequence[str], source: str) -> dict[Any, str]:
    """The names of ``--names``, which is a file or "suggested", by cluster."""
    return dict(zip(clusters, suggested)) if source == "suggested" else read_names(source, clusters)


def _steps(
    found: Any,
    exported: RegionList | None,
    table: pl.DataFrame,
    clustering: Clustering,
    files: OutputFiles,
) -> list[FileStep]:
    """The rows with their regions, and the plot of the levels."""
    from pellucid.plotting.regions import plot_levels

    source, model = clustering.prepared.source, found.model
    steps: list[FileStep] = [
        (
            "the rows with their cluster",
            files.output,
            lambda path: write_rows(with_regions(source, exported), source, files),
        )
    ]
    if model.n_levels_:

        def draw_levels(path: Path) -> None:
            shown = {"n_levels": model.n_levels_}
            draw(path, lambda: plot_levels(model, table, clustering.labels, **shown)[0])

        steps.append(("the plot of the levels", files.plot, draw_levels))
    return steps


def with_regions(source: TableSource, found: Any) -> pl.DataFrame:
    """The original table with the cluster and the region of each row.

    Rows with a missing number in a column that the regions use get empty fields.
    """
    columns = found._inputs.read_table(source)[0]
    values = dict(zip(columns.names, columns.values))
    used = [name for name in found.used_names if not isinstance(name, Indicator)]
    is_there = np.ones(source.table.height, dtype=bool)
    for name in used:
        is_there &= ~np.isnan(values[name])
    rows = np.flatnonzero(is_there)
    if len(rows) < len(is_there):
        n_missing = count(len(is_there) - len(rows), "row")
        notice(f"{n_missing} with a missing value in {', '.join(used)}: no cluster")
    complete = [
        pl.Series(name, column[rows].tolist(), strict=False) for name, column in values.items()
    ]
    part = pl.DataFrame(complete) if complete else source.table[rows]
    position = pl.Series(np.where(is_there, np.cumsum(is_there) - 1, -1)).replace(-1, None)
    clusters = found.predict(part).tolist() if len(rows) else []
    texts = found.describe(part) if len(rows) else []
    return source.table.with_columns(
        pl.Series(CLUSTER, clusters, strict=False).gather(position),
        pl.Series(REGION, texts, dtype=pl.String).gather(position),
    )


def _impure_regions(found: Any, max_error: float) -> list[tuple[Any, float]]:
    """Regions with more rows of other clusters than allowed, and the share of such rows."""
    errors = [(region, 1 - region.purity) for cluster in found for region in cluster.regions]
    return [(region, error) for region, error in errors if error > max_error + 1e-9]


def _warn_about_errors(found: Any, max_error: float) -> None:
    """Warn of each region with more rows of other clusters than allowed."""
    for region, error in _impure_regions(found, max_error):
        warnings.warn(
            f"region {region.level + 1} ({region_text(region)}) has {percent(error)} rows "
            f"of other clusters, more than --max-error {max_error:g}",
            stacklevel=2,
        )


def _report_warnings(found: Any, max_error: float) -> list[Message]:
    """The same in one sentence, for a report."""
    errors = [error for _, error in _impure_regions(found, max_error)]
    if not errors:
        return []
    shown = option("max_error", f"{max_error:g}")
    return [Message("impureRegions", n=len(errors), error=max(errors), option=shown)]


def _cluster_data(cluster: Any) -> dict:
    name = cluster.cluster.item() if hasattr(cluster.cluster, "item") else cluster.cluster
    return {
        "cluster": name,
        "rows": int(cluster.n_samples),
        "assigned": int(cluster.n_assigned),
        "coverage": float(cluster.coverage),
        "regions": [
            {
                "level": region.level + 1,
                "where": region_text(region),
                "rows": float(region.support),
                "purity": float(region.purity),
                "noise": region.n_noise,
            }
            for region in cluster.regions
        ],
    }


def _show_regions(found: Any, named: dict[Any, str], held_out: tuple[float, int] | None) -> None:
    model = found.model
    levels = count(model.n_levels_, "level")
    show_line(f"{count(len(found), 'cluster')}, located by {levels} of regions", style="bold")
    show_line(str(found))
    if model.n_levels_ > 1:
        show_line(
            "regions are tried in order 1, 2, 3, ...; a row belongs to the first that contains it"
        )
    rows = sum(cluster.n_samples for cluster in found)
    uncovered = model.explain()[-1]
    others = round(uncovered.share * rows)
    right = sum(r.support * r.purity for cluster in found for r in cluster.regions)

    def part(n: float) -> str:
        of = f"of {rows:,} rows{' with a cluster' if found.is_noise.any() else ''}"
        return f"{percent(n / rows)} ({round(n):,} {of})"

    measures = [("rows in a region", part(rows - others))]
    if others and uncovered.answer is not None:
        right += others * uncovered.purity
        name = named.get(uncovered.answer, uncovered.answer)
        correctly = f"{percent(uncovered.purity)} of them correctly"
        measures.append((f"other rows, assigned to cluster {name}", f"{others:,}, {correctly}"))
    measures.append(("rows assigned to their own cluster", part(right)))
    if held_out is not None:
        error, n = held_out
        text = f"{percent(error)} of {n:,} rows in a region"
        measures.append(("wrong, if a fifth of the rows is left out and tested", text))
    show_measures(measures)


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
    found = _find_rules(clustering, settings, options.seed)
    clusters = found.classes_.tolist()
    names = {}
    if files.names is not None:
        suggested = suggest_names(prepared, clustering.labels, clusters)
        names = _names(clusters, suggested, files.names)
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
        ("the plot of the rules", files.plot, lambda path: draw(path, found.plot)),
        (
            "the report",
            files.report,
            lambda path: found.report(path, _matrix(clustering), title=title),
        ),
    ]

    write_and_show(
        files,
        steps,
        exported,
        lambda: _rule_data(found),
        lambda: _show_rules(found, clustering),
    )


def _find_rules(clustering: Clustering, settings: dict[str, Any], seed: int) -> Any:
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


def _with_rules(source: TableSource, exported: RegionList) -> pl.DataFrame:
    """The table with the cluster of each row, and the rule that decides."""
    table = with_regions(source, exported).rename({REGION: RULE})
    texts = pl.col(RULE).str.replace(r"^\d+\. ", "").replace(NOWHERE, "unexplained")
    return table.with_columns(texts)


def _rule_data(found: Any) -> dict[str, Any]:
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


def _show_rules(found: Any, clustering: Clustering) -> None:
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
