"""Texts and colors of the nodes of a tree, shared by the formats that draw one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pellucid.explanation.explanation import Explanation
from pellucid.explanation.rules import Rule, label_text, split_condition
from pellucid.plotting.palette import cluster_color, text_color
from pellucid.tables.encoding import Indicator


@dataclass(frozen=True)
class InnerNodeText:
    """Texts of an inner node."""

    text: str
    left: int
    right: int
    answers: tuple[str, str]
    """Labels of the edges to the left and to the right child."""


@dataclass(frozen=True)
class LeafText:
    """Texts and colors of a leaf."""

    title: str
    figures: str
    """Rows, share and purity; empty for a tree without training rows."""
    color: str
    text_color: str


def read_nodes(explanation: Explanation) -> list[InnerNodeText | LeafText]:
    """Texts of all nodes, in the order of their numbers."""
    tree = explanation.tree_
    rules = {rule.leaf: rule for rule in explanation._leaf_rules}
    nodes: list[InnerNodeText | LeafText] = []
    for node in range(tree.node_count):
        if node in rules:
            color = cluster_color(int(tree.cluster[node]))
            title = f"cluster {label_text(rules[node].cluster)}"
            figures = _figures(rules[node]) if tree.n_node_samples[0] > 0 else ""
            nodes.append(LeafText(title, figures, color, text_color(color)))
            continue
        names, formats = explanation.tree_columns_, explanation.formats_
        is_category = isinstance(names[tree.feature[node]], Indicator)
        # The question is the condition of the right child for a category, else of the left one.
        question = split_condition(tree, node, not is_category, names, formats)
        left, right = int(tree.children_left[node]), int(tree.children_right[node])
        answers = ("no", "yes") if is_category else ("yes", "no")
        nodes.append(InnerNodeText(str(question), left, right, answers))
    return nodes


def _figures(rule: Rule) -> str:
    rows = f"{rule.n_samples:,} row{'' if rule.n_samples == 1 else 's'} ({percent(rule.share)})"
    return rows if np.isnan(rule.purity) else f"{rows}, {percent(rule.purity)} pure"


def percent(share: float) -> str:
    """A share in percent; 100% only if it is exactly 1."""
    return "100%" if share == 1 else f"{100 * share:.1f}%"
