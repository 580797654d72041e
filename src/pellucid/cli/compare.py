"""``pellucid compare`` and ``pellucid path``: cost and size of other explanations."""

from __future__ import annotations

import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from pellucid._utils.notices import notice
from pellucid._utils.texts import count, percent
from pellucid.cli.checks import TableRequest
from pellucid.cli.output import cost_change, show_line, show_table, working
from pellucid.cli.writing import draw, write_and_show
from pellucid.methods import BY_WORD
from pellucid.metrics import weighted_average_explanation_size as explanation_size
from pellucid.table_explainer.clustering import Clustering, cluster_rows, fit_tree, make_estimator
from pellucid.table_explainer.preparing import prepare_table
from pellucid.tables.reading import read_source
from pellucid.tree.trade_off import TradeOff, TradeOffPoint


def read_clusters(request: TableRequest) -> Clustering:
    with working(f"reading {request.file}"):
        source = read_source(request.file, request.reading)
    prepared = prepare_table(source, request.options)
    with working("clusters"):
        found = cluster_rows(prepared, request.options)
    found.report()
    return found


def columns_of(clustering: Clustering) -> np.ndarray:
    """The columns in the units of the table, with categories as indicators."""
    features = clustering.prepared.features
    return np.column_stack([np.asarray(column, dtype=float) for column in features])


def compare(request: TableRequest) -> None:
    clustering, options = read_clusters(request), request.options
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
    found = dict(sorted(found.items(), key=lambda item: (item[1][0].cost_ratio, item[0])))

    def data() -> list[dict[str, Any]]:
        return [{"method": n, **f.measures(), "seconds": s} for n, (f, s) in found.items()]

    def plot(path: Path) -> None:
        from pellucid.plotting import plot_comparison

        models = {name: fitted for name, (fitted, _) in found.items()}
        draw(path, lambda: plot_comparison(models, reference=clustering.name))

    steps = [("the plot of the comparison", request.files.plot, plot)]
    write_and_show(request.files, steps, None, data, lambda: _show(found, clustering))


def compare_kinds(request: TableRequest) -> None:
    """Explain the same clusters by a tree, regions and rules; compare coverage and precision."""
    from pellucid.resampling.comparison import compare_explanations

    clustering, files = read_clusters(request), request.files
    labels = clustering.labels
    if clustering.noise != "background" and labels.dtype.kind == "i":
        labels = labels - labels.min()  # -1 is a cluster, too
    with working("explanations"):
        seed = request.options.seed
        found = compare_explanations(columns_of(clustering), labels, random_state=seed)

    steps = [("the plot of the comparison", files.plot, lambda path: draw(path, found.plot))]
    rows, text = [asdict(each) for each in found], str(found)
    write_and_show(files, steps, None, lambda: rows, lambda: show_line(text))


def path(request: TableRequest) -> None:
    clustering, options = read_clusters(request), request.options
    reference, labels = clustering.as_parameters()
    model = make_estimator(reference, replace(options, method="exshallow"))
    with working("trees"):
        points = model.path(clustering.prepared.Z, labels)
        found = list(points)
        if options.objective != "kmedians":
            explainable = make_estimator(reference, replace(options, method="explainable"))
            found += explainable.trade_off(clustering.prepared.Z, labels)
    # Several categories of one column are one condition.
    names = clustering.prepared.encoding.names
    restated = (replace(p, waes=explanation_size(p.tree, feature_names=names)) for p in found)
    points = TradeOff(restated, points.is_complete).undominated(("cost", "agreement", "waes"))
    against = clustering.name
    measures = ("npc", "agreement", "waes", "wad", "n_leaves")
    rows = [{"options": _options(p), **{m: getattr(p, m) for m in measures}} for p in points]

    def plot(path: Path) -> None:
        from pellucid.plotting import plot_trade_off

        draw(path, lambda: plot_trade_off(points, reference=against))

    steps = [("the plot of the trade-off", request.files.plot, plot)]
    write_and_show(request.files, steps, None, lambda: rows, lambda: _show_path(points, against))


def _show(found: dict, clustering: Clustering) -> None:
    rows = count(len(clustering.prepared.rows), "row")
    show_line(f"{len(found)} methods on {rows}, lowest cost first", style="bold")
    cost = f"cost compared with {clustering.name}"
    lines = []
    for name, (fitted, seconds) in found.items():
        m = fitted.measures()
        sizes = f"{m['conditions']:.2f}", str(m["max_depth"]), str(m["n_leaves"])
        measures = cost_change(m["cost_ratio"]), percent(m["agreement"]), *sizes
        lines.append((name, *measures, f"{seconds:.2f} s"))
    show_table(("method", cost, "agreement", "conditions", "depth", "leaves", "time"), lines)
    show_line(
        "agreement: rows in their own cluster; conditions: mean number per row; "
        "depth: maximum depth of the tree"
    )


def _show_path(points: TradeOff, against: str) -> None:
    trees = count(len(points), "tree")
    show_line(f"{trees}, from the shortest rules to the longest", style="bold")
    heads = ("conditions", f"cost compared with {against}", "agreement", "leaves")
    # Of trees with the same rounded measures, the first.
    shown: dict[tuple[str, ...], tuple[str, str]] = {}
    for p in points:
        measures = f"{p.waes:.2f}", cost_change(p.npc), f"{p.agreement:.1%}"
        shown.setdefault(measures, (str(p.n_leaves), _options(p)))
    rows = [(*measures, *others) for measures, others in shown.items()]
    show_table((*heads, "options of pellucid explain"), rows)
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
    if point.faithfulness is not None:
        return f"--faithfulness {point.faithfulness:g}"
    return f"--method exshallow --depth-penalty {point.penalty:.4g}"
