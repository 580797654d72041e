"""From rows to leaves: NumPy for a few rows, compiled loops on several threads for many."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from pellucid._utils.arrays import all_finite, filled
from pellucid._utils.threads import ThreadPool

_MIN_COMPILED_WORK = 100_000
"""Rows times nodes, over all calls so far, from which compiled loops are worth loading."""

_VALUES_PER_THREAD = 2**20  # values of a dense matrix worth a thread of their own
_ROWS_PER_THREAD = 2**17  # rows whose values are worth a thread of their own

_DENSE_VALUES_PER_ENTRY = 8
"""Values of a dense matrix that take as long as one stored entry of a sparse matrix."""

_CHUNK_ROWS = 2**14  # rows that are copied, or whose columns are expanded, at a time

_work_by_kind: Counter = Counter()
"""Rows times nodes so far, by kind of matrix and dtype."""


class PackedTree(NamedTuple):
    """A tree in the layout in which rows are routed. All arrays are read-only.

    The right child is child[2 * node], the left child[2 * node + 1]; a leaf is its own child and
    has any column that is used. `used` are the columns of splits, sorted.
    """

    feature: np.ndarray
    threshold: np.ndarray
    child: np.ndarray
    depth: int
    used: np.ndarray

    @classmethod
    def of(cls, tree: Any) -> PackedTree:
        """The packed form of a :class:`~pellucid.tree.ThresholdTree`, whose indices are checked."""
        _check_indices(tree)
        is_leaf, itself = tree.is_leaf, np.arange(tree.node_count)
        left = np.where(is_leaf, itself, tree.children_left)
        right = np.where(is_leaf, itself, tree.children_right)
        feature = np.where(is_leaf, max(tree.feature[0], 0), tree.feature)
        threshold = np.where(is_leaf, 0.0, tree.threshold)
        child = np.column_stack([right, left]).ravel()
        feature, threshold, child = map(_read_only, (feature, threshold, child))
        return cls(feature, threshold, child, tree.max_depth, np.unique(feature))

    def on_used_columns(self) -> PackedTree:
        """The same tree for a matrix that consists of the columns `used`."""
        return self._replace(feature=_read_only(np.searchsorted(self.used, self.feature)))

    def for_loops(self) -> dict[str, np.ndarray]:
        """Arguments of the compiled loops, integers as unsigned."""
        feature, child = self.feature.view(np.uint64), self.child.view(np.uint64)
        return {"feature": feature, "threshold": self.threshold, "child": child}


def _check_indices(tree: Any) -> None:
    """Fail unless all indices of a tree are in range; the loops that use them do not check."""
    n, inner = tree.node_count, ~tree.is_leaf
    itself = np.arange(n)[inner]
    children = tree.children_left[inner], tree.children_right[inner]
    is_valid = (
        all(len(getattr(tree, name)) == n for name in ("threshold", "children_right", "cluster"))
        and all(((child > itself) & (child < n)).all() for child in children)
        and ((tree.feature[inner] >= 0) & (tree.feature[inner] < tree.n_features)).all()
    )
    if not is_valid:
        raise ValueError(
            f"the arrays of the tree are inconsistent: each of {n} nodes needs children that come "
            f"after it and one of {tree.n_features} features"
        )


def leaf_values(
    tree: PackedTree, X: Any, values: np.ndarray, *, check: bool, count_threads: Callable[[], int]
) -> tuple[np.ndarray, bool]:
    """``values[leaf]`` for the leaf of every row, and whether the data are finite, if `check`.

    ``count_threads()`` is called only if one thread is not enough.
    """
    if values.dtype != np.intp:
        numbers = np.arange(len(values))
        leaf, is_finite = leaf_values(tree, X, numbers, check=check, count_threads=count_threads)
        if len(leaf) < 2 * _ROWS_PER_THREAD or values.dtype.hasobject:
            return values[leaf], is_finite
        with ThreadPool(min(count_threads(), len(leaf) // _ROWS_PER_THREAD)) as pool:
            return filled(len(leaf), values.dtype, pool, lambda r: values.take(leaf[r])), is_finite
    if not sparse.issparse(X):
        if not _is_worth_compiling(("dense", X.dtype.char), X.shape[0] * len(values)):
            return values[_descend(tree, X)], not check or all_finite(X, count_threads)
        return _route_dense(tree, X, _read_only(values), check, count_threads)
    if X.format == "csr":
        if _is_worth_compiling(("csr", X.dtype.char), X.shape[0] * len(values)):
            return _route_csr(tree, X, _read_only(values), count_threads)
        dense = _used_columns_of_csr(X, tree.used)
        if dense is not None:
            is_finite = not check or all_finite(X.data, count_threads)
            return values[_descend(tree.on_used_columns(), dense)], is_finite
    # Only the columns that splits use are read.
    X, on_used = canonical_csc(X), tree.on_used_columns()
    found = np.empty(X.shape[0], dtype=np.intp)
    for begin, end in _chunks(0, X.shape[0]):
        dense = _used_columns_of_csc(X, tree.used, begin, end)
        found[begin:end], _ = leaf_values(
            on_used, dense, values, check=False, count_threads=count_threads
        )
    return found, not check or all_finite(X.data, count_threads)


def _is_worth_compiling(kind: tuple[str, str], work: int) -> bool:
    """Whether enough rows of a kind have been routed; loops are compiled per kind."""
    _work_by_kind[kind] += work
    return _work_by_kind[kind] >= _MIN_COMPILED_WORK


def _descend(tree: PackedTree, X: np.ndarray) -> np.ndarray:
    """Leaf of each row, moving all rows one level down at a time."""
    rows = np.arange(X.shape[0])
    node = np.zeros(X.shape[0], dtype=np.intp)
    for _ in range(tree.depth):
        x = X[rows, tree.feature[node]]
        if x.dtype.kind != "f":
            x = x.astype(np.float64)
        node = tree.child[2 * node + (x <= tree.threshold[node])]
    return node


def _route_dense(
    tree: PackedTree,
    X: np.ndarray,
    values: np.ndarray,
    check: bool,
    count_threads: Callable[[], int],
) -> tuple[np.ndarray, bool]:
    from pellucid.tree.kernels import BLOCK_VALUES, route_dense

    found, n_columns = np.empty(X.shape[0], dtype=np.intp), X.shape[1]
    is_float = X.dtype in (np.float64, np.float32)
    is_flat = is_float and (X.flags.c_contiguous or X.flags.f_contiguous)
    by_rows = not is_flat or X.flags.c_contiguous
    route = partial(
        route_dense,
        n_columns=n_columns,
        row_step=n_columns if by_rows else 1,
        column_step=1 if by_rows else len(X),
        check=check,
        depth=tree.depth,
        leaf_values=values,
        **tree.for_loops(),
    )

    def route_block(block: tuple[int, int]) -> bool:
        begin, end = block
        nodes = np.empty(BLOCK_VALUES, dtype=np.uint64)
        if is_flat:
            flat = _read_only((X if by_rows else X.T).reshape(-1))
            return route(values=flat, begin=begin, end=end, out=found, node_of_row=nodes)
        is_finite = True
        for first, last in _chunks(begin, end):
            rows = np.ascontiguousarray(X[first:last], X.dtype if is_float else np.float64)
            chunk, out = _read_only(rows.reshape(-1)), found[first:last]
            is_finite &= route(values=chunk, begin=0, end=last - first, out=out, node_of_row=nodes)
        return is_finite

    work = max(X.size, 16 * len(X))
    return found, _in_threads(route_block, len(X), work, count_threads)


def _route_csr(
    tree: PackedTree, X: Any, values: np.ndarray, count_threads: Callable[[], int]
) -> tuple[np.ndarray, bool]:
    from pellucid.tree.kernels import route_sparse

    dtype = X.dtype if X.dtype in (np.float64, np.float32) else np.float64
    data = _read_only(X.data.astype(dtype, copy=False))
    indices = _read_only(X.indices.astype(np.int32, copy=False))
    indptr = _read_only(X.indptr.astype(np.int64))
    found = np.empty(X.shape[0], dtype=np.intp)

    def route_block(block: tuple[int, int]) -> bool:
        return route_sparse(
            data=data,
            indices=indices,
            indptr=indptr,
            begin=block[0],
            end=block[1],
            leaf_values=values,
            out=found,
            dense_row=np.zeros(X.shape[1], dtype=data.dtype),
            **tree.for_loops(),
        )

    work = _DENSE_VALUES_PER_ENTRY * len(data)
    return found, _in_threads(route_block, len(found), work, count_threads)


def _used_columns_of_csc(X: Any, used: np.ndarray, begin: int, end: int) -> np.ndarray:
    """The given columns and rows of a canonical CSC matrix as a dense matrix, by columns."""
    dense = np.zeros((end - begin, len(used)), order="F")
    for position, feature in enumerate(used):
        first, last = X.indptr[feature], X.indptr[feature + 1]
        first, last = first + np.searchsorted(X.indices[first:last], [begin, end])
        dense[X.indices[first:last] - begin, position] = X.data[first:last]
    return dense


def _used_columns_of_csr(X: Any, used: np.ndarray) -> np.ndarray | None:
    """The given columns of a CSR matrix as a dense matrix; None unless the CSR is canonical."""
    rows = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    columns, data = X.indices[: len(rows)], X.data[: len(rows)]
    places = rows * X.shape[1] + columns
    # The matrix's own flag may be out of date if its arrays were changed.
    if not (places[1:] > places[:-1]).all():
        return None
    positions = np.searchsorted(used[:-1], columns)
    wanted = used[positions] == columns
    dense = np.zeros((X.shape[0], len(used)))
    dense[rows[wanted], positions[wanted]] = data[wanted]
    return dense


def _in_threads(
    route_block: Callable[[tuple[int, int]], bool],
    n_rows: int,
    n_values: int,
    count_threads: Callable[[], int],
) -> bool:
    """Route blocks of rows on as many threads as the work is worth; whether all are finite."""
    if n_values < 2 * _VALUES_PER_THREAD:
        return route_block((0, n_rows))
    with ThreadPool(min(count_threads(), n_values // _VALUES_PER_THREAD)) as pool:
        return all(pool.map(route_block, pool.blocks(n_rows, 1)))


def _chunks(begin: int, end: int) -> list[tuple[int, int]]:
    return [(i, min(i + _CHUNK_ROWS, end)) for i in range(begin, end, _CHUNK_ROWS)]


def _read_only(array: np.ndarray) -> np.ndarray:
    """A read-only view, so that the compiled loops see one array type."""
    view = array.view()
    view.setflags(write=False)
    return view


def column_values(X: Any, feature: int, rows: np.ndarray | slice) -> np.ndarray:
    """Values of one column of a dense or canonical CSC matrix at the given rows, as float64."""
    if not sparse.issparse(X):
        return X[rows, feature].astype(np.float64, copy=False)
    column = np.zeros(X.shape[0])
    entries = slice(X.indptr[feature], X.indptr[feature + 1])
    column[X.indices[entries]] = X.data[entries]
    return column[rows]


def canonical_csc(X: Any) -> sparse.csc_array:
    """A sparse matrix as canonical CSC, with 32-bit indices if possible; `X` is not changed."""
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
