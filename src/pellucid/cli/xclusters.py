"""``pellucid xclusters``: clusters of time series that a small tree explains."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl

from pellucid.cli import CommandError, replacing
from pellucid.cli.columns import split_names
from pellucid.cli.output import count, percent, show_line, show_measures, show_notice, show_rules
from pellucid.cli.progress import working
from pellucid.cli.reading import read_source
from pellucid.cli.writing import draw, draw_tree, write_text


def xclusters(
    file: Path,
    *,
    entity: str,
    time: str,
    value: str,
    aggregate: str,
    frequency: str | None,
    moving_average: int | None,
    relative: bool,
    fill: float | None,
    k: tuple[int, int],
    trade_off: float,
    tolerance: float,
    distance: str,
    search: str,
    output: Path | None,
    tree: Path | None,
    trends: Path | None,
    model_file: Path | None,
    report: Path | None = None,
    as_json: bool,
) -> None:
    """Cluster the series of a long table such that columns of the table explain them."""
    from pellucid import XClusters
    from pellucid.explanation.explanation import Explanation
    from pellucid.xclusters import series_from_long

    source = read_source(file)
    names = split_names(entity, source.table, "--entity")
    moment = _one_name(time, source.table, "--time")
    amount = _one_name(value, source.table, "--value")
    if not source.table.schema[amount].is_numeric():
        raise CommandError(f"--value: column {amount!r} is not numeric")
    found = series_from_long(
        source.table,
        entity=names,
        time=moment,
        value=amount,
        aggregate=aggregate,
        frequency=frequency,
        moving_average=moving_average,
        relative=relative,
        fill_value=fill,
    )
    show_notice(
        f"{count(len(found), 'entity', 'entities')} with a series of {len(found.times)} times"
    )
    if len(found) <= k[1]:
        raise CommandError(
            f"{len(found)} entities are too few for {k[1]} clusters", hint="give a smaller -k range"
        )
    model = XClusters(
        k_range=k,
        trade_off=trade_off,
        tolerance=tolerance,
        accuracy_distance=distance,
        search=search,
    )
    with working("clusters"):
        model.fit(found.series, sample_weight=found.weights, explanation=found.entities)
    explanation = Explanation.of(model)
    if output is not None:
        labels = pl.Series("cluster", model.labels_)
        write_text(output, found.entities.with_columns(labels).write_csv())
    if tree is not None:
        draw_tree(tree, explanation)
    if trends is not None:
        from pellucid.plotting import plot_trends

        label = f"{amount} (mean = 1)" if relative else amount
        draw(trends, lambda: plot_trends(model, found.series, times=found.times, label=label))
    if model_file is not None:
        write_text(model_file, explanation.to_json(indent=1))
    if report is not None:
        title = Path(source.name).name
        with replacing(report) as unfinished:
            model.report(unfinished, found.entities, series=found, title=title)
    _show(model, amount, as_json)
    for path, what in (
        (output, "wrote the entities with their cluster to"),
        (tree, "drew the tree in"),
        (trends, "drew the trends in"),
        (model_file, "wrote the model to"),
        (report, "wrote the report to"),
    ):
        if path is not None:
            show_notice(f"{what} {path}")


def _one_name(name: str, table: pl.DataFrame, option: str) -> str:
    names = split_names(name, table, option)
    if len(names) > 1:
        raise CommandError(f"{option} names more than one column", exit_code=2)
    return names[0]


def _show(model: Any, value: str, as_json: bool) -> None:
    if as_json:
        result = {
            "k": int(model.best_k_),
            "alpha": float(model.best_alpha_),
            "objective": float(model.objective_),
            "distortion": float(model.distortion_),
            "n_nodes": int(model.n_nodes_),
            "n_evaluations": len(model.evaluations_),
            "clusters": [
                {"cluster": rule.cluster, "rule": rule.text, "rows": rule.n_samples}
                for rule in model.rules_
            ],
        }
        print(json.dumps(result, indent=2, ensure_ascii=False))
        return
    show_line(
        f"{count(model.best_k_, 'cluster')} of {count(len(model.labels_), 'entity', 'entities')}, "
        f"explained by {count(model.tree_.n_leaves - 1, 'split')}",
        style="bold",
    )
    show_rules(model.rules_)
    show_line(f"rows: number of entities; share: of the sum of {value}")
    show_measures(
        [
            (
                "objective (distortion + trade-off x nodes, both relative)",
                f"{model.objective_:.3f}",
            ),
            (
                "weight of the explanation features in the distance (alpha)",
                f"{model.best_alpha_:g}",
            ),
            ("nodes of the tree", str(model.n_nodes_)),
            ("entities that the tree assigns to their cluster", percent(float(model.accuracy_))),
            ("clusterings tried", str(len(model.evaluations_))),
        ]
    )
