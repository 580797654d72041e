"""Small generated tables for the tests of `pellucid.explain`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import duckdb
import numpy as np
import polars as pl

from pellucid._utils.notices import notices_to, report_held
from pellucid.table_explainer.arguments import ExplainOptions
from pellucid.table_explainer.clustering import Clustering, cluster_rows
from pellucid.table_explainer.preparing import PreparedTable, prepare_table
from pellucid.tables.reading import TableSource


def blobs(n_rows: int = 240, k: int = 3, *, seed: int = 0, spread: float = 1.0) -> pl.DataFrame:
    """Two numeric columns with `k` groups in a row, ten units apart."""
    rng = np.random.default_rng(seed)
    group = np.arange(n_rows) % k
    return pl.DataFrame(
        {
            "size": 50 + 10.0 * group + rng.normal(0, spread, n_rows).round(3),
            "weight": 90 - 10.0 * group + rng.normal(0, spread, n_rows).round(3),
        }
    )


def decisions(function: Callable[..., Any], *args: Any, **kwargs: Any) -> tuple[Any, list[str]]:
    """The result of a call and the notices that it gives."""
    found: list[str] = []
    with notices_to(found.append):
        result = function(*args, **kwargs)
    return result, found


def source(table: pl.DataFrame, name: str = "table") -> TableSource:
    """A table as if it had been read from a file."""
    return TableSource(name, table)


def prepare(table: TableSource, options: ExplainOptions | None = None) -> PreparedTable:
    """A prepared table, whose decisions are reported."""
    prepared = prepare_table(table, options)
    report_held(prepared.notices)
    return prepared


def run_sql(expression: str, table: pl.DataFrame) -> list[Any]:
    """The value of an SQL expression for each row, in DuckDB."""
    with duckdb.connect() as database:
        database.register("given_rows", table.with_row_index("row_number_").to_arrow())
        query = f"SELECT {expression} FROM given_rows ORDER BY row_number_"
        return [row[0] for row in database.execute(query).fetchall()]


def clustered(prepared: PreparedTable, **options: Any) -> Clustering:
    """`cluster_rows`, with the notice about the number of clusters."""
    found = cluster_rows(prepared, ExplainOptions(**options))
    found.report_number()
    return found
