"""Export to indented text, like scikit-learn's ``export_text``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pellucid.explanation.conditions import Condition
from pellucid.explanation.rules import label_text, names_of_columns, split_condition
from pellucid.tables.encoding import Indicator
from pellucid.tree import ThresholdTree


def export_text(model: Any, *, feature_names: Sequence[str | Indicator] | None = None) -> str:
    """Export the tree of a fitted estimator, or a tree, as text.

    Parameters
    ----------
    model : fitted estimator of this package, or ThresholdTree
        A fitted tree model, an :class:`~pellucid.Explanation` or a tree.
    feature_names : sequence of str or Indicator, optional
        Names of the columns; those seen in `fit`, or ``x0, x1, ...``, when left out.

    Returns
    -------
    str
        The tree as text.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from pellucid import IMM, export_text
    >>> model = IMM(3, random_state=0).fit(load_iris(as_frame=True).data)
    >>> print(export_text(model))
    |--- petal length (cm) <= 2
    |   |--- cluster 1 (50 rows)
    |--- petal length (cm) >  2
    |   |--- petal length (cm) <= 5.1
    |   |   |--- cluster 0 (66 rows)
    |   |--- petal length (cm) >  5.1
    |   |   |--- cluster 2 (34 rows)
    """
    tree = model if isinstance(model, ThresholdTree) else model.tree_
    names = names_of_columns(model, tree.n_features, feature_names)
    formats = getattr(model, "formats_", None)
    labels = getattr(model, "cluster_names_", range(int(tree.cluster.max()) + 1))
    lines: list[str] = []
    stack: list[tuple[int, int, str]] = [(0, 0, "")]
    while stack:
        node, depth, condition = stack.pop()
        indent = "|   " * (depth - 1) + "|--- " if depth else ""
        if condition:
            lines.append(indent + condition)
            indent = "|   " * depth + "|--- "
        if tree.children_left[node] < 0:
            n_rows = int(tree.n_node_samples[node])
            rows = f"{n_rows:,} {'row' if n_rows == 1 else 'rows'}"
            lines.append(f"{indent}cluster {label_text(labels[tree.cluster[node]])} ({rows})")
            continue
        low, high = (
            _text(split_condition(tree, node, left, names, formats)) for left in (True, False)
        )
        stack.append((int(tree.children_right[node]), depth + 1, high))
        stack.append((int(tree.children_left[node]), depth + 1, low))
    return "\n".join(lines)


def _text(condition: Condition) -> str:
    """A condition in ASCII, with two blanks after ``>``, as in scikit-learn."""
    name = condition.name
    if isinstance(name, Indicator):
        return str(condition)
    bound = {"high" if condition.is_upper else "low": condition.threshold}
    _, after = condition.format.around(**bound)
    for sign, plain in ((" ≤ ", " <= "), (" ≥ ", " >= "), (" > ", " >  ")):
        after = plain + after.removeprefix(sign) if after.startswith(sign) else after
    return f"{name}{after}"
