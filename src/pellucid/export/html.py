"""Export to HTML for notebooks, readable on light and dark backgrounds."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

from pellucid._utils.estimators import documented, has_space
from pellucid._utils.texts import count
from pellucid.explanation.explanation import Explanation
from pellucid.explanation.rules import (
    NOT_EXPLAINED,
    ClusterRule,
    RowExplanation,
    label_text,
    percent,
)
from pellucid.export.flowcharts import export_text
from pellucid.plotting.style import cluster_color, text_color
from pellucid.tables.column_formats import PLAIN
from pellucid.tables.encoding import ColumnNames

_MOST_RULES = 6  # rules per cluster that are visible without unfolding
_MOST_ROWS = 30  # rows of data whose explanations are shown

_STYLE = """<style>
.pellucid { font: 13px/1.5 system-ui, sans-serif; max-width: 62em; color: inherit; }
.pellucid .pellucid-head { margin: 0 0 .4em; opacity: .85; }
.pellucid .pellucid-note { margin: .5em 0 0; opacity: .85; }
.pellucid table { border-collapse: collapse; width: auto; min-width: 34em; margin: 0;
  color: inherit; font: inherit; border: none; table-layout: auto; }
.pellucid table tr, .pellucid table tr:nth-child(even), .pellucid table tr:hover {
  background: none; }
.pellucid table th, .pellucid table td { text-align: left; vertical-align: top;
  padding: .35em .7em; border: none; border-bottom: 1px solid rgba(128, 128, 128, .35);
  color: inherit; max-width: none; white-space: normal; }
