"""The ten real data sets on which EOP is compared with CART.

They were named before the learner was changed, and no default was chosen on them.
"""

from __future__ import annotations

import csv
import gzip
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn import datasets
from sklearn.model_selection import train_test_split

from benchmarks.eop.sets import Split

MAX_ROWS = 5000
"""Larger sets are sampled, with the classes in the same proportions."""

_CARRIED = {
    "wine": datasets.load_wine,
    "breast_cancer": datasets.load_breast_cancer,
    "digits": datasets.load_digits,
}


class Table(NamedTuple):
    """A CSV file: its classes and its columns of numbers."""

    file: str
    label: str
    columns: tuple[str, ...]


_TABLES = {
    "bank": Table(
        "bank_marketing.csv.gz",
        "y",
        ("age", "balance", "day", "duration", "campaign", "pdays", "previous"),
    ),
    "wholesale": Table(
        "wholesale_customers.csv.gz",
        "Channel",
        ("Fresh", "Milk", "Grocery", "Frozen", "Detergents_Paper", "Delicassen"),
    ),
}

TEN = (
    *("wine", "breast_cancer", "digits", "ecoli", "vowel"),
    *("spambase", "pendigits", "anuran", "bank", "wholesale"),
)
"""Three of scikit-learn, the others from the folder of `--data`."""


def names(folder: Path | None) -> list[str]:
    """Those of the ten that are there."""
    return [name for name in TEN if name in _CARRIED or (folder and _path(name, folder).exists())]


def split(name: str, seed: int, folder: Path | None) -> Split:
    """Two thirds to learn from, with the classes in the same proportions in both parts."""
    X, y = _load(name, folder)
    if len(y) > MAX_ROWS:
        X, _, y, _ = train_test_split(X, y, train_size=MAX_ROWS, stratify=y, random_state=0)
    parts = train_test_split(X, y, train_size=2 / 3, stratify=y, random_state=seed)
    X_train, X_test, y_train, y_test = parts
    return Split(X_train, y_train, X_test, y_test)


def _path(name: str, folder: Path) -> Path:
    return folder / (_TABLES[name].file if name in _TABLES else f"{name}.npz")


@lru_cache(maxsize=2)
def _load(name: str, folder: Path | None) -> tuple[np.ndarray, np.ndarray]:
    if name in _CARRIED:
        return _CARRIED[name](return_X_y=True)
    path = _path(name, folder)
    if name not in _TABLES:
        found = np.load(path)
        return np.ascontiguousarray(found["X"], dtype=np.float64), found["y"]
    table = _TABLES[name]
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    X = np.array([[float(row[column]) for column in table.columns] for row in rows])
    return X, np.array([row[table.label] for row in rows])
