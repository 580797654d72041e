"""``pellucid compare`` and ``pellucid path``: cost and size of other explanations."""

from __future__ import annotations

import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from pellucid import metrics
from pellucid._utils.notices import notice
from pellucid._utils.texts import count
from pellucid.cli.checks import OutputFiles
from pellucid.cli.output import cost_change, open_console, plain_table, show_line, working
from pellucid.cli.writing import draw, write_and_show
from pellucid.methods import BY_WORD
from pellucid.table_explainer.arguments import ExplainOptions
from pellucid.table_explainer.clustering import (
    Clustering,
    cluster_rows,
    fit_tree,
    make_estimator,
)
from pellucid.table_explainer.preparing import PreparedTable, prepare_table
from pellucid.tables.reading import ReadingOptions, read_source
from pellucid.tree.trade_off import TradeOff, TradeOffPoint


def read_clusters(file: Path, options: ExplainOptions, reading: ReadingOptions) -> Clustering:
    """Read, prepare and cluster a table."""
    with working(f"reading {file}"):
        source = read_source(file, reading)
    prepared = prepare_table(source, options)
    with working("clusters"):
        found = cluster_rows(prepared, options)
    found.report()
    return found


def compare(
    file: Path, options: ExplainOptions, files: OutputFiles, reading: ReadingOptions
) -> None:
    """Explain the same clusters by every method and compare cost, size and time."""
    clustering = read_clusters(file, options, reading)
    methods = dict(BY_WORD)
    if options.objective == "kmedians":
        for word, method in BY_WORD.items():
            if "objective" not in method.options:
                notice(f"{methods.pop(word).name} is skipped: it minimises the k-means cost")
    found = {}
    with working("methods", len(methods)) as step:
        for word, method in methods.items():
            step(method.name)
            begin = time.perf_counter()
            leaves = options.leaves if "leaves" in method.options else None
            fitted = fit_tree(clustering, replace(options, method=word, leaves=leaves))
            found[method.name] = (fitted, time.perf_counter() - begin)
    order = sorted(found, key=lambda name: (found[name][0].cost_ratio, name))

    def data() -> list[dict[str, Any]]:
        return [{"method": n, **found[n][0].measures(), "seconds": found[n][1]} for n in order]

    def plot(path: Path) -> None:
        from pellucid.plotting import plot_comparison

        models = {name: found[name][0] for name in order}
        draw(path, lambda: plot_comparison(models, reference=clustering.name))

    steps = [("the plot of the comparison", files.plot, plot)]
    write_and_show(files, steps, None, data, lambda: _show(order, found))


def compare_kinds(
    file: Path, options: ExplainOptions, files: OutputFiles, reading: ReadingOptions
) -> None:
    """Explain the same clusters by a tree, regions and rules; compare coverage and precision."""
    from pellucid.resampling.comparison import compare_explanations

    clustering = read_clusters(file, options, reading)
    labels, features = clustering.labels, clustering.prepared.features
    if clustering.noise != "background" and labels.dtype.kind == "i":
        labels = labels - labels.min()  # -1 is a cluster, too
    with working("explanations"):
        X = np.column_stack([np.asarray(column, dtype=float) for column in features])
        found = compare_explanations(X, labels, random_state=options.seed)

    steps = [("the plot of the comparison", files.plot, lambda path: draw(path, found.plot))]
    rows, text = [asdict(each) for each in found], str(found)
    write_and_show(files, steps, None, lambda: rows, lambda: show_line(text))


def path(file: Path, options: ExplainOptions, files: OutputFiles, reading: ReadingOptions) -> None:
    """Print trees that differ in cost, agreement and size, and the options that give them."""
    clustering = read_clusters(file, options, reading)
    reference, labels = clustering.as_parameters()
    model = make_estimator(reference, replace(options, method="exshallow"))
    with working("trees"):
        points = model.path(clustering.prepared.Z, labels)
        found = list(points)
        if options.objective != "kmedians":
            explainable = make_estimator(reference, replace(options, method="explainable"))
            found += explainable.trade_off(clustering.prepared.Z, labels)
    restated = (_with_category_names(point, clustering.prepared) for point in found)
    points = TradeOff(restated, points.is_complete).undominated(("cost", "agreement", "waes"))
    against = clustering.name

    names = ("npc", "agreement", "waes", "wad", "n_leaves")
    rows = [
        {"options": _options(point), **{name: getattr(point, name) for name in names}}
        for point in points
    ]

    def plot(path: Path) -> None:
        from pellucid.plotting import plot_trade_off

        draw(path, lambda: plot_trade_off(points, reference=against))

    steps = [("the plot of the trade-off", files.plot, plot)]
    write_and_show(files, steps, None, lambda: rows, lambda: _show_path(points, against))


def _with_category_names(point: TradeOffPoint, prepared: PreparedTable) -> TradeOffPoint:
    """A point whose size counts several categories of one column as one condition."""
    names = prepared.encoding.names
    size = metrics.weighted_average_explanation_size(point.tree, feature_names=names)
    return replace(point, waes=size)


def _show(order: list[str], found: dict) -> None:
    fitted = found[order[0]][0]
    show_line(
        f"{len(order)} methods on {count(len(fitted.prepared.rows), 'row')}, lowest cost first",
        style="bold",
    )
    table = plain_table(
        "method",
        "cost compared with " + fitted.clustering.name,
        "conditions",
        "depth",
        "leaves",
        "time",
    )
    for name in order:
        fitted, seconds = found[name]
        measures = fitted.measures()
        table.add_row(
            name,
            cost_change(measures["cost_ratio"]),
            f"{measures['conditions']:.2f}",
            str(measures["max_depth"]),
            str(measures["n_leaves"]),
            f"{seconds:.2f} s",
        )
    open_console().print(table)
    show_line("conditions: mean number per row; depth: maximum depth of the tree")


def _show_path(points: TradeOff, against: str) -> None:
    show_line(
        f"{count(len(points), 'tree')}, from the shortest rules to the lowest cost",
        style="bold",
    )
    table = plain_table(
        "conditions",
        f"cost compared with {against}",
        "agreement",
        "leaves",
        "options of pellucid explain",
    )
    shown = _distinct(points)
    for point in shown:
        table.add_row(
            f"{point.waes:.2f}",
            cost_change(point.npc),
            f"{point.agreement:.1%}",
            str(point.n_leaves),
            _options(point),
        )
    open_console().print(table)
    if len(points) > 1:
        first, last = points[0], min(points, key=lambda point: point.npc)
        show_line(
            f"{last.waes - first.waes:.2f} more conditions per row change the cost from "
            f"{cost_change(first.npc)} to {cost_change(last.npc)}"
        )
    show_line("conditions: mean number per row; agreement: rows in their own cluster")
    if len(shown) < len(points):
        left_out = count(len(points) - len(shown), "tree")
        show_line(f"{left_out} with the same rounded values are not shown; use --json to see them")


def _options(point: TradeOffPoint) -> str:
    """The options that give a tree."""
    if point.faithfulness is not None:
        return f"--faithfulness {point.faithfulness:g}"
    return f"--method exshallow --depth-penalty {point.penalty:.4g}"


def _distinct(points: TradeOff) -> list[TradeOffPoint]:
    """Points without those whose rounded measures equal those of the previous one."""
    shown: list[TradeOffPoint] = []
    last = None
    for point in points:
        printed = f"{point.waes:.2f}", cost_change(point.npc), f"{point.agreement:.1%}"
        if printed != last:
            shown.append(point)
        last = printed
    return shown
