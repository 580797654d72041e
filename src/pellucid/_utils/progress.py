"""How far long work has come: a line on standard error, or a call to whoever wants to know."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_watchers: list[Callable[[Progress, str], None]] = []


class Progress:
    """Counts steps and, when asked to, shows them.

    Parameters
    ----------
    what : str
        What is being done; work without a name is part of other work, and never told.
    total : int
        How many steps there are at the most.
    verbose : int or bool
        Nothing is shown when this is 0.
    """

    def __init__(self, what: str, total: int, verbose: int | bool) -> None:
        self.what, self.total, self.verbose = what, total, verbose
        self.done = 0

    @property
    def is_heard(self) -> bool:
        """Whether anybody wants to know."""
        return bool(self.verbose or _watchers)

    def step(self) -> None:
        """One more step is done."""
        self.done += 1
        self._say(f"{self.done} of {self.total}")

    def note(self, text: str) -> None:
        """Say how things stand."""
        self._say(text)

    def _say(self, text: str) -> None:
        if self.verbose:
            print(f"{self.what}: {text}", file=sys.stderr, flush=True)
        if self.what and _watchers:
            _watchers[-1](self, text)


@contextmanager
def watching(watcher: Callable[[Progress, str], None]) -> Iterator[None]:
    """While this lasts, `watcher` is called with every step, and with how things stand in words."""
    _watchers.append(watcher)
    try:
        yield
    finally:
        _watchers.remove(watcher)
