"""The page: a payload, a style and a script in one file that needs nothing else.

There is one template and every value in it is escaped, so a template engine would add a package
and no safety. The script is bundled from `frontend` without d3 or Vega, so that a page stays small
and its content security policy allows no other source.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html import escape
from importlib.resources import files
from os import PathLike
from pathlib import Path
from typing import Any

from pellucid._utils.texts import current_language, rule_words, say
from pellucid.report.columns import clipped

_ESCAPES = {ord("<"): "\\u003c", ord(">"): "\\u003e", ord("&"): "\\u0026"}

_TEMPLATE = """<!doctype html>
<html lang="{language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; base-uri 'none'; \
form-action 'none'; style-src '{style_hash}'; script-src '{script_hash}'; img-src data:">
<link rel="icon" href="data:,">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<noscript>
<h1>{title}</h1>
<p>{no_scripts}</p>
<dl>{rules}</dl>
</noscript>
<div id="page" data-id="{identity}"></div>
<script type="application/json" id="payload">{payload}</script>
<script>{script}</script>
</body>
</html>
"""

_PAYLOAD = re.compile(r'<script type="application/json" id="payload">(.*?)</script>', re.DOTALL)
_MOST_BYTES = 50_000_000
"""Size of a report that is read."""

_LONGEST_RULE = 5000
"""Characters of a rule that are shown without scripts."""


def render(payload: dict[str, Any]) -> str:
    """The whole page in the current language. The same payload gives the same text."""
    language = current_language()
    payload = {"language": language, **payload}
    data = json.dumps(payload, allow_nan=False, separators=(",", ":")).translate(_ESCAPES)
    style, script = _shipped("page.css"), _shipped("page.js")
    return _TEMPLATE.format(
        title=escape(payload["title"] or say("pageTitle", n=len(payload["clusters"]))),
        language=language,
        no_scripts=say("noScripts"),
        style=style,
        script=script,
        style_hash=_hash(style),
        script_hash=_hash(script),
        rules=_rules(payload),
        identity=hashlib.sha256(data.encode()).hexdigest()[:16],
        payload=data,
    )


def _shipped(name: str) -> str:
    return files("pellucid.report").joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


def _rules(payload: dict[str, Any]) -> str:
    """The rules of the model's own tree, for readers without scripts."""
    lines = []
    if "levels" in payload:
        pieces = [piece for level in payload["levels"] for piece in level["pieces"]]
        rules = [[p for p in pieces if p["answer"] == i] for i in range(len(payload["clusters"]))]
    else:
        rules = payload["trees"][payload["own"]]["rules"]
    for cluster, ways in zip(payload["clusters"], rules):
        words = f" {rule_words().or_} ".join(
            f"({w['text']})" if len(ways) > 1 else w["text"] for w in ways
        )
        name = escape(say("clusterLabel", label=cluster["label"]))
        rule = escape(clipped(words, _LONGEST_RULE) or rule_words().never)
        lines.append(f"<dt>{name}</dt><dd>{rule}</dd>")
    return "".join(lines)


def read_cluster_names(path: str | PathLike[str]) -> dict[str, str | None]:
    """Names of the clusters in a report, also in a copy that was saved with other names.

    Parameters
    ----------
    path : path-like
        An HTML file of :func:`write_report`, or a copy that the page has saved.

    Returns
    -------
    dict of str to str or None
        Name by label, in the order of the clusters; None for a cluster without a name.

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.datasets import load_iris
    >>> from pellucid import IMM
    >>> from pellucid.report import read_cluster_names
    >>> X = load_iris().data
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = f"{folder}/iris.html"
    ...     _ = IMM(3, random_state=0).fit(X).report(file, cluster_names={0: "small petals"})
    ...     read_cluster_names(file)
    {'0': 'small petals', '1': None, '2': None}
    """
    path = Path(path)
    if path.stat().st_size > _MOST_BYTES:
        raise ValueError(f"{path} is too large for a report")
    found = _PAYLOAD.search(path.read_text(encoding="utf-8", errors="replace"))
    try:
        clusters = json.loads(found.group(1))["clusters"] if found else None
        names = {str(cluster["label"]): cluster["name"] for cluster in clusters or ()}
    except (ValueError, KeyError, TypeError, RecursionError):
        names = {}
    if not names or not all(name is None or isinstance(name, str) for name in names.values()):
        raise ValueError(f"{path} is not a report of pellucid")
    return names
