"""Data sets by name: those that scikit-learn carries, and a folder of ``<name>.npz`` files."""

from __future__ import annotations

from functools import lru_cache
from io import BytesIO
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn import datasets

from benchmarks.settings import Refused

CARRIED = {
    "breast_cancer_wdbc": datasets.load_breast_cancer,
    "digits": datasets.load_digits,
    "iris": datasets.load_iris,
    "wine": datasets.load_wine,
}


def names(folder: Path | None, *, images: bool = False) -> list[str]:
    """Names of all data sets there are; those of images are large, and left out by default."""
    if folder is not None and not folder.is_dir():
        raise Refused(f"--data: {folder} is not a folder; name one that holds <name>.npz files")
    files = sorted(folder.glob("*.npz")) if folder else []
    kinds = {"X", "indptr", *(("jpeg",) if images else ())}
    more = [path.stem for path in files if kinds & set(np.load(path).files)]
    return sorted({*CARRIED, *more})


@lru_cache(maxsize=1)
def load(name: str, folder: Path | None = None):
    """Features (dense or CSR) and the number of classes, the papers' k.

    They are float64; pixels of images, which are as many and small integers, are float32.
    """
    if name in CARRIED:
        X, y = CARRIED[name](return_X_y=True)
        return X, len(np.unique(y))
    file = np.load(folder / f"{name}.npz")
    if "jpeg" in file:
        X = _pixels(file["jpeg"], file["offsets"])
    elif "indptr" in file:
        # scikit-learn's k-means takes 32-bit indices only.
        indices = [file[part].astype(np.int32) for part in ("indices", "indptr")]
        parts = (file["data"].astype(np.float64), *indices)
        X = sparse.csr_array(parts, shape=tuple(file["shape"]))
    else:
        X = np.ascontiguousarray(file["X"], dtype=np.float64)
    return X, len(np.unique(file["y"]))


def _pixels(jpeg: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """The values of the pixels of images, one row per image."""
    from PIL import Image

    images = (jpeg[start:end].tobytes() for start, end in zip(offsets[:-1], offsets[1:]))
    return np.stack(
        [np.asarray(Image.open(BytesIO(image)), dtype=np.float32).ravel() for image in images]
    )
