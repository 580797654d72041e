"""Training rows with classes and weights, and their projections."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import assert_all_finite, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length

from pellucid._core.data.arrays import Weights
from pellucid._utils.threads import SERIAL, ThreadPool
from pellucid.tree.predictor import column_values

N_FOLDS = 3  # folds of cross-validations
MAX_SUBSETS = 2_000_000  # largest number of subsets that ``projections="all"`` enumerates


@dataclass(frozen=True)
class Settings:
    """Parameters of the level search; see `EOPClassifier` and `ATEOPClassifier`."""

    max_error: float
    complexity_penalty: float
    n_candidates: int | None
    min_support: float
    max_levels: int | None
    relax: float
    choose: str
    confidence: float = 0.0
    is_strict: bool = False
    has_default: bool = True
    optimizes: bool = False  # whether boxes are optimized together at the end,
    penalties: tuple[float, ...] = ()  # with each η in turn

    @property
    def purity_limit(self) -> float:
        """Largest error of a class in a region: ε if strict, else one half."""
        return self.max_error if self.is_strict else max(self.max_error, 0.5)


def is_error_allowed(wrong: Any, total: Any, max_error: float) -> Any:
    """Whether wrong / total is at most `max_error`, with a tolerance for rounding errors."""
    return wrong <= max_error * total * (1 + 1e-12)


def read_classes(estimator: Any, y: Any, X: Any) -> np.ndarray:
    if y is None:
        text = f"This {type(estimator).__name__} estimator requires y to be passed, but the target "
        raise ValueError(f"{text}y is None.")
    y = column_or_1d(y, warn=True)
    check_consistent_length(X, y)
    if y.dtype.kind == "f":
        assert_all_finite(y, input_name="y")
    check_classification_targets(y)
    return y


def read_true_classes(y: Any, X: Any) -> np.ndarray:
    """The classes of given rows, one per row."""
    y = column_or_1d(y)
    check_consistent_length(X, y)
    return y


def as_repetitions(weight: np.ndarray) -> tuple[np.ndarray, float]:
    """Integer weights unchanged, others scaled to a mean of 1; and the weight that counts as 1."""
    if (weight == np.rint(weight)).all():
        return weight, 1.0
    total, n = weight.sum(), np.count_nonzero(weight)
    return weight * (n / total), float(total / n)


def hold_out(
    y: np.ndarray, n_classes: int, share: float, random: np.random.RandomState
) -> tuple[np.ndarray, np.ndarray]:
    """Training rows, at least one per class, and a share of held-out rows drawn in each class."""
    is_held = np.zeros(len(y), dtype=bool)
    for class_index in range(n_classes):
        rows = np.flatnonzero(y == class_index)
        n_held = min(round(share * len(rows)), len(rows) - 1)
        if n_held > 0:
            is_held[random.permutation(rows)[:n_held]] = True
    return np.flatnonzero(~is_held), np.flatnonzero(is_held)


def stratified_folds(y: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Fold of each row: those of a class, in the given order, go to the folds in turn."""
    # `StratifiedKFold` of scikit-learn refuses, or warns of, classes with fewer rows than folds.
    order = order[np.argsort(y[order], kind="stable")]
    fold = np.empty(len(y), dtype=np.int64)
    fold[order] = np.arange(len(y)) % N_FOLDS
    return fold


