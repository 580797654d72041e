"""``pellucid regions`` and ``pellucid rules``: clusters described by regions or short rules."""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy as np
import polars as pl

from pellucid._utils.estimators import Noise
from pellucid._utils.notices import notice, option
from pellucid._utils.texts import Message, count, percent
from pellucid.cli import writing
from pellucid.cli.checks import TableRequest
from pellucid.cli.compare import columns_of, read_clusters
from pellucid.cli.output import show_line, show_measures, shown_notices, working
from pellucid.cli.writing import CLUSTER, RULE, FileStep, write_rows
from pellucid.explanation.region_list import NOWHERE, RegionList
from pellucid.explanation.rules import label_text
from pellucid.plotting import plot_levels
from pellucid.regions.answer_regions import region_text
from pellucid.table_explainer.clustering import Clustering
from pellucid.table_explainer.explainer import suggest_names
from pellucid.table_explainer.preparing import PreparedTable
from pellucid.tables.encoding import Indicator
from pellucid.tables.reading import TableSource

REGION = "region"

MAX_LEVELS = 5  # levels at most, or as many as clusters: more are not read
# Share of the rows that a region has at least, but half of the smallest cluster is enough.
MIN_SHARE = 0.02
# One row in this number is left out of a second fit, which shows the error on new rows.
HELD_OUT = 5


def regions(request: TableRequest, *, max_error: float, shape: str) -> None:
    """Find and print regions in one or two columns that contain rows of one cluster."""
    clustering, files = read_clusters(request), request.files
    prepared = clustering.prepared
    if files.output is not None:
        writing.check_new_columns(prepared.source, files, CLUSTER, REGION)
    # Boxes do not depend on the scale, so the units of the table are used.
    columns = zip(map(str, prepared.encoding.names), prepared.features)
    table = pl.DataFrame({name: column.astype(float) for name, column in columns})
    settings = {"max_error": max_error, "shape": shape, "seed": request.options.seed}
    found = _find(table, clustering, clustering.labels, **settings)
    held_out = _held_out_error(table, clustering, found, **settings)
    clusters = [cluster.cluster for cluster in found]
    suggested = suggest_names(prepared, clustering.labels, clusters)
    named = writing.chosen_names(files, clusters, suggested)
    is_exported = any((files.output, files.sql, files.model, files.report))
    exported = _exported(found, prepared) if is_exported and shape != "nonparametric" else None
    report = {
        "title": files.title_of(prepared.source),
        "cluster_names": named,
        "suggested_names": suggested,
        "reference": clustering.name,
        "language": files.language,
        "decisions": shown_notices(),
        "warnings": _warn_about_errors(found, max_error),
        "exported": exported,
    }
    shown, model = found.rename_clusters(named), found.model
    renamed = None if exported is None else exported.rename_clusters(named)

    def write_labelled(path: Path) -> None:
        write_rows(with_regions(prepared.source, renamed), prepared.source, files)

    def draw_levels(path: Path) -> None:
        levels = {"n_levels": model.n_levels_}
        writing.draw(path, lambda: plot_levels(model, table, clustering.labels, **levels)[0])

    steps: list[FileStep] = [
        ("the rows with their cluster", files.output, write_labelled),
        ("the plot of the levels", files.plot if model.n_levels_ else None, draw_levels),
        ("the report", files.report, lambda path: found.report(path, table, **report)),
    ]
    show = partial(_show_regions, shown, named, held_out)
    writing.write_and_show(files, steps, renamed, lambda: list(map(_cluster_data, shown)), show)


def _exported(found: Any, prepared: PreparedTable) -> RegionList:
    """Regions or rules in the columns of the table."""
    columns, reading = prepared.encoding.input_names, prepared.source.options.to_dict()
    return RegionList.of(found, columns=columns, fill=prepared.fill, reading=reading)


