"""Files of any file system, found by a path, and opened as one dataset of pyarrow."""

from __future__ import annotations

import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatchcase
from glob import has_magic
from itertools import chain
from os import fspath
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple
from urllib.parse import quote, unquote

from pellucid._utils.imports import import_optional
from pellucid._utils.notices import InputError
from pellucid.scale.sources import is_number, refuse_repeated

_SUFFIXES = {
    "parquet": ("parquet", "pq", "parq"),
    "feather": ("feather", "arrow", "ipc"),
    "csv": ("csv", "tsv", "txt"),
}
"""Suffixes of each format; files of other names are read as Parquet."""

_COMPRESSED = ("gz", "bz2", "zst", "lz4")
_OPENED_AT_ONCE = 16


class Found(NamedTuple):
    """Files of one path; Hive partitions are named below `base`, if there is one."""

    paths: list[str]
    base: str | None


class OpenedFiles(NamedTuple):
    """A dataset; `problems` and `casts` have columns in which its files differ.

    `is_plain`: Parquet files of this machine that other readers take as they are.
    """

    dataset: Any
    filesystem: Any
    files: list[str]
    problems: dict[str, str]
    casts: dict[str, str]
    is_plain: bool


def resolve(paths: Sequence[Any]) -> tuple[Any, list[str]]:
    """The file system of some paths or addresses, and their paths there."""
    fs = import_optional("pyarrow.fs", "scan of files", "scan(polars.scan_parquet(...))")
    filesystem, found, prefix = None, list[str](), ""
    for given in map(fspath, paths):
        if "://" not in given:
            its_system, path = fs.LocalFileSystem(), Path(given).as_posix()
        elif prefix and given.startswith(prefix):
            its_system, path = filesystem, given[len(prefix) :]
        else:
            its_system, path = _by_address(fs, given)
            prefix = given.removesuffix(path) if given.endswith(path) else ""
        if filesystem is not None and its_system != filesystem:
            raise InputError(f"{paths[0]} and {given} are in two file systems")
        filesystem = its_system
        found.append(path)
    return filesystem, found


def _by_address(fs: Any, address: str) -> tuple[Any, str]:
    """File system and path of an address such as ``s3://bucket/folder``."""
    import pyarrow as pa

    try:
        # Blanks and brackets are characters of a path, and of a glob, but not of an address.
        return fs.FileSystem.from_uri(quote(address, safe=":/?#@!$&'()*+,;=%"))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        scheme = address.partition("://")[0]
        core = import_optional("fsspec.core", f"scan of {scheme}://")
        try:
            other, path = core.url_to_fs(address)
        except (ImportError, ValueError) as error:
            raise InputError(f"cannot read {address}: {error}") from None
        return fs.PyFileSystem(fs.FSSpecHandler(other)), path
    except OSError as error:
        raise InputError(f"cannot read {address}: {_first_line(error)}") from None


def find_files(filesystem: Any, pattern: str) -> Found:
    """The files of a path, a folder or a glob.

    Hidden names (``_`` or ``.``), where other programs write, count only if the glob spells them.
    """
    path, kind = pattern.rstrip("/") or "/", filesystem.get_file_info(pattern).type.name
    if kind == "File":
        return Found([path], None)
    parts = path.split("/")
    n_given = len(parts)
    if kind != "Directory":
        n_given = next((i for i, part in enumerate(parts) if has_magic(part)), n_given)
    base, is_hidden_wanted = "/".join(parts[:n_given]), any(map(_is_hidden, parts[n_given:]))
    matches = _matches(filesystem, [base], parts[n_given:]) if n_given < len(parts) else [base]
    listed = [file for match in dict.fromkeys(matches) for file in _below(filesystem, match)]
    _refuse_table_formats(filesystem, base, listed, matches)
    by_format: dict[str, list[str]] = {}
    for file in sorted(set(listed)):
        if is_hidden_wanted or not any(map(_is_hidden, file[len(base) :].split("/"))):
            by_format.setdefault(_format_name(file), []).append(file)
    # A folder may hold notes and checksums beside the files of its format.
    of_others = by_format.pop("", [])
    if len(by_format) > 1 and "parquet" not in by_format:
        raise InputError(
            f"{pattern} has files of {' and '.join(by_format)}",
            hint="name those of one format, such as folder/*.csv",
        )
    paths = by_format.get("parquet") or next(iter(by_format.values()), of_others)
    if not paths:
        raise InputError(
            f"no file matches {pattern}",
            hint="in a folder, names that begin with _ or . are left out",
        )
    return Found(paths, base)


