"""The data that speed is measured on, and the k-means that every time is compared with."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

from benchmarks import data
from benchmarks.timing import best_of


@dataclass(frozen=True)
class Case:
    """A data set with a number of clusters.

    Attributes
    ----------
    name : str
        As in the results.
    n_samples, n_features, k : int
        Of blobs; the file says it otherwise.
    file : str
        Name of the data set in `folder`; empty for blobs.
    folder : Path or None
    is_sparse : bool
    dtype : str
        Of blobs.
    """

    name: str
    n_samples: int = 0
    n_features: int = 0
    k: int = 0
    file: str = ""
    folder: Path | None = None
    is_sparse: bool = False
    dtype: str = "float64"


def blobs(n_samples: int, n_features: int, k: int) -> Case:
    """Overlapping Gaussian blobs."""
    name = f"blobs {n_samples:,} × {n_features}, k = {k}"
    return Case(name, n_samples, n_features, k)


TABLE = (blobs(100_000, 20, 10), blobs(581_012, 54, 7), blobs(20_000, 500, 10))
"""The sizes of the table; the second is the size of Covtype."""

QUICK = (blobs(500, 10, 5), blobs(1_000, 5, 3), blobs(200, 30, 5))


LARGEST = replace(blobs(5_000_000, 20, 10), dtype="float32")
"""What all threads of a machine with many cores are measured on, too."""


def large(quick: bool) -> Case:
    """The case on which memory, threads and prediction are measured."""
    return (QUICK if quick else TABLE)[1]


def real(folder: Path | None) -> list[Case]:
    """Covtype and 20 Newsgroups, where the folder has them."""
    there = data.names(folder)
    cases = [
        Case("Covtype, k = 7", file="covtype", folder=folder),
        Case("20 Newsgroups (CSR), k = 20", file="newsgroups20", folder=folder, is_sparse=True),
    ]
    return [case for case in cases if case.file in there]


@lru_cache(maxsize=1)
def load(case: Case) -> tuple[Any, int]:
    """The data and the number of clusters."""
    if case.file:
        return data.load(case.file, case.folder)
    X, _ = make_blobs(
        case.n_samples, case.n_features, centers=case.k, cluster_std=4, random_state=0
    )
    return X.astype(case.dtype, copy=False), case.k


@lru_cache(maxsize=1)
def fit_kmeans(case: Case, run: int = 0, repeats: int = 1) -> tuple[KMeans, float]:
    """k-means as all are compared with, and its seconds in this run."""
    X, k = load(case)
    kmeans = KMeans(n_clusters=k, n_init=1, random_state=0)
    seconds = best_of(repeats, lambda: kmeans.fit(X))
    return kmeans, seconds
