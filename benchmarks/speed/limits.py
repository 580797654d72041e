"""Where a fit might become slow: many clusters, and sparse text with real-valued entries."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.feature_extraction.text import TfidfTransformer

from benchmarks import data
from benchmarks.jobs import Job
from benchmarks.methods import TITLES, make, warm_up
from benchmarks.page import Section, Sheet, holds
from benchmarks.settings import Settings
from benchmarks.speed import cases
from benchmarks.speed.scaling import METHODS, exponent
from benchmarks.store import Row, Store, group, read_rows
from benchmarks.timing import best_of

FILE = "speed_limits.csv"
CLUSTERS = (20, 50, 100, 200, 500)
N_ROWS, N_COLUMNS = 100_000, 20
MAX_EXPONENT = 1.2
TEXT = "20 Newsgroups as TF-IDF, k = 20"
LARGE_TEXT = "generated, 200,000 × 50,000, 20 M entries, k = 20"
MAX_TEXT_RATIO = 3.0
TEXT_METHODS = {
    "imm": "IMM",
    "exshallow": "ExShallow",
    "imm+exkmc 2k": "IMM + expansion to 2k",
    "kmc": "ExKMC with k leaves",
}


def jobs(settings: Settings) -> list[Job]:
    """Each number of clusters, and the texts that are there."""
    keys = ("case", "k", "method")
    store = Store(settings.output / FILE, keys, ("seconds", "kmeans_seconds"))
    n_rows, clusters = (500, (4, 8)) if settings.quick else (N_ROWS, CLUSTERS)
    repeats = 1 if settings.quick else 3
    found = [_job(store, n_rows, k, method, repeats) for k in clusters for method in METHODS]
    texts = [] if settings.quick else [LARGE_TEXT]
    if not settings.quick and "newsgroups20" in data.names(settings.data):
        texts.insert(0, TEXT)
    return found + [
        _text_job(store, text, method, settings.data) for text in texts for method in TEXT_METHODS
    ]


def _job(store: Store, n_rows: int, k: int, method: str, repeats: int) -> Job:
    def measure():
        case = cases.blobs(n_rows, N_COLUMNS, k)
        X, _ = cases.load(case)
        kmeans, kmeans_seconds = cases.fit_kmeans(case)
        warm_up(method, X, k)
        seconds = best_of(repeats, lambda: make(method, kmeans.cluster_centers_).fit(X))
        return {"seconds": seconds, "kmeans_seconds": kmeans_seconds}

    return Job(store, {"case": "blobs", "k": k, "method": method}, measure)


def _text_job(store: Store, text: str, method: str, folder: Path | None) -> Job:
    def measure():
        X, centers, kmeans_seconds = load_text(text, folder)
        warm_up(method, X, len(centers))
        repeats = 3 if text == TEXT else 1
        seconds = best_of(repeats, lambda: make(method, centers).fit(X))
        return {"seconds": seconds, "kmeans_seconds": kmeans_seconds}

    return Job(store, {"case": text, "k": 20, "method": method}, measure)


@lru_cache(maxsize=1)
def load_text(text: str, folder: Path | None) -> tuple[Any, np.ndarray, float]:
    """Rows, centers of k-means, and its seconds."""
    if text == TEXT:
        X, _ = data.load("newsgroups20", folder)
        X = sparse.csr_array(TfidfTransformer().fit_transform(X))
    else:
        X = generated_text(200_000, 50_000, 100)
    kmeans = KMeans(20, n_init=1, random_state=0, max_iter=300 if text == TEXT else 20)
    seconds = best_of(3 if text == TEXT else 1, lambda: kmeans.fit(X))
    return X, kmeans.cluster_centers_, seconds


def generated_text(n_rows: int, n_words: int, words_per_row: int) -> sparse.csr_array:
    """Rows of 20 topics; a topic prefers some words, and frequent words are few."""
    random = np.random.default_rng(0)
    topic = np.repeat(random.integers(20, size=n_rows), words_per_row)
    word = (n_words * random.random(len(topic)) ** 4).astype(np.int32)
    own = random.random(len(topic)) < 0.3
    word[own] = (word[own] // 20 * 20 + topic[own]) % n_words
    shape, row = (n_rows, n_words), np.repeat(np.arange(n_rows, dtype=np.int32), words_per_row)
    counts = sparse.csr_array((np.ones(len(word)), (row, word)), shape=shape)
    counts.sum_duplicates()
    return sparse.csr_array(TfidfTransformer().fit_transform(counts))


def sections(folder: Path) -> list[Section]:
    """Growth with the number of clusters, and ratios to k-means on text."""
    rows = read_rows(folder / FILE)
    blobs = [row for row in rows if row["case"] == "blobs"]
    texts = [row for row in rows if row["case"] != "blobs"]
    sheets = [_clusters_sheet(blobs)] * bool(blobs) + [_text_sheet(texts)] * bool(texts)
    return [Section("Many clusters, and text", "", sheets)]


def _clusters_sheet(rows: list[Row]) -> Sheet:
    clusters = sorted({int(row["k"]) for row in rows})
    lines = []
    for (method,), of_method in group(rows, "method").items():
        seconds = {int(row["k"]): float(row["seconds"]) for row in of_method}
        known = [k for k in clusters if k in seconds]
        slope = exponent([known[0], known[-1]], [seconds[known[0]], seconds[known[-1]]])
        cells = [f"{seconds[k]:.2f} s" if k in seconds else "–" for k in clusters]
        lines.append([TITLES[method], *cells, f"{slope:.2f} ({holds(slope, MAX_EXPONENT)})"])
    headings = ["method", *(f"k = {k}" for k in clusters), "exponent"]
    note = (
        f"Blobs of {N_ROWS:,} × {N_COLUMNS}. The exponent is that of the growth from the least to "
        f"the largest number of clusters; it is to be at most {MAX_EXPONENT}."
    )
    return Sheet("Many clusters", headings, lines, note)


def _text_sheet(rows: list[Row]) -> Sheet:
    lines = []
    for (case,), of_case in group(rows, "case").items():
        ratios = {
            row["method"]: float(row["seconds"]) / float(row["kmeans_seconds"]) for row in of_case
        }
        cells = [
            f"{ratios[m]:.2f} ({holds(ratios[m], MAX_TEXT_RATIO)})" if m in ratios else "–"
            for m in TEXT_METHODS
        ]
        lines.append([case, f"{float(of_case[0]['kmeans_seconds']):.2f} s", *cells])
    note = (
        "Seconds as a ratio to `KMeans(n_init=1)` in the same process, which for the generated "
        f"text has at most 20 iterations; at most {MAX_TEXT_RATIO:g} is asked for."
    )
    return Sheet("Sparse text", ["data", "k-means", *TEXT_METHODS.values()], lines, note)
