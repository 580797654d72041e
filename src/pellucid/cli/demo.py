"""``pellucid demo``: explain k-means on the wine data of scikit-learn."""

from __future__ import annotations

from pathlib import Path

import polars as pl
from sklearn.datasets import load_wine

from pellucid import explain, export_text
from pellucid._utils.texts import percent
from pellucid.cli.checks import DEMO_PICTURE, DEMO_REPORT
from pellucid.cli.output import cost_change, notices, show_line, show_measures, show_rules
from pellucid.cli.writing import draw_tree

N_CLUSTERS = 3


def demo(folder: Path) -> None:
    """Explain the wine data, print the rules, and write the tree and the report to `folder`."""
    picture, report = folder / DEMO_PICTURE, folder / DEMO_REPORT
    wine = load_wine()
    frame = pl.DataFrame(wine.data, schema=list(wine.feature_names))
    # Before the fit, which compiles loops when it is the first one.
    show_line(
        f"k-means finds {N_CLUSTERS} clusters in the {frame.height} wines of scikit-learn's wine "
        f"data, by {frame.width} standardized measurements.\n"
        "ExplainableKMeans explains them by thresholds in the original units:"
    )
    with notices(quiet=True):
        found = explain(frame, k=N_CLUSTERS, scale="standard", outliers="keep", verbose=False)
    show_rules(found.rules)
    measures = found.measures
    show_measures(
        [
            ("cost compared with k-means", cost_change(measures["cost_ratio"])),
            ("rows in the same cluster as k-means", percent(measures["agreement"])),
        ]
    )
    show_line(f"\nThe tree:\n{export_text(found.explanation)}\n")
    folder.mkdir(parents=True, exist_ok=True)
    draw_tree(picture, found.explanation)
    show_line(f"The plot of the tree is {picture}")
    found.report(report, title="The wines of scikit-learn", rows="wines")
    show_line(f"The report is {report}; open it in a browser")
