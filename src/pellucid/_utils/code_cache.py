"""The cache of machine code on disk, safe from partial, outdated and concurrent writes.

Numba writes its index before the machine code, and numbers the files of machine code. A process
that ends between the two, or two processes that compile different types at once, leave an index
that refers to the machine code of another version or of other types. Numba also does not notice a
change in a function of another module that is compiled into the caller. Machine code of a damaged
file would end the process, so that each file begins with a checksum.
"""

from __future__ import annotations

import hashlib
import pickle
from contextlib import suppress
from functools import cached_property
from typing import Any

from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.dispatcher import Dispatcher
from numba.core.serialize import dumps

_CHECKSUM = 16
"""Bytes of the checksum."""


def _checksum(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=_CHECKSUM).digest()


class CodeFiles(IndexDataCacheFile):
    """The files of one function: machine code is written first, then the index that names it."""

    def save(self, key: Any, data: Any) -> None:
        """Add machine code, in a file whose name no other source or key has."""
        digest = hashlib.sha256(dumps((self._source_stamp, key))).hexdigest()[:16]
        name = self._index_name.removesuffix(".nbi") + f".{digest}.nbc"
        self._save_data(name, data)
        overloads = self._load_index()
        overloads[key] = name
        self._save_index(overloads)

    def _load_index(self) -> dict[Any, Any]:
        # A damaged index is an empty one, whatever the error that reading it gives.
        try:
            version, stamp, overloads = self._load(self._index_path)
        except Exception:
            return {}
        return overloads if (version, stamp) == (self._version, self._source_stamp) else {}

    def _save_index(self, overloads: dict[Any, Any]) -> None:
        self._save(self._index_path, (self._version, self._source_stamp, overloads))

    def _load_data(self, name: str) -> Any:
        return self._load(self._data_path(name))

    def _save_data(self, name: str, data: Any) -> None:
        self._save(self._data_path(name), data)

    def _load(self, path: str) -> Any:
        with open(path, "rb") as file:
            checksum, content = file.read(_CHECKSUM), file.read()
        if _checksum(content) != checksum:
            raise ValueError(f"{path} is damaged")
        return pickle.loads(content)

    def _save(self, path: str, data: Any) -> None:
        content = dumps(data)
        with self._open_for_write(path) as file:
            file.write(_checksum(content) + content)


class CodeCache(FunctionCache):
    """The cache of one function: what cannot be read is compiled, what cannot be written is not.

    Raises `RuntimeError` if there is no writable folder.
    """

    _files: CodeFiles | None = None
    _is_stamping = False

    @cached_property
    def stamp(self) -> str:
        """Identifies the source, and what is compiled into it from other modules."""
        parts = [self._cache_file._source_stamp]
        if not self._is_stamping:  # functions may call each other
            self._is_stamping = True
            for name in self._py_func.__code__.co_names:
                value = self._py_func.__globals__.get(name)
                cache = getattr(value, "_cache", None) if isinstance(value, Dispatcher) else None
                if isinstance(cache, CodeCache):
                    parts.append(cache.stamp)
                elif isinstance(value, (bool, int, float, str)):
                    parts.append(repr(value))
        return hashlib.sha256(repr(parts).encode()).hexdigest()

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Machine code for a signature, or None."""
        if self._files is None:  # only now is everything that the function calls defined
            base = self._cache_file._index_name.removesuffix(".nbi")
            self._cache_file = self._files = CodeFiles(self._cache_path, base, self.stamp)
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # a damaged file, or one that refers to a module that is gone
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Save machine code, unless the disk is full or the folder has become read-only."""
        with suppress(OSError):
            super().save_overload(sig, data)


class CodeStamp(CodeCache):
    """The stamp of a function that is stored as part of its callers only."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Nothing is stored."""
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Nothing is stored."""