def list_projections(
    features: np.ndarray, max_dim: int, projections: str | int, random: np.random.RandomState
) -> list[np.ndarray]:
    """Subsets of at most `max_dim` columns: one array per size, in lexicographic order."""
    sizes = range(1, min(max_dim, len(features)) + 1)
    counts = [comb(len(features), size) for size in sizes]
    if projections == "all":
        if sum(counts) > MAX_SUBSETS:
            raise ValueError(
                f"there are {sum(counts):,} subsets of up to {max_dim} of the {len(features):,} "
                "columns; set projections to a number, for example projections=5000, to draw "
                "that many at random"
            )
        return [features[_all_subsets(len(features), size)] for size in sizes]
    # Equal parts of at most `counts`; the rest goes to larger counts.
    quotas = [0] * len(counts)
    for done, i in enumerate(sorted(range(len(counts)), key=counts.__getitem__)):
        quotas[i] = min(counts[i], (int(projections) - sum(quotas)) // (len(counts) - done))
    drawn = (_draw(len(features), *each, random) for each in zip(sizes, quotas, counts))
    return [features[subsets] for subsets in drawn]


def _all_subsets(n: int, size: int) -> np.ndarray:
    """Subsets of 0 .. n - 1, in lexicographic order."""
    return np.array(list(combinations(range(n), size)), dtype=np.int64).reshape(-1, size)


def _draw(n: int, size: int, quota: int, count: int, random: np.random.RandomState) -> np.ndarray:
    """Draw distinct subsets of 0 .. n - 1, in lexicographic order."""
    if quota * 2 >= count:
        return _all_subsets(n, size)[np.sort(random.choice(count, quota, replace=False))]
    drawn: set[tuple[int, ...]] = set()
    while len(drawn) < quota:
        drawn.add(tuple(sorted(random.choice(n, size, replace=False).tolist())))
    return np.array(sorted(drawn), dtype=np.int64).reshape(quota, size)


@dataclass(eq=False)
class RegionProblem:
    """Training rows (an array or a CSC matrix) with class indices and weights; units are exact."""

    X: Any
    y: np.ndarray
    n_classes: int
    weights: Weights
    pool: ThreadPool = SERIAL

    def __post_init__(self) -> None:
        # Fortran order, because columns are read one at a time.
        self.X = self.X if sparse.issparse(self.X) else np.asfortranarray(self.X)
        self.n_features: int = self.X.shape[1]
        self.units: np.ndarray = self.weights.units
        self._all_rows = np.arange(len(self.y))

    def weight(self, rows: np.ndarray) -> np.ndarray:
        return self.units[rows] / self.weights.units_per_weight

    def total(self, rows: np.ndarray) -> int:
        """Total weight of the given rows in units."""
        return int(self.units[rows].sum())

    def class_units(self, rows: np.ndarray) -> np.ndarray:
        """Weight of each class among the given rows, in units."""
        totals = np.bincount(self.y[rows], self.units[rows], self.n_classes)  # exact
        return totals.astype(np.int64)

    @cached_property
    def scales(self) -> tuple[np.ndarray, np.ndarray]:
        """Mean and standard deviation of columns, rounded: the order of sums does not matter."""
        weight = self.weight(self._all_rows)
        weight = weight / weight.sum()

        def work(feature: int) -> tuple[float, float]:
            values = column_values(self.X, feature, self._all_rows)
            magnitude = np.abs(values).max(initial=0.0) or 1.0
            values = values / magnitude
            mean = float(weight @ values)
            deviation = float(np.sqrt(weight @ (values - mean) ** 2))
            if deviation < 1e-9:
                return mean * magnitude, magnitude
            fraction, exponent = np.frexp(deviation)
            deviation = np.ldexp(np.round(fraction * 1024) / 1024, exponent)
            mean = np.round(mean / deviation * 1024) / 1024 * deviation
            return mean * magnitude, deviation * magnitude

        moments = np.array(self.pool.map(work, range(self.n_features)))
        return moments[:, 0], moments[:, 1]

    @cached_property
    def binary_features(self) -> frozenset[int]:
        """Columns of zeros and ones."""

        def is_binary(feature: int) -> bool:
            values = column_values(self.X, feature, self._all_rows)
            return bool(((values == 0) | (values == 1)).all())

        found = self.pool.map(is_binary, range(self.n_features))
        return frozenset(np.flatnonzero(found).tolist())

    @cached_property
    def useful_features(self) -> np.ndarray:
        """Columns that are neither constant nor a copy of an earlier column."""
        rows = self._all_rows
        by_sample: dict[bytes, list[int]] = {}
        for feature in range(self.n_features):
            values = column_values(self.X, feature, rows)
            if values.min() == values.max():
                continue
            similar = by_sample.setdefault(values[:: max(len(values) // 64, 1)].tobytes(), [])
            copies = (np.array_equal(values, column_values(self.X, f, rows)) for f in similar)
            if not any(copies):
                similar.append(feature)
        return np.sort(np.array([f for same in by_sample.values() for f in same], dtype=np.int64))


@dataclass(frozen=True)
class ProjectionView:
    """Projected rows, and whether they are correctly classified; held-out rows may be none."""

    P: np.ndarray
    correct: np.ndarray
    units: np.ndarray
    held_P: np.ndarray
    held_correct: np.ndarray
    held_units: np.ndarray
    scale: np.ndarray  # columns are divided by these values before distances are computed
    units_per_weight: float  # `units` are integers, of which this number is a weight of 1
    min_units: float = 0.0  # minimum weight of a region (α times the weight of its class)
    facet_units: float = 0.0  # weight by which each inequality has to increase the surplus
    max_regions: int = 20
    max_required_rows: float = np.inf  # a region needs ⌈1 / ε⌉ rows, but never more than this

    @property
    def all_P(self) -> np.ndarray:
        """Training rows, then held-out rows."""
        return np.concatenate([self.P, self.held_P])

    @property
    def all_units(self) -> np.ndarray:
        """Weights of the training rows, then of the held-out rows."""
        return np.concatenate([self.units, self.held_units])

    @property
    def all_correct(self) -> np.ndarray:
        """Whether training rows, then held-out rows, are correctly classified."""
        return np.concatenate([self.correct, self.held_correct])

    @property
    def has_held_out(self) -> bool:
        return len(self.held_P) > 0
