"""The same tree on other numbers: grown on scaled columns, told in the units of the table."""

from __future__ import annotations

import numpy as np

from pellucid.cuts.thresholds import ThresholdStyle, choose_threshold
from pellucid.tree import ThresholdTree


def restate(
    tree: ThresholdTree, leaf: np.ndarray, X: np.ndarray, style: ThresholdStyle = "round"
) -> ThresholdTree:
    """The tree with thresholds for `X` that send every row to the leaf it is in.

    Parameters
    ----------
    tree : ThresholdTree
        Grown on columns that rise with those of `X`, such as standardized ones.
    leaf : ndarray of shape (n_samples,)
        Leaf of each row.
    X : ndarray of shape (n_samples, n_features)
        The rows in other units.
    style : {"round", "midpoint", "data"}, default="round"
        Which threshold to choose, as in the estimators.

    Returns
    -------
    ThresholdTree

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import IMM
    >>> from pellucid.restate import restate
    >>> X = np.array([[1200.0], [1300.0], [5400.0], [5900.0]])
    >>> model = IMM(2, random_state=0).fit(X / X.std())
    >>> float(restate(model.tree_, model.apply(X / X.std()), X).threshold[0])
    3000.0
    """
    order = np.argsort(leaf, kind="stable")
    placed = leaf[order]
    threshold = np.array(tree.threshold)
    end = _ends(tree)
    # Nodes are numbered from the top, left before right: a subtree is a range of numbers.
    for node in np.flatnonzero(~tree.is_leaf).tolist():
        left, right = int(tree.children_left[node]), int(tree.children_right[node])
        first, middle, last = np.searchsorted(placed, (left, right, end[node]))
        column = X[:, tree.feature[node]]
        low = column[order[first:middle]].max(initial=-np.inf)
        high = column[order[middle:last]].min(initial=np.inf)
        if not low < high:
            raise ValueError(
                f"column {tree.feature[node]} of X does not rise with the column that the tree "
                "was grown on"
            )
        if np.isinf(low) or np.isinf(high):  # no row on one side: what is known is the other
            threshold[node] = np.nextafter(high, -np.inf) if np.isinf(low) else low
        else:
            threshold[node] = choose_threshold(float(low), float(high), style)
    return tree.replace(threshold=threshold)


def _ends(tree: ThresholdTree) -> np.ndarray:
    """One past the last node of each subtree."""
    end = np.arange(1, tree.node_count + 1)
    for node in range(tree.node_count - 1, -1, -1):
        if not tree.is_leaf[node]:
            end[node] = end[tree.children_right[node]]
    return end
