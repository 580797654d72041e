"""What the formats that draw a tree have in common: its words, node by node."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pellucid.explanation.conditions import format_number
from pellucid.explanation.explanation import Explanation
from pellucid.explanation.rules import Rule
from pellucid.plotting.palette import cluster_color, text_color
from pellucid.tables.encoding import Indicator


@dataclass(frozen=True)
class Question:
    """An inner node."""

    text: str
    left: int
    right: int
    answers: tuple[str, str]
    """The answer that leads left, and the one that leads right."""


@dataclass(frozen=True)
class Leaf:
    """A leaf."""

    title: str
    figures: str
    """Rows, share and purity; empty for a tree that knows of no rows."""
    color: str
    text_color: str


def read_nodes(explanation: Explanation) -> list[Question | Leaf]:
    """Every node of the tree in words, in the order of its numbers."""
    tree = explanation.tree_
    rules = {rule.leaf: rule for rule in explanation._leaf_rules}
    nodes: list[Question | Leaf] = []
    for node in range(tree.node_count):
        if node in rules:
            color = cluster_color(int(tree.cluster[node]))
            title = f"cluster {rules[node].cluster}"
            figures = _figures(rules[node]) if tree.n_node_samples[0] > 0 else ""
            nodes.append(Leaf(title, figures, color, text_color(color)))
            continue
        name = explanation.tree_columns_[tree.feature[node]]
        left, right = int(tree.children_left[node]), int(tree.children_right[node])
        if isinstance(name, Indicator):
            nodes.append(Question(str(name), left, right, ("no", "yes")))
        else:
            text = f"{name} ≤ {format_number(tree.threshold[node])}"
            nodes.append(Question(text, left, right, ("yes", "no")))
    return nodes


def _figures(rule: Rule) -> str:
    rows = f"{rule.n_samples:,} row{'' if rule.n_samples == 1 else 's'} ({percent(rule.share)})"
    return rows if np.isnan(rule.purity) else f"{rows}, {percent(rule.purity)} pure"


def percent(share: float) -> str:
    """A share in percent, 100 only where it is all."""
    return "100 %" if share == 1 else f"{100 * share:.1f} %"