def _matches(filesystem: Any, bases: list[str], parts: Sequence[str]) -> list[str]:
    """Files and folders below `bases` that match the parts of a glob."""
    if not parts:
        return bases
    first, *rest = parts
    if first == "**":
        below = [i.path for b in bases for i in _list(filesystem, b, True) if not i.is_file]
        return _matches(filesystem, [*bases, *below], rest) if rest else bases
    if not has_magic(first):
        return _matches(filesystem, [f"{base}/{first}" for base in bases], rest)
    listed = chain.from_iterable(_list(filesystem, base, False) for base in bases)
    found = [info.path for info in listed if fnmatchcase(info.base_name, first)]
    return _matches(filesystem, found, rest)


def _list(filesystem: Any, folder: str, recursive: bool) -> list[Any]:
    from pyarrow.fs import FileSelector

    return filesystem.get_file_info(
        FileSelector(folder or ".", allow_not_found=True, recursive=recursive)
    )


def _below(filesystem: Any, path: str) -> list[str]:
    """A file, or all files below a folder."""
    info = filesystem.get_file_info(path)
    if info.is_file:
        return [path]
    return [found.path for found in _list(filesystem, path, True) if found.is_file]


def _is_hidden(name: str) -> bool:
    # Spark writes the folders of a column "_a" as "_a=1".
    return name.startswith(".") or (name.startswith("_") and "=" not in name)


def table_format(filesystem: Any, folder: str) -> str | None:
    """``Delta``, ``Iceberg`` or ``Hudi`` for a folder of such a table."""
    marks = [f"{folder}/_delta_log", f"{folder}/.hoodie"]
    for info, kind in zip(filesystem.get_file_info(marks), ("Delta", "Hudi")):
        if info.type.name == "Directory":
            return kind
    return None if newest_metadata(filesystem, folder) is None else "Iceberg"


def newest_metadata(filesystem: Any, folder: str) -> str | None:
    """The path of the metadata of an Iceberg table that has the highest version."""
    versions = {
        int(found[1]): info.path
        for info in _list(filesystem, f"{folder}/metadata", False)
        if (found := re.match(r"v?(\d+).*\.metadata\.json", info.base_name))
    }
    return versions[max(versions)] if versions else None


def _refuse_table_formats(
    filesystem: Any, base: str, files: Sequence[str], matches: Sequence[str]
) -> None:
    """Raise an error if the files belong to a table that keeps files of deleted rows."""
    is_local, names = filesystem.type_name == "local", ("/_delta_log/", "/.hoodie/", "/metadata/")
    matched = {parent for path in matches for parent in Path(path).absolute().parents}
    top = Path(base).absolute() if is_local else PurePosixPath(base)
    below = {PurePosixPath(f[: f.index(name)]) for f in files for name in names if name in f}
    folders = {top, *top.parents, *below, *(matched if is_local else ())} - {PurePosixPath(".")}
    for folder in sorted(map(str, folders)):
        kind = table_format(filesystem, folder)
        if kind is not None:
            article = "an" if kind == "Iceberg" else "a"
            current = f"scan({folder!r}) reads its current rows"
            raise InputError(
                f"{folder} is {article} {kind} table; its folder may hold files of deleted rows",
                hint="scan a Spark DataFrame of it" if kind == "Hudi" else current,
            )


def _format_name(path: str) -> str:
    """The format of a file by its suffix; empty if it has another one."""
    suffixes = path.rpartition("/")[2].lower().split(".")[1:]
    if suffixes and suffixes[-1] in _COMPRESSED:
        suffixes.pop()
    return next((f for f, of_it in _SUFFIXES.items() if suffixes and suffixes[-1] in of_it), "")


def _file_format(filesystem: Any, path: str) -> Any:
    import pyarrow.csv as csv
    import pyarrow.dataset as ds

    name = _format_name(path)
    if name != "csv":
        return ds.FeatherFileFormat() if name == "feather" else ds.ParquetFileFormat()
    with filesystem.open_input_stream(path) as file:
        header = file.read(2**16).partition(b"\n")[0].decode("utf-8", "replace")
    return ds.CsvFileFormat(csv.ParseOptions(delimiter=max(",;\t|", key=header.count)))


