"""``pellucid regions``: clusters described by regions in one or two columns."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from pellucid.cli import replacing
from pellucid.cli.compare import read_clusters
from pellucid.cli.output import count, percent, show_line, show_measures, show_notice
from pellucid.cli.progress import working
from pellucid.cli.writing import draw


def regions(
    file: Path,
    *,
    max_error: float,
    shape: str,
    plot: Path | None,
    seed: int,
    report: Path | None = None,
    as_json: bool = False,
    **data: Any,
) -> None:
    """Find and print regions in one or two columns that contain rows of one cluster.

    `plot` is the file name of the plots, one per level: ``regions.png`` becomes
    ``regions-1.png`` and so on.
    """
    from pellucid import explain_clusters

    prepared, clustering = read_clusters(file, seed=seed, **data)
    labels = clustering.labels
    # Boxes do not depend on the scale, so the units of the table are used.
    columns = zip(map(str, prepared.encoding.names), prepared.features)
    table = pl.DataFrame({name: column.astype(float) for name, column in columns})
    with working("regions"):
        found = explain_clusters(
            table, labels, max_error=max_error, regions=shape, random_state=seed
        )
    if as_json:
        print(json.dumps([_plain(cluster) for cluster in found], indent=2, ensure_ascii=False))
    else:
        _show(found)
    if plot is not None:
        _draw(plot, found.model, table, labels)
    if report is not None:
        title = Path(prepared.source.name).name
        with replacing(report) as unfinished:
            found.model.report(unfinished, table, title=title, reference=clustering.name)
        show_notice(f"wrote the report to {report}; open it in a browser")


def _plain(cluster: Any) -> dict:
    name = cluster.cluster.item() if hasattr(cluster.cluster, "item") else cluster.cluster
    return {
        "cluster": name,
        "rows": int(cluster.n_samples),
        "coverage": float(cluster.coverage),
        "regions": [
            {
                "level": region.level + 1,
                "where": region.text,
                "rows": float(region.support),
                "purity": float(region.purity),
            }
            for region in cluster.regions
        ],
    }


def _show(found: Any) -> None:
    levels = count(found.model.n_levels_, "level")
    show_line(f"{count(len(found), 'cluster')}, described by {levels} of regions", style="bold")
    show_line(str(found))
    if found.model.n_levels_ > 1:
        show_line(
            "the leading number is the level; a region applies only to rows not covered by earlier "
            "levels"
        )
    show_measures(
        [
            ("rows in a region", percent(float(found.model.coverage_))),
            ("levels", str(found.model.n_levels_)),
        ]
    )


def _draw(plot: Path, model: Any, table: Any, labels: np.ndarray) -> None:
    from pellucid.plotting import plot_level

    for level in range(model.n_levels_):
        path = plot.with_name(f"{plot.stem}-{level + 1}{plot.suffix}")
        draw(path, lambda level=level: plot_level(model, table, labels, level=level))
        show_notice(f"drew level {level + 1} in {path}")
