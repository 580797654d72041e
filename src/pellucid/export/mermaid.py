"""Export to Mermaid, a diagram language that Markdown renderers draw."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from pellucid.explanation.explanation import Explanation
from pellucid.export._node_text import LeafText, read_nodes
from pellucid.tables.encoding import Indicator

_PLAIN = frozenset(" .,:%()≤≥≠>=_-+/")
_MARKDOWN = re.compile(r"^[-+]|(?<=\d)\.(?= )|(?<!\w)_|_(?!\w)")


def to_mermaid(model: Any, *, feature_names: Sequence[str | Indicator] | None = None) -> str:
    """Export a model as a Mermaid flowchart.

    GitHub, GitLab, Jupyter and others draw it inside a code block of the language ``mermaid``.

    Parameters
    ----------
    model : fitted estimator of this package, Explanation or ThresholdTree
        A fitted tree model, an :class:`~pellucid.Explanation` or a tree.
    feature_names : sequence of str or Indicator, optional
        Names of the columns; those seen in `fit`, or ``x0, x1, ...``, when left out.

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
    nodes = read_nodes(Explanation.of(model, feature_names=feature_names))
    lines = []
    for number, node in enumerate(nodes):
        if isinstance(node, LeafText):
            figures = f"<br>{_escape(node.figures)}" if node.figures else ""
            lines.append(f'n{number}("{_escape(node.title)}{figures}")')
            lines.append(f"style n{number} fill:{node.color},stroke:none,color:{node.text_color}")
            continue
        lines.append(f'n{number}["{_escape(node.text)}"]')
        for child, answer in zip((node.left, node.right), node.answers):
            lines.append(f"n{number} -- {answer} --> n{child}")
    return "\n    ".join(["flowchart TD", *lines])


def _escape(text: str) -> str:
    """Write characters that have a meaning in Mermaid as character codes.

    Mermaid reads "1. " and "- " at the beginning as lists, and words between underscores as
    emphasis.
    """
    text = " ".join(text.replace("\0", " ").split())
    escaped = "".join(c if c.isalnum() or c in _PLAIN else f"#{ord(c)};" for c in text)
    return _MARKDOWN.sub(lambda match: f"#{ord(match[0])};", escaped)
