"""Export to a data frame with one row per node."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from pellucid._utils.estimators import FrameKind
from pellucid._utils.imports import import_optional
from pellucid.explanation.explanation import Explanation
from pellucid.explanation.rules import split_condition
from pellucid.tables.encoding import Indicator

KINDS = ("pandas", "polars", "dict")


def to_frame(
    model: Any,
    *,
    kind: FrameKind | None = None,
    feature_names: Sequence[str | Indicator] | None = None,
) -> Any:
    """Export the nodes of a model as a table.

    Parameters
    ----------
    model : fitted estimator of this package, Explanation or ThresholdTree
        A fitted tree model, an :class:`~pellucid.Explanation` or a tree.
    kind : {"pandas", "polars", "dict"}, optional
        Type of the result; a dictionary holds one array per column. The default is a pandas
        data frame if pandas is already imported, else a polars one if polars is installed,
        else a pandas one if pandas is installed, else a dictionary.
    feature_names : sequence of str or Indicator, optional
        Names of the columns; those seen in `fit`, or ``x0, x1, ...``, when left out.

    Returns
    -------
    data frame or dict of str to ndarray
        One row per node, in preorder. ``node``; ``parent`` (-1 at the root); ``depth``;
        ``condition`` that leads from the parent, in words (empty at the root); ``is_leaf``;
        ``column``, ``threshold`` and ``category`` of the split (empty, NaN and empty where
        there is none; the threshold of a date is a number of days since 1970-01-01); ``left``
        and ``right``, the children for values up to the threshold and above it (for a category:
        where it does not hold and where it holds; -1 at a leaf);
        ``cluster`` (None at an inner node); ``rule``, the complete rule of a leaf; ``rows``;
        ``weight``; ``share`` of the weight; ``purity`` at a leaf.

    Examples
    --------
    >>> from pellucid import IMM
    >>> frame = IMM(2, random_state=0).fit([[0.0], [1.0], [9.0]]).to_frame(kind="dict")
    >>> frame["condition"]
    array(['', 'x0 ≤ 5', 'x0 > 5'], dtype='<U6')
    """
    check_kind(kind)
    return make_frame(_columns(Explanation.of(model, feature_names=feature_names)), kind)


def check_kind(kind: str | None) -> None:
    """Fail if there is no such kind of data frame."""
    if kind is not None and kind not in KINDS:
        raise ValueError(f"kind is {kind!r}; it can be {', '.join(map(repr, KINDS))}")


def make_frame(table: dict[str, np.ndarray], kind: str | None) -> Any:
    """A data frame of the given kind, or of a library that is there."""
    check_kind(kind)
    library = _library() if kind is None else kind
    if library == "dict":
        return table
    if library == "pandas":
        import pandas as pd

        return pd.DataFrame(table)
    pl = import_optional("polars", "to_frame(kind='polars')", "kind='dict'")
    return pl.DataFrame({**table, "cluster": table["cluster"].tolist()})


def _library() -> str:
    if "pandas" in sys.modules:
        return "pandas"
    for name in ("polars", "pandas"):
        try:
            __import__(name)
        except ImportError:
            continue
        return name
    return "dict"


def _columns(explanation: Explanation) -> dict[str, np.ndarray]:
    tree, names = explanation.tree_, explanation.tree_columns_
    inner = np.flatnonzero(~tree.is_leaf).tolist()
    rules = {rule.leaf: rule for rule in explanation._leaf_rules}
    parent = np.full(tree.node_count, -1)
    condition = [""] * tree.node_count
    column, category = [""] * tree.node_count, [""] * tree.node_count
    threshold = tree.threshold.copy()
    for node in inner:
        name = column[node] = names[tree.feature[node]]
        if isinstance(name, Indicator):
            column[node], category[node], threshold[node] = name.column, name.word, np.nan
        for children, is_upper in ((tree.children_left, True), (tree.children_right, False)):
            child = int(children[node])
            parent[child] = node
            step = split_condition(tree, node, is_upper, names, explanation.formats_)
            condition[child] = str(step)
    total = tree.weighted_n_node_samples[0]
    every = range(tree.node_count)
    cluster = np.full(tree.node_count, None, dtype=object)
    for leaf, rule in rules.items():
        cluster[leaf] = rule.cluster
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
        "rule": np.array([rules[n].text if n in rules else "" for n in every]),
        "rows": np.array(tree.n_node_samples),
        "weight": np.array(tree.weighted_n_node_samples),
        "share": tree.weighted_n_node_samples / total if total > 0 else np.zeros(tree.node_count),
        "purity": np.array([rules[n].purity if n in rules else np.nan for n in every]),
    }
