"""Print the table of the README: methods on data of scikit-learn, with as many leaves as clusters.

python docs/examples/compare_methods.py

With ``--packages``, the table ends with trees of other packages that make clusters of their own,
where these are installed: ``pip install gemclus RuleTree``. Their clusters are matched to those of
k-means.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import KMeans
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.metrics.cluster import contingency_matrix
from sklearn.preprocessing import StandardScaler

from pellucid import IMM, ExGreedy, ExKMC, ExplainableKMeans, ExShallow
from pellucid.baselines import CARTExplainer
from pellucid.metrics import weighted_average_explanation_size

DATA = {
    "iris": (load_iris, 3),
    "wine": (load_wine, 3),
    "breast cancer": (load_breast_cancer, 6),
    "digits": (load_digits, 10),
}
METHODS = {
    "`ExplainableKMeans`": ExplainableKMeans(),
    "ExShallow (ShallowTree)": ExShallow(),
    "ExGreedy (ShallowTree)": ExGreedy(),
    "IMM (ExKMC)": IMM(),
    "ExKMC from one leaf (ExKMC)": ExKMC(base=None),
    "CART (scikit-learn)": CARTExplainer(),
}


def kauri(X: np.ndarray, k: int) -> Any:
    """Labels of Kauri with k clusters and leaves."""
    from gemclus.tree import Kauri

    return Kauri(max_clusters=k, max_leaves=k).fit(X).labels_


def rule_tree(X: np.ndarray, k: int) -> Any:
    """Labels of RuleTree's clustering tree; its BIC does not end it before it has k leaves."""
    from RuleTree import RuleTreeCluster

    model = RuleTreeCluster(
        max_leaf_nodes=k, bic_eps=1e9, component_split="joint", random_state=0
    ).fit(X)
    return model.predict(X)


PACKAGES: dict[str, tuple[str, Callable[[np.ndarray, int], Any]]] = {
    "Kauri (gemclus)": ("gemclus", kauri),
    "RuleTreeCluster (RuleTree)": ("RuleTree", rule_tree),
}


def compare_labels(labels: Any, X: np.ndarray, kmeans: KMeans) -> tuple[float, float]:
    """Cost relative to k-means, and the share of rows that keep their cluster after matching."""
    _, labels = np.unique(labels, return_inverse=True)
    means = [X[labels == c].mean(axis=0) for c in range(labels.max() + 1)]
    cost = float(((X - np.array(means)[labels]) ** 2).sum())
    common = contingency_matrix(labels, kmeans.labels_)
    matched = linear_sum_assignment(common, maximize=True)
    return cost / kmeans.inertia_, common[matched].sum() / len(X)


def main() -> None:
    """Print one line per method: cost and agreement per data set, and conditions per row."""
    warnings.filterwarnings("ignore", "less than half of the rows")
    problems = []
    for load, k in DATA.values():
        X = StandardScaler().fit_transform(load().data)
        problems.append((X, KMeans(k, n_init=10, random_state=0).fit(X), k))
    heads = [f"{name}, k = {k}" for name, (_, k) in DATA.items()]
    print(f"| method | {' | '.join(heads)} | conditions per row |")
    print(f"| --- | {' | '.join('---' for _ in heads)} | --- |")
    for name, model in METHODS.items():
        cells, sizes = [], []
        for X, kmeans, k in problems:
            model.set_params(reference=kmeans, random_state=0)
            if "n_leaves" in model.get_params():
                model.set_params(n_leaves=k)
            model.fit(X)
            agreement = np.mean(model.labels_ == model.reference_labels_)
            ratio = model.inertia_ / model.reference_inertia_
            cells.append(f"{ratio:.3f}, {100 * agreement:.1f}%")
            sizes.append(weighted_average_explanation_size(model.tree_))
        print(f"| {name} | {' | '.join(cells)} | {np.mean(sizes):.2f} |")
    for name, (package, labels_of) in PACKAGES.items():
        if "--packages" in sys.argv and find_spec(package):
            found = [compare_labels(labels_of(X, k), X, kmeans) for X, kmeans, k in problems]
            cells = [f"{ratio:.3f}, {100 * agreement:.1f}%" for ratio, agreement in found]
            print(f"| {name} | {' | '.join(cells)} | – |")


if __name__ == "__main__":
    main()
