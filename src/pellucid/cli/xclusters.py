"""``pellucid xclusters``: clusters of time series that a small tree explains."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from pellucid._utils.notices import InputError, UsageError, notice, option
from pellucid._utils.texts import Message, count, percent, say, texts_in
from pellucid.cli.checks import OutputFiles
from pellucid.cli.output import show_line, show_measures, show_rules, shown_notices, working
from pellucid.cli.writing import FileStep, draw, draw_tree, write_and_show
from pellucid.explanation.explanation import Explanation
from pellucid.table_explainer import tuning
from pellucid.table_explainer.arguments import match_names, one_name
from pellucid.tables.reading import ReadingOptions, read_source
from pellucid.tables.writing import write_table
from pellucid.xclusters import SeriesTable, XClusters, series_from_long, series_from_wide
from pellucid.xclusters.series import find_time_columns, match_columns

# Steps of the alignments of all pairs of series up to which they are compared by DTW: a minute.
MAX_STEPS = 2 * 10**10
# Share of the differences between the series below which clusters are said to hardly differ.
SMALL_SHARE = 0.25
DEFAULT_RANGE = (3, 11)  # numbers of clusters that are tried, as in the paper
# Options that are parameters of `series_from_long` and `series_from_wide`, and of `XClusters`.
_TIMES = ("aggregate", "frequency", "moving_average", "coverage")
_VALUES = ("relative", "fill_value", "interpolate")
_SEARCH = ("trade_off", "tolerance", "tree_accuracy", "search")

_CODE_NAME = re.compile(
    r"(^|[_ .-])(id|key|code|num|no|nr|index|uuid)$|(?<=[a-z])(Id|ID|Code|Key)$"
)


@dataclass(frozen=True)
class EntitySeries:
    """The data of the command; `value` names the values and `weighted_by` the weights."""

    series: SeriesTable
    explained_by: pl.DataFrame  # the columns that the rules use, one row per entity
    value: str
    weights: np.ndarray | None  # None if all entities count the same
    weighted_by: str


def xclusters(
    file: Path,
    given: Mapping[str, Any],
    k: tuple[int, int] | None,
    files: OutputFiles,
    reading: ReadingOptions,
) -> None:
    """Cluster the series of a table such that its other columns explain them."""
    source = read_source(file, reading)
    read = _read_wide if given["time"] is None else _read_long
    found = read(source.table, given, {name: given[name] for name in (*_TIMES, *_VALUES)})
    series = found.series
    key = "entities" if given["coverage"] != "own" else "entitiesOfOwnTimes"
    notice(Message(key, n=len(series), times=f"{len(series.times)}"))
    options = {"k_range": _range(k, len(series)), **{name: given[name] for name in _SEARCH}}
    distance = given["distance"] or _distance(series)
    model = XClusters(tree_measure="accuracy", accuracy_distance=distance, **options)
    with working("clusters"):
        model.fit(series.series, sample_weight=found.weights, explanation=found.explained_by)
    explanation, decisions = Explanation.of(model), shown_notices()

    def write_entities(path: Path) -> None:
        write_table(path, series.entities.with_columns(pl.Series("cluster", model.labels_)))

    def draw_trends(path: Path) -> None:
        from pellucid.plotting import plot_trends

        label = f"{found.value} (mean = 1)" if given["relative"] else found.value
        draw(path, lambda: plot_trends(model, series.series, times=series.times, label=label))

    def report(path: Path) -> None:
        options: Any = {"title": Path(source.name).name, "language": files.language}
        with texts_in(files.language):
            options["rows"] = say("entityNoun")
        model.report(path, found.explained_by, series=series, decisions=decisions, **options)

    steps: list[FileStep] = [
        ("the entities with their cluster", files.output, write_entities),
        ("the plot of the tree", files.tree, lambda path: draw_tree(path, explanation)),
        ("the plot of the trends", files.trends, draw_trends),
        ("the report", files.report, report),
    ]
    data, show = partial(_data, model, found), partial(_show, model, found)
    write_and_show(files, steps, explanation, data, show)


def _distance(series: SeriesTable) -> str:
    """Dynamic time warping, or the Euclidean distance where that would take long."""
    n_values = sum(map(len, series.series))
    if n_values**2 / 2 <= MAX_STEPS or len({len(one) for one in series.series}) > 1:
        return "dtw"
    notice(f"series are compared step by step, because they are many ({option('distance', 'dtw')})")
    return "euclidean"


def _read_long(table: pl.DataFrame, given: Mapping[str, Any], shape: dict) -> EntitySeries:
    """Series of a table with one row per entity and time."""
    time = one_name(given["time"] or "", table.columns, "time")
    value = one_name(given["value"] or "", table.columns, "value")
    if not table.schema[value].is_numeric():
        raise InputError(f"--value: column {value!r} is not numeric")
    names, named_by = _entity_columns(table, given)
    weight = _weight_column(table, given)
    if given["entity"] is None:
        names = _constant_columns(table, named_by, (*named_by, time, value, weight))
        if not names:
            raise InputError(
                f"no other column has one value per {', '.join(named_by)}",
                hint="name the columns that describe an entity in --entity",
            )
    keys = list(dict.fromkeys([*named_by, *names]))
    series = series_from_long(table, entity=keys, time=time, value=value, **shape)
    means = None
    if weight is not None:
        found = table.group_by(keys).agg(pl.col(weight).mean().alias("weight of an entity"))
        found = series.entities.join(found, on=keys, how="left", maintain_order="left")
        means = found["weight of an entity"]
    return _entity_series(series, names, value, given, means)


def _read_wide(table: pl.DataFrame, given: Mapping[str, Any], shape: dict) -> EntitySeries:
    """Series of a table with one row per entity and one column per time."""
    numeric = [name for name, dtype in table.schema.items() if dtype.is_numeric()]
    if given["times"] is not None:
        wanted = [part.strip() for part in given["times"].split(",") if part.strip()]
        times, value = match_columns(table.columns, wanted), ""
    else:
        found = find_time_columns(numeric)
        if found is None:
            raise UsageError(
                "the times of the series are not known: no column names are years or dates",
                hint="give --entity, --time and --value for a long table, or --times for a wide "
                "table",
            )
        times, value = found[0], found[1].strip(" _-.")
        notice(Message("wideTable", n=len(times), first=times[0], last=times[-1]))
    for name in times:
        if name not in numeric:
            raise InputError(f"--times: column {name!r} is not numeric")
    if len(times) < 2:
        raise UsageError("--times: a series needs at least 2 columns")
    names, named_by = _entity_columns(table, given)
    for name in (*names, *named_by):
        if name in times:
            raise InputError(f"column {name!r} is in --times and describes an entity too")
    weight = _weight_column(table, given)
    others = [name for name in table.columns if name not in (*times, *named_by, weight)]
    if given["entity"] is None:
        names = others
    values = pl.col(times).cast(pl.Float64)
    kept = table.filter(pl.any_horizontal(values.is_not_null() & values.is_not_nan()))
    if kept.height < table.height:
        notice(Message("noValue", n=table.height - kept.height))
    described = list(dict.fromkeys([*named_by, *names]))
    series = series_from_wide(kept, times, entity=described, **shape)
    if given["entity"] is None:
        names = _usable_columns(series.entities, names)
    means = None if weight is None else kept[weight]
    return _entity_series(series, names, value or "value", given, means)


def _entity_columns(table: pl.DataFrame, given: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    """The columns of ``--entity`` that are not in ``--id``, and those of ``--id``."""
    names, named_by = (
        [] if given[key] is None else match_names(given[key], table.columns, parameter)
        for key, parameter in (("entity", "entity"), ("identity", "id"))
    )
    return [name for name in names if name not in named_by], named_by


def _constant_columns(table: pl.DataFrame, keys: list[str], taken: tuple) -> list[str]:
    """Columns with one value per entity, without those that name it too."""
    schema = table.schema.items()
    others = [name for name, dtype in schema if name not in taken and not dtype.is_nested()]
    if not others:
        return []
    counts = table.group_by(keys).agg(pl.col(others).n_unique())
    constant = [name for name in others if counts[name].max() == 1]
    return _usable_columns(table.group_by(keys).agg(pl.col(constant).first()), constant)


def _usable_columns(entities: pl.DataFrame, names: list[str]) -> list[str]:
    """Columns that can explain clusters: more than one value, and not too many texts."""
    usable: list[str] = []
    ignored: list[str] = []
    for name in names:
        column, n_different = entities[name], entities[name].n_unique()
        is_category = not column.dtype.is_numeric()
        has_gaps = not is_category and column.is_null().any()
        is_unusable = column.dtype.is_nested() or column.dtype.is_temporal() or has_gaps
        is_text = is_category and tuning.MAX_CATEGORIES < n_different < len(column)
        (ignored if n_different == 1 or is_unusable or is_text else usable).append(name)
    if ignored:
        notice(Message("notToExplain", columns=ignored, most=tuning.MAX_CATEGORIES))
    return usable


def _explanation_columns(entities: pl.DataFrame, names: list[str]) -> pl.DataFrame:
    """The columns that the rules use: those that do not only name an entity."""
    if not names:
        raise InputError(
            "no column is left to explain the clusters",
            hint="name columns that describe an entity in --entity",
        )
    identifiers = [name for name in names if _is_identifier(entities[name])]
    if len(identifiers) == len(names) and identifiers:
        notice(Message("onlyNames", columns=identifiers, n=len(identifiers)))
    elif identifiers:
        notice(Message("notInRules", columns=identifiers, n=len(identifiers)))
        names = [name for name in names if name not in identifiers]
    return entities.select(names)


def _is_identifier(column: pl.Series) -> bool:
    """Whether a column has a different text, or a different code, for each entity."""
    if column.dtype.is_integer():
        if not _CODE_NAME.search(column.name):
            return False
    elif column.dtype.is_numeric() or column.dtype.is_temporal():
        return False
    return column.n_unique() == len(column)


def _weight_column(table: pl.DataFrame, given: Mapping[str, Any]) -> str | None:
    if given["weight"] in ("none", "value"):
        return None
    name = one_name(given["weight"] or "", table.columns, "weight")
    if not table.schema[name].is_numeric():
        raise InputError(f"--weight: column {name!r} is not numeric")
    return name


def _entity_series(
    series: SeriesTable,
    names: list[str],
    value: str,
    given: Mapping[str, Any],
    column: pl.Series | None,
) -> EntitySeries:
    """The data, with the columns that explain clusters and the weights of ``--weight``."""
    explained_by = _explanation_columns(series.entities, names)
    if given["entity"] is None:
        notice(Message("explainedBy", columns=explained_by.columns))
    if given["weight"] == "none":
        return EntitySeries(series, explained_by, value, None, "entities")
    weights, name = series.weights, value
    if column is not None:
        weights, name = column.cast(pl.Float64).fill_null(np.nan).to_numpy(), given["weight"]
    if not (np.isfinite(weights).all() and (weights >= 0).all() and weights.any()):
        raise InputError(f"--weight: the weights ({name}) must be numbers of at least 0")
    return EntitySeries(series, explained_by, value, weights, name)


def _range(k: tuple[int, int] | None, n_entities: int) -> tuple[int, int]:
    """The range of the number of clusters, smaller by default for few entities."""
    last = n_entities - 1
    if k is not None:
        if last < k[1]:
            hint = f"use -k {min(k[0], last)}-{last}" if last > 1 else None
            raise InputError(f"{n_entities} entities are too few for {k[1]} clusters", hint=hint)
        return k
    if last < 2:
        entities = count(n_entities, "entity", "entities")
        hint = "name all columns that identify an entity in --entity or --id"
        raise InputError(f"{entities}; clusters need at least 3", hint=hint)
    if last >= DEFAULT_RANGE[1]:
        return DEFAULT_RANGE
    tried = "2" if last == 2 else Message("lineRange", first="2", last=f"{last}")
    notice(Message("fewEntities", n=n_entities, tried=tried))
    return 2, last


def _data(model: Any, found: EntitySeries) -> dict[str, Any]:
    measures = ("objective", "distortion", "n_nodes", "accuracy", "explained_share")
    return {
        "k": len(model.rules_),
        "alpha": float(model.best_alpha_),
        **{name: getattr(model, f"{name}_") for name in measures},
        "n_evaluations": len(model.evaluations_),
        "weight": "none" if found.weights is None else found.weighted_by,
        "clusters": [
            {"cluster": r.cluster, "rule": r.text, "entities": r.n_samples, "share": r.share}
            for r in model.rules_
        ],
    }


def _show(model: Any, found: EntitySeries) -> None:
    entities = count(len(model.labels_), "entity", "entities")
    splits = count(model.tree_.n_leaves - 1, "split")
    clusters = count(len(model.rules_), "cluster")
    show_line(f"{clusters} of {entities}, explained by {splits}", style="bold")
    show_rules(model.rules_, unit="entities")
    sizes = np.bincount(model.labels_).tolist()
    if sizes != [rule.n_samples for rule in model.rules_]:
        *others, last = (f"{size:,}" for size in sizes)
        have = f"the clusters have {', '.join(others)} and {last}"
        show_line(f"entities: those that the rule selects; {have}")
    weighted = ""
    if found.weights is not None:
        show_line(f"share and purity: weighted, as shares of the total {found.weighted_by}")
        weighted = f", weighted by {found.weighted_by}"
    if model.explained_share_ < SMALL_SHARE:
        show_line(
            f"the series of the clusters hardly differ: the clusters explain only "
            f"{percent(model.explained_share_)} of the differences between the series"
        )
    objective = "objective (distortion + trade-off x nodes, both relative)"
    alpha = "weight of the explanation features in the distance (alpha)"
    measures = {
        "differences between the series that are explained": percent(model.explained_share_),
        f"entities classified correctly{weighted}": percent(float(model.accuracy_)),
        "nodes of the tree": str(model.n_nodes_),
        objective: f"{model.objective_:.3f}",
        alpha: f"{model.best_alpha_:g}",
        "clusterings tried": str(len(model.evaluations_)),
    }
    show_measures(measures.items())
