"""Queries and open files of other packages: polars, DuckDB, pyarrow."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from pellucid._utils.notices import InputError
from pellucid.scale.sources import (
    BUFFER_BYTES,
    PREDICTED_ROWS,
    Chunk,
    FileStates,
    FunctionSource,
    ParquetSource,
    Source,
    arrow_columns,
    find_files,
    refuse_repeated,
    split_arrow_names,
)


class ArrowReaderSource(Source):
    """Arrow batches that can be read again, such as those of a query."""

    numeric: list[str]
    others: list[str]

    def __init__(self, native: Any, schema: Any) -> None:
        self._native, self._schema = native, schema
        self.numeric, self.others = split_arrow_names(schema)

    @abstractmethod
    def batches(self, columns: list[str], n_rows: int) -> Iterable[Any]:
        """Batches of some columns, from the first row on."""

    def read(self, columns: Sequence[str], n_rows: int) -> Iterator[Chunk]:
        """Chunks of a new run of the query."""
        first = 0
        for batch in self.batches(list(columns), n_rows):
            if batch.num_rows:
                origin = f"rows {first:,} to {first + batch.num_rows - 1:,}"
                yield Chunk(arrow_columns(batch, columns), origin)
                first += batch.num_rows


class PolarsSource(ArrowReaderSource):
    """A polars LazyFrame."""

    def __init__(self, frame: Any) -> None:
        super().__init__(frame, frame.limit(0).collect().to_arrow().schema)

    def batches(self, columns: list[str], n_rows: int) -> Iterator[Any]:
        """Batches of a new run of the query."""
        chosen = self._native.select(columns)
        for batch in chosen.collect_batches(chunk_size=n_rows, maintain_order=True):
            yield from batch.to_arrow().to_batches()

    def predict(self, predictor: Any) -> Any:
        return self._native.with_columns(predictor.polars_expression())


class DuckDBSource(ArrowReaderSource):
    """A DuckDB relation."""

    def __init__(self, relation: Any) -> None:
        # Arrow tables get other names where DuckDB's are equal; it ignores their case.
        refuse_repeated([name.lower() for name in relation.columns], "the relation")
        super().__init__(relation, relation.limit(0).to_arrow_table().schema)

    def batches(self, columns: list[str], n_rows: int) -> Iterable[Any]:
        """Batches of a new run of the query."""
        return self._native.select(*map(_quoted, columns)).to_arrow_reader(n_rows)

    def predict(self, predictor: Any) -> Any:
        types = zip(self._native.columns, map(str, self._native.types))
        # Such types are no numbers to DuckDB, or compare with more digits than a float has.
        other = [name for name, kind in types if kind.startswith(("BOOLEAN", "DECIMAL"))]
        stand_ins = predictor.stand_ins(other, self._native.columns)
        relation, kept = self._native, "*"
        if stand_ins:
            casts = [f"CAST({_quoted(n)} AS DOUBLE) AS {new}" for n, new in stand_ins.items()]
            relation = relation.project(", ".join(["*", *casts]))
            kept = f"* EXCLUDE ({', '.join(stand_ins.values())})"
        clusters = predictor.sql("duckdb", _quoted, stand_ins)
        return relation.project(f"{kept}, {clusters} AS {_quoted(predictor.output)}")


class ParquetFileSource(ArrowReaderSource):
    """A pyarrow ParquetFile."""

    def __init__(self, file: Any) -> None:
        super().__init__(file, file.schema_arrow)

    def batches(self, columns: list[str], n_rows: int) -> Iterable[Any]:
        """Batches from the first row on.

        A file that was opened with `pre_buffer` keeps all row groups that one call reads.
        """
        with FileStates([]).reading("the ParquetFile"):
            for groups in self._groups(n_rows):
                yield from self._native.iter_batches(n_rows, row_groups=groups, columns=columns)

    def _groups(self, n_rows: int) -> Iterator[list[int]]:
        """Numbers of neighbouring row groups that together have at least `n_rows` rows."""
        metadata, groups, n_found = self._native.metadata, [], 0
        for group in range(metadata.num_row_groups):
            groups.append(group)
            n_found += metadata.row_group(group).num_rows
            if n_found >= n_rows or group == metadata.num_row_groups - 1:
                yield groups
                groups, n_found = [], 0

    def predict(self, predictor: Any) -> Any:
        batches = self.batches(self._schema.names, PREDICTED_ROWS)
        return predictor.arrow_reader(self._schema, ((batch, "the file") for batch in batches))


class DatasetSource(Source):
    """A pyarrow dataset, with its filter, its partitions and its file system."""

    numeric: list[str]
    others: list[str]

    def __init__(self, dataset: Any) -> None:
        self._dataset, self._names = dataset, dataset.schema.names
        self.numeric, self.others = split_arrow_names(dataset.schema)
        self._paths = getattr(dataset, "files", [])
        is_local = getattr(getattr(dataset, "filesystem", None), "type_name", "") == "local"
        self._files = FileStates([Path(path) for path in self._paths] if is_local else [])

    def read(self, columns: Sequence[str], n_rows: int) -> Iterator[Chunk]:
        """Chunks of a new scan."""
        for batch, origin in self._batches(list(columns), n_rows):
            yield Chunk(arrow_columns(batch, columns), origin)

    def _batches(self, columns: list[str], n_rows: int) -> Iterator[tuple[Any, str]]:
        """Batches that have rows, and the files that they are read from."""
        from pyarrow.dataset import ParquetFragmentScanOptions

        self._files.check()
        # By default many batches, and all that was read of a file, would be in memory.
        file_format = getattr(self._dataset, "format", None)
        is_parquet = getattr(file_format, "default_extname", "") == "parquet"
        batches = self._dataset.scanner(
            columns=columns,
            batch_size=n_rows,
            batch_readahead=1,
            fragment_readahead=1,
            use_threads=False,
            fragment_scan_options=ParquetFragmentScanOptions(
                pre_buffer=False, use_buffered_stream=True, buffer_size=BUFFER_BYTES
            )
            if is_parquet
            else None,
        ).scan_batches()
        origin = self._paths[0] if self._paths else "the dataset"
        while True:
            what = f"{origin}, or a later file," if len(self._paths) > 1 else origin
            with self._files.reading(what):
                found = next(batches, None)
            if found is None:
                break
            origin = getattr(found.fragment, "path", origin)
            if found.record_batch.num_rows:
                yield found.record_batch, origin
        self._files.check()

    def predict(self, predictor: Any) -> Any:
        batches = self._batches(self._names, PREDICTED_ROWS)
        return predictor.arrow_reader(self._dataset.schema, batches)


def open_source(source: Any) -> Source:
    """The source of what was given to `pellucid.scan`."""
    if isinstance(source, (str, PathLike)):
        return ParquetSource(find_files(fspath(source)))
    module = type(source).__module__.split(".")[0]
    if module == "polars" and type(source).__name__ == "LazyFrame":
        return PolarsSource(source)
    if module in ("duckdb", "_duckdb") and hasattr(source, "limit"):
        return DuckDBSource(source)
    if module == "pyarrow" and hasattr(source, "iter_batches"):
        return ParquetFileSource(source)
    if module == "pyarrow" and hasattr(source, "scanner"):
        return DatasetSource(source)
    if callable(source):
        return FunctionSource(source)
    raise InputError(
        f"scan cannot read {type(source).__name__}",
        hint="give it a path or glob of Parquet files, a polars LazyFrame, a pyarrow ParquetFile "
        "or dataset, a DuckDB relation, a Dask DataFrame or Array, a Spark DataFrame, or a "
        "function that returns batches",
    )


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
