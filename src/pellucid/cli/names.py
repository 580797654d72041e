"""Names of clusters from the file of ``--names``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from pellucid._utils.notices import InputError
from pellucid.explanation.rules import label_text
from pellucid.report import read_cluster_names
from pellucid.tables.reading import ReadingOptions, read_source


def read_names(path: str, clusters: Sequence[Any]) -> dict[Any, str]:
    """Names of clusters from a table with the columns cluster and name, or from a report.

    Returns the name by label, for the clusters that have one.
    """
    if Path(path).suffix.lower() in (".html", ".htm"):
        return _names_of_report(path, clusters)
    table = read_source(Path(path), ReadingOptions()).table
    if table.width < 2:
        raise InputError(
            f"--names: {path} has one column", hint="it needs the columns cluster and name"
        )
    columns = {name.strip().lower(): name for name in table.columns}
    keys = table[columns.get("cluster", table.columns[0])].cast(pl.String).to_list()
    values = table[columns.get("name", table.columns[1])].cast(pl.String).to_list()
    labels = {str(name): name for name in clusters}
    names = {}
    for line, (key, value) in enumerate(zip(keys, values), start=2):
        if key not in labels:
            raise InputError(
                f"--names: line {line} of {path} names the cluster {key!r}; the clusters are "
                f"{', '.join(labels)}"
            )
        if value is not None:
            names[labels[key]] = value
    return names


def _names_of_report(path: str, clusters: Sequence[Any]) -> dict[Any, str]:
    """Names from a report of the same number of clusters.

    The labels of a report whose clusters were renamed are names.
    """
    try:
        named = read_cluster_names(path)
    except ValueError as error:
        raise InputError(f"--names: {error}", hint="use a table with cluster and name") from None
    if len(named) != len(clusters):
        raise InputError(
            f"--names: {path} has {len(named)} clusters, but there are {len(clusters)}",
            hint=f"-k {len(named)} gives as many",
        )
    has_own_labels = all(label_text(cluster) in named for cluster in clusters)
    if has_own_labels:
        chosen = {cluster: named[label_text(cluster)] for cluster in clusters}
    else:
        chosen = dict(zip(clusters, (name or label for label, name in named.items())))
    return {cluster: name for cluster, name in chosen.items() if name is not None}
