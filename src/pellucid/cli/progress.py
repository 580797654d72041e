"""Progress bars on standard error, at a terminal and without ``--quiet``."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Timer
from typing import TYPE_CHECKING, TextIO

from pellucid._utils.progress import Progress as Steps
from pellucid._utils.progress import listening
from pellucid.cli import output as show

if TYPE_CHECKING:
    from rich.progress import Progress

DELAY = 0.3
"""Seconds before a bar appears; shorter work shows none."""


@contextmanager
def working(what: str, total: int | None = None) -> Iterator[Callable[[str], None]]:
    """Show a progress bar while the block runs.

    Without a total, the bar is indeterminate until an estimator reports its progress.

    Parameters
    ----------
    what : str
        Description of the work.
    total : int, optional
        Number of parts.

    Yields
    ------
    step : callable
        To be called with a name at the start of each part.
    """
    if show.is_quiet() or not _supports_progress(sys.stderr):
        yield lambda name: None
        return
    with _bars() as bars:
        task = bars.add_task(what, total=total)
        begun = 0

        def step(name: str) -> None:
            nonlocal begun
            bars.update(task, description=f"{what}: {name}", completed=begun)
            begun += 1

        def watch(steps: Steps, text: str) -> None:
            name, _, unit = steps.task.partition(": ")
            if steps.done:  # a count: "3 of 4 cuts", or "distances (dtw) 3 of 20"
                text = f"{text} {unit}" if unit else f"{name} {text}"
            n_steps = steps.total if steps.done else None
            bars.update(task, description=f"{what}: {text}", total=n_steps, completed=steps.done)

        try:
            if total is None:
                with listening(watch):
                    yield step
            else:
                yield step
        finally:
            bars.remove_task(task)


@contextmanager
def _bars() -> Iterator[Progress]:
    """The existing progress bars, or new ones that appear after a delay."""
    if show.live is not None:
        yield show.live
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    bars = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=30),
        TimeElapsedColumn(),
        console=show.open_console(stderr=True),
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    )
    timer = Timer(DELAY, bars.start)
    timer.daemon = True
    show.live = bars
    timer.start()
    try:
        yield bars
    finally:
        show.live = None
        timer.cancel()
        timer.join()
        bars.stop()


def _supports_progress(stream: TextIO) -> bool:
    return bool(stream.isatty()) and os.environ.get("TERM") not in ("dumb", "unknown")
