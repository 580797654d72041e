"""Data of the EOP tables: ten generated sets of growing difficulty, and real ones from a folder."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.model_selection import train_test_split

from pellucid.datasets import make_eop_patterns

N_GENERATED = 10
TRAIN_SHARE = 2 / 3
PAPER_NAMES = {
    "breast_cancer_wisconsin_original": "BreastCancerWisconsin",
    "breast_tissue": "BreastTissue",
    "vowel": "Vowel",
    "spambase": "Spambase",
}
"""The paper's name of each real data set, by the name of its file."""

TITLES = {
    "breast_cancer_wisconsin_original": "Breast cancer (original)",
    "breast_tissue": "Breast tissue",
    "vowel": "Vowel",
    "spambase": "Spambase",
}


class Split(NamedTuple):
    """Rows to learn from and rows to test on."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray


def generated_name(number: int) -> str:
    """Name of a generated set, as in the paper, from number 0."""
    return f"DS{number + 1}"


def difficulty(number: int) -> dict:
    """Share of uniform rows and widths of the Gaussians: both grow from set to set."""
    step = (number % N_GENERATED) / (N_GENERATED - 1)
    return {"background": 0.08 * step, "width": (0.02, 0.04 + 0.04 * step)}


def generate(number: int, quick: bool = False) -> tuple:
    """Rows, classes, pattern of each row, patterns."""
    n_samples = 900 if quick else 3000
    return make_eop_patterns(
        n_samples, **difficulty(number), random_state=number, return_patterns=True
    )


def split_generated(number: int, quick: bool = False) -> Split:
    """Two thirds to learn from."""
    X, y, *_ = generate(number, quick)
    return _split(X, y, seed=0)


def real_names(folder: Path | None) -> list[str]:
    """Those of the paper's data sets that are there."""
    if folder is None:
        return []
    return [name for name in PAPER_NAMES if (folder / f"{name}.npz").exists()]


def split_real(name: str, seed: int, folder: Path) -> Split:
    """Two thirds to learn from, with the classes in the same proportions in both parts."""
    return _split(*_load(name, folder), seed=seed)


@lru_cache(maxsize=4)
def _load(name: str, folder: Path) -> tuple[np.ndarray, np.ndarray]:
    file = np.load(folder / f"{name}.npz")
    return np.ascontiguousarray(file["X"], dtype=np.float64), file["y"]


def _split(X: np.ndarray, y: np.ndarray, seed: int) -> Split:
    parts = train_test_split(X, y, train_size=TRAIN_SHARE, stratify=y, random_state=seed)
    X_train, X_test, y_train, y_test = parts
    return Split(X_train, y_train, X_test, y_test)
