"""Read the names of the clusters from a report."""

from __future__ import annotations

import json
import re
from os import PathLike
from pathlib import Path

_PAYLOAD = re.compile(r'<script type="application/json" id="payload">(.*?)</script>', re.DOTALL)
_MOST_BYTES = 50_000_000


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
