"""Data sets by name: those that scikit-learn carries, and a folder of ``<name>.npz`` files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn import datasets

CARRIED = {
    "breast_cancer_wdbc": datasets.load_breast_cancer,
    "digits": datasets.load_digits,
    "iris": datasets.load_iris,
    "wine": datasets.load_wine,
}


def names(folder: Path | None) -> list[str]:
    """Names of all data sets there are."""
    more = [path.stem for path in sorted(folder.glob("*.npz"))] if folder else []
    return sorted({*CARRIED, *more})


def load(name: str, folder: Path | None = None):
    """Features as float64 (dense or CSR) and the number of classes, the papers' k."""
    if name in CARRIED:
        X, y = CARRIED[name](return_X_y=True)
    else:
        file = np.load(folder / f"{name}.npz")
        y = file["y"]
        if "indptr" in file:
            parts = (file["data"].astype(np.float64), file["indices"], file["indptr"])
            X = sparse.csr_array(parts, shape=tuple(file["shape"]))
        else:
            X = file["X"].astype(np.float64)
    return X, len(np.unique(y))
