"""``pellucid regions``: clusters described by regions in one or two columns."""

from __future__ import annotations

import json
import sys
import warnings
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import polars as pl

from pellucid._utils.notices import notice, option
from pellucid._utils.texts import Message
from pellucid.cli import CommandError, replacing
from pellucid.cli.compare import read_clusters
from pellucid.cli.names import read_names
from pellucid.cli.output import show_line, show_measures, shown_notices
from pellucid.cli.progress import working
from pellucid.cli.writing import CLUSTER, draw, write_text
from pellucid.explanation.region_list import RegionList
from pellucid.regions.answer_regions import region_text
from pellucid.table_explainer.naming import suggest_names
from pellucid.table_explainer.wording import count, percent
from pellucid.tables.column_formats import PLAIN
from pellucid.tables.encoding import Indicator
from pellucid.tables.reading import ReadingOptions, TableSource, as_format, read_source
from pellucid.tables.writing import to_text, write_table

if TYPE_CHECKING:
    from pellucid._utils.estimators import SQLDialect

REGION = "region"


def regions(
    file: Path,
    *,
    max_error: float,
    shape: str,
    seed: int,
    targets: dict[str, Path | None],
    bom: bool = False,
    keep_formulas: bool = False,
    dialect: SQLDialect = "standard",
    language: str = "en",
    names: str | None = None,
    title: str | None = None,
    as_json: bool = False,
    **data: Any,
) -> None:
    """Find and print regions in one or two columns that contain rows of one cluster.

    Parameters
    ----------
    file : Path
    max_error : float
        Maximum share of rows of other clusters in a region.
    shape : str
        Shape of the regions.
    seed : int
    targets : dict of str to Path or None
        Files to write: ``output``, ``plot``, ``sql``, ``model`` and ``report``. There is one plot
        per level: ``regions.png`` becomes ``regions-1.png`` and so on.
    dialect : str
        SQL dialect.
    names : str or None
        A file with names of clusters, or ``suggested``.
    title : str or None
        Title of the report; default: the name of the file.
    as_json : bool
        Print JSON instead of text.
    bom : bool
        Whether a CSV file starts with a byte order mark.
    keep_formulas : bool
        Whether text that a spreadsheet executes is written to a CSV file as it is.
    **data
        As in `read_clusters`.
    """
    from pellucid import explain_clusters

    prepared, clustering = read_clusters(file, seed=seed, **data)
    labels, source = clustering.labels, prepared.source
    if targets.get("output") is not None:
        _check_new_columns(source)
    # Boxes do not depend on the scale, so the units of the table are used.
    column_names = prepared.encoding.names
    columns = zip(map(str, column_names), prepared.features)
    table = pl.DataFrame({name: column.astype(float) for name, column in columns})
    with working("regions"):
        found = explain_clusters(
            table,
            labels,
            max_error=max_error,
            regions=shape,
            random_state=seed,
            columns=column_names,
            formats={n: prepared.roles.formats[n] for n in prepared.roles.numbers},
        )
    named: dict[Any, str] = {}
    clusters = [cluster.cluster for cluster in found]
    labeled = dict(zip(np.unique(labels).tolist(), suggest_names(prepared, *_positions(labels))))
    suggested = [labeled[cluster] for cluster in clusters]
    if names is not None:
        named = dict(zip(clusters, suggested)) if names == "suggested" else {}
        named = named or read_names(names, clusters)
    _warn_about_errors(found, max_error)
    decisions = shown_notices()
    shown = found.rename_clusters(named)
    if as_json:
        print(json.dumps([_plain(cluster) for cluster in shown], indent=2, ensure_ascii=False))
    else:
        _show(shown, named)
    if (plot := targets.get("plot")) is not None:
        _draw(plot, found.model, table, labels)
    exported = None
    is_exported = any(targets.get(name) is not None for name in ("output", "sql", "model"))
    if is_exported or (targets.get("report") is not None and shape != "nonparametric"):
        exported = RegionList.of(
            found,
            columns=prepared.encoding.input_names,
            fill=prepared.fill,
            reading=source.options.to_dict(),
        )
        _export(
            exported.rename_clusters(named),
            source,
            targets,
            dialect,
            {"bom": bom, "keep_formulas": keep_formulas},
        )
    if (report := targets.get("report")) is not None:
        with replacing(report) as unfinished:
            found.report(
                unfinished,
                table,
                title=title or Path(prepared.source.name).name,
                cluster_names=named,
                suggested_names=suggested,
                reference=clustering.name,
                language=language,
                decisions=decisions,
                warnings=_report_warnings(found, max_error),
                exported=exported,
            )
        notice(f"wrote the report to {report}; open it in a browser")


