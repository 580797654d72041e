"""``pellucid demo``: explain k-means on the wine data of scikit-learn."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl
from sklearn.datasets import load_wine
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pellucid import ExplainableKMeans, explain_pipeline, export_text, metrics
from pellucid._utils.files import replacing
from pellucid._utils.texts import percent
from pellucid.cli.checks import DEMO_PICTURE, DEMO_REPORT
from pellucid.cli.output import cost_change, show_line, show_measures, show_rules
from pellucid.cli.writing import draw_tree
from pellucid.explanation.restate import ColumnSource, MonotoneMap, TreeRestatement
from pellucid.report import write_report
from pellucid.report.alternatives import other_trees
from pellucid.tree import ThresholdTree

N_CLUSTERS = 3


def demo(folder: Path) -> None:
    """Explain the wine data, print the rules, and write the tree and the report to `folder`."""
    picture = folder / DEMO_PICTURE
    wine = load_wine()
    frame = pl.DataFrame(wine.data, schema=list(wine.feature_names))
    # Before the fit, which compiles loops when it is the first one.
    show_line(
        f"k-means finds {N_CLUSTERS} clusters in the {frame.height} wines of scikit-learn's wine "
        f"data, by {frame.width} standardized measurements.\n"
        "ExplainableKMeans explains them by thresholds in the original units:"
    )
    pipeline = make_pipeline(StandardScaler(), ExplainableKMeans(N_CLUSTERS, random_state=0))
    scaler, model = pipeline.fit(frame)
    explanation = explain_pipeline(pipeline, frame)
    standardized = scaler.transform(frame)
    show_rules(explanation.rules_)
    agreement = metrics.reference_agreement(model.labels_, model.reference_labels_)
    show_measures(
        [
            ("cost compared with k-means", cost_change(model.inertia_ / model.reference_inertia_)),
            ("rows in the same cluster as k-means", percent(agreement)),
        ]
    )
    show_line(f"\nThe tree:\n{export_text(explanation)}\n")
    folder.mkdir(parents=True, exist_ok=True)
    draw_tree(picture, explanation)
    show_line(f"The plot of the tree is {picture}")
    others = other_trees(model, standardized, model.reference_labels_)
    trees = [
        replace(t, tree=_in_units(t.tree, scaler, wine.data, standardized)) for t in others.trees
    ]
    with replacing(folder / DEMO_REPORT) as unfinished:
        write_report(
            unfinished,
            explanation,
            frame,
            fitted=model,
            title="The wines of scikit-learn",
            rows="wines",
            reference="k-means",
            trade_off=replace(others, trees=trees),
        )
    show_line(f"The report is {folder / DEMO_REPORT}; open it in a browser")


def _in_units(
    tree: ThresholdTree, scaler: StandardScaler, X: np.ndarray, standardized: np.ndarray
) -> ThresholdTree:
    """Restate a tree of standardized columns in the units of the table."""
    names = [str(i) for i in range(X.shape[1])]

    def scaled(values: np.ndarray, i: int) -> np.ndarray:
        return (values - scaler.mean_[i]) / scaler.scale_[i]

    columns = [
        ColumnSource(i, maps=(MonotoneMap(partial(scaled, i=i)),)) for i in range(X.shape[1])
    ]
    restatement = TreeRestatement(tree, columns)
    restatement.find_gaps(standardized, list(X.T))
    return restatement.build(names, names, "round")[0]
