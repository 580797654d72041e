"""Export to indented text, like scikit-learn's, and to flowcharts: Graphviz (dot) and Mermaid."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from pellucid._utils.estimators import documented
from pellucid._utils.texts import count
from pellucid.explanation.conditions import Condition
from pellucid.explanation.explanation import Explanation
from pellucid.explanation.rules import label_text, split_condition
from pellucid.plotting.style import cluster_color, leaf_figures, text_color
from pellucid.tables.encoding import ColumnNames, Indicator

_PLAIN_CHARACTERS = frozenset(" .,:%()≤≥≠>=_-+/")

_MARKDOWN = re.compile(r"^[-+]|(?<=\d)\.(?= )|(?<!\w)_|_(?!\w)")


@documented
def export_text(model: Any, *, feature_names: ColumnNames | None = None) -> str:
    """Export the tree of a fitted estimator, or a tree, as text.

    Parameters
    ----------
    {model}
    {feature_names}

    Returns
    -------
    str
        The tree as text.

    See Also
    --------
    plot_tree : The tree as a picture.
    Explanation : The rules of the leaves, one per cluster.

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
    explanation = Explanation.of(model, feature_names=feature_names)
    tree, names, formats = explanation.tree_, explanation.tree_columns_, explanation.formats_
    labels = explanation.cluster_names_.tolist()
    indents, heads = [""] * tree.node_count, [""] * tree.node_count
    lines: list[str] = []
    for node in range(tree.node_count):  # parents first, left before right
        lines += [heads[node]] if node else []
        indent = indents[node]
        if tree.children_left[node] < 0:
            start, rows = "|--- " if node else "", count(int(tree.n_node_samples[node]), "row")
            label = label_text(labels[tree.cluster[node]])
            lines.append(f"{indent}{start}cluster {label} ({rows})")
            continue
        for children, is_left in ((tree.children_left, True), (tree.children_right, False)):
            child, step = children[node], split_condition(tree, node, is_left, names, formats)
            indents[child], heads[child] = f"{indent}|   ", f"{indent}|--- {_text(step)}"
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


@documented
def to_dot(model: Any, *, feature_names: ColumnNames | None = None) -> str:
    r"""Export a model as a Graphviz graph (render it with ``dot -Tsvg``).

    Parameters
    ----------
    {model}
    {feature_names}

    Returns
    -------
    str
        The text in the DOT language.

    Examples
    --------
    >>> from pellucid import IMM
    >>> print(IMM(2, random_state=0).fit([[0.0], [1.0], [9.0]]).to_dot())
    digraph tree {
        node [shape=box, style="rounded,filled", fillcolor="#FFFFFF", fontname="Helvetica"];
        edge [fontname="Helvetica"];
        0 [label="x0 ≤ 5"];
        0 -> 1 [label="yes"];
        0 -> 2 [label="no"];
        1 [label="cluster 0\n2 rows (66.7%), 100% pure", fillcolor="#0072B2", ...];
        2 [label="cluster 1\n1 row (33.3%), 100% pure", fillcolor="#E69F00", ...];
    }
    """
    lines = [
        'node [shape=box, style="rounded,filled", fillcolor="#FFFFFF", fontname="Helvetica"];',
        'edge [fontname="Helvetica"];',
    ]
    for node, texts, color, edges in _nodes(Explanation.of(model, feature_names=feature_names)):
        label = "\\n".join(map(_escape_dot, texts))
        style = f', fillcolor="{color}", fontcolor="{text_color(color)}"' if color else ""
        lines.append(f'{node} [label="{label}"{style}];')
        lines += [f'{node} -> {child} [label="{answer}"];' for child, answer in edges]
    return "\n    ".join(["digraph tree {", *lines]) + "\n}"


def _escape_dot(text: str) -> str:
    """Escape text for Graphviz, which reads HTML entities; SVG cannot hold control characters."""
    text = text.replace("&", "&amp;").replace("\\", "\\\\").replace('"', '\\"')
    return "".join(c if c.isprintable() else " " for c in text)


@documented
def to_mermaid(model: Any, *, feature_names: ColumnNames | None = None) -> str:
    """Export a model as a Mermaid flowchart.

    GitHub, GitLab, Jupyter and others draw it inside a code block of the language ``mermaid``.

    Parameters
    ----------
    {model}
    {feature_names}

    Returns
    -------
    str
        The text of the flowchart.

    Examples
    --------
    >>> from pellucid import IMM
    >>> print(IMM(2, random_state=0).fit([[0.0], [1.0], [9.0]]).to_mermaid())
    flowchart TD
        n0["x0 ≤ 5"]
        n0 -- yes --> n1
        n0 -- no --> n2
        n1("cluster 0<br>2 rows (66.7%), 100% pure")
        style n1 fill:#0072B2,stroke:none,color:#FFFFFF
        n2("cluster 1<br>1 row (33.3%), 100% pure")
        style n2 fill:#E69F00,stroke:none,color:#000000
    """
    lines = ["flowchart TD"]
    for node, texts, color, edges in _nodes(Explanation.of(model, feature_names=feature_names)):
        label = "<br>".join(map(_escape_mermaid, texts))
        lines.append(f'n{node}("{label}")' if color else f'n{node}["{label}"]')
        if color:
            lines.append(f"style n{node} fill:{color},stroke:none,color:{text_color(color)}")
        lines += [f"n{node} -- {answer} --> n{child}" for child, answer in edges]
    return "\n    ".join(lines)


def _escape_mermaid(text: str) -> str:
    """Write characters with a meaning in Mermaid as codes, also those of lists and emphasis."""
    text = " ".join(text.replace("\0", " ").split())
    escaped = "".join(c if c.isalnum() or c in _PLAIN_CHARACTERS else f"#{ord(c)};" for c in text)
    return _MARKDOWN.sub(lambda match: f"#{ord(match[0])};", escaped)


def _nodes(
    explanation: Explanation,
) -> Iterator[tuple[int, list[str], str, list[tuple[int, str]]]]:
    """Each node with its texts, its color if it is a leaf, and its edges: children and answers."""
    tree, names = explanation.tree_, explanation.tree_columns_
    rules = {rule.leaf: rule for rule in explanation._leaf_rules}
    for node in range(tree.node_count):
        if node in rules:
            texts = [f"cluster {label_text(rules[node].cluster)}"]
            if tree.n_node_samples[0] > 0:
                rows, share, *purity = leaf_figures(rules[node])
                texts.append(", ".join([f"{rows} ({share})", *purity]))
            yield node, texts, cluster_color(int(tree.cluster[node])), []
            continue
        is_category = isinstance(names[tree.feature[node]], Indicator)
        # The question is the condition of the right child for a category, else of the left one.
        question = split_condition(tree, node, not is_category, names, explanation.formats_)
        children = int(tree.children_left[node]), int(tree.children_right[node])
        answers = ("no", "yes") if is_category else ("yes", "no")
        yield node, [str(question)], "", list(zip(children, answers))