def predict_regions(
    model: Path, file: Path, output: Path | None, reading: ReadingOptions, **text: bool
) -> None:
    """Write the rows of `file` with their cluster and region, by a model of ``--model``."""
    from pellucid import from_json

    try:
        found = cast("RegionList", from_json(model))
    except ValueError as error:
        raise CommandError(
            f"{model} is not a model: {error}",
            hint="create one with pellucid regions FILE --model MODEL",
        ) from error
    with working(f"reading {file}"):
        source = read_source(file, reading, ReadingOptions.from_dict(found.reading_ or {}))
    _check_new_columns(source)
    _write_rows(found, source, output, text)
    if output is not None:
        notice(f"wrote {count(source.table.height, 'row')} with their cluster to {output}")


def _export(
    exported: RegionList,
    source: TableSource,
    targets: dict[str, Path | None],
    dialect: SQLDialect,
    text: dict[str, bool],
) -> None:
    """Write the rows, the SQL expression and the model."""
    if (output := targets.get("output")) is not None:
        _write_rows(exported, source, output, text)
        notice(f"wrote the rows with their cluster to {output}")
    if (sql := targets.get("sql")) is not None:
        write_text(sql, exported.to_sql(dialect=dialect))
        notice(f"wrote the clusters as SQL to {sql}")
    if (model := targets.get("model")) is not None:
        write_text(model, exported.to_json(indent=1))
        notice(f"wrote the model to {model}; pellucid predict {model} FILE uses it")


def _check_new_columns(source: TableSource) -> None:
    for name in (CLUSTER, REGION):
        if name in source.table.columns:
            raise CommandError(
                f"{source.name} already has a column {name!r}, which the output would add",
                hint="rename it",
            )


def _write_rows(
    found: RegionList, source: TableSource, output: Path | None, text: dict[str, bool]
) -> None:
    """Write the original table with the cluster and the region of each row.

    Rows with a missing number in a column that the regions use get empty fields.
    """
    columns: dict[str, pl.Series] = {}
    for name in found.used_names:
        column = name.column if isinstance(name, Indicator) else name
        if column not in source.table.columns:
            raise CommandError(
                f"{source.name} has no column {column!r}, which the regions use",
                hint=f"its columns are {', '.join(map(repr, source.table.columns))}",
            )
        values = source.table[column]
        if isinstance(name, Indicator):
            known = [
                n.value for n in found.names_ if isinstance(n, Indicator) and n.column == column
            ]
            is_text = all(isinstance(value, str) for value in known if value is not None)
            columns[column] = values.cast(pl.String) if is_text else values
            continue
        written = found.formats_.get(column, PLAIN)
        if written.date_format and source.text is not None:
            values = source.as_written()[column]
        numbers, _ = as_format(values, written, decimal=source.options.decimal or ".")
        numbers = numbers.cast(pl.Float64)
        numbers = pl.select(pl.when(numbers.is_finite()).then(numbers)).to_series()
        fill = found.fill_.get(column)
        columns[column] = numbers.alias(column) if fill is None else numbers.fill_null(fill)
    used = [name for name in found.used_names if not isinstance(name, Indicator)]
    is_there = np.ones(source.table.height, dtype=bool)
    for name in used:
        is_there &= columns[name].is_not_null().to_numpy()
    rows = np.flatnonzero(is_there)
    table = pl.DataFrame([values.alias(name) for name, values in columns.items()])
    place = np.full(source.table.height, -1)
    place[rows] = np.arange(len(rows))
    position = pl.Series(place).replace(-1, None)
    part = table[rows] if columns else source.table[rows]
    clusters = found.predict(part).tolist() if len(rows) else []
    texts = found.describe(part) if len(rows) else []
    added = [
        pl.Series(CLUSTER, clusters, strict=False).gather(position),
        pl.Series(REGION, texts, dtype=pl.String).gather(position),
    ]
    if len(rows) < source.table.height:
        notice(
            f"{count(source.table.height - len(rows), 'row')} with a missing value in "
            f"{', '.join(used)}: no cluster"
        )
    frame = source.table.with_columns(added)
    if output is None:
        sys.stdout.write(to_text(frame, source, keep_formulas=text["keep_formulas"]))
        return
    write_table(output, frame, source, **text)


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


def _positions(labels: np.ndarray) -> tuple[np.ndarray, int]:
    """The position of each label among the sorted labels, and the number of labels."""
    classes, positions = np.unique(labels, return_inverse=True)
    return positions, len(classes)


def _plain(cluster: Any) -> dict:
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


def _show(found: Any, named: dict[Any, str]) -> None:
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
    show_measures([*measures, ("rows assigned to their own cluster", part(right))])


def _draw(plot: Path, model: Any, table: Any, labels: np.ndarray) -> None:
    from pellucid.plotting import plot_level

    for level in range(model.n_levels_):
        path = plot.with_name(f"{plot.stem}-{level + 1}{plot.suffix}")
        draw(path, partial(plot_level, model, table, labels, level=level))
        notice(f"drew level {level + 1} in {path}")
