"""Linear classifiers on many small sets of columns, by Newton's method."""

from __future__ import annotations

import numpy as np

from pellucid._utils.compilation import allocating, compiled, inner

MAX_STEPS = 30
"""Maximum number of Newton steps."""

_HALVINGS = 12


@inner
def _loss(margin, is_logistic):
    """Loss of the margin m = t·f, with its first and second derivative.

    Squared hinge loss max(0, 1 - m)², or logistic loss log(1 + exp(-m)).
    """
    if is_logistic:
        if margin > 0:
            e = np.exp(-margin)
            p = e / (1 + e)
            return np.log1p(e), -p, p * (1 - p)
        e = np.exp(margin)
        p = 1 / (1 + e)
        return np.log1p(e) - margin, -p, p * (1 - p)
    gap = 1 - margin
    if gap <= 0:
        return 0.0, 0.0, 0.0
    return gap * gap, -2 * gap, 2.0


@inner
def _objective(w, columns, subset, positive, y, weight, C, is_logistic, gradient, hessian):
    """½ |w|² + C Σ s·loss(t·(w·x + b)), with gradient and Hessian; b is the last entry of w."""
    dim = len(subset)
    gradient[:] = 0
    hessian[:] = 0
    total = 0.0
    for i in range(len(y)):
        f = w[dim]
        for a in range(dim):
            f += w[a] * columns[subset[a], i]
        sign = 1.0 if y[i] == positive else -1.0
        value, first, second = _loss(sign * f, is_logistic)
        s = C * weight[i]
        total += s * value
        first *= s * sign
        second *= s
        for a in range(dim):
            x = columns[subset[a], i]
            gradient[a] += first * x
            hessian[a, dim] += second * x
            for b in range(a + 1):
                hessian[a, b] += second * x * columns[subset[b], i]
        gradient[dim] += first
        hessian[dim, dim] += second
    for a in range(dim):
        total += 0.5 * w[a] * w[a]
        gradient[a] += w[a]
        hessian[a, a] += 1.0
        hessian[dim, a] = hessian[a, dim]
        for b in range(a):
            hessian[b, a] = hessian[a, b]
    # Keeps the system regular if no row lies inside the margin.
    hessian[dim, dim] += 1e-8
    return total


@inner
def _solve(matrix, vector):
    """Solve a small positive definite system in place by Gaussian elimination."""
    n = len(vector)
    for a in range(n):
        for b in range(a + 1, n):
            factor = matrix[b, a] / matrix[a, a]
            for c in range(a, n):
                matrix[b, c] -= factor * matrix[a, c]
            vector[b] -= factor * vector[a]
    for a in range(n - 1, -1, -1):
        for b in range(a + 1, n):
            vector[a] -= matrix[a, b] * vector[b]
        vector[a] /= matrix[a, a]


@allocating
def fit_linear(columns, subsets, y, weight, n_classes, present, C, is_logistic, coef):
    """Fit one-vs-rest linear classifiers for every subset of the columns.

    Parameters
    ----------
    columns : (n_columns, n) float64
        Standardized columns.
    subsets : (n_subsets, dim) int64
    y : (n,) int64
    weight : (n,) float64
    n_classes : int
    present : (n_classes,) bool
        Whether each class has rows; the others are never predicted.
    C : float
    is_logistic : bool
    coef : (n_subsets, n_classes, dim + 1) float64, filled in
        Weights and intercept of each class. With two classes the first is minus the second.
    """
    size = subsets.shape[1] + 1
    gradient, trial_gradient = np.empty(size), np.empty(size)
    hessian, trial_hessian = np.empty((size, size)), np.empty((size, size))
    step, w, trial = np.empty(size), np.empty(size), np.empty(size)
    for s in range(len(subsets)):
        subset = subsets[s]
        for c in range(n_classes):
            if not present[c]:
                coef[s, c, :] = 0
                coef[s, c, size - 1] = -np.inf
                continue
            if n_classes == 2 and c == 1 and present[0]:
                for a in range(size):
                    coef[s, 1, a] = -coef[s, 0, a]
                continue
            w[:] = 0
            value = _objective(w, columns, subset, c, y, weight, C, is_logistic, gradient, hessian)
            for _ in range(MAX_STEPS):
                for a in range(size):
                    step[a] = gradient[a]
                _solve(hessian, step)
                slope = 0.0
                for a in range(size):
                    slope += step[a] * gradient[a]
                if not slope > 1e-10 * (1 + value):
                    break
                length = 1.0
                for _ in range(_HALVINGS):
                    for a in range(size):
                        trial[a] = w[a] - length * step[a]
                    reached = _objective(
                        trial, columns, subset, c, y, weight, C, is_logistic,
                        trial_gradient, trial_hessian,
                    )  # fmt: skip
                    if reached <= value - 1e-4 * length * slope:
                        break
                    length *= 0.5
                else:
                    break
                value = reached
                w, trial = trial, w
                gradient, trial_gradient = trial_gradient, gradient
                hessian, trial_hessian = trial_hessian, hessian
            coef[s, c, :] = w


@compiled
def linear_answers(columns, subsets, coef, answers):
    """Predicted class of every row by each linear classifier; ties go to the lower class."""
    dim = subsets.shape[1]
    n_classes = coef.shape[1]
    for s in range(len(subsets)):
        for i in range(columns.shape[1]):
            best, answer = -np.inf, 0
            for c in range(n_classes):
                f = coef[s, c, dim]
                for a in range(dim):
                    f += coef[s, c, a] * columns[subsets[s, a], i]
                if f > best:
                    best, answer = f, c
            answers[s, i] = answer
