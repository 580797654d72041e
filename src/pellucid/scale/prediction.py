"""Clusters of a fitted tree for the rows of a scan, as columns of lazy frames and of batches."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import and_
from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid._utils.notices import InputError
from pellucid.explanation.explanation import Explanation
from pellucid.scale.sources import Chunk, Source, arrow_columns, matrix_of
from pellucid.tables.column_formats import PLAIN
from pellucid.tables.encoding import Indicator
from pellucid.tree import ThresholdTree

if TYPE_CHECKING:
    from pellucid._utils.estimators import SQLDialect


@dataclass(frozen=True)
class ScanPredictor:
    """Finds clusters of rows, also in other processes; `columns` are those that the splits use."""

    tree: ThresholdTree
    columns: list[str]
    names: np.ndarray
    output: str

    @classmethod
    def of(cls, model: Any, columns: Sequence[str], output: str) -> ScanPredictor:
        """The predictor of a fitted estimator, given the name of each of its columns."""
        tree = model.tree_
        used = np.unique(tree.feature[~tree.is_leaf])
        feature = np.where(tree.is_leaf, tree.feature, np.searchsorted(used, tree.feature))
        reduced = tree.replace(n_features=max(1, len(used)), feature=feature)
        return cls(reduced, [columns[j] for j in used], np.asarray(model.cluster_names_), output)

    def labels(self, chunk: Chunk) -> np.ndarray:
        """Cluster of each row of a chunk that has the used columns."""
        values = self.names[self.tree.cluster]
        if not self.columns:
            return np.full(chunk.n_rows, values[0])
        X = matrix_of(chunk, self.columns)
        found, is_finite = self.tree.leaf_values(X, values, check=True, count_threads=lambda: 1)
        if not is_finite:
            bad = next(n for n, x in zip(self.columns, X.T) if not np.isfinite(x).all())
            raise InputError(
                f"column {bad!r} contains NaN or infinities in {chunk.origin}",
                hint="fill or drop such rows",
            )
        return found

    def polars_expression(self) -> Any:
        """The clusters as an expression of polars; null where a used number is missing."""
        import polars as pl

        tree, names = self.tree, self.names.tolist()
        values = [pl.col(name).cast(pl.Float64) for name in self.columns]
        dtype = pl.Int64 if self.names.dtype.kind in "iu" else None
        nodes: list[Any] = [None] * tree.node_count
        for node in reversed(range(tree.node_count)):  # children come after their parent
            if tree.is_leaf[node]:
                nodes[node] = pl.lit(names[tree.cluster[node]], dtype=dtype)
                continue
            threshold = pl.lit(float(tree.threshold[node]), dtype=pl.Float64)
            left, right = nodes[tree.children_left[node]], nodes[tree.children_right[node]]
            is_left = values[tree.feature[node]] <= threshold
            nodes[node] = pl.when(is_left).then(left).otherwise(right)
        found = nodes[0]
        if values:
            found = pl.when(reduce(and_, (value.is_finite() for value in values))).then(found)
        return found.alias(self.output)

    def sql(
        self, dialect: SQLDialect, quote: Callable[[str], str], stand_ins: dict[str, str]
    ) -> str:
        """The clusters as SQL, NULL where a number is missing; `stand_ins` replace some columns."""
        names = [stand_ins.get(name, name) for name in self.columns]
        explanation = Explanation(self.tree, names=names or ["x"], clusters=self.names.tolist())
        expression = explanation.to_sql(dialect=dialect)
        is_missing = " OR ".join(f"{quote(name)} IS NULL" for name in names)
        return f"CASE WHEN {is_missing} THEN NULL ELSE {expression} END" if names else expression

    def stand_ins(self, columns: Collection[str], taken: Collection[str]) -> dict[str, str]:
        """New names for those of some columns that are used; they differ from all taken names."""
        prefix, used = free_prefix(taken), [name for name in self.columns if name in columns]
        return {name: f"{prefix}{position}" for position, name in enumerate(used)}

    def arrow_reader(self, schema: Any, batches: Iterable[tuple[Any, str]]) -> Any:
        """A RecordBatchReader with the clusters; `batches` are pairs with where they were read."""
        import pyarrow as pa

        names = schema.names
        kind = pa.array(self.names.tolist()).type
        schema = schema.remove_metadata().append(pa.field(self.output, kind))

        def predict() -> Iterator[Any]:
            for batch, origin in batches:
                chunk = Chunk(arrow_columns(batch, self.columns or names[:1]), origin)
                columns = [batch.column(batch.schema.get_field_index(name)) for name in names]
                labels = pa.array(self.labels(chunk), kind)
                yield pa.record_batch([*columns, labels], schema=schema)

        return pa.RecordBatchReader.from_batches(schema, predict())


def free_prefix(taken: Collection[str]) -> str:
    """Underscores with which no name begins."""
    prefix = "_"
    while any(name.startswith(prefix) for name in taken):
        prefix += "_"
    return prefix


def predict_source(model: Any, source: Source, columns: Sequence[str], output: str) -> Any:
    """Rows of a source with their clusters; `columns` are for a model that has no names."""
    known = [*source.numeric, *source.others]
    predictor = ScanPredictor.of(model, _columns_of(model, columns), output)
    for name in predictor.columns:
        if name not in source.numeric:
            problem = "holds no numbers" if name in known else "is not in the data"
            raise InputError(f"column {name!r} {problem}; the tree needs it")
    return source.predict(predictor)


def _columns_of(model: Any, columns: Sequence[str]) -> list[str]:
    """The column of a source for each column of a fitted model: by name, or else by position."""
    names = getattr(model, "feature_names_in_", None)
    if isinstance(model, Explanation) and names is not None:
        _require_numbers(model)
        names = model.tree_columns_
    if names is not None:
        return [str(name) for name in names]
    if len(columns) != model.n_features_in_:
        raise InputError(
            f"the scan has {len(columns)} columns, but {type(model).__name__} was fitted on "
            f"{model.n_features_in_}",
            hint="name them in order: scan(source, columns=[...])",
        )
    return list(columns)


def _require_numbers(explanation: Explanation) -> None:
    """Raise an error if the tree uses categories, dates or replaced values."""
    tree, names = explanation.tree_, explanation.tree_columns_
    replaced = {*explanation.fill_, *((explanation.reading_ or {}).get("replaced") or ())}
    for name in (names[j] for j in np.unique(tree.feature[~tree.is_leaf])):
        column, use = name, "with replaced values" if name in replaced else None
        if isinstance(name, Indicator):
            column, use = name.column, "as a category"
        elif explanation.formats_.get(name, PLAIN).is_date:
            use = "as a date"
        if use is not None:
            raise InputError(
                f"the tree uses column {column!r} {use}; on a scan it can use plain numbers only",
                hint="use to_sql in a query",
            )
