"""Evaluate pairs (k, α): the clustering, its distortion D, and the tree size N."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from pellucid._utils.progress import Progress
from pellucid.xclusters.medoids import Medoids, k_medoids
from pellucid.xclusters.trees import ROUNDING, TreeGrower

_BLOCK = 2**20  # entries that are mixed at a time, to avoid a second temporary matrix
# Least part of each distance at α = 0 and α = 1, where it only decides ties of the other.
_TIE = 2.0**-20
_PENALTY = 1e6  # larger than the difference of two normalized objectives
Clusterer = Callable[[int, float], np.ndarray]  # (k, α) -> cluster labels of the rows


class Mixture:
    """Mixes two distance matrices into one reused matrix: (1 − α)·a / max(a) + α·e / max(e)."""

    def __init__(self, accuracy: np.ndarray, explanation: np.ndarray) -> None:
        self.accuracy = accuracy
        self.explanation = explanation
        # A matrix of zeros is not normalized.
        self._scales = [float(matrix.max()) or 1.0 for matrix in (accuracy, explanation)]
        self._mixed = np.empty(accuracy.shape)
        self._alpha = -1.0

    def at(self, alpha: float) -> np.ndarray:
        """The mixed distances; the matrix is overwritten by the next call."""
        if alpha != self._alpha:
            self._alpha = alpha
            factor_a = max(1 - alpha, _TIE) / self._scales[0]
            factor_e = max(alpha, _TIE) / self._scales[1]
            n = len(self._mixed)
            step = max(_BLOCK // max(n, 1), 1)
            for first in range(0, n, step):
                rows = slice(first, first + step)
                np.multiply(self.accuracy[rows], factor_a, out=self._mixed[rows])
                self._mixed[rows] += self.explanation[rows] * factor_e
        return self._mixed


class Evaluation(NamedTuple):
    """Clustering, distortion and tree size of one pair (k, α)."""

    k: int
    alpha: float
    distortion: float  # D, the sum of squared accuracy distances to the medoids
    n_nodes: int  # N, the number of nodes of the tree
    accuracy: float  # accuracy of the tree as a predictor of the clusters
    labels: np.ndarray
    medoids: np.ndarray
    """Per cluster, the member with the smallest mean squared accuracy distance to the others."""


@dataclass
class Evaluator:
    """Evaluate each pair once, cache it, and normalize D and N.

    D is divided by D(k_min, α = 1), and N by N(k_max, α = 0): the largest values if D and N are
    monotone. They are evaluated first. `trade_off` is the weight λ of N.
    """

    mixture: Mixture
    grower: TreeGrower
    cluster: Clusterer
    weight: np.ndarray
    k_range: tuple[int, int]
    trade_off: float
    progress: Progress = field(default_factory=lambda: Progress("", 0, False))
    min_size: int = 1  # distinct rows that a cluster should have
    evaluations: dict[tuple[int, float], Evaluation] = field(default_factory=dict)
    scale_d: float = 0.0
    scale_n: float = 0.0  # what D and N are divided by; 0 while the two pairs are evaluated
    lower: float | None = None  # lower bound of the objective, for the reports

    def __post_init__(self) -> None:
        k_min, k_max = self.k_range
        coarsest, finest = self.evaluate(k_min, 1.0), self.evaluate(k_max, 0.0)
        self.scale_d, self.scale_n = coarsest.distortion or 1.0, float(finest.n_nodes)

    def evaluate(self, k: int, alpha: float) -> Evaluation:
        pair = int(k), float(alpha)
        if pair not in self.evaluations:
            _, labels = np.unique(self.cluster(*pair), return_inverse=True)
            distortion, medoids = distortion_and_medoids(self.mixture.accuracy, labels, self.weight)
            n_nodes, accuracy = self.grower.size(labels)
            self.evaluations[pair] = Evaluation(
                *pair, distortion, n_nodes, accuracy, labels, medoids
            )
            self._report()
        return self.evaluations[pair]

    def normalized_parts(self, k: int, alpha: float) -> tuple[float, float]:
        evaluation = self.evaluate(k, alpha)
        return evaluation.distortion / self.scale_d, evaluation.n_nodes / self.scale_n

    def objective(self, k: int, alpha: float) -> float:
        """D + λ·N of a pair, with normalized D and N."""
        distortion, n_nodes = self.normalized_parts(k, alpha)
        return distortion + self.trade_off * n_nodes

    def penalty(self, k: int, alpha: float) -> float:
        """0 if the tree of a pair reaches its required accuracy, else a large number.

        Fewer clusters than the smallest k, which identical rows cause, are worst. A cluster of
        fewer rows than `min_size` is better than a less accurate tree.
        """
        evaluation = self.evaluate(k, alpha)
        shortfall = self.grower.min_accuracy - evaluation.accuracy
        if len(evaluation.medoids) < self.k_range[0]:
            shortfall = 1.0
        unit = _PENALTY * (1 + self.trade_off)
        small = 0.5 * unit if np.bincount(evaluation.labels).min() < self.min_size else 0.0
        return small + (unit * (1 + shortfall) if shortfall > ROUNDING else 0.0)

    def score(self, k: int, alpha: float) -> float:
        """What is minimized: the objective and the penalty of a pair."""
        return self.objective(k, alpha) + self.penalty(k, alpha)

    def best(self) -> Evaluation:
        return self.evaluations[min(self.evaluations, key=lambda pair: (self.score(*pair), pair))]

    def set_bound(self, best: float, lower: float) -> None:
        self.lower = lower

    def _report(self) -> None:
        if not self.scale_n or not self.progress.is_reported:
            return
        best = self.best()
        bound = "" if self.lower is None else f", bound {self.lower:.4f}"
        self.progress.report(
            f"{len(self.evaluations)} evaluations, best {self.objective(best.k, best.alpha):.4f} "
            f"at k = {best.k}, α = {best.alpha:.3g}{bound}"
        )

    def table(self) -> np.ndarray:
        """All evaluations as a structured array, in the order of evaluation."""
        fields = [("k", "i8"), ("alpha", "f8"), ("distortion", "f8"), ("n_nodes", "i8")]
        parts = ("normalised_distortion", "normalised_nodes", "objective", "accuracy")
        rows = [
            (*found[:4], *self.normalized_parts(*pair), self.objective(*pair), found.accuracy)
            for pair, found in self.evaluations.items()
        ]
        return np.array(rows, dtype=fields + [(name, "f8") for name in parts])


def distortion_and_medoids(
    distances: np.ndarray, labels: np.ndarray, weight: np.ndarray
) -> tuple[float, np.ndarray]:
    """D = Σ_i w_i · d(i, medoid of the cluster of i)², and the medoids, which minimize it."""
    total, medoids = 0.0, []
    for cluster in range(int(labels.max()) + 1):
        members = np.flatnonzero(labels == cluster)
        sums = np.square(distances[np.ix_(members, members)]) @ weight[members]
        best = int(sums.argmin())
        total += float(sums[best])
        medoids.append(members[best])
    return total, np.array(medoids, dtype=np.intp)


@dataclass
class KMedoidsStarts:
    """k-medoids from the starts that the `init` of XClusters names; the smallest loss is kept."""

    mixture: Mixture
    weight: np.ndarray | None
    init: str
    n_jobs: int | None = None
    _built: dict[tuple[int, float], np.ndarray] = field(default_factory=dict)
    """Medoids at α = 0 and α = 1, started from BUILD."""
    _medoids: dict[tuple[int, float], np.ndarray] = field(default_factory=dict)

    def __call__(self, k: int, alpha: float) -> np.ndarray:
        """Cluster labels of the rows; no more clusters than rows."""
        k = min(k, len(self.mixture.accuracy))
        starts: list[Any] = ["build"]
        if self.init == "ends":
            for pair in ((k, 0.0), (k, 1.0)):
                if pair not in self._built:
                    self._built[pair] = self._cluster(*pair, "build").indices
                starts.append(self._built[pair])
        elif self.init == "neighbour" and self._medoids:
            # k first, because it changes a clustering more than α does.
            known = self._medoids
            nearest = min(known, key=lambda pair: (abs(pair[0] - k), abs(pair[1] - alpha), pair))
            starts.append(known[nearest])
        best = min((self._cluster(k, alpha, s) for s in starts), key=lambda result: result.loss)
        self._medoids[k, alpha] = best.indices
        return best.labels

    def _cluster(self, k: int, alpha: float, start: Any) -> Medoids:
        # Both matrices were checked before they were mixed.
        options: dict[str, Any] = {"n_jobs": self.n_jobs, "check_input": False}
        return k_medoids(self.mixture.at(alpha), k, weights=self.weight, init=start, **options)
