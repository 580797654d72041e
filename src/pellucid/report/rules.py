"""The report of a rule set: a card per rule, overlaps, and what stays unexplained."""

from __future__ import annotations

from html import escape
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from pellucid._utils.files import replacing
from pellucid._utils.texts import count
from pellucid.explanation.rules import label_text, percent
from pellucid.plotting.style import cluster_color

_STYLE = """
body{font:16px/1.5 system-ui,sans-serif;max-width:64rem;margin:2rem auto;padding:0 1rem;
color:#1c2126}
.cards{display:flex;flex-wrap:wrap;gap:1rem}
.card{flex:1 1 max(17rem,100%/var(--columns) - 1rem);box-sizing:border-box;
border:1px solid #d5dadf;border-left:.5rem solid var(--color);border-radius:.4rem;
padding:.8rem}
.card h3{margin:0 0 .3rem;font-size:1rem}.card p{margin:.2rem 0}.rule{font-weight:600}
table{border-collapse:collapse;margin:.5rem 0}td,th{padding:.3rem .7rem;text-align:right;
border-bottom:1px solid #e3e7ea}td:first-child,th:first-child{text-align:left}
@media(prefers-color-scheme:dark){body{background:#15191d;color:#e6e9ec}.card{border-color:#3a424a}}
"""


def write_rule_report(
    path: str | PathLike[str], model: Any, X: Any, *, title: str | None = None
) -> Path:
    """Write a rule set as one HTML file without scripts; overlaps are counted on `X`."""
    held = model.holds(X)
    heading, cards = escape(title or "Rules"), _cards(model)
    # At most three cards in a row, so that the last row is as full as the others.
    columns = -(-len(cards) // max(-(-len(cards) // 3), 1)) or 1
    parts = [
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{heading}</title>',
        f"<style>{_STYLE}</style></head><body><h1>{heading}</h1>",
        f"<p>{_summary(model, held)}</p>",
        f'<div class="cards" style="--columns:{columns}">\n{"".join(cards)}</div>',
        _overlaps(model, held),
        _unexplained(model),
        "</body></html>",
    ]
    with replacing(Path(path)) as unfinished:
        unfinished.write_text("\n".join(parts), encoding="utf-8")
    return Path(path)


def _summary(model: Any, held: np.ndarray) -> str:
    clusters = len(model.classes_)
    described = clusters - len(model.uncovered_)
    n_none = int((~held.any(axis=1)).sum())
    text = (
        f"{count(len(model.rules_), 'rule')} for {described} of {count(clusters, 'cluster')} "
        f"explain {percent(model.coverage_)} of the rows in clusters: so many are in a rule of "
        "their cluster. "
        f"No rule holds for {n_none:,} of {count(len(held), 'row')}"
    )
    return f"{text} ({percent(n_none / max(len(held), 1))})."


def _cards(model: Any) -> list[str]:
    colors = {label: cluster_color(i) for i, label in enumerate(model.classes_.tolist())}
    return [
        f'<div class="card" style="--color:{colors.get(rule.cluster, "#999999")}">'
        f"<h3>{position}. cluster {escape(label_text(rule.cluster))}</h3>"
        f'<p class="rule">{escape(rule.text)}</p><p>{escape(rule.figures)}</p></div>'
        for position, rule in enumerate(model.rules_, 1)
    ]


def _overlaps(model: Any, held: np.ndarray) -> str:
    """Pairs of rules that hold for the same rows, the largest first."""
    common = held.T.astype(np.int64) @ held
    first, second = np.triu_indices(len(common), 1)
    pairs = sorted(
        (-int(common[i, j]), i, j) for i, j in zip(first.tolist(), second.tolist()) if common[i, j]
    )
    if not pairs:
        return "<h2>Overlaps</h2><p>No row satisfies two rules.</p>"
    names = [escape(label_text(rule.cluster)) for rule in model.rules_]
    lines = [
        f"<tr><td>{i + 1} and {j + 1} (clusters {names[i]} and {names[j]})</td><td>{-n:,}</td></tr>"
        for n, i, j in pairs
    ]
    head = "<tr><th>rules</th><th>rows that satisfy both</th></tr>"
    text = "Of several rules that hold for a row, the most precise one decides."
    return f"<h2>Overlaps</h2><p>{text}</p><table>{head}{''.join(lines)}</table>"


def _unexplained(model: Any) -> str:
    """Share of each cluster that no rule of its own explains."""
    lines = [
        f"<tr><td>{escape(label_text(label))}</td><td>{percent(1 - share)}</td></tr>"
        for label, share in zip(model.classes_.tolist(), model.cluster_coverage_.tolist())
    ]
    head = "<tr><th>cluster</th><th>rows without a rule</th></tr>"
    return f"<h2>What stays unexplained</h2><table>{head}{''.join(lines)}</table>"
