"""Compiled loops of base classifiers: scores of projections, stumps, linear classifiers."""

import numpy as np

from pellucid._utils.compilation import allocating, compiled, inner

MAX_STEPS = 30  # maximum number of Newton steps
_HALVINGS = 12


@allocating
def score_projections(answers, y, units, codes, subsets, n_bins, gains, losses, wrong, potential):
    """Fill in the `wrong` weight (n_subsets) and the `potential` (n_max_errors, n_subsets).

    The potential is Σ max(0, gain · C - loss · W) over the cells of a grid, where C and W are
    the weights of the correctly and of the wrongly classified rows in the cell. Without a
    classifier, the first of the `answers` (n_subsets, n) is -1, and both results are -1. `codes`
    (n_columns, n) are the bins of the rows, and `subsets` (n_subsets, dim) positions in it.
    """
    n_subsets, dim = subsets.shape
    cells = n_bins**dim
    correct_in, wrong_in = np.empty(cells, np.int64), np.empty(cells, np.int64)
    for s in range(n_subsets):
        if answers[s, 0] < 0:
            wrong[s] = -1
            potential[:, s] = -1
            continue
        correct_in[:] = 0
        wrong_in[:] = 0
        for i in range(len(y)):
            cell = 0
            for a in range(dim):
                cell = cell * n_bins + codes[subsets[s, a], i]
            if answers[s, i] == y[i]:
                correct_in[cell] += units[i]
            else:
                wrong_in[cell] += units[i]
        wrong[s] = wrong_in.sum()
        for p in range(len(gains)):
            value = 0
            for cell in range(cells):
                value += max(0, gains[p] * correct_in[cell] - losses[p] * wrong_in[cell])
            potential[p, s] = value


@allocating
def best_stumps(orders, columns, y, units, n_classes, ends, classes, wrong):
    """Find the stump with the smallest error for every column; ties go to the lowest threshold.

    It predicts the heaviest class on either side. Adding a row to a side can only raise the largest
    weight to that of the row's class, so one pass from each end is enough.

    `orders` (n_columns, n) are the rows in ascending order of their values. Filled in are `ends`
    (n_columns, 2), the largest value on the left and the smallest on the right, `classes`
    (n_columns, 2), and `wrong` (n_columns), the weight of the misclassified rows. Both ends are
    infinite, and all rows on the left, if no threshold beats the best single class.
    """
    n, total = len(y), units.sum()
    weight = np.empty(n_classes, np.int64)
    suffix = np.empty(n + 1, np.int64)
    suffix[n] = 0
    for j in range(len(columns)):
        weight[:] = 0
        largest = 0
        for i in range(n - 1, -1, -1):
            row = orders[j, i]
            weight[y[row]] += units[row]
            largest = max(largest, weight[y[row]])
            suffix[i] = largest
        weight[:] = 0
        largest, best, cut = 0, suffix[0], -1
        for i in range(n - 1):
            row = orders[j, i]
            weight[y[row]] += units[row]
            largest = max(largest, weight[y[row]])
            value = largest + suffix[i + 1]
            if value > best and columns[j, row] < columns[j, orders[j, i + 1]]:
                best, cut = value, i
        ends[j, :] = np.inf
        if cut >= 0:
            ends[j, 0] = columns[j, orders[j, cut]]
            ends[j, 1] = columns[j, orders[j, cut + 1]]
        wrong[j] = total - best
        middle = cut + 1 if cut >= 0 else n
        for side in range(2):
            weight[:] = 0
            begin, end = (0, middle) if side == 0 else (middle, n)
            for i in range(begin, end):
                row = orders[j, i]
                weight[y[row]] += units[row]
            classes[j, side] = np.argmax(weight)


@inner
def _loss(margin, is_logistic):
    """Squared hinge loss max(0, 1 - m)², or logistic loss log(1 + exp(-m)); two derivatives."""
    if is_logistic:
        e = np.exp(-abs(margin))
        p = (e if margin > 0 else 1.0) / (1 + e)
        return np.log1p(e) - min(margin, 0.0), -p, p * (1 - p)
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
    """Fit one-vs-rest linear classifiers for every subset of the standardized columns.

    Weights and intercept are filled in `coef` (n_subsets, n_classes, dim + 1). Classes that are not
    `present` are never predicted. With two classes the first is minus the second.
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
                coef[s, 1, :] = -coef[s, 0, :]
                continue
            w[:] = 0
            value = _objective(w, columns, subset, c, y, weight, C, is_logistic, gradient, hessian)
            for _ in range(MAX_STEPS):
                step[:] = gradient
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