def open_files(filesystem: Any, found: Sequence[Found]) -> OpenedFiles:
    import pyarrow as pa
    import pyarrow.dataset as ds

    paths = [path for files in found for path in files.paths]
    file_format = _file_format(filesystem, paths[0])
    with ThreadPoolExecutor(_OPENED_AT_ONCE) as pool:
        opened = list(pool.map(lambda path: _contents(file_format, filesystem, path), paths))
    # Files without rows are left out: they often lack the types of the others.
    kept = [i for i, (_, has_rows) in enumerate(opened) if has_rows] or [0]
    schema, problems, casts = _common_schema([(paths[i], opened[i][0]) for i in kept])
    is_plain = filesystem.type_name == "local" and file_format.default_extname == "parquet"
    is_plain &= not (problems or casts)
    parts, names = [], {paths[i] for i in kept}
    for files in found:
        of_path = [path for path in files.paths if path in names]
        options = ds.FileSystemFactoryOptions(exclude_invalid_files=False)
        if files.base is not None:
            hive = _hive_fields(of_path, files.base, schema)
            is_plain &= not hive
            schema = pa.schema([*schema, *(f for f in hive if f.name not in schema.names)])
            options.partition_base_dir = files.base
            options.partitioning = ds.HivePartitioning(pa.schema(hive))
        if of_path:
            parts.append(ds.FileSystemDatasetFactory(filesystem, of_path, file_format, options))
    children = [part.finish(schema) for part in parts]
    dataset = children[0] if len(children) == 1 else ds.UnionDataset(schema, children)
    return OpenedFiles(dataset, filesystem, [paths[i] for i in kept], problems, casts, is_plain)


def _contents(file_format: Any, filesystem: Any, path: str) -> tuple[Any, bool]:
    """The schema of a file, and whether it may have rows."""
    import pyarrow as pa

    try:
        fragment = file_format.make_fragment(path, filesystem)
        schema = fragment.physical_schema
        is_parquet = file_format.default_extname == "parquet"
        has_rows = not is_parquet or fragment.metadata.num_rows > 0
    except (pa.ArrowException, OSError) as error:
        kind = file_format.default_extname.replace("parquet", "Parquet")
        reason = _first_line(error)
        raise InputError(f"{path} is not a readable {kind} file: {reason}") from None
    refuse_repeated(schema.names, path)
    return schema, has_rows


def _common_schema(files: Sequence[tuple[str, Any]]) -> tuple[Any, dict[str, str], dict[str, str]]:
    """The columns of the first file, with types that fit all files; problems and casts."""
    import pyarrow as pa

    first, schema = files[0]
    problems, casts, fields = dict[str, str](), dict[str, str](), []
    for field in schema:
        kind, name = field.type, field.name
        for path, other in files[1:]:
            if name not in other.names:
                problems.setdefault(name, f"{path} has no column {name!r}, which {first} has")
            elif (its_type := other.field(name).type) != kind:
                text = f"column {name!r} has the type {its_type} in {path}, but {kind} in {first}"
                if (common := _common_type(kind, its_type)) is None:
                    problems.setdefault(name, text)
                else:
                    casts.setdefault(name, text)
                    kind = common
        fields.append(pa.field(name, kind))
    return pa.schema(fields), problems, casts


def _common_type(first: Any, second: Any) -> Any:
    """A type that holds the values of both, or None."""
    import pyarrow as pa

    schemas = [pa.schema([("x", kind)]) for kind in (first, second)]
    try:
        return pa.unify_schemas(schemas, promote_options="permissive").field(0).type
    except (pa.ArrowTypeError, pa.ArrowInvalid):
        return pa.float64() if is_number(first) and is_number(second) else None


def _hive_fields(paths: Sequence[str], base: str, schema: Any) -> list[Any]:
    """Columns that the folders of files name, such as ``year=2020``."""
    import pyarrow as pa

    values: dict[str, set[str]] = {}
    for part in chain.from_iterable(path[len(base) :].split("/")[:-1] for path in paths):
        if "=" in part:
            name, value = part.split("=", 1)
            values.setdefault(unquote(name), set()).add(value)
    integers = re.compile(r"[+-]?\d{1,18}|__HIVE_DEFAULT_PARTITION__")
    return [
        schema.field(name)
        if name in schema.names
        else pa.field(name, pa.int64() if all(map(integers.fullmatch, found)) else pa.string())
        for name, found in values.items()
    ]


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0]
