"""Decorators that compile loops with Numba and cache the machine code on disk."""

from __future__ import annotations

import gc
import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from numba import njit
from numba.core import event
from numba.core.compiler import Compiler, Flags

from pellucid._utils.code_cache import CodeCache, CodeStamp
from pellucid._utils.progress import report_newest

_compiler: Any
try:
    from pellucid._utils.loop_compiler import LoopCompiler

    _compiler = LoopCompiler
except (ImportError, AttributeError):  # internal names of Numba; without them, all works as well
    _compiler = Compiler

_Loop = Callable[..., Any]
_Decorator = Callable[[_Loop], _Loop]

_LONG = 1.0
"""Seconds of compilation after which progress mentions it."""


class _CollectorPause(event.Listener):
    """Disables the garbage collector during compilation.

    The compiler makes many objects that stay alive, and collecting takes a tenth of the time.
    """

    def __init__(self) -> None:
        self._lock, self._n_compiling, self._was_on = threading.Lock(), 0, False

    def on_start(self, event: event.Event) -> None:
        with self._lock:
            if not self._n_compiling:
                self._was_on = gc.isenabled()
                gc.disable()
            self._n_compiling += 1

    def on_end(self, event: event.Event) -> None:
        with self._lock:
            self._n_compiling -= 1
            if self._was_on and not self._n_compiling:
                gc.enable()


class _CompilationReport(event.Listener):
    """Reports once that compilation takes long."""

    def __init__(self) -> None:
        self._level, self._begin, self._seconds, self._is_reported = 0, 0.0, 0.0, False

    def on_start(self, event: event.Event) -> None:
        now = time.monotonic()
        if not self._level:
            self._begin = now
        self._level += 1
        if self._seconds + now - self._begin > _LONG and not self._is_reported:
            self._is_reported = True
            report_newest("compiling (first use)")

    def on_end(self, event: event.Event) -> None:
        self._level -= 1
        if not self._level:
            self._seconds += time.monotonic() - self._begin


class _InterruptDelay(event.Listener):
    """Ctrl-C during compilation takes effect at its end.

    A compiler that is interrupted leaves unfinished objects, which raise other errors, or end the
    process when they are released. Only the main thread gets signals.
    """

    def __init__(self) -> None:
        self._level, self._is_pending = 0, False
        self._handler: Any = None

    def on_start(self, event: event.Event) -> None:
        if threading.current_thread() is threading.main_thread():
            self._level += 1
            if self._level == 1:
                self._handler = signal.getsignal(signal.SIGINT)
                if callable(self._handler):
                    signal.signal(signal.SIGINT, self._remember)

    def _remember(self, number: int, frame: object) -> None:
        self._is_pending = True

    def on_end(self, event: event.Event) -> None:
        if threading.current_thread() is threading.main_thread():
            self._level -= 1
            if not self._level and callable(self._handler):
                signal.signal(signal.SIGINT, self._handler)
                if self._is_pending:
                    self._is_pending = False
                    signal.raise_signal(signal.SIGINT)


event.register("numba:compile", _CollectorPause())
event.register("numba:compile", _CompilationReport())
event.register("numba:compile", _InterruptDelay())  # the last one, since its end may raise


class _ComparableFlags(Flags):
    """Options of a compilation that are compared in little time.

    The compiler looks for implementations of each operator by its options. Its own comparison reads
    all of them one after the other, which takes a third of the time of type inference.
    """

    __slots__ = ()
    _HASH = hash(Flags())  # the same for all

    def __hash__(self) -> int:
        return self._HASH

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Flags) and self._values == other._values)


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
        with suppress(AttributeError):  # an internal name of Numba; without it, all works as well
            dispatcher._compiler._customize_flags = _ComparableFlags
        with suppress(RuntimeError):  # no folder is writable
            dispatcher._cache = (CodeStamp if is_inner else CodeCache)(function)
        return dispatcher

    return compile_loop


compiled = _cached_njit(no_cfunc_wrapper=True)
"""For loops that are called from Python."""

allocating = _cached_njit(no_cfunc_wrapper=True, makes_arrays=True)
"""As `compiled`, for loops that allocate arrays."""

inner = _cached_njit(no_cpython_wrapper=True, no_cfunc_wrapper=True)
"""For loops that are called by compiled loops only; they compile faster."""

inlined = _cached_njit(inline="always")
"""Inlined into the calling loop, where a call per row would be too slow."""

fused = _cached_njit(no_cfunc_wrapper=True, fastmath={"contract", "reassoc", "nsz"})
"""For floating-point sums with fused multiply-add and reassociation; never for costs in units."""

fused_allocating = _cached_njit(
    no_cfunc_wrapper=True, makes_arrays=True, fastmath={"contract", "reassoc", "nsz"}
)
"""As `fused`, for loops that allocate arrays."""

reordered = _cached_njit(
    no_cpython_wrapper=True, no_cfunc_wrapper=True, fastmath={"reassoc", "contract", "nsz"}
)
"""As `inner`, for sums that are the same in any order, which are then taken several at a time.

NaN and infinities keep their meaning.
"""
