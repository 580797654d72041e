"""Data of the EOP tables: ten generated sets of growing difficulty, and real ones from a folder."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.model_selection import train_test_split

from pellucid.datasets import make_eop_patterns
from pellucid.datasets._synthetic import draw_rows

N_GENERATED = 10
TRAIN_SHARE = 2 / 3


class RealSet(NamedTuple):
    """A data set of the paper, as it is or with its classes merged into two."""

    title: str
    file: str
    paper: str | None
    """The paper's name of it, where its figures may be put beside ours."""
    table: str
    merged: tuple[str, ...] = ()
    """Classes that are one class, against all others; none to keep all classes apart."""


REAL = {
    "breast_cancer": RealSet(
        "Breast cancer (original)",
        "breast_cancer_wisconsin_original",
        "BreastCancerWisconsin",
        "4",
    ),
    "breast_tissue": RealSet("Breast tissue, 6 classes", "breast_tissue", None, "4"),
    "breast_tissue_2": RealSet(
        "Breast tissue, carcinoma or not", "breast_tissue", "BreastTissue", "4", ("car",)
    ),
    "vowel": RealSet("Vowel, 11 classes", "vowel", None, "4"),
    "vowel_2": RealSet("Vowel, front or not", "vowel", "Vowel", "4", ("hid", "hId", "hEd", "hAd")),
    "spambase": RealSet("Spambase", "spambase", "Spambase", "5"),
}
"""In the order of the tables. The paper has two classes everywhere, but does not say which."""


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
    n_samples = 300 if quick else 3000
    return make_eop_patterns(
        n_samples, **difficulty(number), random_state=number, return_patterns=True
    )


def further_rows(number: int, quick: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Many more rows of the same patterns, and their classes, to judge more closely by.

    Drawn by another generator: the same one would give out some of its numbers again.
    """
    X, _, _, patterns = generate(number, quick)
    n_samples, random = 5000 if quick else 30_000, np.random.RandomState(1000 + number)
    of_row = random.randint(len(patterns), size=n_samples)
    of_row[random.rand(n_samples) < difficulty(number)["background"]] = -1
    return draw_rows(patterns, of_row, X.shape[1], random)


def split_generated(number: int, quick: bool = False) -> Split:
    """Two thirds to learn from."""
    X, y, *_ = generate(number, quick)
    return _split(X, y, seed=0)


def real_names(folder: Path | None) -> list[str]:
    """Those of the real data sets that are there."""
    if folder is None:
        return []
    return [name for name, known in REAL.items() if (folder / f"{known.file}.npz").exists()]


def split_real(name: str, seed: int, folder: Path) -> Split:
    """Two thirds to learn from, with the classes in the same proportions in both parts."""
    known = REAL[name]
    X, y = _load(known.file, folder)
    return _split(X, np.isin(y, known.merged) if known.merged else y, seed=seed)


@lru_cache(maxsize=4)
def _load(file: str, folder: Path) -> tuple[np.ndarray, np.ndarray]:
    found = np.load(folder / f"{file}.npz")
    return np.ascontiguousarray(found["X"], dtype=np.float64), found["y"]


def _split(X: np.ndarray, y: np.ndarray, seed: int) -> Split:
    parts = train_test_split(X, y, train_size=TRAIN_SHARE, stratify=y, random_state=seed)
    X_train, X_test, y_train, y_test = parts
    return Split(X_train, y_train, X_test, y_test)
