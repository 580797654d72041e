"""The number of clusters, chosen by separation and stability.

Every number of clusters k is scored by

    silhouette(k) - W * (1 - stability(k))

where the stability is the mean adjusted Rand index between the clustering of all rows and
clusterings of random parts of the rows, applied to all rows. The smallest k whose score is almost
the best is chosen. Two clusters are chosen only if their score is clearly higher than all others,
because one threshold is seldom a useful segmentation. A k with a cluster of less than 1% of the
rows is not chosen; the rows of a cluster of 1 to 2% are set apart afterwards. The choice does not
depend on the random seed of the final clustering.

The silhouette score is that of scikit-learn. kneed and yellowbrick find an elbow of the cost, which
says nothing about stability.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score, silhouette_score
from sklearn.metrics.pairwise import euclidean_distances
from threadpoolctl import threadpool_limits

from pellucid._utils.notices import impure_rules_allowed, option
from pellucid._utils.progress import Progress
from pellucid._utils.texts import Message
from pellucid.cluster import ExplainableKMeans
from pellucid.table_explainer import tuning
from pellucid.table_explainer.outliers import smallest_size

_SEED = 0


@dataclass(frozen=True)
class NumberScore:
    """How good a number of clusters is.

    The mean silhouette score of a sample of the rows, the mean adjusted Rand index with clusterings
    of parts of the rows, the share of the rows in the smallest cluster, and, if it was computed,
    the share of the rows that the tree assigns to their cluster.
    """

    k: int
    silhouette: float
    stability: float
    smallest: float
    agreement: float | None = None

    @property
    def score(self) -> float:
        """The silhouette score, reduced if the clusters are not stable."""
        return self.silhouette - tuning.INSTABILITY_WEIGHT * (1 - self.stability)


@dataclass(frozen=True)
class ChosenNumber:
    """The chosen number of clusters, the scores of all numbers, and other good numbers."""

    k: int
    scores: tuple[NumberScore, ...]
    others: tuple[int, ...] = ()
    largest: int = tuning.LARGEST_NUMBER
    eligible: tuple[NumberScore, ...] = ()
    """Scores of the numbers without very small clusters."""

    def next_best(self) -> ChosenNumber | None:
        """The same scores with the next best number; None if no other number is left."""
        left = [s for s in self.eligible if s.k != self.k]
        if not left:
            return None
        chosen = _best(left)
        return replace(self, k=chosen.k, eligible=tuple(left), others=_others(left, chosen))

    def reasons(self, silhouette: float) -> list[Message]:
        """Why the number was chosen; `silhouette` is that of the clustering that is shown."""
        if not self.scores:
            return [Message("tooFewRows")]
        found = [Message("silhouette", score=silhouette, weak=tuning.WEAK)]
        rest = [Message("score", k=s.k, score=s.silhouette) for s in self.scores if s.k != self.k]
        if rest:
            found.append(Message("otherScores", scores=rest))
        if self.others:
            found.append(Message("otherNumbers", numbers=self.others))
        if self.k == self.largest:
            further = option("k", f"{self.k}-{2 * self.k}")
            found.append(Message("largestNumber", k=self.k, option=further))
        return found


def largest_number(n_rows: int) -> int:
    """Largest number of clusters that is tried: 10, or fewer for small tables.

    It is at most sqrt(n_rows / 2), but at least 3.

    Examples
    --------
    >>> from pellucid.table_explainer.number_of_clusters import largest_number
    >>> largest_number(30), largest_number(100), largest_number(1000)
    (3, 7, 10)
    """
    return min(tuning.LARGEST_NUMBER, max(3, int(np.sqrt(n_rows / 2))))


def sample_rows(n_rows: int) -> np.ndarray:
    """Positions of the rows on which silhouette scores are computed."""
    size = tuning.SILHOUETTE_SAMPLE
    if n_rows <= size:
        return np.arange(n_rows)
    return np.sort(np.random.default_rng(_SEED).choice(n_rows, size, replace=False))


def silhouette(Z: np.ndarray, labels: np.ndarray) -> float:
    """Mean silhouette score of a clustering on the sample; NaN for a single cluster."""
    rows = sample_rows(len(Z))
    labels = labels[rows]
    n_clusters = len(np.unique(labels))
    if not 1 < n_clusters < len(rows):
        return float("nan")
    return float(silhouette_score(Z[rows], labels))


def choose_number(Z: np.ndarray, numbers: Sequence[int] | None = None) -> ChosenNumber:
    """Choose the number of clusters for data that k-means will cluster.

    The numbers to try are by default 2 to `largest_number`.
    """
    numbers = range(2, largest_number(len(Z)) + 1) if numbers is None else numbers
    # The sample is small: more than one thread would only add overhead.
    with threadpool_limits(1):
        scores = tuple(_scores(Z[sample_rows(len(Z))], numbers))
    if not scores:
        return ChosenNumber(1, ())
    eligible = _eligible(scores, len(Z))
    chosen = _best(eligible)
    others = _others(eligible, chosen)
    return ChosenNumber(chosen.k, scores, others, max(numbers), tuple(eligible))


def _eligible(scores: Sequence[NumberScore], n_rows: int) -> list[NumberScore]:
    """Scores of clusterings without very small clusters; if there are none, of the least uneven."""
    smallest = tuning.SMALLEST_SHARE * smallest_size(n_rows) / n_rows
    found = [s for s in scores if s.smallest >= smallest]
    return found or [max(scores, key=lambda s: s.smallest)]


def _best(scores: Sequence[NumberScore]) -> NumberScore:
    more = [s for s in scores if s.k > 2]
    two = next((s for s in scores if s.k == 2), None)
    if not more:
        return scores[0]
    best = max(s.score for s in more)
    chosen = next(s for s in more if s.score >= best - tuning.REAL_GAIN)
    needed = chosen.score + tuning.TWO_CLUSTERS_GAIN
    return two if two is not None and two.score > needed else chosen


def _others(scores: Sequence[NumberScore], chosen: NumberScore) -> tuple[int, ...]:
    """Other numbers with almost the score of the chosen one, or a higher one.

    Neighbouring numbers give similar clusterings, so only local maxima are mentioned.
    """
    known = {s.k: s.score for s in scores}
    return tuple(
        s.k
        for s in scores
        if s.k != chosen.k
        and s.score >= chosen.score - tuning.ALSO_GOOD
        and s.score > max(known.get(s.k - 1, -1.0), known.get(s.k + 1, -1.0))
    )[:2]


def _scores(Z: np.ndarray, numbers: Sequence[int]) -> list[NumberScore]:
    n_different = len(np.unique(Z, axis=0))
    numbers = [k for k in numbers if k < n_different]
    distances = euclidean_distances(Z)
    progress = Progress("number of clusters", len(numbers), verbose=0)
    found = []
    for k in numbers:
        labels = KMeans(k, n_init=10, random_state=_SEED).fit(Z).labels_
        sizes = np.bincount(labels, minlength=k)
        if sizes.min() > 0:
            found.append(
                NumberScore(
                    k,
                    float(silhouette_score(distances, labels, metric="precomputed")),
                    _stability(Z, k, labels),
                    float(sizes.min() / len(Z)),
                )
            )
        progress.step()
    return found


def _stability(Z: np.ndarray, k: int, labels: np.ndarray) -> float:
    """Mean adjusted Rand index with clusterings of random parts of the rows."""
    random = np.random.default_rng(_SEED)
    size = max(k, int(tuning.PART_SHARE * len(Z)))
    found = []
    for _ in range(tuning.STABILITY_PARTS):
        part = random.choice(len(Z), size, replace=False)
        kmeans = KMeans(k, n_init=3, random_state=_SEED).fit(Z[part])
        found.append(adjusted_rand_score(labels, kmeans.predict(Z)))
    return float(np.mean(found))


def with_agreement(number: ChosenNumber, Z: np.ndarray) -> ChosenNumber:
    """The scores of a range with the agreement of a tree with each clustering.

    The trees are fitted on the sample of the rows on which the numbers were compared, with
    ``effort="fast"``. The tree of the chosen number that is shown may agree slightly better.
    """
    Z = Z[sample_rows(len(Z))]
    progress = Progress("trees", len(number.scores), verbose=0)
    scores = []
    for score in number.scores:
        scores.append(replace(score, agreement=_agreement(score, Z)))
        progress.step()
    return replace(number, scores=tuple(scores))


def _agreement(score: NumberScore, Z: np.ndarray) -> float:
    kmeans = KMeans(score.k, n_init=10, random_state=_SEED).fit(Z)
    with impure_rules_allowed():
        model = ExplainableKMeans(reference=kmeans, effort="fast", random_state=_SEED).fit(Z)
    return float(np.mean(model.labels_ == model.reference_labels_))
