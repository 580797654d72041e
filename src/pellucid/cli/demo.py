"""``pellucid demo``: a whole explanation, of data that come with scikit-learn."""

from __future__ import annotations

from pathlib import Path

import polars as pl
from sklearn.cluster import KMeans
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from pellucid import IMM, ExShallow, export_text, metrics
from pellucid.cli import CommandError, check_folder, check_target, replacing
from pellucid.cli.show import cost_change, percent, show_line, show_measures, show_rules
from pellucid.cli.writing import draw_tree

N_CLUSTERS = 3
PICTURE = "wine-tree.png"
REPORT = "wine-report.html"


def demo(folder: Path) -> None:
    """Explain the wine data, print all of it, and write the tree and the report in `folder`."""
    picture = folder / PICTURE
    _check_folder_can_be_made(folder)

    wine = load_wine()
    frame = pl.DataFrame(wine.data, schema=list(wine.feature_names))
    standardized = StandardScaler().fit_transform(wine.data)
    kmeans = KMeans(N_CLUSTERS, n_init=10, random_state=0).fit(standardized)
    model = IMM(reference=kmeans.labels_).fit(frame)

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
            ("cost against k-means", cost_change(ratio)),
            ("rows in the same cluster as k-means", percent(agreement)),
        ]
    )
    show_line(f"\nThe tree:\n{export_text(model)}\n")
    folder.mkdir(parents=True, exist_ok=True)
    draw_tree(picture, model)
    show_line(f"The tree is drawn in {picture}")
    with replacing(folder / REPORT) as unfinished:
        model.report(
            unfinished,
            frame,
            title="The wines of scikit-learn",
            reference="k-means",
            trade_off=ExShallow(reference=kmeans.labels_).path(frame),
        )
    show_line(f"The report is {folder / REPORT}; open it in a browser")


def _check_folder_can_be_made(folder: Path) -> None:
    if folder.is_dir():
        check_target(folder / PICTURE, "--output")
        check_target(folder / REPORT, "--output")
    elif folder.exists():
        raise CommandError(f"--output: {folder} is not a folder", hint="name a folder")
    else:
        nearest = next(parent for parent in folder.absolute().parents if parent.exists())
        check_folder(nearest, "--output")
