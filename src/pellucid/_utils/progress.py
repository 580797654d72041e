"""Progress of long work, on standard error or to a listener; Ctrl-C as a request to stop.

Bars at a terminal are drawn by rich (`pellucid.cli.output`). tqdm would be one more package for a
counter and a line of text.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from weakref import ref

_listeners: list[Callable[[Progress, str], None]] = []


class Progress:
    """Counts steps and, if requested, reports them; `total` is the largest number of steps.

    A task without a name is part of another task and never reported. With `verbose`, reports are
    printed on standard error.
    """

    task: str
    total: int
    verbose: int | bool
    done: int

    def __init__(self, task: str, total: int, verbose: int | bool) -> None:
        self.task, self.total, self.verbose, self.done = task, total, verbose, 0
        if task:
            _newest[:] = [ref(self)]

    @property
    def is_reported(self) -> bool:
        return bool(self.verbose or _listeners)

    def step(self) -> None:
        self.done += 1
        self.report(f"{self.done} of {self.total}")

    def report(self, text: str) -> None:
        if self.verbose:
            print(f"{self.task}: {text}", file=sys.stderr, flush=True)
        if self.task and _listeners:
            _listeners[-1](self, text)


_newest: list[ref[Progress]] = []  # the task that was begun last


def report_newest(text: str) -> None:
    """Report a text for the task that was begun last, or for none if that task has ended."""
    progress = _newest[0]() if _newest else None
    (progress or Progress("work", 0, verbose=False)).report(text)


@contextmanager
def listening(listener: Callable[[Progress, str], None]) -> Iterator[None]:
    """Within this context, call `listener` with the task and the text of every report."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


@contextmanager
def only(progress: Progress) -> Iterator[None]:
    """Within this context, the listener receives the reports of this task, and no others."""
    if not _listeners:
        yield
        return
    listener = _listeners[-1]
    with listening(lambda task, text: listener(task, text) if task is progress else None):
        yield


class Interrupt:
    """Within this context, the first Ctrl-C sets `requested`; the second one is raised as usual.

    An exception raised in the middle of compiled code could leave data in an inconsistent state.
    Outside the main thread, or if another handler is installed, nothing changes.
    """

    def __init__(self) -> None:
        self.requested: bool = False
        self._is_installed = False

    def __enter__(self) -> Interrupt:
        self._is_installed = (
            threading.current_thread() is threading.main_thread()
            and signal.getsignal(signal.SIGINT) is signal.default_int_handler
        )
        if self._is_installed:
            signal.signal(signal.SIGINT, self._request)
        return self

    def __exit__(self, *exception: object) -> None:
        if self._is_installed:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def _request(self, *_: object) -> None:
        if self.requested:
            raise KeyboardInterrupt
        self.requested = True
