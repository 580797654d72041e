"""Training rows with classes and weights, and their projections."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import assert_all_finite, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length

from pellucid._core.data.arrays import Weights
from pellucid._utils.threads import SERIAL, ThreadPool
from pellucid.tree.predictor import column_values

N_FOLDS = 3
"""Folds of cross-validations."""


@dataclass(frozen=True)
class Settings:
    """Parameters of the level search; see `EOPClassifier` and `ATEOPClassifier`.

    If `optimizes`, boxes are optimized together at the end, with each η of `penalties` in turn.
    """

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
    optimizes: bool = False
    penalties: tuple[float, ...] = ()

    @property
    def purity_limit(self) -> float:
        """Largest error of a class in a region: ε if strict, else one half."""
        return self.max_error if self.is_strict else max(self.max_error, 0.5)


def is_error_allowed(wrong: Any, total: Any, max_error: float) -> Any:
    """Whether wrong / total is at most `max_error`, with a tolerance for rounding errors."""
    return wrong <= max_error * total * (1 + 1e-12)


def read_classes(estimator: Any, y: Any, X: Any) -> np.ndarray:
    """Validate the class labels."""
    if y is None:
        raise ValueError(
            f"This {type(estimator).__name__} estimator requires y to be passed, but the target "
            "y is None."
        )
    y = column_or_1d(y, warn=True)
    check_consistent_length(X, y)
    if y.dtype.kind == "f":
        assert_all_finite(y, input_name="y")
    check_classification_targets(y)
    return y


def as_repetitions(weight: np.ndarray) -> tuple[np.ndarray, float]:
    """Return integer weights unchanged and scale other weights to a mean of 1.

    The second result is the given weight that counts as 1.
    """
    if (weight == np.rint(weight)).all():
        return weight, 1.0
    unit = float(weight.sum() / np.count_nonzero(weight))
    return weight * (np.count_nonzero(weight) / weight.sum()), unit


def hold_out(
    y: np.ndarray, n_classes: int, share: float, random: np.random.RandomState
) -> tuple[np.ndarray, np.ndarray]:
    """Indices of training rows and of a share of held-out rows, drawn at random in each class.

    Each class keeps at least one training row.
    """
    is_held = np.zeros(len(y), dtype=bool)
    for class_index in range(n_classes):
        rows = np.flatnonzero(y == class_index)
        n_held = min(round(share * len(rows)), len(rows) - 1)
        if n_held > 0:
            is_held[random.permutation(rows)[:n_held]] = True
    return np.flatnonzero(~is_held), np.flatnonzero(is_held)


def stratified_folds(y: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Fold of each row: those of a class, in the given order, go to the folds in turn.

    `StratifiedKFold` of scikit-learn refuses, or warns of, classes with fewer rows than folds.
    """
    order = order[np.argsort(y[order], kind="stable")]
    fold = np.empty(len(y), dtype=np.int64)
    fold[order] = np.arange(len(y)) % N_FOLDS
    return fold


class RegionProblem:
    """Training rows (an array or a CSC matrix) with class indices and weights."""

    X: Any
    y: np.ndarray
    n_classes: int
    weights: Weights
    pool: ThreadPool

    def __init__(
        self, X: Any, y: np.ndarray, n_classes: int, weights: Weights, pool: ThreadPool = SERIAL
    ) -> None:
        # Fortran order, because columns are read one at a time.
        self.X = X if sparse.issparse(X) else np.asfortranarray(X)
        self.y, self.n_classes = y, n_classes
        self.weights, self.pool = weights, pool

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return self.X.shape[1]

    @property
    def units(self) -> np.ndarray:
        """Row weights as integer multiples of a power-of-two unit."""
        return self.weights.units

    def weight(self, rows: np.ndarray) -> np.ndarray:
        """Weights of the given rows."""
        return self.units[rows] / self.weights.units_per_weight

    def total(self, rows: np.ndarray) -> int:
        """Total weight of the given rows in units."""
        return int(self.units[rows].sum())

    def class_units(self, rows: np.ndarray) -> np.ndarray:
        """Weight of each class among the given rows, in units."""
        totals = np.zeros(self.n_classes, dtype=np.int64)
        np.add.at(totals, self.y[rows], self.units[rows])
        return totals

    @cached_property
    def scales(self) -> tuple[np.ndarray, np.ndarray]:
        """Mean and standard deviation of each column, rounded to about three digits.

        They are only used to standardize columns. The rounding makes them independent of the
        summation order and of whether a row is repeated or weighted.
        """
        all_rows = np.arange(len(self.y))
        weight = self.weight(all_rows)
        weight = weight / weight.sum()

        def work(feature: int) -> tuple[float, float]:
            values = column_values(self.X, feature, all_rows)
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
        all_rows = np.arange(len(self.y))

        def is_binary(feature: int) -> bool:
            values = column_values(self.X, feature, all_rows)
            return bool(((values == 0) | (values == 1)).all())

        found = self.pool.map(is_binary, range(self.n_features))
        return frozenset(np.flatnonzero(found).tolist())

    @cached_property
    def useful_features(self) -> np.ndarray:
        """Columns that are neither constant nor a copy of an earlier column."""
        all_rows = np.arange(len(self.y))
        by_sample: dict[bytes, list[int]] = {}
        for feature in range(self.n_features):
            values = column_values(self.X, feature, all_rows)
            if values.min() == values.max():
                continue
            similar = by_sample.setdefault(values[:: max(len(values) // 64, 1)].tobytes(), [])
            if not any(
                np.array_equal(values, column_values(self.X, other, all_rows)) for other in similar
            ):
                similar.append(feature)
        return np.sort(np.array([f for same in by_sample.values() for f in same], dtype=np.int64))


@dataclass(frozen=True)
class ProjectionView:
    """Input of the region search: projected rows and whether they are correctly classified.

    Weights are integers; `units_per_weight` of them are a weight of 1. Held-out rows may be none.
    """

    P: np.ndarray
    correct: np.ndarray
    units: np.ndarray
    held_P: np.ndarray
    held_correct: np.ndarray
    held_units: np.ndarray
    scale: np.ndarray
    """Columns are divided by these values before distances are computed."""
    units_per_weight: float
    min_units: float = 0.0
    """Minimum weight of a region (α times the weight of its class)."""
    facet_units: float = 0.0
    """Weight by which each inequality of a region has to increase its surplus."""
    max_regions: int = 20
    max_required_rows: float = np.inf
    """A region needs ⌈1 / ε⌉ rows, but never more than this number."""

    def without_held_out(self) -> ProjectionView:
        """The same view without held-out rows."""
        none = slice(0, 0)
        return replace(
            self,
            held_P=self.held_P[none],
            held_correct=self.held_correct[none],
            held_units=self.held_units[none],
        )

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
        """Whether there are held-out rows."""
        return len(self.held_P) > 0
