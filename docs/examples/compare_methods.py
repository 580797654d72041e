"""Print the table of the README: methods on data of scikit-learn, with as many leaves as clusters.

python docs/examples/compare_methods.py
"""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
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


if __name__ == "__main__":
    main()
