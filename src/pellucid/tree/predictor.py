"""From rows to leaves: by NumPy for a few rows, by compiled loops on several threads for many."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import sparse

from pellucid._utils.finite import all_finite
from pellucid._utils.threads import ThreadPool

_MANY = 100_000
"""Rows times nodes, in all calls so far, from which on a compiled loop is worth loading."""

_VALUES_A_THREAD = 2**20
"""Values of a dense matrix worth a thread of their own."""

_ENTRY = 8
"""Values of a dense matrix that take as long as an entry of a sparse one."""

_ROWS_AT_ONCE = 2**14
"""Rows that are copied, or of which columns are laid out, at once."""

_routed: Counter = Counter()


class Routes(NamedTuple):
    """A tree in the form in which rows are moved down it. All arrays are read-only.

    Attributes
    ----------
    feature : ndarray of shape (node_count,), intp
        Column that a node looks at; at a leaf, any that is looked at somewhere.
    threshold : ndarray of shape (node_count,), float64
        The answer is yes at or below it.
    child : ndarray of shape (2 * node_count,), intp
        At 2 * node, where no leads, and at 2 * node + 1, where yes leads. A leaf is its own
        child, so that a row which has arrived may be moved on with the others.
    depth : int
        Questions on the longest path.
    used : ndarray, intp
        The columns that are looked at.
    """

    feature: np.ndarray
    threshold: np.ndarray
    child: np.ndarray
    depth: int
    used: np.ndarray

    @classmethod
    def of(cls, tree) -> Routes:
        """The routes of a :class:`~pellucid.tree.ThresholdTree`."""
        is_leaf, itself = tree.is_leaf, np.arange(tree.node_count)
        yes = np.where(is_leaf, itself, tree.children_left)
        no = np.where(is_leaf, itself, tree.children_right)
        feature = np.where(is_leaf, max(tree.feature[0], 0), tree.feature)
        threshold = np.where(is_leaf, 0.0, tree.threshold)
        child = np.column_stack([no, yes]).ravel()
        arrays = (_read_only(part) for part in (feature, threshold, child))
        return cls(*arrays, tree.max_depth, np.unique(feature))

    def on_used_columns(self) -> Routes:
        """The same for a matrix of which only the columns `used` are there."""
        return self._replace(feature=_read_only(np.searchsorted(self.used, self.feature)))

    def for_loops(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Feature, threshold and child as compiled loops take them, the whole numbers unsigned."""
        return self.feature.view(np.uint64), self.threshold, self.child.view(np.uint64)


def look_up(
    routes: Routes, X, answers: np.ndarray, *, check: bool, count_threads: Callable[[], int]
) -> tuple[np.ndarray, bool]:
    """``answers[leaf]`` for the leaf of every row, and whether the values are finite.

    Parameters
    ----------
    routes : Routes
    X : ndarray, CSR matrix in any form or other sparse matrix
    answers : ndarray of shape (node_count,), intp
    check : bool
        Whether to look for values that are not finite.
    count_threads : callable
        Tells how many threads there may be; asked only where one is not enough.

    Returns
    -------
    found : ndarray of shape (n_samples,), intp
    is_finite : bool
        False if `check` and some value is not finite, in whatever column. A value that is stored
        in parts is their sum.
    """
    if not sparse.issparse(X):
        if not _is_worth_compiling(("dense", X.dtype.char), X.shape[0] * len(answers)):
            return answers[_descend(routes, X)], not check or all_finite(X, count_threads)
        return _look_up_dense(routes, X, _read_only(answers), check, count_threads)
    if X.format == "csr":
        if _is_worth_compiling(("csr", X.dtype.char), X.shape[0] * len(answers)):
            return _look_up_csr(routes, X, _read_only(answers), count_threads)
        lines = _used_of_csr(X, routes.used)
        if lines is not None:
            is_finite = not check or all_finite(X.data, count_threads)
            return answers[_descend(routes.on_used_columns(), lines)], is_finite
    X = canonical_csc(X)
    return (
        _look_up_csc(routes.on_used_columns(), X, answers, count_threads),
        not check or all_finite(X.data, count_threads),
    )


def _is_worth_compiling(kind: tuple[str, str], work: int) -> bool:
    """Whether rows of a kind that is compiled for by itself have come often enough by now."""
    _routed[kind] += work
    return _routed[kind] >= _MANY


def _descend(routes: Routes, X: np.ndarray) -> np.ndarray:
    """Leaf of each row, all rows one level down at a time."""
    rows = np.arange(X.shape[0])
    node = np.zeros(X.shape[0], dtype=np.intp)
    for _ in range(routes.depth):
        values = X[rows, routes.feature[node]]
        if values.dtype.kind != "f":
            values = values.astype(np.float64)
        node = routes.child[2 * node + (values <= routes.threshold[node])]
    return node


