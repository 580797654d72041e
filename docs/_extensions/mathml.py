"""Formulas as MathML, which browsers display without scripts, fonts or a network.

MathJax, the default of Sphinx, is loaded from another server by every page with a formula.
"""

from __future__ import annotations

from docutils import nodes
from latex2mathml.converter import convert


def _visit_inline(translator, node: nodes.math) -> None:
    translator.body.append(convert(node.astext(), display="inline"))
    raise nodes.SkipNode


def _visit_block(translator, node: nodes.math_block) -> None:
    translator.body.append(f'<div class="math">{convert(node.astext(), display="block")}</div>')
    raise nodes.SkipNode


def setup(app) -> dict:
    """Connect to Sphinx."""
    app.add_html_math_renderer("mathml", (_visit_inline, None), (_visit_block, None))
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
