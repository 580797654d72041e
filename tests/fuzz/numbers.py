"""Random tables of numbers, their storages, and sample weights."""

from __future__ import annotations

import numpy as np
from scipy import sparse

FLOAT_MAX = np.finfo(np.float64).max
SUBNORMAL = 5e-324


def _blobs(rng, n, d):
    centers = rng.normal(size=(rng.integers(1, 7), d)) * 5
    return centers[rng.integers(0, len(centers), n)] + rng.normal(size=(n, d))


def _duplicates(rng, n, d):
    rows = rng.normal(size=(rng.integers(1, 6), d)).round(1)
    return rows[rng.integers(0, len(rows), n)]


def _some_constant(rng, n, d):
    X = rng.normal(size=(n, d))
    X[:, rng.random(d) < 0.5] = rng.normal()
    return X


def _near_max(rng, n, d):
    X = rng.normal(size=(n, d))
    far = rng.random((n, d)) < 0.3
    X[far] = rng.choice([-FLOAT_MAX, FLOAT_MAX, FLOAT_MAX / 2, -1e308], far.sum())
    return X


def _next_floats(rng, n, d):
    """Neighbouring floating-point numbers: no third number lies between two values."""
    base = float(rng.choice([1.0, 0.1, -3.0, 1e10]))
    return base + rng.integers(0, 4, (n, d)) * np.spacing(base)


ORDINARY = {
    "blobs": _blobs,
    "constant columns": _some_constant,
    "duplicates": _duplicates,
    "equal rows": lambda rng, n, d: np.repeat(rng.normal(size=(1, d)), n, axis=0),
    "heavy tails": lambda rng, n, d: rng.standard_cauchy((n, d)),
    "integers": lambda rng, n, d: rng.integers(-3, 4, (n, d)).astype(float),
    "next floats": _next_floats,
    "normal": lambda rng, n, d: rng.normal(size=(n, d)),
    "offset": lambda rng, n, d: 1e6 + rng.normal(size=(n, d)),
    "rounded": lambda rng, n, d: rng.normal(size=(n, d)).round(1),
    "zeros and ones": lambda rng, n, d: rng.integers(0, 2, (n, d)).astype(float),
}
"""Values of ordinary magnitude: `fit` must accept them."""

EXTREME = {
    "above 2**53": lambda rng, n, d: 2.0**53 + 2 * rng.integers(0, 50, (n, d)),
    "far offset": lambda rng, n, d: 1e15 + rng.integers(0, 9, (n, d)),
    "large": lambda rng, n, d: rng.normal(size=(n, d)) * 10.0 ** rng.integers(50, 308),
    "many magnitudes": lambda rng, n, d: (
        rng.choice([-1, 1], (n, d)) * 10 ** rng.uniform(-20, 20, (n, d))
    ),
    "all magnitudes": lambda rng, n, d: (
        rng.choice([-1, 1], (n, d)) * 10 ** rng.uniform(-320, 308, (n, d))
    ),
    "near the largest float": _near_max,
    "small": lambda rng, n, d: rng.normal(size=(n, d)) * 10.0 ** -rng.integers(50, 320),
    "subnormal": lambda rng, n, d: SUBNORMAL * rng.integers(-9, 9, (n, d)),
}
"""Values at the limits of floating-point numbers; some are outside of the numeric domain."""


def draw_values(rng, n: int, d: int, extreme: bool, kind=None) -> tuple[str, np.ndarray]:
    """The name of a kind of values, and a float64 table of them."""
    kinds = EXTREME if extreme and kind is None else ORDINARY
    kind = kind or str(rng.choice(sorted(kinds)))
    with np.errstate(over="ignore", under="ignore"):
        X = np.asarray(kinds[kind](rng, n, d), dtype=np.float64)
    return kind, np.clip(X, -FLOAT_MAX, FLOAT_MAX)


def _to_dtype(rng, X):
    """The table in another type that holds its values, or values near them."""
    dtype = str(
        rng.choice(["float64", "float32", "int64", "int32", "int8", "uint8", "bool", ">f8"])
    )
    if dtype in ("float64", ">f8"):
        return X.astype(dtype)
    with np.errstate(over="ignore"):
        if dtype == "float32":
            limit = np.finfo(np.float32).max
            return np.clip(X, -limit, limit).astype(np.float32)
    limits = (0, 1) if dtype == "bool" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    low, high = (float(limit) for limit in limits)
    whole = np.rint(np.clip(X, low, high))
    whole[whole >= 2.0**63] = 2.0**62  # the upper limit of int64 is not a float
    return whole.astype(dtype)


STORAGES = (
    "C",
    "F",
    "strided",
    "reversed",
    "read-only",
    "list",
    "csr",
    "csc",
    "coo",
    "messy csr",
    "messy csc",
    "pandas",
    "polars",
)


