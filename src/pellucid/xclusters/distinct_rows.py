"""Distinct rows in an order that depends on their values only.

Clusters that are computed from distinct rows with added weights are the same whether a row has an
integer weight or is repeated, and whatever the order of the rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from pellucid.tables.columns import Columns, is_numeric
from pellucid.tables.frames import as_table

_BLOCK_VALUES = 2**20
"""Values of sparse rows that are made dense at a time."""


class RowGroups(NamedTuple):
    """Groups of identical rows.

    Attributes
    ----------
    first, weight : ndarray
        Number of the first row of each group, and total weight of its rows.
    group : ndarray of int
        Group of each of the given rows.
    rank : ndarray of int
        Place of each group if they are sorted by their values.
    """

    first: np.ndarray
    group: np.ndarray
    weight: np.ndarray
    rank: np.ndarray

    @classmethod
    def of(cls, parts: Sequence[Any], rows: np.ndarray, weight: np.ndarray) -> RowGroups:
        """Group some rows, given by their numbers in ascending order and their weights.

        Rows are identical if all parts are, and are sorted by the first part, then by the next. A
        part is a table, an array, a list of series, or given distances.
        """
        ranks = np.column_stack([rank for part in parts for rank in _ranks(part, rows)])
        _, first, group = np.unique(ranks, axis=0, return_index=True, return_inverse=True)
        # Ties go to the first row. In sorted rows, all ties would go to the same side.
        rank = np.random.default_rng(0).permutation(len(first))
        first, group = first[rank], np.argsort(rank)[group.ravel()]
        # Sums of fractions depend on the order of their terms.
        order = np.lexsort((weight, group))
        starts = np.searchsorted(group[order], np.arange(len(first)))
        return cls(rows[first], group, np.add.reduceat(weight[order], starts), rank)


class GivenDistances(NamedTuple):
    """A given distance matrix, in which rows are identical if all their distances are."""

    matrix: np.ndarray


def _ranks(part: Any, rows: np.ndarray) -> Iterable[np.ndarray]:
    """Integers per row that are equal for identical rows, in an order given by the values."""
    if isinstance(part, Columns):
        for column in part.values:
            values = column[rows]
            if is_numeric(values):
                yield np.unique(values, return_inverse=True)[1].ravel()
            else:
                yield _rank([(type(value).__name__, str(value)) for value in values])
    elif isinstance(part, GivenDistances):
        matrix = part.matrix[np.ix_(rows, rows)]
        # Sets of distances do not depend on the order of the rows, but may coincide.
        yield _rank([tuple(np.unique(distances)) for distances in matrix])
        yield np.unique(matrix, axis=0, return_inverse=True)[1].ravel()
    elif isinstance(part, np.ndarray) and part.ndim == 2 and part.dtype != object:
        yield np.unique(part[rows], axis=0, return_inverse=True)[1].ravel()
    else:
        series = [np.asarray(part[row]).ravel().tolist() for row in rows]
        yield _rank([(len(s), *((type(v).__name__, v) for v in s)) for s in series])


def _rank(keys: Sequence[tuple[Any, ...]]) -> np.ndarray:
    """Place of each key among the sorted distinct keys."""
    place = {key: i for i, key in enumerate(sorted(set(keys)))}
    return np.array([place[key] for key in keys])


def order_by_values(rows: Any, weight: np.ndarray) -> np.ndarray:
    """Row numbers in an order that depends on the values of the rows and their weights only.

    Rows are sorted by a hash of their values, so that no side is preferred. Identical rows are
    neighbours. Storage and the type of numbers make no difference.
    """
    keys = b"".join(blake2b(row, digest_size=8).digest() for row in _row_bytes(rows))
    return np.lexsort((weight, np.frombuffer(keys, dtype=np.uint64)))


def _row_bytes(rows: Any) -> Iterable[bytes]:
    """The values of each row as bytes."""
    if sparse.issparse(rows):
        step = max(_BLOCK_VALUES // rows.shape[1], 1)
        by_row = rows.tocsr()
        for start in range(0, rows.shape[0], step):
            yield from _row_bytes(by_row[start : start + step].toarray())
    elif isinstance(rows, np.ndarray) and rows.dtype.kind in "biuf":
        # Adding 0 makes -0 and 0 the same.
        yield from (row.tobytes() for row in rows.astype(np.float64) + 0.0)
    elif isinstance(rows, (list, tuple)) or np.ndim(rows) == 1:
        yield from ((np.asarray(series, dtype=np.float64) + 0.0).tobytes() for series in rows)
    else:
        table = as_table(rows)
        records = rows.tolist() if table is None else table.rows()
        yield from (repr(tuple(record)).encode() for record in records)