.pellucid table th { font-weight: 600; opacity: .7; white-space: nowrap; }
.pellucid table td.pellucid-number, .pellucid table th.pellucid-number {
  text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
.pellucid .pellucid-cluster { display: inline-block; border-radius: .35em; padding: 0 .55em;
  font-weight: 600; white-space: nowrap; }
.pellucid .pellucid-rule { padding-left: 1.4em; text-indent: -1.4em; }
.pellucid .pellucid-or { opacity: .6; }
.pellucid .pellucid-bar { display: block; height: 4px; border-radius: 2px; margin: .2em 0 0 auto;
  background: rgba(128, 128, 128, .25); width: 6em; overflow: hidden; }
.pellucid .pellucid-bar span { display: block; height: 100%; }
.pellucid details { margin-top: .5em; }
.pellucid summary { cursor: pointer; opacity: .85; }
.pellucid pre { margin: .4em 0 0; overflow-x: auto; background: none; color: inherit;
  font: 12px/1.4 ui-monospace, monospace; }
</style>"""

_LEFT = 'style="text-align: left"'
"""For text: styles of notebooks align cells to the right, and some drop the style above."""


@documented
def to_html(model: Any, *, feature_names: ColumnNames | None = None) -> str:
    """Export a model as an HTML table of its rules, with the tree as text to unfold.

    Notebooks show it for a fitted estimator and for an explanation. Text and background keep
    the colors of the page.

    Parameters
    ----------
    {model}
    {feature_names}

    Returns
    -------
    str
        The HTML text.

    Examples
    --------
    >>> from pellucid import IMM
    >>> html = IMM(2, random_state=0).fit([[0.0], [1.0], [9.0]]).to_html()
    >>> "x0 ≤ 5" in html and "66.7%" in html
    True
    """
    explanation = Explanation.of(model, feature_names=feature_names)
    return f"""<div class="pellucid">
{_STYLE}
<div class="pellucid-head">{_head(model, explanation)}</div>
{_table(explanation.rules_)}
{_fills(explanation)}<details><summary>the tree</summary>\
<pre>{escape(export_text(explanation))}</pre></details>
</div>"""


def rules_to_html(rules: Sequence[Any]) -> str:
    """Rules of clusters or explanations of rows as a table, any others as text."""
    if rules and all(isinstance(rule, ClusterRule) for rule in rules):
        content = _table(rules)
    elif rules and all(isinstance(rule, RowExplanation) for rule in rules):
        content = _row_table(rules)
    else:
        content = f"<pre>{escape(str(rules))}</pre>"
    return f'<div class="pellucid">\n{_STYLE}\n{content}\n</div>'


def _row_table(rows: Sequence[RowExplanation]) -> str:
    """The rule of each row; of many rows, the first."""
    lines = []
    for each in rows[:_MOST_ROWS]:
        words = escape("; ".join([*([each.rule.text] if each.rule else []), *each.notes]))
        cells = (str(each.row), escape(label_text(each.cluster)), words)
        lines.append(f"<tr>{''.join(f'<td {_LEFT}>{cell}</td>' for cell in cells)}</tr>")
    further = len(rows) - len(lines)
    note = f"<p>and {count(further, 'further row')}</p>" if further > 0 else ""
    head = "".join(f"<th {_LEFT}>{name}</th>" for name in ("row", "cluster", "because"))
    head = f"<thead><tr>{head}</tr></thead>"
    return f"<table>\n{head}\n<tbody>\n{''.join(lines)}\n</tbody>\n</table>{note}"


def _table(rules: Sequence[ClusterRule]) -> str:
    rows = "\n".join(_row(i, rule) for i, rule in enumerate(rules))
    return f"""<table>
<thead><tr><th {_LEFT}>cluster</th><th {_LEFT}>rule</th><th class="pellucid-number">rows</th>\
<th class="pellucid-number">share</th><th class="pellucid-number">pure</th></tr></thead>
<tbody>
{rows}
</tbody>
</table>"""


def _head(model: Any, explanation: Explanation) -> str:
    tree, method = explanation.tree_, explanation.method_
    parts = [] if method is None else [f"<strong>{escape(method)}</strong>"]
    parts += [count(len(explanation.cluster_names_), "cluster")]
    parts += [count(tree.n_leaves, "leaf", "leaves"), f"depth {tree.max_depth}"]
    if tree.n_node_samples[0] > 0:
        parts.append(count(int(tree.n_node_samples[0]), "row"))
    cost, reference = (getattr(model, n, None) for n in ("inertia_", "reference_inertia_"))
    if cost is not None and reference:
        where = " in the space of fit" if has_space(model) else ""
        parts.append(f"cost{where} {cost / reference:.3f} × that of the reference")
    return " · ".join(parts)


def _fills(explanation: Explanation) -> str:
    """A note on the values that replace missing ones."""
    words = []
    for column, value in explanation.fill_.items():
        if column in explanation.input_columns.encoding.input_names:
            written = explanation.formats_.get(column, PLAIN)
            text = written.text(value) if isinstance(value, float) else value
            words.append(f"{column} by {text}")
    if not words:
        return ""
    note = f"missing values are replaced: {', '.join(words)}"
    return f'<div class="pellucid-note">{escape(note)}</div>\n'


def _row(position: int, rule: ClusterRule) -> str:
    color = cluster_color(position)
    chip = (
        f'<span class="pellucid-cluster" style="background:{color};color:{text_color(color)}">'
        f"{escape(label_text(rule.cluster))}</span>"
    )
    bar = (
        f'<span class="pellucid-bar"><span style="width:{100 * rule.share:.1f}%;'
        f'background:{color}"></span></span>'
    )
    purity = "" if np.isnan(rule.purity) else percent(rule.purity)
    return (
        f"<tr><td {_LEFT}>{chip}</td><td {_LEFT}>{_words(rule)}</td>"
        f'<td class="pellucid-number">{rule.n_samples:,}</td>'
        f'<td class="pellucid-number">{percent(rule.share)}{bar}</td>'
        f'<td class="pellucid-number">{purity}</td></tr>'
    )


def _words(rule: ClusterRule) -> str:
    """The rules of a cluster, one per line; after the first few, the rest are folded."""
    lines = [escape(part.text) for part in rule.alternatives] or [NOT_EXPLAINED]
    lines[1:] = [f'<span class="pellucid-or">or</span> {line}' for line in lines[1:]]
    lines = [f'<div class="pellucid-rule">{line}</div>' for line in lines]
    shown, rest = "".join(lines[:_MOST_RULES]), lines[_MOST_RULES:]
    if not rest:
        return shown
    summary = f"<summary>or {count(len(rest), 'further rule')}</summary>"
    return f"{shown}<details>{summary}{''.join(rest)}</details>"