def _look_up_dense(routes, X, answers, check, count_threads) -> tuple[np.ndarray, bool]:
    from pellucid.tree.kernels import VALUES_TOGETHER, route_dense

    tree = (*routes.for_loops(), routes.depth, answers)
    n_columns = X.shape[1]
    found = np.empty(X.shape[0], dtype=np.intp)
    is_float = X.dtype in (np.float64, np.float32)
    if is_float and (X.flags.c_contiguous or X.flags.f_contiguous):
        by_rows = X.flags.c_contiguous
        values = _read_only((X if by_rows else X.T).reshape(-1))
        steps = (n_columns, 1) if by_rows else (1, len(X))

        def route(block: tuple[int, int]) -> bool:
            at = np.empty(VALUES_TOGETHER, dtype=np.uint64)
            return route_dense(values, n_columns, *steps, *block, check, *tree, found, at)
    else:
        dtype = X.dtype if is_float else np.float64

        def route(block: tuple[int, int]) -> bool:
            at, is_finite = np.empty(VALUES_TOGETHER, dtype=np.uint64), True
            for begin, end in _ranges(*block):
                values = _read_only(np.ascontiguousarray(X[begin:end], dtype).reshape(-1))
                part = (values, n_columns, n_columns, 1, 0, end - begin)
                is_finite &= route_dense(*part, check, *tree, found[begin:end], at)
            return is_finite

    return found, _in_threads(route, len(X), max(X.size, 16 * len(X)), count_threads)


def _look_up_csr(routes, X, answers, count_threads) -> tuple[np.ndarray, bool]:
    from pellucid.tree.kernels import route_sparse

    data = X.data if X.dtype in (np.float64, np.float32) else X.data.astype(np.float64)
    parts = (data, X.indices.astype(np.int32, copy=False), X.indptr.astype(np.int64))
    matrix = [_read_only(part) for part in parts]
    tree = (*routes.for_loops(), answers)
    found = np.empty(X.shape[0], dtype=np.intp)

    def route(block: tuple[int, int]) -> bool:
        line = np.zeros(X.shape[1], dtype=data.dtype)
        return route_sparse(*matrix, *block, *tree, found, line)

    return found, _in_threads(route, len(found), _ENTRY * len(data), count_threads)


def _look_up_csc(routes, X, answers, count_threads) -> np.ndarray:
    """The same for canonical CSC, of which only the columns that are asked for are read."""
    found = np.empty(X.shape[0], dtype=np.intp)
    for begin, end in _ranges(0, X.shape[0]):
        lines = _used_of_csc(X, routes.used, begin, end)
        how = {"check": False, "count_threads": count_threads}
        found[begin:end] = look_up(routes, lines, answers, **how)[0]
    return found


def _used_of_csc(X, used: np.ndarray, begin: int, end: int) -> np.ndarray:
    """Some columns and rows of a canonical CSC matrix as a dense one, column by column."""
    lines = np.zeros((end - begin, len(used)), order="F")
    for slot, feature in enumerate(used):
        first, last = X.indptr[feature], X.indptr[feature + 1]
        first, last = first + np.searchsorted(X.indices[first:last], [begin, end])
        lines[X.indices[first:last] - begin, slot] = X.data[first:last]
    return lines


def _used_of_csr(X, used: np.ndarray) -> np.ndarray | None:
    """Some columns of a CSR matrix as a dense one; None unless the matrix is canonical."""
    rows = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    columns, data = X.indices[: len(rows)], X.data[: len(rows)]
    places = rows * X.shape[1] + columns
    # Not by the matrix's own word, which outlives changes to its parts.
    if not (places[1:] > places[:-1]).all():
        return None
    slots = np.searchsorted(used[:-1], columns)
    wanted = used[slots] == columns
    lines = np.zeros((X.shape[0], len(used)))
    lines[rows[wanted], slots[wanted]] = data[wanted]
    return lines


def _in_threads(
    route: Callable[[tuple[int, int]], bool],
    n_rows: int,
    n_values: int,
    count_threads: Callable[[], int],
) -> bool:
    """Route blocks of rows, as many at a time as they are worth; whether all are finite."""
    if n_values < 2 * _VALUES_A_THREAD:
        return route((0, n_rows))
    with ThreadPool(min(count_threads(), n_values // _VALUES_A_THREAD)) as pool:
        return all(pool.map(route, pool.blocks(n_rows, 1)))


def _ranges(begin: int, end: int) -> list[tuple[int, int]]:
    return [(i, min(i + _ROWS_AT_ONCE, end)) for i in range(begin, end, _ROWS_AT_ONCE)]


def _read_only(array: np.ndarray) -> np.ndarray:
    """A view that cannot be written to: one form for the compiled loops, whatever came in."""
    view = array.view()
    view.setflags(write=False)
    return view


def column_values(X, feature: int, rows: np.ndarray | slice) -> np.ndarray:
    """Values of one column of a dense or canonical CSC matrix for some rows, as float64."""
    if not sparse.issparse(X):
        return X[rows, feature].astype(np.float64, copy=False)
    column = np.zeros(X.shape[0])
    entries = slice(X.indptr[feature], X.indptr[feature + 1])
    column[X.indices[entries]] = X.data[entries]
    return column[rows]


def canonical_csc(X) -> sparse.csc_array:
    """Any sparse matrix as CSC with sorted rows and no entry twice; the input is left as it is.

    Row numbers are 32 bits wide where that is enough, so that loops are compiled for one kind.
    """
    csc = sparse.csc_array(X)
    wide = csc.indices.dtype != np.int32 or csc.indptr.dtype != np.int32
    if wide and max(csc.nnz, *csc.shape) < 2**31:
        narrow = (csc.indices.astype(np.int32), csc.indptr.astype(np.int32))
        csc = sparse.csc_array((csc.data, *narrow), shape=csc.shape)
    if not csc.has_canonical_format:
        shares = np.may_share_memory(csc.data, getattr(X, "data", np.empty(0)))
        csc = csc.copy() if shares else csc
        csc.sum_duplicates()
    return csc
