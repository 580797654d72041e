"""Decorators that compile loops with Numba and cache the machine code on disk.

The cache is safe from partial, outdated and concurrent writes. Numba writes its index before the
machine code, and numbers the files of machine code. A process that ends between the two, or two
processes that compile different types at once, leave an index that refers to the machine code of
another version or of other types. Numba also does not notice a change in a function of another
module that is compiled into the caller. Machine code of a damaged file would end the process, so
that each file begins with a checksum.

Internal names of Numba are used here and in `loop_compiler` only. They were checked with Numba 0.61
to 0.68.
"""

from __future__ import annotations

import gc
import hashlib
import pickle
import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cached_property
from typing import Any

from numba import njit
from numba.core import event
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.compiler import Compiler
from numba.core.dispatcher import Dispatcher
from numba.core.serialize import dumps

from pellucid._utils.progress import report_newest

_compiler: Any
try:
    from pellucid._utils.loop_compiler import LoopCompiler

    _compiler = LoopCompiler
except (ImportError, AttributeError):  # internal names of Numba; without them, all works as well
    _compiler = Compiler

_CHECKSUM = 16  # bytes of the checksum


def _checksum(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=_CHECKSUM).digest()


class CodeFiles(IndexDataCacheFile):
    """The files of one function: machine code is written first, then the index that names it."""

    def save(self, key: Any, data: Any) -> None:
        """Add machine code, in a file whose name no other source or key has."""
        digest = hashlib.sha256(dumps((self._source_stamp, key))).hexdigest()[:16]
        name = self._index_name.removesuffix(".nbi") + f".{digest}.nbc"
        self._save_data(name, data)
        overloads = {**self._load_index(), key: name}
        self._save(self._index_path, (self._version, self._source_stamp, overloads))

    def _load_index(self) -> dict[Any, Any]:
        # A damaged index is an empty one, whatever the error that reading it gives.
        try:
            version, stamp, overloads = self._load(self._index_path)
        except Exception:
            return {}
        return overloads if (version, stamp) == (self._version, self._source_stamp) else {}

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

    def _index_key(self, sig: Any, codegen: Any) -> Any:
        """Numba's key. Functions of the closure are named: their pickles differ by process."""
        signature, machine, (code, closure) = super()._index_key(sig, codegen)
        values: list[Any] = [cell.cell_contents for cell in self._py_func.__closure__ or ()]
        are_functions = [isinstance(value, Dispatcher) for value in values]
        if any(are_functions):
            named = [
                (value.py_func.__qualname__, value._cache.stamp) if is_function else value
                for value, is_function in zip(values, are_functions)
            ]
            closure = hashlib.sha256(dumps(tuple(named))).hexdigest()
        return signature, machine, (code, closure)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        if self._files is None:  # only now is everything that the function calls defined
            base = self._cache_file._index_name.removesuffix(".nbi")
            self._cache_file = self._files = CodeFiles(self._cache_path, base, self.stamp)
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # a damaged file, or one that refers to a module that is gone
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        with suppress(OSError):  # the disk is full, or the folder has become read-only
            super().save_overload(sig, data)


class CodeStamp(CodeCache):
    """The stamp of a function that is stored as part of its callers only."""

    def load_overload(self, sig: Any, target_context: Any) -> None: ...

    def save_overload(self, sig: Any, data: Any) -> None: ...


_Loop = Callable[..., Any]
_Decorator = Callable[[_Loop], _Loop]

_LONG = 1.0  # seconds of compilation after which progress mentions it


class _CompilationWatch(event.Listener):
    """Disables the garbage collector during compilation, and reports once that this takes long.

    The compiler makes many objects that stay alive, and collecting takes a tenth of the time.
    """

    def __init__(self) -> None:
        self._lock, self._n_compiling, self._was_on = threading.Lock(), 0, False
        self._begin, self._seconds, self._is_reported = 0.0, 0.0, False

    def on_start(self, event: event.Event) -> None:
        with self._lock:
            now = time.monotonic()
            if not self._n_compiling:
                self._was_on, self._begin = gc.isenabled(), now
                gc.disable()
            self._n_compiling += 1
            is_long = self._seconds + now - self._begin > _LONG and not self._is_reported
            self._is_reported |= is_long
        if is_long:
            report_newest("compiling (first use)")

    def on_end(self, event: event.Event) -> None:
        with self._lock:
            self._n_compiling -= 1
            if not self._n_compiling:
                self._seconds += time.monotonic() - self._begin
                if self._was_on:
                    gc.enable()


class _InterruptDelay(event.Listener):
    """Ctrl-C during compilation takes effect at its end.

    A compiler that is interrupted leaves unfinished objects, which raise other errors, or end the
    process when they are released. Only the main thread gets signals. The identity is compared,
    because `threading.current_thread` registers an object for ever in a thread of a team.
    """

    def __init__(self) -> None:
        self._level, self._is_pending = 0, False
        self._handler: Any = None

    def on_start(self, event: event.Event) -> None:
        if threading.get_ident() == threading.main_thread().ident:
            self._level += 1
            if self._level == 1:
                self._handler = signal.getsignal(signal.SIGINT)
                if callable(self._handler):
                    signal.signal(signal.SIGINT, self._remember)

    def _remember(self, number: int, frame: object) -> None:
        self._is_pending = True

    def on_end(self, event: event.Event) -> None:
        if threading.get_ident() == threading.main_thread().ident:
            self._level -= 1
            if not self._level and callable(self._handler):
                signal.signal(signal.SIGINT, self._handler)
                if self._is_pending:
                    self._is_pending = False
                    signal.raise_signal(signal.SIGINT)


event.register("numba:compile", _CompilationWatch())
event.register("numba:compile", _InterruptDelay())  # the last one, since its end may raise


def _cached_njit(*, makes_arrays: bool = False, **options: Any) -> _Decorator:
    """Make a decorator that compiles without the interpreter lock and caches the machine code.

    Without a writable folder, each process compiles anew. Array expressions are not rewritten,
    and reference counting is off for loops that allocate no arrays: an eighth of the time.
    """
    skipped = {"no_rewrites": True, "_nrt": makes_arrays, "pipeline_class": _compiler}
    is_inner = "no_cpython_wrapper" in options
    options = {"nogil": True, "error_model": "numpy", **skipped, **options}

    def compile_loop(function: _Loop) -> _Loop:
        dispatcher = njit(**options)(function)
        with suppress(RuntimeError):  # no folder is writable
            dispatcher._cache = (CodeStamp if is_inner else CodeCache)(function)
        return dispatcher

    return compile_loop


compiled = _cached_njit(no_cfunc_wrapper=True)  # for loops that are called from Python
# As `compiled`, for loops that allocate arrays.
allocating = _cached_njit(no_cfunc_wrapper=True, makes_arrays=True)
# For loops that are called by compiled loops only; they compile faster.
inner = _cached_njit(no_cpython_wrapper=True, no_cfunc_wrapper=True)
# Inlined into the calling loop, where a call per row would be too slow.
inlined = _cached_njit(inline="always")
# For floating-point sums with fused multiply-add and reassociation; never for costs in units.
fused = _cached_njit(no_cfunc_wrapper=True, fastmath={"contract", "reassoc", "nsz"})
reordered = _cached_njit(
    no_cpython_wrapper=True, no_cfunc_wrapper=True, fastmath={"reassoc", "contract", "nsz"}
)
"""As `inner`, for sums that are the same in any order, which are then taken several at a time.

NaN and infinities keep their meaning.
"""
