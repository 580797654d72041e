"""Payload of one tree: its nodes, rules, measures, SQL and histograms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.explanation.conditions import conditions_text
from pellucid.explanation.explanation import Explanation
from pellucid.explanation.rules import (
    cluster_rules,
    leaf_purity,
    leaf_rules,
    path_conditions,
    simplify,
    split_condition,
)
from pellucid.export._values import plain_value
from pellucid.export.sql_dialects import DIALECTS
from pellucid.metrics import weighted_average_depth
from pellucid.metrics import weighted_average_explanation_size as explanation_size
from pellucid.report.columns import MIN_ROWS, Profile, short
from pellucid.tables.encoding import Indicator, column_of
from pellucid.tree import ThresholdTree

MOST_NUMBERS = 40_000  # of the histograms of the model's own tree
MOST_NUMBERS_OF_OTHERS = 6000  # the same for each other tree

# Kinds of other trees: grown with a depth penalty, the model with more leaves, a stage of the
# model, the model with fewer leaves, given.
KINDS = ("shorter", "longer", "stage", "pruned", "given")


@dataclass(frozen=True)
class TreeCandidate:
    """The tree of the model, or another one that could replace it."""

    tree: ThresholdTree
    leaf: Any = None  # leaf of each row of the report, an array, once the tree is counted on them
    cost_ratio: float | None = None  # what its clusters cost against those of the reference
    agreement: float | None = None  # share of the rows that it puts where the reference does
    purity: dict[int, float] | None = None  # by leaf, if known
    kind: str | None = None  # one of `KINDS`; None if it is the model's own
    # The depth penalty of a shorter or given tree; the number of further leaves of a longer tree;
    # the number of leaves of any other tree.
    amount: float | None = None

    @property
    def position(self) -> np.ndarray:
        """Cluster of each row."""
        return self.tree.cluster[self.leaf]


def counted(tree: ThresholdTree, leaf: np.ndarray) -> ThresholdTree:
    """The tree with the counts of rows whose leaves are given."""
    rows = np.bincount(leaf, minlength=tree.node_count)
    # Nodes come before their children.
    for node in range(tree.node_count - 1, -1, -1):
        if not tree.is_leaf[node]:
            rows[node] = rows[tree.children_left[node]] + rows[tree.children_right[node]]
    return tree.replace(n_node_samples=rows, weighted_n_node_samples=rows.astype(np.float64))


def with_tree(
    explanation: Explanation, tree: ThresholdTree, clusters: list[Any] | None = None
) -> Explanation:
    """An explanation in the same words with another tree, and other labels if given."""
    columns = getattr(explanation, "feature_names_in_", None)
    return Explanation(
        tree,
        names=explanation.tree_columns_,
        clusters=explanation.cluster_names_.tolist() if clusters is None else clusters,
        columns=None if columns is None else columns.tolist(),
        fill=explanation.fill_,
        formats=explanation.formats_,
    )


def agreement_and_purity(
    tree: ThresholdTree, leaf: np.ndarray, reference: np.ndarray
) -> tuple[float, dict[int, float]]:
    """How true a tree is to the reference: in all, and by leaf; -1 is no cluster."""
    known = reference >= 0
    position, wanted = tree.cluster[leaf][known], reference[known]
    purity = leaf_purity(leaf[known], position == wanted)
    return float((position == wanted).mean()) if len(wanted) else 0.0, purity


def describe_tree(
    candidate: TreeCandidate,
    explanation: Explanation,
    places: dict[str, int],
    values: dict[str, list[Any]],
) -> dict[str, Any]:
    """A tree for the page; `places` and `values` are positions and categories of its columns."""
    tree, names, formats = candidate.tree, explanation.tree_columns_, explanation.formats_
    labels = explanation.cluster_names_.tolist()
    nodes = []
    for node in range(tree.node_count):
        entry: dict[str, Any] = {"rows": int(tree.n_node_samples[node])}
        if tree.is_leaf[node]:
            entry["cluster"] = int(tree.cluster[node])
            entry["purity"] = short((candidate.purity or {}).get(node))
        else:
            entry["left"] = int(tree.children_left[node])
            entry["right"] = int(tree.children_right[node])
            name = names[tree.feature[node]]
            is_category = isinstance(name, Indicator)
            question = split_condition(tree, node, not is_category, names, formats)
            column = column_of(name)
            entry["question"] = str(question).removeprefix(column).strip()
            path = simplify(path_conditions(tree, node, names, formats))
            entry["rule"] = conditions_text(path)
            entry["column"] = places[column]
            if isinstance(name, Indicator):
                entry["value"] = values[column].index(name.value)
            else:
                entry["threshold"] = float(tree.threshold[node])
        nodes.append(entry)
    rules = leaf_rules(tree, feature_names=names, labels=labels, formats=formats)
    for rule in rules:
        nodes[rule.leaf]["rule"] = rule.text
        nodes[rule.leaf]["conditions"] = len(rule.conditions)
    marks = label_marks(len(labels))
    return {
        "kind": candidate.kind,
        "amount": short(candidate.amount),
        "nodes": nodes,
        "measures": {
            "costRatio": short(candidate.cost_ratio),
            "agreement": short(candidate.agreement),
            "conditions": short(explanation_size(tree, feature_names=names)),
            "questions": short(weighted_average_depth(tree)),
            "mostQuestions": int(tree.max_depth),
            "leaves": int(tree.n_leaves),
            "columns": len({column_of(names[f]) for f in tree.feature[~tree.is_leaf]}),
        },
        "rules": [
            [{"text": way.text, "rows": way.n_samples} for way in rule.alternatives]
            for rule in cluster_rules(rules, labels)
        ],
        "sql": marked_sql(with_tree(explanation, tree, marks), marks),
    }


def marked_sql(marked: Any, marks: list[str]) -> dict[str, str]:
    """SQL by dialect with unquoted marks, or the name of a dialect that has the same text.

    Empty if a category cannot be written.
    """
    found: dict[str, str] = {}
    try:
        for name, dialect in DIALECTS.items():
            text = marked.to_sql(dialect=name)
            for mark in marks:
                text = text.replace(dialect.literal(mark), mark)
            same = next((other for other, known in found.items() if known == text), None)
            found[name] = same or text
    except (TypeError, ValueError):
        return {}
    return found


def label_marks(n_clusters: int) -> list[str]:
    """The characters in SQL that stand for the label of each cluster."""
    return [f"\ue000{cluster}\ue001" for cluster in range(n_clusters)]


def describe_dialects(labels: list[Any]) -> dict[str, dict[str, Any]]:
    """How each dialect of SQL writes the labels and other strings."""
    try:
        return {
            name: {
                "labels": [dialect.literal(plain_value(label, "a cluster")) for label in labels],
                "prefix": dialect.string_prefix,
                "hasBackslashes": dialect.has_backslashes,
            }
            for name, dialect in DIALECTS.items()
        }
    except (TypeError, ValueError):
        return {}


def split_histograms(
    candidate: TreeCandidate,
    names: Sequence[str | Indicator],
    profiles: Mapping[str, Profile],
    *,
    is_private: bool = False,
) -> dict[int, list[Any]]:
    """For each split, the rows of each cluster below it by bin of the column of the split.

    Empty if these are too many numbers for a page. A private page has no clusters with few rows.
    """
    tree, leaf = candidate.tree, candidate.leaf
    splits = np.flatnonzero(~tree.is_leaf).tolist()
    column_at = {split: column_of(names[tree.feature[split]]) for split in splits}
    below: dict[int, list[int]] = {}
    for node in range(tree.node_count - 1, -1, -1):  # nodes come before their children
        below[node] = [node]
        if not tree.is_leaf[node]:
            below[node] = below[tree.children_left[node]] + below[tree.children_right[node]]
    clusters = {s: sorted(set(tree.cluster[below[s]].tolist())) for s in splits}
    n_numbers = sum(len(clusters[s]) * profiles[column_at[s]].n_bins for s in splits)
    if n_numbers > (MOST_NUMBERS if candidate.kind is None else MOST_NUMBERS_OF_OTHERS):
        return {}
    columns = set(column_at.values())
    tables = {c: np.array(profiles[c].counts(leaf, tree.node_count)) for c in columns}
    least = MIN_ROWS if is_private else 1
    found = {}
    for split in splits:
        ends, table = np.array(below[split]), tables[column_at[split]]
        counts = [(c, table[ends[tree.cluster[ends] == c]].sum(axis=0)) for c in clusters[split]]
        found[split] = [[c, rows.tolist()] for c, rows in counts if rows.sum() >= least]
    return found