def store(rng, X: np.ndarray, storage: str):
    """The same numbers in one of the `STORAGES`."""
    if storage == "F":
        return np.asfortranarray(X)
    if storage == "strided":
        wide = np.repeat(np.repeat(X, 2, axis=0), 2, axis=1)
        return wide[::2, ::2]
    if storage == "reversed":
        return np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1]
    if storage == "read-only":
        X = X.copy()
        X.setflags(write=False)
        return X
    if storage == "list":
        return X.tolist()
    if storage in ("csr", "csc", "coo"):
        return sparse.coo_array(_native(X)).asformat(storage)
    if storage.startswith("messy"):
        return _messy(rng, _native(X), storage[-3:])
    if storage == "pandas":
        import pandas as pd

        return pd.DataFrame(_native(X), columns=_names(X))
    if storage == "polars":
        import polars as pl

        return pl.DataFrame(dict(zip(_names(X), _native(X).T)))
    return np.ascontiguousarray(X)


def _names(X):
    return [f"x{j}" for j in range(X.shape[1])]


def _native(X):
    return X.astype(X.dtype.newbyteorder("="))


def _messy(rng, X, storage):
    """With stored zeros, unsorted indices, and each value stored as a sum with zero."""
    rows, columns = (a.ravel() for a in np.indices(X.shape))
    order = rng.permutation(np.r_[np.arange(X.size), np.flatnonzero(X.ravel() == 0)])
    coo = sparse.coo_array((X.ravel()[order], (rows[order], columns[order])), shape=X.shape)
    major, minor = (coo.row, coo.col) if storage == "csr" else (coo.col, coo.row)
    by_major = np.argsort(major, kind="stable")
    n = X.shape[0] if storage == "csr" else X.shape[1]
    indptr = np.r_[0, np.cumsum(np.bincount(major, minlength=n))]
    parts = coo.data[by_major], minor[by_major].astype(np.int32), indptr.astype(np.int32)
    return (sparse.csr_array if storage == "csr" else sparse.csc_array)(parts, shape=X.shape)


def with_wide_indices(given):
    """A CSR or CSC matrix with 64-bit indices; other tables as they are."""
    if sparse.issparse(given) and given.format in ("csr", "csc"):
        given = given.copy()
        given.indices, given.indptr = given.indices.astype(np.int64), given.indptr.astype(np.int64)
    return given


def is_in_domain(X: np.ndarray, weight: np.ndarray) -> bool:
    """Whether the numeric domain that is documented for trees contains values and weights."""
    low, high = X.min(axis=0), X.max(axis=0)
    with np.errstate(over="ignore"):
        width = (high - low).max()
    return bool(
        np.abs(X).max() <= 1e100
        and (width == 0 or width >= 1e-100)
        and 1e-30 <= weight.max() <= 1e30
    )


def draw_table(rng, n: int, d: int, extreme: bool, kind: str | None = None):
    """Kind and storage of a table, the table as stored, and its float64 values."""
    kind, X = draw_values(rng, n, d, extreme, kind)
    if rng.random() < 0.4:
        X = _to_dtype(rng, X)
    storage = str(rng.choice(STORAGES))
    return f"{kind}, {X.dtype.str[1:]}, {storage}", store(rng, X, storage), X.astype(np.float64)


def _mixed(rng, n):
    return rng.integers(0, 4, n) + rng.choice([0.0, 0.5, 1 / 3, 1e-9], n)


ORDINARY_WEIGHTS = {
    "fractions": lambda rng, n: rng.random(n) + 0.01,
    "mixed": _mixed,
    "ones": lambda rng, n: np.ones(n),
    "scalar": lambda rng, n: float(rng.choice([1, 2, 0.5])),
    "some zeros": lambda rng, n: rng.random(n) * (rng.random(n) < 0.7),
    "whole": lambda rng, n: rng.integers(0, 5, n),
}
EXTREME_WEIGHTS = {
    "huge": lambda rng, n: 1e300 * (1 + rng.random(n)),
    "many magnitudes": lambda rng, n: 10.0 ** rng.integers(-300, 300, n),
    "one huge": lambda rng, n: np.where(
        np.arange(n) == rng.integers(n), 1e18, 1e-3 * rng.random(n)
    ),
    "scalar": lambda rng, n: float(rng.choice([1e-300, 1e300, 1e-20])),
    "subnormal": lambda rng, n: SUBNORMAL * rng.integers(1, 9, n),
    "tiny": lambda rng, n: 1e-300 * (1 + rng.random(n)),
    "whole, large": lambda rng, n: rng.integers(1, 2**50, n),
    "zeros": lambda rng, n: np.zeros(n),
}


def draw_weights(rng, n: int, extreme: bool):
    """The name of a kind of weights, and weights for `fit`: an array, a list or a number."""
    kinds = EXTREME_WEIGHTS if extreme else ORDINARY_WEIGHTS
    kind = str(rng.choice(sorted(kinds)))
    weight = kinds[kind](rng, n)
    if np.ndim(weight) and rng.random() < 0.2:
        weight = weight.tolist()
    return kind, weight
