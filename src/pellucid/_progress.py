"""One line on standard error that says how far long work has come."""

from __future__ import annotations

import sys


class Progress:
    """Counts steps and, when asked to, shows them.

    Parameters
    ----------
    what : str
        What is being done.
    total : int
        How many steps there are at the most.
    verbose : int or bool
        Nothing is shown when this is 0.
    """

    def __init__(self, what: str, total: int, verbose: int | bool) -> None:
        self.what, self.total, self.verbose = what, total, verbose
        self.done = 0

    def step(self) -> None:
        """One more step is done."""
        self.done += 1
        if self.verbose:
            print(f"{self.what}: {self.done} of {self.total}", file=sys.stderr, flush=True)

    def note(self, text: str) -> None:
        """Say how things stand."""
        if self.verbose:
            print(f"{self.what}: {text}", file=sys.stderr, flush=True)
