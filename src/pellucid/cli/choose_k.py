"""``-k auto``: how many clusters, and why."""

from __future__ import annotations

import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import silhouette_score
from sklearn.metrics.pairwise import euclidean_distances

from pellucid.cli.progress import working

RANGE = (2, 10)
SAMPLE = 2000
"""Rows on which numbers of clusters are compared: the silhouette takes the square of that."""

LOW = 0.25
"""Below this, rows are hardly nearer to their own cluster than to the next."""

ENOUGH = 0.02
"""A smaller number of clusters is taken if its silhouette is no further below the best."""


def choose_k(Z: np.ndarray, seed: int, most: int = RANGE[1]) -> tuple[int, str]:
    """The number of clusters of the best silhouette on a sample of rows, and the reason in words.

    Parameters
    ----------
    Z : ndarray of shape (n_samples, n_features)
        What k-means will see.
    seed : int
    most : int
        Largest number to try.

    Returns
    -------
    k : int
    reason : str
    """
    n_different = len(np.unique(Z[: 10 * most], axis=0)) if len(Z) <= 10 * most else 10 * most
    most = min(most, n_different - 1)
    if most < RANGE[0]:
        return 1, "there are too few different rows for more"
    sample = Z
    if len(Z) > SAMPLE:
        rows = np.random.default_rng(seed).choice(len(Z), SAMPLE, replace=False)
        sample = Z[np.sort(rows)]
    scores = _silhouettes(sample, seed, most)
    if not scores:
        return 1, "the rows are all but the same"
    best = max(scores.values())
    chosen = min(k for k, score in scores.items() if score >= best - ENOUGH * abs(best))
    others = ", ".join(f"{k}: {score:.2f}" for k, score in scores.items() if k != chosen)
    of = f" on {SAMPLE:,} rows" if len(Z) > SAMPLE else ""
    what = "the best silhouette" if scores[chosen] == best else "fewest near the best silhouette"
    doubt = ", which is low: clusters overlap" if best < LOW else ""
    return chosen, f"{what}{of}, {scores[chosen]:.2f} of 1{doubt} ({others})"


def _silhouettes(Z: np.ndarray, seed: int, most: int) -> dict[int, float]:
    """Mean silhouette of the rows, by number of clusters."""
    scores = {}
    distances = euclidean_distances(Z)
    with working("number of clusters", most + 1 - RANGE[0]) as step:
        for k in range(RANGE[0], most + 1):
            step(str(k))
            labels = KMeans(k, n_init=3, random_state=seed).fit_predict(Z)
            if len(np.unique(labels)) > 1:
                scores[k] = float(silhouette_score(distances, labels, metric="precomputed"))
    return scores
