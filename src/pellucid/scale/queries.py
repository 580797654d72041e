"""Files, queries and tables of other packages: pyarrow, polars, DuckDB, Delta, Iceberg."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from itertools import chain
from os import PathLike
from pathlib import Path
from typing import Any

from pellucid._utils.imports import import_optional
from pellucid._utils.notices import InputError
from pellucid.scale.cache import temporary_files
from pellucid.scale.files import (
    OpenedFiles,
    find_files,
    newest_metadata,
    open_files,
    resolve,
    table_format,
)
from pellucid.scale.sources import (
    BUFFER_BYTES,
    PREDICTED_ROWS,
    SAMPLED_CHUNKS,
    Chunk,
    FileStates,
    FunctionSource,
    Source,
    arrow_columns,
    refuse_repeated,
    split_arrow_names,
)


class ArrowReaderSource(Source):
    """Arrow batches that can be read again, such as those of a query; errors name `what`."""

    what = ""

    def __init__(self, native: Any, schema: Any) -> None:
        self._native, self._schema = native, schema
        self._store_names(*split_arrow_names(schema))

    @abstractmethod
    def batches(self, columns: list[str], n_rows: int) -> Iterable[Any]:
        """Batches of some columns, from the first row on."""

    def read(self, columns: Sequence[str], n_rows: int) -> Iterator[Chunk]:
        first = 0
        for batch in self.batches(list(columns), n_rows):
            if batch.num_rows:
                origin = f"rows {first:,} to {first + batch.num_rows - 1:,}"
                yield Chunk(arrow_columns(batch, columns), origin)
                first += batch.num_rows

    def predict(self, predictor: Any) -> Any:
        batches = self.batches(self._schema.names, PREDICTED_ROWS)
        return predictor.arrow_reader(self._schema, ((batch, self.what) for batch in batches))


class PolarsSource(ArrowReaderSource):
    """A polars LazyFrame."""

    def __init__(self, frame: Any) -> None:
        super().__init__(frame, frame.limit(0).collect().to_arrow().schema)

    def batches(self, columns: list[str], n_rows: int) -> Iterator[Any]:
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

    what = "the file"

    def __init__(self, file: Any) -> None:
        super().__init__(file, file.schema_arrow)

    def batches(self, columns: list[str], n_rows: int) -> Iterable[Any]:
        """Batches of neighbouring row groups, since `pre_buffer` keeps all that a call reads."""
        metadata, groups, n_found = self._native.metadata, list[int](), 0
        with FileStates([]).reading("the ParquetFile"):
            for group in range(metadata.num_row_groups):
                groups.append(group)
                n_found += metadata.row_group(group).num_rows
                if n_found >= n_rows or group == metadata.num_row_groups - 1:
                    yield from self._native.iter_batches(n_rows, row_groups=groups, columns=columns)
                    groups, n_found = [], 0


class IcebergSource(ArrowReaderSource):
    """A scan of a table of pyiceberg."""

    what = "the table"

    def __init__(self, scan: Any, row_filter: Any) -> None:
        super().__init__(scan, scan.projection().as_arrow())
        self._filter = row_filter

    def batches(self, columns: list[str], n_rows: int) -> Iterable[Any]:
        from pyarrow.dataset import Scanner

        chosen = self._native if self._filter is not None else self._native.select(*columns)
        reader = chosen.to_arrow_batch_reader()
        scanner = Scanner.from_batches(reader, columns=columns, filter=self._filter)
        return scanner.to_batches()


class DatasetSource(Source):
    """A pyarrow dataset with a filter; `files` are what is known of files that were opened here."""

    def __init__(
        self, dataset: Any, row_filter: Any = None, files: OpenedFiles | None = None
    ) -> None:
        self._dataset, self._opened, self._filter = dataset, files, row_filter
        if row_filter is not None:
            hint = f"the columns are {', '.join(dataset.schema.names[:20])}"
            with _refusing("the filter does not fit the data", hint):
                dataset.scanner(columns=dataset.schema.names[:1], filter=row_filter)
        self._store_names(*split_arrow_names(dataset.schema))
        opened = dataset if files is None else files
        self._paths = getattr(opened, "files", [])
        is_local = getattr(getattr(opened, "filesystem", None), "type_name", "") == "local"
        if files is not None:
            self.problems: Mapping[str, str] = files.problems
            self.casts: Mapping[str, str] = files.casts
        self._states = FileStates(list(map(Path, self._paths)) if is_local else [])

    def fingerprint(self) -> Any:
        return self._states.states

    def read(self, columns: Sequence[str], n_rows: int) -> Iterator[Chunk]:
        """Chunks of a new scan; small batches of a file are joined."""
        waiting, n_waiting, first, last_path = list[Any](), 0, 0, ""

        def chunk(path: str) -> Chunk:
            origin = f"{path}, rows {first:,} to {first + n_waiting - 1:,}"
            return Chunk(arrow_columns(_joined(waiting), columns), origin)

        for batch, path in self._batches(list(columns), n_rows, columns):
            if waiting and (path != last_path or n_waiting + batch.num_rows > n_rows):
                yield chunk(last_path)
                first, waiting, n_waiting = first + n_waiting, [], 0
            if path != last_path:
                first, last_path = 0, path
            waiting.append(batch)
            n_waiting += batch.num_rows
        if waiting:
            yield chunk(last_path)

    def _batches(
        self, columns: list[str], n_rows: int, numbers: Sequence[str]
    ) -> Iterator[tuple[Any, str]]:
        """Batches that have rows, and their files; `numbers` of text files may become decimals."""
        self._states.check()
        batches = self._scanner(columns, n_rows, numbers).scan_batches()
        origin = self._paths[0] if self._paths else "the dataset"
        while True:
            what = f"{origin}, or a later file," if len(self._paths) > 1 else origin
            with self._states.reading(what):
                found = next(batches, None)
            if found is None:
                break
            origin = getattr(found.fragment, "path", origin)
            if found.record_batch.num_rows:
                yield found.record_batch, origin
        self._states.check()

    def _scanner(self, columns: list[str], n_rows: int, numbers: Sequence[str]) -> Any:
        from pyarrow.dataset import FileSystemDataset, ParquetFragmentScanOptions

        dataset = self._dataset
        if self._opened is not None and self._is_of("csv"):
            fragments = list(dataset.get_fragments())
            schema = _with_decimals(dataset.schema, numbers)
            dataset = FileSystemDataset(fragments, schema, fragments[0].format)
        # By default many batches, and all that was read of a file, would be in memory.
        of_parquet = ParquetFragmentScanOptions(
            pre_buffer=False, use_buffered_stream=True, buffer_size=BUFFER_BYTES
        )
        return dataset.scanner(
            columns=columns,
            filter=self._filter,
            batch_size=n_rows,
            batch_readahead=1,
            fragment_readahead=1,
            use_threads=False,
            fragment_scan_options=of_parquet if self._is_of("parquet") else None,
        )

    def _is_of(self, extension: str) -> bool:
        """Whether the files have this format."""
        first = next(iter(getattr(self._dataset, "children", [])), self._dataset)
        return getattr(getattr(first, "format", None), "default_extname", "") == extension

    def sample(self, columns: Sequence[str], n_rows: int) -> Iterator[Chunk]:
        """Rows of evenly spaced row groups; of many groups only the first rows, which is faster."""
        if self._opened is None or self._filter is not None or not self._is_of("parquet"):
            yield from super().sample(columns, n_rows)
            return
        schema = self._dataset.schema
        fragments = self._dataset.get_fragments()
        every = chain.from_iterable(fragment.split_by_row_group() for fragment in fragments)
        groups = [group for group in every if group.row_groups[0].num_rows]
        chosen = groups[:: max(1, len(groups) // SAMPLED_CHUNKS)]
        per_group = -(-n_rows // max(1, len(chosen)))
        is_first = len(chosen) >= SAMPLED_CHUNKS
        for group in chosen:
            size = group.row_groups[0].num_rows
            step = 1 if is_first else max(1, size // per_group)
            with self._states.reading(group.path):
                scanner = group.scanner(schema=schema, columns=list(columns), use_threads=False)
                table = scanner.head(per_group if is_first else size)
            for batch in table.combine_chunks().to_batches():
                yield Chunk(arrow_columns(batch, columns), "").every(step, group.path)

    def predict(self, predictor: Any) -> Any:
        """A RecordBatchReader; a polars LazyFrame for plain files, if polars is installed."""
        is_plain = self._opened is not None and self._opened.is_plain and self._filter is None
        if is_plain and find_spec("polars") is not None:
            import polars as pl

            frame = pl.scan_parquet(self._paths, glob=False, hive_partitioning=False)
            return frame.with_columns(predictor.polars_expression())
        for problem in self.problems.values():
            raise InputError(problem)
        schema = self._dataset.schema
        if self._opened is not None and self._is_of("csv"):
            schema = _with_decimals(schema, predictor.columns)
        batches = self._batches(schema.names, PREDICTED_ROWS, predictor.columns)
        return predictor.arrow_reader(schema, batches)


@contextmanager
def _refusing(problem: str, hint: str | None = None) -> Iterator[None]:
    """Replace errors of other packages by one that says what cannot be used."""
    try:
        yield
    except InputError:
        raise
    except Exception as error:
        reason = str(error).partition("\n")[0]
        raise InputError(f"{problem}: {reason}", hint=hint) from None


def open_source(source: Any, filter: Any = None) -> Source:
    """The source of what was given to `pellucid.scan`, with rows for which `filter` is true."""
    module, name = type(source).__module__.split(".")[0], type(source).__name__
    hint = "filter it before it is given to scan"
    no_filter = InputError(f"filter= does not work for {name}", hint=hint)
    if module in ("dask", "dask_expr", "pyspark"):
        if filter is not None:
            raise no_filter
        if module == "pyspark":
            from pellucid.scale.spark import SparkSource

            return SparkSource(source)
        from pellucid.scale.dask import DaskSource

        return DaskSource(source)
    row_filter = None if filter is None else _as_expression(filter)
    is_list = isinstance(source, (list, tuple)) and len(source) > 0
    if all(isinstance(path, (str, PathLike)) for path in (source if is_list else [source])):
        return _open_paths(source if is_list else [source], row_filter)
    if module == "deltalake" and hasattr(source, "to_pyarrow_dataset"):
        return _open_delta(source, row_filter)
    if module == "pyiceberg" and (hasattr(source, "scan") or hasattr(source, "projection")):
        return IcebergSource(source.scan() if hasattr(source, "scan") else source, row_filter)
    if module == "pyarrow" and name in ("Table", "RecordBatch"):
        from pyarrow.dataset import dataset

        return DatasetSource(dataset(source), row_filter)
    if module == "pyarrow" and hasattr(source, "scanner"):
        return DatasetSource(source, row_filter)
    if module == "pyarrow" and name == "RecordBatchReader":
        return _spooled(source, row_filter)
    if row_filter is not None:
        raise no_filter
    if module == "polars" and name == "LazyFrame":
        return PolarsSource(source)
    if module in ("duckdb", "_duckdb") and hasattr(source, "limit"):
        return DuckDBSource(source)
    if module == "pyarrow" and hasattr(source, "iter_batches"):
        return ParquetFileSource(source)
    if callable(source):
        return FunctionSource(source)
    raise InputError(
        f"scan cannot read {name}",
        hint="give it a path, a glob or a list of paths, a polars LazyFrame, a pyarrow table, "
        "dataset, ParquetFile or RecordBatchReader, a DuckDB relation, a Delta or Iceberg table, "
        "a Dask DataFrame or Array, a Spark DataFrame, or a function that returns batches",
    )


def _as_expression(row_filter: Any) -> Any:
    parquet = import_optional("pyarrow.parquet", "filter=")
    if isinstance(row_filter, (list, tuple)):
        with _refusing(f"filter={row_filter!r} is no list of conditions"):
            return parquet.filters_to_expression(list(row_filter))
    if type(row_filter).__name__ != "Expression":
        raise InputError(
            f"filter= is a {type(row_filter).__name__}",
            hint='give it an expression of pyarrow, or conditions: [("year", ">=", 2020)]',
        )
    return row_filter


def _open_paths(given: Sequence[Any], row_filter: Any) -> Source:
    """The files of some paths, or the table of one."""
    filesystem, paths = resolve(given)
    if len(paths) == 1 and filesystem.get_file_info(paths[0]).type.name == "Directory":
        kind, folder = table_format(filesystem, paths[0].rstrip("/")), str(given[0]).rstrip("/")
        with _refusing(f"cannot read the {kind} table {folder}"):
            if kind == "Delta":
                deltalake = import_optional("deltalake", f"{folder} is a Delta table, which")
                return _open_delta(deltalake.DeltaTable(folder), row_filter)
            if kind == "Iceberg":
                tables = import_optional("pyiceberg.table", f"{folder} is an Iceberg table, which")
                metadata = newest_metadata(filesystem, paths[0])
                prefix = folder.removesuffix(paths[0].rstrip("/"))
                table = tables.StaticTable.from_metadata(prefix + str(metadata))
                return IcebergSource(table.scan(), row_filter)
    files = open_files(filesystem, [find_files(filesystem, path) for path in paths])
    return DatasetSource(files.dataset, row_filter, files)


def _open_delta(table: Any, row_filter: Any) -> Source:
    with _refusing("cannot read the Delta table", "use scan(polars.scan_delta(...))"):
        return DatasetSource(table.to_pyarrow_dataset(), row_filter)


def _joined(batches: Sequence[Any]) -> Any:
    import pyarrow as pa

    if len(batches) == 1:
        return batches[0]
    return pa.Table.from_batches(batches).combine_chunks().to_batches()[0]


def _with_decimals(schema: Any, columns: Sequence[str]) -> Any:
    """A schema in which these columns are no integers."""
    import pyarrow as pa

    whole = {f.name for f in schema if pa.types.is_integer(f.type)} & set(columns)
    return pa.schema(pa.field(f.name, pa.float64()) if f.name in whole else f for f in schema)


def _spooled(reader: Any, row_filter: Any) -> Source:
    """The rows of a reader, which can be read once only, in a temporary file."""
    import pyarrow as pa
    from pyarrow.dataset import dataset

    folder = tempfile.mkdtemp(prefix="pellucid-")
    try:
        path = os.path.join(folder, "rows.arrow")
        with temporary_files(), pa.ipc.new_file(path, reader.schema) as file:
            for batch in reader:
                file.write_batch(batch)
        source = DatasetSource(dataset(path, format="feather"), row_filter)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    weakref.finalize(source, shutil.rmtree, folder, ignore_errors=True)
    return source


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
