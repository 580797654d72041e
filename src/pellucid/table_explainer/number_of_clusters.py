"""The number of clusters, chosen by separation, stability and the tree that explains the clusters.

Every number of clusters k is scored by

    silhouette(k) + D * max(0, silhouette(k) - silhouette(k + 1))
        - S * max(0, 0.9 - stability(k)) - A * max(0, 0.95 - agreement(k))

The silhouette score is the mean over clusterings of random parts of the rows, applied to all rows.
It falls behind the number of groups, also where two close groups as one have a higher score. The
stability is the mean adjusted Rand index between these clusterings and that of all rows. The
agreement is the share of the rows that a tree assigns to their cluster, the mean over some of the
clusterings. Means over many clusterings change less than one of them if rows are left out. Two
clusters have a lower score, because one threshold is seldom a useful segmentation. A k with a
cluster of less than 1% of the rows is not chosen; the rows of a cluster of 1 to 2% are set apart
afterwards. `tuning` has the constants, and ``python -m benchmarks tables --only number`` the
measurements by which they were chosen.

The choice does not depend on the order of the rows or on the random seed of the final clustering.
The samples are drawn by the values of the rows, so that a table of which some rows are left out
has almost the same sample. kneed and yellowbrick find an elbow of the cost, which says nothing
about stability.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score, silhouette_score
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

from pellucid._core.growers.cart import fits_single_precision
from pellucid._utils.arrays import mixed
from pellucid._utils.notices import impure_rules_allowed, option
from pellucid._utils.progress import Progress
from pellucid._utils.texts import Message
from pellucid.cluster import ExplainableKMeans
from pellucid.table_explainer import tuning
from pellucid.table_explainer.outliers import sampled_rows, smallest_size

_SEED = 0


@dataclass(frozen=True)
class NumberScore:
    """How good a number of clusters is, on a sample of the rows.

    The mean silhouette score of clusterings of parts of the rows, their mean adjusted Rand index
    with the clustering of all rows, the share of its smallest cluster, and the mean agreement of
    trees for some of them, with the cost of the tree for all rows relative to that of k-means.
    """

    k: int
    silhouette: float
    stability: float
    smallest: float
    agreement: float
    cost: float
    drop: float = 0.0
    """How much lower the silhouette score of one more cluster is; 0 if it is not known."""

    @property
    def score(self) -> float:
        doubt = tuning.INSTABILITY_WEIGHT * max(0.0, tuning.STABLE - self.stability)
        doubt += tuning.DISAGREEMENT_WEIGHT * max(0.0, tuning.EXPLAINED - self.agreement)
        doubt += tuning.TWO_CLUSTERS_LOSS * (self.k == 2)
        return self.silhouette + tuning.DROP_WEIGHT * self.drop - doubt


@dataclass(frozen=True)
class ChosenNumber:
    """The chosen number of clusters, the scores of all numbers, and other good numbers."""

    k: int
    scores: tuple[NumberScore, ...]
    others: tuple[int, ...] = ()
    largest: int = tuning.LARGEST_NUMBER
    eligible: tuple[NumberScore, ...] = ()
    """Scores of the numbers without very small clusters."""
    n_rows: int = 0
    """Rows of which the scores are, at most `tuning.NUMBER_SAMPLE`."""

    def next_best(self) -> ChosenNumber | None:
        """The same scores with the next best number; None if no other number is left."""
        left = tuple(s for s in self.eligible if s.k != self.k)
        return self.best_of(left) if left else None

    def best_of(self, eligible: tuple[NumberScore, ...]) -> ChosenNumber:
        """The same scores with the best of some numbers."""
        chosen = max(eligible, key=lambda s: (s.score, -s.k))
        return replace(self, k=chosen.k, eligible=eligible, others=_others(eligible, chosen))

    def reasons(self, silhouette: float) -> list[Message]:
        """Why the number was chosen; `silhouette` is that of the clustering that is shown."""
        if not self.scores:
            return [Message("tooFewRows")]
        found = [Message("silhouette", score=silhouette, weak=tuning.WEAK)]
        if self.others:
            found.append(Message("otherNumbers", numbers=self.others))
        if self.n_rows == tuning.NUMBER_SAMPLE:
            found.append(Message("comparedOnSample", n=self.n_rows))
        most = min(2 * self.k, self.n_rows - 1)
        if self.k == self.largest and most > self.k:
            found.append(Message("largestNumber", k=self.k, option=option("k", f"{self.k}-{most}")))
        return found


def largest_number(n_rows: int) -> int:
    """Largest number of clusters that is tried: sqrt(n_rows / 2), but from 3 to 10."""
    return min(tuning.LARGEST_NUMBER, max(3, int(np.sqrt(n_rows / 2))))


def silhouette(Z: np.ndarray, labels: np.ndarray) -> float:
    """Mean silhouette score of a clustering on the sample; NaN for a single cluster."""
    rows = sampled_rows(len(Z), tuning.SILHOUETTE_SAMPLE)
    if not 1 < len(np.unique(labels[rows])) < len(rows):
        return float("nan")
    return float(silhouette_score(Z[rows], labels[rows]))


def row_keys(columns: Sequence[np.ndarray]) -> np.ndarray:
    """A random number for each row that depends on its values only.

    Equal rows are numbered, so that their keys differ.
    """
    keys = np.zeros(len(columns[0]), dtype=np.uint64)
    for column in columns:
        # Adding zero turns -0.0 into 0.0.
        keys = mixed(keys ^ (np.asarray(column, dtype=np.float64) + 0.0).view(np.uint64))
    order = np.argsort(keys, kind="stable")
    is_new = np.r_[True, np.diff(keys[order]) != 0]
    first = np.maximum.accumulate(np.where(is_new, np.arange(len(keys)), 0))
    repeat = np.empty(len(keys), dtype=np.uint64)
    repeat[order] = np.arange(len(keys)) - first
    return mixed(keys + repeat)


def choose_number(
    Z: np.ndarray,
    numbers: Sequence[int] | None = None,
    *,
    columns: Sequence[np.ndarray] | None = None,
) -> ChosenNumber:
    """Choose the number of clusters for data that k-means will cluster.

    The numbers to try are by default 2 to `largest_number`. The rows of the samples are drawn by
    the values in `columns`, by default those of `Z`.
    """
    numbers = range(2, largest_number(len(Z)) + 1) if numbers is None else numbers
    keys = row_keys(list(Z.T) if columns is None else columns)
    rows = np.argsort(keys, kind="stable")[: tuning.NUMBER_SAMPLE]
    # The sample is small: more than one thread would only add overhead.
    with threadpool_limits(1):
        scores = tuple(_scores(Z[rows], keys[rows], numbers))
    return choose_from(scores, len(Z), max(numbers, default=1))


def choose_from(scores: Sequence[NumberScore], n_rows: int, largest: int) -> ChosenNumber:
    """The number with the highest score, of those without very small clusters.

    If there are none, the number whose clusters are the least uneven is chosen.
    """
    if not scores:
        return ChosenNumber(1, ())
    after = {s.k - 1: s.silhouette for s in scores}
    scores = [
        replace(s, drop=max(0.0, s.silhouette - after.get(s.k, s.silhouette))) for s in scores
    ]
    smallest = tuning.SMALLEST_SHARE * smallest_size(n_rows) / n_rows
    eligible = tuple(s for s in scores if s.smallest >= smallest)
    eligible = eligible or (max(scores, key=lambda s: s.smallest),)
    n_used = min(n_rows, tuning.NUMBER_SAMPLE)
    return ChosenNumber(1, tuple(scores), largest=largest, n_rows=n_used).best_of(eligible)


def _others(scores: Sequence[NumberScore], chosen: NumberScore) -> tuple[int, ...]:
    """Other numbers with almost the score of the chosen one.

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


