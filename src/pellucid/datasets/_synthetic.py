"""Synthetic data of the papers on ExKMC and EOP."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

_MAX_DRAWS = 1000  # consecutive rejected codewords before an error is raised
_THREE_FEATURES_SIDE = 5.0
# Columns, mean and covariance of each pattern of the second class; not given in the paper.
_THREE_FEATURES_GAUSSIANS = (
    ((0, 1), (1.2, 3.8), ((0.30, 0.15), (0.15, 0.30))),
    ((0, 2), (3.8, 1.2), ((0.30, -0.15), (-0.15, 0.30))),
)


def make_synthetic_1(
    n_samples: int = 5000,
    n_features: int = 1000,
    *,
    n_flipped: int = 100,
    outlier: float = 1000.0,
    random_state: Any = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Two far outliers and two large groups: hard for trees that count misclassified rows.

    The two outliers have the value `outlier` in the first column; all other rows have 0 there. In
    the remaining columns, one outlier and half of the other rows are 1, and the rest is 0. In each
    row that is not an outlier, `n_flipped` random columns are flipped. The best three clusters are
    the outliers and the two halves. For a classification tree, two misclassified rows cost almost
    nothing, however far away they are.

    Parameters
    ----------
    n_samples : int, default=5000
        Number of rows, the two outliers included; at least 4.
    n_features : int, default=1000
        Number of columns.
    n_flipped : int, default=100
        Number of flipped columns per row.
    outlier : float, default=1000.0
        Value of the outliers in the first column.
    random_state : int, RandomState instance or None, default=None
        Seed of the random numbers.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features), float64
        Rows and their clusters.
    y : ndarray of shape (n_samples,), int
        0 for the outliers, 1 for rows of ones, 2 for rows of zeros.

    References
    ----------
    Frost, Moshkovitz, Rashtchian (2020). ExKMC: Expanding explainable k-means clustering,
    appendix B.2.

    Examples
    --------
    >>> from pellucid.datasets import make_synthetic_1
    >>> X, y = make_synthetic_1(random_state=0)
    >>> X.shape, X[y == 0, :3].tolist(), X[y == 1, 1:].mean().round(2)
    ((5000, 1000), [[1000.0, 1.0, 1.0], [1000.0, 0.0, 0.0]], np.float64(0.9))
    """
    if n_samples < 4:
        raise ValueError(f"n_samples={n_samples}; two outliers and two groups need at least 4 rows")
    if not 0 <= n_flipped < n_features:
        raise ValueError(
            f"n_flipped={n_flipped} must be between 0 and {n_features - 1}, the number of columns "
            "after the first"
        )
    random = check_random_state(random_state)
    y = np.full(n_samples, 2)
    y[:2], y[2 : 2 + (n_samples - 2) // 2] = 0, 1
    X = np.zeros((n_samples, n_features))
    X[y == 1, 1:] = X[0, 1:] = 1.0
    X[:2, 0] = outlier
    for row in range(2, n_samples):
        flipped = 1 + random.choice(n_features - 1, n_flipped, replace=False)
        X[row, flipped] = 1.0 - X[row, flipped]
    return X, y


def make_synthetic_2(
    n_clusters: int = 30, n_features: int = 1000, *, random_state: Any = None
) -> tuple[np.ndarray, np.ndarray]:
    """Clusters around random codewords: no tree with one leaf per cluster is near the optimum.

    Each cluster has a random codeword of -1 and 1, and `n_features` rows: row j is the codeword
    with column j set to 0. Codewords differ in at least a quarter of the columns. Yet a threshold
    on any column separates about half of the clusters from the others, and one row from each
    cluster.

    Parameters
    ----------
    n_clusters : int, default=30
        Number of codewords.
    n_features : int, default=1000
        Number of columns, and of rows in each cluster.
    random_state : int, RandomState instance or None, default=None
        Seed of the random numbers.

    Returns
    -------
    X : ndarray of shape (n_clusters * n_features, n_features), float64
        Rows and their clusters.
    y : ndarray of shape (n_clusters * n_features,), int
        Codeword of each row.

    References
    ----------
    Frost, Moshkovitz, Rashtchian (2020). ExKMC: Expanding explainable k-means clustering,
    section 3.4.

    Examples
    --------
    >>> from pellucid.datasets import make_synthetic_2
    >>> X, y = make_synthetic_2(4, 50, random_state=0)
    >>> X.shape, (X == 0).sum(axis=1).max().item()
    ((200, 50), 1)
    """
    if n_clusters < 1 or n_features < 1:
        raise ValueError(f"n_clusters={n_clusters} and n_features={n_features} must be at least 1")
    words = _far_codewords(n_clusters, n_features, check_random_state(random_state))
    X = np.repeat(words, n_features, axis=0)
    X[np.arange(len(X)), np.tile(np.arange(n_features), n_clusters)] = 0.0
    return X, np.repeat(np.arange(n_clusters), n_features)


def _far_codewords(n_words: int, length: int, random: np.random.RandomState) -> np.ndarray:
    """Random codewords that differ pairwise in at least a quarter of their entries."""
    words = np.empty((n_words, length))
    n_found = n_drawn = 0
    while n_found < n_words:
        word = random.choice([-1.0, 1.0], length)
        if (np.sum(words[:n_found] != word, axis=1) >= length / 4).all():
            words[n_found] = word
            n_found, n_drawn = n_found + 1, 0
        elif (n_drawn := n_drawn + 1) == _MAX_DRAWS:
            raise ValueError(
                f"n_features={length} is too small for {n_words} codewords that differ in a "
                "quarter of their entries; reduce n_clusters or increase n_features"
            )
    return words


class Pattern(NamedTuple):
    """A Gaussian in a few columns, in ascending order; in the others its rows are uniform."""

    features: tuple[int, ...]
    label: int
    center: np.ndarray
    covariance: np.ndarray


def make_eop_patterns(
    n_samples: int = 3000,
    n_features: int = 10,
    *,
    pattern_dims: Sequence[int] = (4, 3, 3, 2, 2, 2, 2),
    background: float = 0.1,
    width: tuple[float, float] = (0.03, 0.1),
    random_state: Any = None,
    return_patterns: bool = False,
) -> tuple[Any, ...]:
    """Two classes of Gaussian patterns, each in a few columns, and uniform background rows.

    The background is uniform in the unit cube, and its classes are drawn with probability 1/2, so
    no model can classify more than about half of it correctly. Every other row belongs to a
    pattern: a Gaussian with random center and shape in a few random columns, and uniform in the
    others. All rows of a pattern have one class. The sizes of the patterns differ by at most one
    row. More background and wider patterns make the classes harder to separate.

    Parameters
    ----------
    n_samples : int, default=3000
        Number of rows.
    n_features : int, default=10
        Number of columns.
    pattern_dims : sequence of int, default=(4, 3, 3, 2, 2, 2, 2)
        Number of columns of each pattern.
    background : float, default=0.1
        Fraction of the rows that belong to no pattern.
    width : tuple of float, default=(0.03, 0.1)
        Smallest and largest standard deviation along the randomly rotated axes of a Gaussian.
    random_state : int, RandomState instance or None, default=None
        Seed of the random numbers.
    return_patterns : bool, default=False
        Whether to return the patterns too.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features), float64
        Rows and their classes.
    y : ndarray of shape (n_samples,), int
        0 or 1. With at least two patterns, both classes have patterns.
    pattern : ndarray of shape (n_samples,), int
        Pattern of each row, -1 for the background; only with `return_patterns`.
    patterns : list of Pattern
        Only with `return_patterns`.

    Notes
    -----
    The paper specifies the number of patterns, their dimensions, the number of rows, and that
    classes are drawn uniformly. It does not specify sizes, widths or the fraction of uniform rows;
    these are parameters here.

    References
    ----------
    Fiterau (2012). Trade-offs in explanatory model learning. Carnegie Mellon University.
    Section 3.

    Examples
    --------
    >>> from pellucid.datasets import make_eop_patterns
    >>> X, y, pattern, patterns = make_eop_patterns(random_state=0, return_patterns=True)
    >>> X.shape, [len(p.features) for p in patterns]
    ((3000, 10), [4, 3, 3, 2, 2, 2, 2])
    >>> X[pattern == 3][:, patterns[3].features].std(axis=0).round(2)
    array([0.06, 0.07])
    """
    dims = list(pattern_dims)
    if n_samples < 1 or n_features < 1:
        raise ValueError(f"n_samples={n_samples} and n_features={n_features} must be at least 1")
    if wrong := [dim for dim in dims if not 1 <= dim <= n_features]:
        raise ValueError(
            f"pattern_dims contains {wrong[0]}; a pattern has between 1 and "
            f"n_features={n_features} columns"
        )
    if not 0 <= background <= 1:
        raise ValueError(f"background={background} must be between 0 and 1")
    if len(width) != 2 or not 0 < width[0] <= width[1]:
        raise ValueError(f"width={width} must be two positive numbers, the smaller one first")
    random = check_random_state(random_state)
    labels = random.randint(2, size=len(dims))
    while len(dims) > 1 and np.ptp(labels) == 0:  # all patterns would have the same class
        labels = random.randint(2, size=len(dims))
    drawn = zip(dims, labels.tolist())
    patterns = [_draw_pattern(n_features, dim, label, width, random) for dim, label in drawn]
    n_background = round(background * n_samples) if dims else n_samples
    pattern = np.full(n_samples, -1)
    pattern[n_background:] = np.arange(n_samples - n_background) % max(len(dims), 1)
    random.shuffle(pattern)
    X, y = draw_rows(patterns, pattern, n_features, random)
    return (X, y, pattern, patterns) if return_patterns else (X, y)


def draw_rows(
    patterns: Sequence[Pattern], pattern: np.ndarray, n_features: int, random: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Draw a row, and its class, for each pattern index in `pattern`; -1 is background."""
    X = random.uniform(size=(len(pattern), n_features))
    y = random.randint(2, size=len(pattern))
    for index, gaussian in enumerate(patterns):
        rows = np.flatnonzero(pattern == index)
        values = random.multivariate_normal(gaussian.center, gaussian.covariance, size=len(rows))
        X[rows[:, None], gaussian.features] = values
        y[rows] = gaussian.label
    return X, y


def _draw_pattern(
    n_features: int, dim: int, label: int, width: tuple[float, float], random: Any
) -> Pattern:
    features = np.sort(random.choice(n_features, dim, replace=False))
    # Keep two standard deviations from the faces of the cube, if possible.
    margin = min(2 * width[1], 0.45)
    center = random.uniform(margin, 1 - margin, size=dim)
    axes = np.linalg.qr(random.normal(size=(dim, dim)))[0]
    deviations = random.uniform(*width, size=dim)
    covariance = (axes * deviations**2) @ axes.T
    return Pattern(tuple(features.tolist()), label, center, (covariance + covariance.T) / 2)


def make_xor_triangles(
    n_samples: int = 1000, *, gap: float = 0.1, random_state: Any = None
) -> tuple[np.ndarray, np.ndarray]:
    """Two squares of one class that touch at a corner, and two triangles of the other class.

    Three thresholds separate the classes, but no single threshold reduces the error much, so a
    greedy tree splits the plane into slices.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of rows. About two thirds are of class 1, because the squares have twice the area.
    gap : float, default=0.1
        Distance of the triangles from the common corner, along the diagonal. The sides of the
        squares have length 1.
    random_state : int, RandomState instance or None, default=None
        Seed of the random numbers.

    Returns
    -------
    X : ndarray of shape (n_samples, 2), float64
        Rows and their classes.
    y : ndarray of shape (n_samples,), int
        1 in the squares [0, 1]² and [1, 2]², 0 in the triangles between them.

    References
    ----------
    Fiterau (2012). Trade-offs in explanatory model learning. Carnegie Mellon University.
    Section 2.3.2.

    Examples
    --------
    >>> from pellucid.datasets import make_xor_triangles
    >>> X, y = make_xor_triangles(random_state=0)
    >>> bool((((X[:, 0] < 1) == (X[:, 1] < 1)) == y).all())
    True
    """
    if n_samples < 1:
        raise ValueError(f"n_samples={n_samples} must be at least 1")
    if gap < 0:
        raise ValueError(f"gap={gap} must be at least 0")
    random = check_random_state(random_state)
    part = random.choice(4, size=n_samples, p=(1 / 3, 1 / 3, 1 / 6, 1 / 6))
    X = random.uniform(size=(n_samples, 2))
    X[part == 1] += 1
    # Reflect one half of the unit square onto the other: a triangle with its corner at (0, 0).
    is_triangle = part >= 2
    reflected = is_triangle & (X.sum(axis=1) > 1)
    X[reflected] = 1 - X[reflected]
    shift = gap / np.sqrt(2)
    for triangle, direction in ((2, (-1, 1)), (3, (1, -1))):
        rows = part == triangle
        X[rows] = 1 + (X[rows] + shift) * direction
    return X, (~is_triangle).astype(int)


def make_three_features(
    n_samples: int = 1000, *, random_state: Any = None
) -> tuple[np.ndarray, np.ndarray]:
    """Three columns: one class is uniform, the other has clusters in two pairs of columns.

    The first class is uniform between 0 and 5. Half of the second class is a Gaussian in the first
    two columns and uniform in the third. The other half is a Gaussian in the first and third
    columns and uniform in the second. The sizes of the classes differ by at most one row.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of rows.
    random_state : int, RandomState instance or None, default=None
        Seed of the random numbers.

    Returns
    -------
    X : ndarray of shape (n_samples, 3), float64
        Rows and their classes.
    y : ndarray of shape (n_samples,), int
        Rows and their classes.

    Notes
    -----
    Means and covariances are not given in the paper; they were chosen to resemble its figure.

    References
    ----------
    Fiterau (2012). Trade-offs in explanatory model learning. Carnegie Mellon University.
    Section 2.3.1.

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid.datasets import make_three_features
    >>> X, y = make_three_features(random_state=0)
    >>> X.shape, np.bincount(y).tolist()
    ((1000, 3), [500, 500])
    """
    if n_samples < 1:
        raise ValueError(f"n_samples={n_samples} must be at least 1")
    random = check_random_state(random_state)
    part = random.permutation(np.arange(n_samples) % 4)
    X = random.uniform(0, _THREE_FEATURES_SIDE, size=(n_samples, 3))
    for number, (features, mean, covariance) in zip((1, 3), _THREE_FEATURES_GAUSSIANS):
        rows = np.flatnonzero(part == number)
        X[rows[:, None], features] = random.multivariate_normal(mean, covariance, size=len(rows))
    return X, part % 2
