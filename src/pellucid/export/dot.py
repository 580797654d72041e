"""Export to the DOT language of Graphviz."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pellucid.explanation.explanation import Explanation
from pellucid.export._node_text import LeafText, read_nodes
from pellucid.tables.encoding import Indicator


def to_dot(model: Any, *, feature_names: Sequence[str | Indicator] | None = None) -> str:
    r"""Export a model as a Graphviz graph (render it with ``dot -Tsvg``).

    Parameters
    ----------
    model : fitted estimator of this package, Explanation or ThresholdTree
        A fitted tree model, an :class:`~pellucid.Explanation` or a tree.
    feature_names : sequence of str or Indicator, optional
        Names of the columns; those seen in `fit`, or ``x0, x1, ...``, when left out.

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
    nodes = read_nodes(Explanation.of(model, feature_names=feature_names))
    lines = [
        'node [shape=box, style="rounded,filled", fillcolor="#FFFFFF", fontname="Helvetica"];',
        'edge [fontname="Helvetica"];',
    ]
    for number, node in enumerate(nodes):
        if isinstance(node, LeafText):
            figures = f"\\n{_escape(node.figures)}" if node.figures else ""
            colors = f'fillcolor="{node.color}", fontcolor="{node.text_color}"'
            lines.append(f'{number} [label="{_escape(node.title)}{figures}", {colors}];')
            continue
        lines.append(f'{number} [label="{_escape(node.text)}"];')
        for child, answer in zip((node.left, node.right), node.answers):
            lines.append(f'{number} -> {child} [label="{answer}"];')
    return "\n    ".join(["digraph tree {", *lines]) + "\n}"


def _escape(text: str) -> str:
    """Escape text for a quoted string, in which Graphviz also reads HTML entities.

    Control characters become blanks, because SVG cannot represent them.
    """
    text = text.replace("&", "&amp;").replace("\\", "\\\\").replace('"', '\\"')
    return "".join(c if c.isprintable() else " " for c in text)
