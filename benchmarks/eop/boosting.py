"""AdaBoost over linear SVMs, each in the pair of columns where it is best at that round."""

from __future__ import annotations

from itertools import combinations

import numpy as np

_NEWTON_STEPS = 12
_HALVINGS = 8


class BoostedPlanes:
    """AdaBoost for two classes, with the linear SVMs of all pairs of columns as weak learners.

    EOP takes its linear SVMs from the same pairs. A linear SVM in all columns at once is no weak
    learner on these data: from the second round on it is wrong about half of the weight.

    The SVMs minimise |w|²/2 + C Σ weight · max(0, 1 − y w·x)², the intercept being one of the
    weights, as scikit-learn's LinearSVC does, for all pairs at once by Newton's method.

    Parameters
    ----------
    n_members : int
        Rounds at most; fewer when no learner is right about more than half of the weight.
    C : float
    """

    def __init__(self, n_members: int = 100, C: float = 1.0) -> None:
        self.n_members, self.C = n_members, C

    def fit(self, X: np.ndarray, y: np.ndarray) -> BoostedPlanes:
        """Learn from rows and their classes."""
        self.classes_ = np.unique(y)
        if len(self.classes_) != 2:
            raise ValueError(f"{len(self.classes_)} classes; this booster knows two")
        sign = np.where(y == self.classes_[1], 1.0, -1.0)
        pairs = list(combinations(range(X.shape[1]), 2))
        planes = np.stack([_with_intercept(X, pair) for pair in pairs])
        weight, normals = np.ones(len(y)), None
        self.members_: list[tuple[float, tuple[int, int], np.ndarray]] = []
        for _ in range(self.n_members):
            normals = fit_planes(planes, sign, weight, self.C, normals)
            answers = np.where((planes @ normals[:, :, None])[:, :, 0] > 0, 1.0, -1.0)
            errors = (answers != sign) @ weight / weight.sum()
            best = int(errors.argmin())
            error = max(float(errors[best]), 1e-10)
            if error >= 0.5:
                break
            vote = 0.5 * np.log((1 - error) / error)
            self.members_.append((vote, pairs[best], normals[best]))
            weight *= np.exp(-vote * sign * answers[best])
            weight *= len(y) / weight.sum()
        return self

    def staged_predict(self, X: np.ndarray):
        """Answers after each round."""
        total = np.zeros(len(X))
        for vote, pair, normal in self.members_:
            total += vote * np.where(_with_intercept(X, pair) @ normal > 0, 1.0, -1.0)
            yield self.classes_[(total > 0).astype(int)]


def fit_planes(
    planes: np.ndarray,
    sign: np.ndarray,
    weight: np.ndarray,
    C: float = 1.0,
    start: np.ndarray | None = None,
) -> np.ndarray:
    """Linear SVMs (squared hinge) of many small sets of columns at once.

    Parameters
    ----------
    planes : ndarray of shape (n_sets, n_samples, n_columns)
    sign : ndarray of shape (n_samples,)
        -1 or 1.
    weight : ndarray of shape (n_samples,)
    C : float
    start : ndarray of shape (n_sets, n_columns), optional
        Where to begin the search.

    Returns
    -------
    ndarray of shape (n_sets, n_columns)
    """
    n_sets, _, n_columns = planes.shape
    normals = np.zeros((n_sets, n_columns)) if start is None else start.copy()
    slack = _slack(planes, normals, sign)
    turned = np.ascontiguousarray(planes.transpose(0, 2, 1))
    cost = _cost(normals, slack, weight, C)
    for _ in range(_NEWTON_STEPS):
        pull = weight * slack
        active = weight * (slack > 0)
        gradient = normals - 2 * C * ((pull * sign)[:, None] @ planes)[:, 0]
        curvature = np.eye(n_columns) + 2 * C * (turned * active[:, None]) @ planes
        step = np.linalg.solve(curvature, gradient[:, :, None])[:, :, 0]
        length = np.ones(n_sets)
        for _ in range(_HALVINGS):
            candidate = normals - length[:, None] * step
            new_slack = _slack(planes, candidate, sign)
            new_cost = _cost(candidate, new_slack, weight, C)
            worse = new_cost > cost
            if not worse.any():
                break
            length[worse] /= 2
        better = new_cost <= cost
        normals[better], slack[better] = candidate[better], new_slack[better]
        gain = np.max((cost - new_cost)[better] / cost[better], initial=0.0)
        cost = np.where(better, new_cost, cost)
        if gain < 1e-4:
            break
    return normals


def _slack(planes, normals, sign) -> np.ndarray:
    return np.maximum(1 - sign * (planes @ normals[:, :, None])[:, :, 0], 0.0)


def _cost(normals, slack, weight, C) -> np.ndarray:
    return (normals**2).sum(axis=1) / 2 + C * slack**2 @ weight


def _with_intercept(X: np.ndarray, columns: tuple[int, ...]) -> np.ndarray:
    return np.column_stack([X[:, columns], np.ones(len(X))])
