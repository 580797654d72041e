"""The page: a payload, a style and a script in one file that needs nothing else.

There is one template and every value in it is escaped, so a template engine would add a package
and no safety. The script is bundled from `frontend` without d3 or Vega, so that a page stays small
and its content security policy allows no other source.
"""

from __future__ import annotations

import base64
import hashlib
import json
import platform
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from os import PathLike
from pathlib import Path
from typing import Any, Literal

import numpy as np

from pellucid._utils.texts import Message, current_language, rule_words, say
from pellucid.explanation.rules import label_text
from pellucid.plotting.style import cluster_color, on_dark, text_color
from pellucid.report.columns import Column, clipped, short
from pellucid.report.table_facts import TableFacts, find_table_facts

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
_MOST_BYTES = 50_000_000  # size of a report that is read
_LONGEST_RULE = 5000  # characters of a rule that are shown without scripts
_LONGEST_SENTENCE = 1000  # characters of a sentence about the data that are shown
# Columns of the data whose names are all in the page, so that a whole row can be pasted.
_MOST_NAMES = 500
# What is known about a number of clusters.
_KEYS = ("k", "score", "smallest", "stability", "agreement", "cost", "total")


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
        texts = [f"({way['text']})" if len(ways) > 1 else way["text"] for way in ways]
        rule = clipped(f" {rule_words().or_} ".join(texts), _LONGEST_RULE) or rule_words().never
        name = say("clusterLabel", label=cluster["label"])
        lines.append(f"<dt>{escape(name)}</dt><dd>{escape(rule)}</dd>")
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
        clusters = json.loads(found.group(1))["clusters"] if found else ()
        names = {str(cluster["label"]): cluster["name"] for cluster in clusters or ()}
    except (ValueError, KeyError, TypeError, RecursionError):
        names = {}
    if not names or not all(name is None or isinstance(name, str) for name in names.values()):
        raise ValueError(f"{path} is not a report of pellucid")
    return names


@dataclass(frozen=True)
class PageOptions:
    """The options of a report and their defaults; `write_report` describes them."""

    fitted: Any = None
    title: str | None = None
    rows: str = "rows"
    reference: str | None = None
    trade_off: Any = "auto"
    max_points: int = 2000
    n_typical: int = 3
    series: Any = None
    times: Any = None
    made: Mapping[str, str] | None = None
    decisions: Sequence[str] = ()
    warnings: Sequence[str] = ()
    number_of_clusters: Sequence[Mapping[str, Any]] = ()
    cluster_names: Mapping[Any, str] | None = None
    suggested_names: Sequence[str] = ()
    table: TableFacts | None = None
    stability: Any = None
    exported: Any = None
    no_rows: bool = False
    language: Literal["en", "de"] = "en"

    @property
    def is_private(self) -> bool:
        """Whether the page contains no value of a row."""
        return not self.max_points and not self.n_typical

    def page_head(
        self,
        *,
        method: str | None,
        reference: str | None,
        n_rows: int,
        names: Sequence[str],
        labels: list[Any],
        columns: list[dict[str, Any]],
    ) -> dict[str, Any]:
        """The beginning of a payload; `names` are all columns of the data."""
        return {
            "format": 1,
            "title": clipped(self.title) if self.title else None,
            "method": method,
            "reference": reference,
            "rows": n_rows,
            "rowsAre": clipped(self.rows),
            "columnsInData": len(names),
            "clusters": self._clusters(labels),
            "columns": columns,
            "dataNames": [clipped(name) for name in names] if len(names) <= _MOST_NAMES else [],
        }

    def page_end(
        self,
        fitted: Any,
        method: str | None,
        names: Sequence[str],
        read: Callable[[str], Column],
        n_rows: int,
        n_noise: int = 0,
    ) -> dict[str, Any]:
        """The end of a payload: how the page was made, and notes about the data."""
        table = self.table or find_table_facts(names, read, n_rows, n_noise)
        # A page without rows has no sentences that quote values of the table.
        decisions, warnings = (
            [_sentence(text) for text in texts if not (self.is_private and '"' in str(text))]
            for texts in (self.decisions, self.warnings)
        )
        return {
            "made": {**_describe_making(fitted, method), **(self.made or {})},
            "decisions": decisions,
            "warnings": warnings,
            "table": table.describe(),
            "numberOfClusters": [_number_of_clusters(row) for row in self.number_of_clusters],
        }

    def _clusters(self, labels: list[Any]) -> list[dict[str, Any]]:
        """Labels, names, and colours with those of text on them, on light and on dark pages."""
        given, suggested = self.cluster_names or {}, self.suggested_names or [""] * len(labels)
        unknown = [name for name in given if name not in labels]
        if unknown:
            raise ValueError(
                f"cluster_names has {unknown[0]!r}, which is not a cluster; the clusters are "
                f"{', '.join(map(repr, labels))}"
            )
        if len(suggested) != len(labels):
            raise ValueError(f"{len(suggested)} suggested names for {len(labels)} clusters")
        lights = [cluster_color(position) for position in range(len(labels))]
        return [
            {
                "label": clipped(label_text(label)),
                "name": clipped(str(given[label])) if given.get(label) else None,
                "suggested": clipped(str(other)) if other else None,
                "light": [light, text_color(light)],
                "dark": [on_dark(light), text_color(on_dark(light))],
            }
            for label, other, light in zip(labels, suggested, lights)
        ]


def _sentence(text: Any) -> str:
    written = text.translated() if isinstance(text, Message) else str(text)
    return clipped(" ".join(written.split()), _LONGEST_SENTENCE)


def _number_of_clusters(row: Mapping[str, Any]) -> dict[str, Any]:
    if row.get("k") is None:
        raise ValueError(f"a row of number_of_clusters has no 'k': {sorted(row)}")
    return {**{key: short(row.get(key)) for key in _KEYS}, "chosen": bool(row.get("chosen"))}


def reference_word(fitted: Any) -> str:
    """Name of the explained clustering."""
    if not hasattr(fitted, "reference_labels_"):
        return "k-medoids" if hasattr(fitted, "medoid_indices_") else "the reference"
    if getattr(fitted, "_has_labels", False):
        return "the given clusters"
    if not getattr(fitted, "_has_reference", True):
        return "its own clusters"
    reference = getattr(fitted, "reference", None)
    if reference is None:
        return "k-medians" if getattr(fitted, "objective", "kmeans") == "kmedians" else "k-means"
    name = type(reference).__name__
    known = {"KMeans": "k-means", "MiniBatchKMeans": "k-means", "ndarray": "the given centers"}
    return known.get(name, name)


def _describe_making(fitted: Any, method: str | None) -> dict[str, str]:
    """Versions and parameters, the seed among them."""
    import numba
    import sklearn

    from pellucid._version import __version__

    parameters = fitted.get_params(deep=False) if hasattr(fitted, "get_params") else {}
    return {
        "model": method or say("notKnown"),
        **{name: _parameter(value) for name, value in parameters.items()},
        "pellucid": __version__,
        "Python": platform.python_version(),
        "NumPy": np.__version__,
        "scikit-learn": sklearn.__version__,
        "Numba": numba.__version__,
    }


def _parameter(value: Any) -> str:
    """Short text of a parameter, without memory addresses."""
    if isinstance(value, (list, tuple)) or (np.ndim(value) and hasattr(value, "__len__")):
        return say("valuesOfShape", shape="×".join(map(str, np.shape(value))))
    if isinstance(value, (str, int, float, bool, type(None), np.generic)):
        return clipped(str(value))
    if hasattr(value, "get_params"):
        return clipped(" ".join(repr(value).split()))
    return type(value).__name__
