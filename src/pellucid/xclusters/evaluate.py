"""What one pair (k, α) is worth: a clustering, its distortion D, and the N nodes that tell it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from pellucid.xclusters.mixture import Mixture
from pellucid.xclusters.trees import TreeGrower

Clusterer = Callable[[int, float], np.ndarray]
"""(k, α) -> a cluster for each row."""


class Evaluation(NamedTuple):
    """The clustering at one pair (k, α), and the size of its tree."""

    k: int
    alpha: float
    distortion: float
    n_nodes: int
    accuracy: float
    """How well the tree tells the clusters."""
    labels: np.ndarray
    medoids: np.ndarray
    """By cluster, the member with the least mean squared accuracy distance to the others."""


class Evaluator:
    """Evaluates each pair once, remembers it, and puts D and N on a common scale.

    D is divided by D(k_min, α = 1) and N by N(k_max, α = 0), which are the largest there are if
    both are monotone. These two pairs are evaluated first of all.

    Parameters
    ----------
    mixture : Mixture
    grower : TreeGrower
    cluster : callable
        Finds k clusters by the distances mixed with α.
    weight : ndarray of shape (n_samples,)
    k_range : (int, int)
        Smallest and largest k.
    trade_off : float
        λ, the price of N.
    show : callable, optional
        Called after each evaluation, once both scales are known.

    Attributes
    ----------
    evaluations : dict
        Every :class:`Evaluation` by its (k, α), in the order in which they were made.
    """

    def __init__(
        self,
        mixture: Mixture,
        grower: TreeGrower,
        cluster: Clusterer,
        weight: np.ndarray,
        k_range: tuple[int, int],
        trade_off: float,
        show: Callable[[Evaluator], None] = lambda evaluator: None,
    ) -> None:
        self.mixture, self.grower, self.cluster = mixture, grower, cluster
        self.weight, self.trade_off = weight, trade_off
        self.show: Callable[[Evaluator], None] = lambda evaluator: None
        self.evaluations: dict[tuple[int, float], Evaluation] = {}
        k_min, k_max = k_range
        self.scale_d, self.scale_n = 1.0, 1.0
        self.scale_d = self.evaluate(k_min, 1.0).distortion or 1.0
        self.scale_n = float(self.evaluate(k_max, 0.0).n_nodes)
        self.show = show

    def evaluate(self, k: int, alpha: float) -> Evaluation:
        """The evaluation of a pair, made now or remembered."""
        pair = int(k), float(alpha)
        if pair not in self.evaluations:
            found = self.cluster(*pair)
            _, labels = np.unique(found, return_inverse=True)
            distortion, medoids = distortion_and_medoids(self.mixture.accuracy, labels, self.weight)
            n_nodes, accuracy = self.grower.size(labels)
            self.evaluations[pair] = Evaluation(
                *pair, distortion, n_nodes, accuracy, labels, medoids
            )
            self.show(self)
        return self.evaluations[pair]

    def parts(self, k: int, alpha: float) -> tuple[float, float]:
        """(D, N) of a pair, normalised."""
        return self.normalised(self.evaluate(k, alpha))

    def normalised(self, evaluation: Evaluation) -> tuple[float, float]:
        """(D, N) of an evaluation, normalised."""
        return evaluation.distortion / self.scale_d, evaluation.n_nodes / self.scale_n

    def objective(self, k: int, alpha: float) -> float:
        """D + λ·N of a pair, normalised."""
        distortion, n_nodes = self.parts(k, alpha)
        return distortion + self.trade_off * n_nodes

    def best(self) -> Evaluation:
        """The evaluation of least objective so far; the smaller k and then α among equals."""
        pair = min(self.evaluations, key=lambda pair: (self.objective(*pair), pair))
        return self.evaluations[pair]

    def table(self) -> np.ndarray:
        """All evaluations, as a structured array in the order in which they were made."""
        rows = []
        for pair, one in self.evaluations.items():
            measured = one.k, one.alpha, one.distortion, one.n_nodes
            rows.append((*measured, *self.normalised(one), self.objective(*pair), one.accuracy))
        return np.array(rows, dtype=EVALUATION_FIELDS)


EVALUATION_FIELDS = [
    ("k", np.int64),
    ("alpha", np.float64),
    ("distortion", np.float64),
    ("n_nodes", np.int64),
    ("normalised_distortion", np.float64),
    ("normalised_nodes", np.float64),
    ("objective", np.float64),
    ("accuracy", np.float64),
]


def distortion_and_medoids(
    distances: np.ndarray, labels: np.ndarray, weight: np.ndarray
) -> tuple[float, np.ndarray]:
    """Sum of squared distances of the rows to the medoid of their cluster, and the medoids.

    The medoid of a cluster is the member for which that sum over the cluster is least; the
    first of several.
    """
    total, medoids = 0.0, []
    for cluster in range(int(labels.max()) + 1):
        members = np.flatnonzero(labels == cluster)
        sums = np.square(distances[np.ix_(members, members)]) @ weight[members]
        best = int(sums.argmin())
        total += float(sums[best])
        medoids.append(members[best])
    return total, np.array(medoids, dtype=np.intp)


class KMedoidsStarts:
    """k-medoids from several starts, of which the clustering of least loss is kept.

    Parameters
    ----------
    mixture : Mixture
    weight : ndarray or None
        None where all weights are 1.
    init : {"ends", "build", "neighbour"}
        ``"build"``: one start, BUILD. ``"ends"``: also the medoids that BUILD and swaps find
        for the same k at α = 0 and at α = 1, which are remembered, so that the clustering of a
        pair is the same whichever pairs came before it. ``"neighbour"``: also the medoids of
        the nearest pair that was clustered before.
    """

    def __init__(
        self,
        mixture: Mixture,
        weight: np.ndarray | None,
        init: str,
        n_jobs: int | None = None,
    ) -> None:
        self.mixture, self.weight, self.init, self.n_jobs = mixture, weight, init, n_jobs
        self._ends: dict[tuple[int, float], np.ndarray] = {}
        self._known: dict[tuple[int, float], np.ndarray] = {}

    def __call__(self, k: int, alpha: float) -> np.ndarray:
        """A cluster for each row."""
        ends = [self._end(k, end) for end in (0.0, 1.0)] if self.init == "ends" else []
        distances = self.mixture.at(alpha)
        starts: list[Any] = ["build", *ends]
        if self.init == "neighbour" and self._known:
            starts.append(self._known[min(self._known, key=lambda pair: _away(pair, k, alpha))])
        found = [self._cluster(distances, k, start) for start in starts]
        best = min(found, key=lambda one: one.loss)
        self._known[k, alpha] = best.indices
        return best.labels

    def _end(self, k: int, alpha: float) -> np.ndarray:
        if (k, alpha) not in self._ends:
            found = self._cluster(self.mixture.at(alpha), k, "build")
            self._ends[k, alpha] = found.indices
        return self._ends[k, alpha]

    def _cluster(self, distances: np.ndarray, k: int, start: Any):
        from pellucid.xclusters.medoids import k_medoids

        # Both matrices were looked at before they were mixed.
        how = {"init": start, "n_jobs": self.n_jobs, "check_input": False}
        return k_medoids(distances, k, weights=self.weight, **how)


def _away(pair: tuple[int, float], k: int, alpha: float) -> tuple:
    """How far a pair is from (k, α): first by k, which changes a clustering more than α does."""
    return abs(pair[0] - k), abs(pair[1] - alpha), pair
