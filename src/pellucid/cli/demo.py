"""``pellucid demo``: explain k-means on the wine data of scikit-learn."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl
from sklearn.cluster import KMeans
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from pellucid import IMM, export_text, metrics
from pellucid.cli import CommandError, check_folder, check_target, replacing
from pellucid.cli.output import cost_change, percent, show_line, show_measures, show_rules
from pellucid.cli.writing import draw_tree
from pellucid.explanation.column_provenance import ColumnSource
from pellucid.explanation.explanation import Explanation
from pellucid.explanation.monotone_maps import MonotoneMap
from pellucid.explanation.restate import TreeRestatement
from pellucid.report import write_report
from pellucid.report.alternatives import other_trees
from pellucid.tree import ThresholdTree

N_CLUSTERS = 3
PICTURE = "wine-tree.png"
REPORT = "wine-report.html"


def demo(folder: Path) -> None:
    """Explain the wine data, print the rules, and write the tree and the report to `folder`."""
    picture = folder / PICTURE
    _check_folder_can_be_made(folder)

    wine = load_wine()
    frame = pl.DataFrame(wine.data, schema=list(wine.feature_names))
    scaler = StandardScaler().fit(wine.data)
    standardized = scaler.transform(wine.data)
    kmeans = KMeans(N_CLUSTERS, n_init=10, random_state=0).fit(standardized)
    model = IMM().fit(frame, kmeans.labels_)

    show_line(
        f"k-means put the {frame.height} wines of scikit-learn's wine data into {N_CLUSTERS} "
        f"clusters, by {frame.width} standardized measurements.\n"
        "IMM explains these clusters by thresholds in the original units:"
    )
    show_rules(model.rules_)
    ratio = metrics.normalized_partition_cost(standardized, model.labels_, kmeans.labels_)
    agreement = metrics.reference_agreement(model.labels_, kmeans.labels_)
    show_measures(
        [
            ("cost compared with k-means", cost_change(ratio)),
            ("rows in the same cluster as k-means", percent(agreement)),
        ]
    )
    show_line(f"\nThe tree:\n{export_text(model)}\n")
    folder.mkdir(parents=True, exist_ok=True)
    draw_tree(picture, model)
    show_line(f"The tree is drawn in {picture}")
    # The cost is that of the standardized columns, which k-means used.
    scaled = IMM().fit(standardized, kmeans.labels_)
    others = other_trees(scaled, standardized, kmeans.labels_)
    trees = [replace(t, tree=_in_units(t.tree, scaler, wine.data)) for t in others.trees]
    with replacing(folder / REPORT) as unfinished:
        write_report(
            unfinished,
            Explanation.of(model),
            frame,
            fitted=scaled,
            title="The wines of scikit-learn",
            rows="wines",
            reference="k-means",
            trade_off=replace(others, trees=trees),
        )
    show_line(f"The report is {folder / REPORT}; open it in a browser")


def _in_units(tree: ThresholdTree, scaler: StandardScaler, X: np.ndarray) -> ThresholdTree:
    """Restate a tree of standardized columns in the units of the table."""
    names = [str(i) for i in range(X.shape[1])]

    def scaled(values: np.ndarray, i: int) -> np.ndarray:
        return (values - scaler.mean_[i]) / scaler.scale_[i]

    columns = [
        ColumnSource(i, maps=(MonotoneMap(partial(scaled, i=i)),)) for i in range(X.shape[1])
    ]
    restatement = TreeRestatement(tree, columns)
    restatement.find_gaps(scaler.transform(X), list(X.T))
    return restatement.build(names, names, "round")[0]


def _check_folder_can_be_made(folder: Path) -> None:
    if folder.is_dir():
        check_target(folder / PICTURE, "--output")
        check_target(folder / REPORT, "--output")
    elif folder.exists():
        raise CommandError(f"--output: {folder} is not a folder", hint="choose a folder")
    else:
        nearest = next(parent for parent in folder.absolute().parents if parent.exists())
        check_folder(nearest, "--output")
