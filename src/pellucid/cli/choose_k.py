"""``-k auto``: the number of clusters, chosen by the silhouette score."""

from __future__ import annotations

import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import silhouette_score
from sklearn.metrics.pairwise import euclidean_distances

from pellucid.cli.progress import working

RANGE = (2, 10)
SAMPLE = 2000
"""Rows on which numbers of clusters are compared: the silhouette score takes quadratic time."""

LOW = 0.25
"""Below this score the clusters overlap."""

ENOUGH = 0.02
"""Relative loss of score that is accepted for a smaller number of clusters."""


def choose_k(Z: np.ndarray, seed: int, most: int = RANGE[1]) -> tuple[int, str]:
    """The number of clusters with the best silhouette score on a sample of rows, and the reason.

    Parameters
    ----------
    Z : ndarray of shape (n_samples, n_features)
        The data that k-means will cluster.
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
        return 1, "there are too few different rows for more clusters"
    sample = Z
    if len(Z) > SAMPLE:
        rows = np.random.default_rng(seed).choice(len(Z), SAMPLE, replace=False)
        sample = Z[np.sort(rows)]
    scores = _silhouettes(sample, seed, most)
    if not scores:
        return 1, "(almost) all rows are identical"
    best = max(scores.values())
    chosen = min(k for k, score in scores.items() if score >= best - ENOUGH * abs(best))
    other_scores = ", ".join(f"{k}: {score:.2f}" for k, score in scores.items() if k != chosen)
    of = f" on {SAMPLE:,} rows" if len(Z) > SAMPLE else ""
    rule = "best" if scores[chosen] == best else "smallest number with almost the best"
    doubt = ", which is low: the clusters overlap" if best < LOW else ""
    score = f"{rule} silhouette score{of}, {scores[chosen]:.2f}{doubt}"
    return chosen, f"{score} ({other_scores})"


def _silhouettes(Z: np.ndarray, seed: int, most: int) -> dict[int, float]:
    """Mean silhouette score by number of clusters."""
    scores = {}
    distances = euclidean_distances(Z)
    with working("number of clusters", most + 1 - RANGE[0]) as step:
        for k in range(RANGE[0], most + 1):
            step(str(k))
            labels = KMeans(k, n_init=3, random_state=seed).fit_predict(Z)
            if len(np.unique(labels)) > 1:
                scores[k] = float(silhouette_score(distances, labels, metric="precomputed"))
    return scores