def _find(table: pl.DataFrame, clustering: Clustering, labels: np.ndarray, **settings: Any) -> Any:
    from pellucid import explain_clusters

    roles, noise = clustering.prepared.roles, cast(Noise, clustering.noise)
    sizes = np.unique(labels, return_counts=True)[1]
    with working("regions"):
        return explain_clusters(
            table,
            labels,
            noise=noise,
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
    """Error in regions found without a part of the rows, and rows of it in them; None for few."""
    used = np.flatnonzero(~found.is_noise) if found.is_noise.any() else np.arange(len(table))
    order = np.random.RandomState(settings["seed"]).permutation(used)
    held, kept = order[: len(order) // HELD_OUT], np.sort(order[len(order) // HELD_OUT :])
    labels = clustering.labels
    if not len(held) or min(np.unique(labels[kept], return_counts=True)[1], default=0) < HELD_OUT:
        return None
    if len(np.unique(labels[kept])) < len(found):
        return None
    with warnings.catch_warnings(action="ignore"):
        model = _find(table[kept.tolist()], clustering, labels[kept], **settings).model
    part = table[held.tolist()]
    inside = ~model.abstained(part)
    wrong = model.predict(part)[inside] != labels[held][inside]
    return (float(wrong.mean()), len(wrong)) if len(wrong) else None


def with_regions(source: TableSource, found: Any) -> pl.DataFrame:
    """The table with the cluster and the region of each row; empty if a number is missing."""
    columns = found._inputs.read_table(source)[0]
    values = dict(zip(columns.names, columns.values))
    used = [name for name in found.used_names if not isinstance(name, Indicator)]
    is_there = np.ones(source.table.height, dtype=bool)
    for name in used:
        is_there &= ~np.isnan(values[name])
    rows = np.flatnonzero(is_there)
    if n_missing := len(is_there) - len(rows):
        missing = f"{count(n_missing, 'row')} with a missing value"
        notice(f"{missing} in {', '.join(used)}: no cluster")
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


def _warn_about_errors(found: Any, max_error: float) -> list[Message]:
    """Warn of each region with more rows of other clusters than allowed; a sentence for reports."""
    regions = (region for cluster in found for region in cluster.regions)
    impure = [region for region in regions if 1 - region.purity > max_error + 1e-9]
    for region in impure:
        warnings.warn(
            f"region {region.level + 1} ({region_text(region)}) has {percent(1 - region.purity)} "
            f"rows of other clusters, more than --max-error {max_error:g}",
            stacklevel=2,
        )
    if not impure:
        return []
    largest, shown = max(1 - r.purity for r in impure), option("max_error", f"{max_error:g}")
    return [Message("impureRegions", n=len(impure), error=largest, option=shown)]


def _cluster_data(cluster: Any) -> dict:
    return {
        "cluster": cluster.cluster,
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
        text = f"{percent(held_out[0])} of {held_out[1]:,} rows in a region"
        measures.append(("wrong, if a fifth of the rows is left out and tested", text))
    show_measures(measures)


def rules(request: TableRequest, settings: dict[str, Any]) -> None:
    """Find and print rules; `settings` are parameters of :class:`pellucid.RuleSet`."""
    from pellucid.rules.rule_set import RuleSet

    clustering, files = read_clusters(request), request.files
    prepared = clustering.prepared
    if files.output is not None:
        writing.check_new_columns(prepared.source, files, CLUSTER, RULE)
    X = columns_of(clustering)
    settings |= {"noise": clustering.noise, "random_state": request.options.seed}
    formats = {name: prepared.roles.formats[name] for name in prepared.roles.numbers}
    with working("rules"):
        found = RuleSet(**settings).fit_encoded(
            X, clustering.labels, names=prepared.encoding.names, formats=formats
        )
    clusters = found.classes_.tolist()
    suggested = suggest_names(prepared, clustering.labels, clusters) if files.names else []
    names = writing.chosen_names(files, clusters, suggested)
    renamed_rules = [replace(r, cluster=names.get(r.cluster, r.cluster)) for r in found.rules_]
    found.rules_ = type(found.rules_)(renamed_rules)
    exported = _exported(found, prepared).rename_clusters(names)
    found.uncovered_ = [names.get(cluster, cluster) for cluster in found.uncovered_]
    title = files.title_of(prepared.source)

    def write_labelled(path: Path) -> None:
        """The rows with the rule that decides."""
        labelled = with_regions(prepared.source, exported).rename({REGION: RULE})
        texts = pl.col(RULE).str.replace(r"^\d+\. ", "").replace(NOWHERE, "unexplained")
        write_rows(labelled.with_columns(texts), prepared.source, files)

    steps: list[FileStep] = [
        ("the rows with their cluster", files.output, write_labelled),
        ("the plot of the rules", files.plot, lambda path: writing.draw(path, found.plot)),
        ("the report", files.report, lambda path: found.report(path, X, title=title)),
    ]
    show = partial(_show_rules, found, clustering)
    writing.write_and_show(files, steps, exported, partial(_rule_data, found), show)


def _rule_data(found: Any) -> dict[str, Any]:
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
                "held_out_precision": rule.held_out_precision,
            }
            for rule in found.rules_
        ],
        "explained": found.coverage_,
        "precision": found.precision_,
        "held_out_precision": found.held_out_precision_,
        "without_rule": found.uncovered_,
    }


def _show_rules(found: Any, clustering: Clustering) -> None:
    n_described, n_clusters = len({rule.cluster for rule in found.rules_}), len(found.classes_)
    rules = count(len(found.rules_), "rule")
    show_line(f"{rules} for {n_described} of {count(n_clusters, 'cluster')}", style="bold")
    show_line(str(found.rules_))
    if found.uncovered_:
        show_line(f"no rule: cluster {', '.join(map(label_text, found.uncovered_))}")
    n_noise = int(clustering.is_noise.sum())
    rows = len(clustering.labels) - n_noise
    of = f"of {count(rows, 'row')}{' with a cluster' if n_noise else ''}"
    measures = [("explained: in a rule of their cluster", f"{percent(found.coverage_)} {of}")]
    if len(found.rules_):
        measures.append(("precision: right, of the rows with a rule", percent(found.precision_)))
    if not np.isnan(found.held_out_precision_):
        measures.append(("precision, held out", percent(found.held_out_precision_)))
    if n_noise:
        measures.append(("noise", f"{count(n_noise, 'row')}, which no rule describes"))
    show_measures(measures)