def _scores(Z: np.ndarray, keys: np.ndarray, numbers: Sequence[int]) -> list[NumberScore]:
    n_different = len(np.unique(Z, axis=0))
    numbers = [k for k in numbers if k < n_different]
    distances = euclidean_distances(Z)
    parts = [_part(keys, number) for number in range(1, tuning.STABILITY_PARTS + 1)]
    progress = Progress("number of clusters", len(numbers), verbose=0)
    found = []
    for k in numbers:
        kmeans = KMeans(k, n_init=tuning.STARTS_OF_SAMPLE, random_state=_SEED).fit(Z)
        if np.bincount(kmeans.labels_, minlength=k).min() > 0:
            found.append(_score(Z, distances, parts, kmeans))
        progress.step()
    return found


def _score(
    Z: np.ndarray, distances: np.ndarray, parts: Sequence[np.ndarray], kmeans: KMeans
) -> NumberScore:
    k, labels = kmeans.n_clusters, kmeans.labels_
    starts = KMeans(k, n_init=tuning.STARTS_OF_PARTS, random_state=_SEED)
    found = [starts.fit(Z[part]).predict(Z) if len(part) >= k else labels for part in parts]
    with impure_rules_allowed():
        model = ExplainableKMeans(reference=kmeans, effort="fast", random_state=_SEED).fit(Z)
    reference = model.reference_inertia_
    agreements = [np.mean(model.labels_ == model.reference_labels_)]
    agreements += [_agreement_of_cart(Z, each) for each in found[: tuning.TREES_OF_PARTS]]
    return NumberScore(
        k,
        silhouette=float(np.mean([_silhouette(distances, each) for each in found])),
        stability=float(np.mean([adjusted_rand_score(labels, each) for each in found])),
        smallest=float(np.bincount(labels).min() / len(Z)),
        agreement=float(np.mean(agreements)),
        cost=float(model.inertia_ / reference) if reference > 0 else 1.0,
    )


def _agreement_of_cart(Z: np.ndarray, labels: np.ndarray) -> float:
    """Share of the rows that CART with a leaf per cluster, which is fast, assigns to theirs."""
    n_leaves = max(2, labels.max() + 1)
    tree = DecisionTreeClassifier(criterion="entropy", max_leaf_nodes=n_leaves, random_state=_SEED)
    if not fits_single_precision(Z):
        Z = Z / np.abs(Z).max()
    return float(tree.fit(Z, labels).score(Z, labels))


def _part(keys: np.ndarray, number: int) -> np.ndarray:
    """Positions of a random part of the rows, by their keys."""
    limit = np.uint64(tuning.PART_SHARE * 2.0**64)
    return np.flatnonzero(mixed(keys ^ mixed(np.array([number], np.uint64))) < limit)


def _silhouette(distances: np.ndarray, labels: np.ndarray) -> float:
    """Mean silhouette score, without the checks of scikit-learn, which take most of the time."""
    member = np.eye(labels.max() + 1)[labels]
    sizes = member.sum(axis=0)
    with np.errstate(invalid="ignore"):
        means = distances @ member / sizes
    own = (np.arange(len(labels)), labels)
    inside = means[own] * sizes[labels] / np.maximum(sizes[labels] - 1, 1)
    means[own] = np.inf
    outside = np.nanmin(means, axis=1)
    largest = np.maximum(inside, outside)
    is_known = (sizes[labels] > 1) & np.isfinite(outside) & (largest > 0)
    return float(np.where(is_known, (outside - inside) / np.where(is_known, largest, 1), 0).mean())
