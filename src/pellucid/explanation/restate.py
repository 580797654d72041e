"""A tree on other columns: grown on scaled or encoded ones, told in those of the data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pellucid._utils.float_search import last_where
from pellucid.explanation.column_provenance import Source
from pellucid.tables.encoding import Indicator
from pellucid.tree import ThresholdTree, TreeBuilder
from pellucid.tree.predictor import column_values
from pellucid.tree.rounding import choose_threshold


class Cuts:
    """The questions of a tree, each told of the column of the data that it is about.

    Parameters
    ----------
    tree : ThresholdTree
    sources : list of Source
        Of each column of the tree.

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import IMM
    >>> from pellucid.explanation.column_provenance import Source
    >>> from pellucid.explanation.monotone_maps import Step
    >>> from pellucid.explanation.restate import Cuts
    >>> X = np.array([[1200.0], [1300.0], [5400.0], [5900.0]])
    >>> tree = IMM(2, random_state=0).fit(X / 1000).tree_
    >>> cuts = Cuts(tree, [Source(0, steps=(Step(lambda values: values / 1000),))])
    >>> cuts.look_at(X / 1000, [X[:, 0]])
    >>> restated, old_leaf = cuts.rebuild(["income"], ["income"], "round")
    >>> float(restated.threshold[0])
    3000.0
    """

    def __init__(self, tree: ThresholdTree, sources: list[Source]) -> None:
        self.tree, self.sources = tree, sources
        self.between: dict[int, tuple[float, float]] = {}

    def look_at(self, Z: Any, values: Sequence[np.ndarray] | Mapping[int, np.ndarray]) -> None:
        """Find the nearest values of the data on both sides of each question about numbers.

        Parameters
        ----------
        Z : ndarray or csc_array
            Rows as the tree sees them.
        values : sequence of ndarray, or dict of int to ndarray
            The columns of the same rows in the data, by position, filled in.
        """
        for node, rows in self.tree.rows_by_node(Z):
            source = self.sources[self.tree.feature[node]]
            if self.tree.children_left[node] < 0 or source.category:
                continue
            left = column_values(Z, self.tree.feature[node], rows) <= self.tree.threshold[node]
            numbers = values[source.column][rows].astype(np.float64)
            is_low = left if source.is_rising else ~left
            if is_low.any() and not is_low.all():
                low, high = float(numbers[is_low].max()), float(numbers[~is_low].min())
                if low < high:
                    self.between[node] = (low, high)

    def rebuild(
        self, names: Sequence[str], described: Sequence[str | Indicator], style: str
    ) -> tuple[ThresholdTree, dict[int, int]]:
        """The tree on other columns, and the old leaf of each of its leaves.

        Parameters
        ----------
        names : sequence of str
            Columns of the data.
        described : sequence of str or Indicator
            Columns of the new tree.
        style : {"round", "midpoint", "data"}
            Of thresholds, where there is a choice.
        """
        tree, builder = self.tree, TreeBuilder(len(described))
        place = {name: i for i, name in enumerate(described)}
        old_of, stack = {}, [(0, 0)]
        while stack:
            old, new = stack.pop()
            if tree.children_left[old] < 0:
                builder.set_cluster(new, int(tree.cluster[old]))
            else:
                low, high, threshold = self._cut(old, style)
                if np.isinf(threshold):
                    # No value of the column goes to the other side.
                    stack.append((low if threshold > 0 else high, new))
                    continue
                name = self.sources[tree.feature[old]].name(names)
                children = builder.split(new, feature=place[name], threshold=threshold)
                stack += zip((low, high), children)
            weight = tree.weighted_n_node_samples[old]
            builder.set_counts(new, tree.n_node_samples[old], weight)
            old_of[new] = old
        made = enumerate(builder.preorder())
        return builder.build(), {number: old_of[new] for number, new in made}

    def _cut(self, node: int, style: str) -> tuple[int, int, float]:
        """Where low values of the column go, where high ones, and the last that is low."""
        source, threshold = self.sources[self.tree.feature[node]], self.tree.threshold[node]
        sides = [int(self.tree.children_left[node]), int(self.tree.children_right[node])]
        low, high = sides if source.is_rising else sides[::-1]

        def is_low(values: np.ndarray) -> np.ndarray:
            return (source.transform(values) <= threshold) == source.is_rising

        if source.category:
            zero, one = is_low(np.array([0.0, 1.0]))
            return low, high, 0.5 if zero != one else np.inf if zero else -np.inf
        if node in self.between:
            return low, high, choose_threshold(*self.between[node], style)
        return low, high, last_where(is_low)
