"""Export to a data frame with one row per node of a tree, or per region and cluster."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from pellucid._utils.estimators import FrameKind, documented
from pellucid._utils.imports import import_optional, is_missing
from pellucid.explanation.explanation import Explanation
from pellucid.explanation.region_list import NOWHERE, RegionList
from pellucid.explanation.rules import split_condition
from pellucid.export._values import exported
from pellucid.regions.answer_regions import region_text
from pellucid.tables.encoding import ColumnNames, Indicator

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

KINDS = ("pandas", "polars", "dict")


@overload
def to_frame(
    model: Any, *, kind: Literal["pandas"], feature_names: ColumnNames | None = None
) -> pd.DataFrame: ...
@overload
def to_frame(
    model: Any, *, kind: Literal["polars"], feature_names: ColumnNames | None = None
) -> pl.DataFrame: ...
@overload
def to_frame(
    model: Any, *, kind: Literal["dict"], feature_names: ColumnNames | None = None
) -> dict[str, np.ndarray]: ...
@overload
def to_frame(
    model: Any, *, kind: FrameKind | None = None, feature_names: ColumnNames | None = None
) -> pd.DataFrame | pl.DataFrame | dict[str, np.ndarray]: ...
@documented
def to_frame(
    model: Any, *, kind: FrameKind | None = None, feature_names: ColumnNames | None = None
) -> Any:
    """Export the nodes of a tree, or regions, as a table.

    Parameters
    ----------
    model : fitted estimator of this package, Explanation, ThresholdTree or RegionList
        A fitted model, an :class:`~pellucid.Explanation`, a tree, or regions of any shape with any
        base classifier.
    kind : {"pandas", "polars", "dict"}, optional
        Type of the result; a dictionary holds one array per column. The default is a pandas
        data frame if pandas is already imported, else a polars one if polars is installed,
        else a pandas one if pandas is installed, else a dictionary.
    {feature_names}

    Returns
    -------
    data frame or dict of str to ndarray
        Of a tree, one row per node, in preorder. ``node``; ``parent`` (-1 at the root); ``depth``;
        ``condition`` that leads from the parent, in words (empty at the root); ``is_leaf``;
        ``column``, ``threshold`` and ``category`` of the split (empty, NaN and empty where
        there is none; the threshold of a date is a number of days since 1970-01-01); ``left``
        and ``right``, the children for values up to the threshold and above it (for a category:
        where it does not hold and where it holds; -1 at a leaf);
        ``cluster`` (None at an inner node); ``rule``, the complete rule of a leaf; ``rows``;
        ``weight``; ``share`` of the weight; ``purity`` at a leaf.

        Of regions, one row per region and predicted cluster, in the order in which they are tried,
        and a last row for rows in no region. ``level`` and ``region`` (-1 in the last row);
        ``cluster`` (None for no answer); ``rule``; ``rows``, the weight of the training rows;
        ``share`` of the weight; ``purity``; and ``column_1``, ``above_1``, ``at_most_1``,
        ``column_2`` and so on, the columns and the ends of boxes (infinite where there is none,
        NaN for other shapes; the end of a date is a number of days since 1970-01-01).

    Examples
    --------
    >>> from pellucid import IMM
    >>> frame = IMM(2, random_state=0).fit([[0.0], [1.0], [9.0]]).to_frame(kind="dict")
    >>> frame["condition"]
    array(['', 'x0 ≤ 5', 'x0 > 5'], dtype='<U6')
    """
    found = exported(model, feature_names, check=False)
    return make_frame(_regions(found) if isinstance(found, RegionList) else _nodes(found), kind)


def make_frame(table: dict[str, np.ndarray], kind: str | None) -> Any:
    """Columns as a data frame of a kind, as in `to_frame`."""
    if kind is not None and kind not in KINDS:
        raise ValueError(f"kind is {kind!r}; it can be {', '.join(map(repr, KINDS))}")
    if kind is None:
        installed = (name for name in ("polars", "pandas") if not is_missing(name))
        kind = "pandas" if "pandas" in sys.modules else next(installed, "dict")
    if kind == "dict":
        return table
    if kind == "pandas":
        import pandas as pd

        return pd.DataFrame(table)
    pl = import_optional("polars", "to_frame(kind='polars')", "kind='dict'")
    is_object = {name: column.dtype == object for name, column in table.items()}
    return pl.DataFrame({n: c.tolist() if is_object[n] else c for n, c in table.items()})


def _nodes(explanation: Explanation) -> dict[str, np.ndarray]:
    tree, names = explanation.tree_, explanation.tree_columns_
    parent = np.full(tree.node_count, -1)
    condition, column, category, text = ([""] * tree.node_count for _ in range(4))
    threshold, purity = tree.threshold.copy(), np.full(tree.node_count, np.nan)
    for node in np.flatnonzero(~tree.is_leaf).tolist():
        name = column[node] = names[tree.feature[node]]
        if isinstance(name, Indicator):
            column[node], category[node], threshold[node] = name.column, name.word, np.nan
        for children, is_upper in ((tree.children_left, True), (tree.children_right, False)):
            step = split_condition(tree, node, is_upper, names, explanation.formats_)
            parent[children[node]], condition[children[node]] = node, str(step)
    total = tree.weighted_n_node_samples[0]
    cluster = np.full(tree.node_count, None, dtype=object)
    for rule in explanation._leaf_rules:
        cluster[rule.leaf], purity[rule.leaf] = rule.cluster, rule.purity
        text[rule.leaf] = rule.text
    return {
        "node": np.arange(tree.node_count),
        "parent": parent,
        "depth": tree.depth,
        "condition": np.array(condition),
        "is_leaf": tree.is_leaf,
        "column": np.array(column),
        "threshold": threshold,
        "category": np.array(category),
        "left": np.array(tree.children_left),
        "right": np.array(tree.children_right),
        "cluster": cluster,
        "rule": np.array(text),
        "rows": np.array(tree.n_node_samples),
        "weight": np.array(tree.weighted_n_node_samples),
        "share": tree.weighted_n_node_samples / total if total > 0 else np.zeros(tree.node_count),
        "purity": purity,
    }


def _regions(regions: RegionList) -> dict[str, np.ndarray]:
    pieces = regions.pieces()
    rest = max(regions.total_ - sum(piece.support for piece in pieces), 0.0)
    total = regions.total_ or 1.0
    default = None if regions.default_ is None else regions.classes_[regions.default_]
    answers, cluster = [*(p.answer for p in pieces), default], np.empty(len(pieces) + 1, object)
    cluster[:] = [each.item() if hasattr(each, "item") else each for each in answers]
    table = {
        "level": np.array([*(piece.level for piece in pieces), -1]),
        "region": np.array([*(piece.region for piece in pieces), -1]),
        "cluster": cluster,
        "rule": np.array([*(region_text(piece) for piece in pieces), NOWHERE]),
        "rows": np.array([*(piece.support for piece in pieces), rest]),
        "share": np.array([*(piece.share for piece in pieces), rest / total]),
        "purity": np.array([*(piece.purity for piece in pieces), np.nan]),
    }
    for position in range(max((len(piece.features) for piece in pieces), default=0)):
        names, ends = [""] * len(cluster), np.full((len(cluster), 2), np.nan)
        for row, piece in enumerate(pieces):
            if position < len(piece.features):
                names[row] = str(regions.names_[piece.features[position]])
                ends[row] = piece.bounds.get(names[row], np.nan)
        table[f"column_{position + 1}"] = np.array(names)
        table[f"above_{position + 1}"], table[f"at_most_{position + 1}"] = ends.T.copy()
    return table
