"""Measurements to be made, one after the other, with a bar that says how far we are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from benchmarks.store import Store

Values = dict[str, Any]


@dataclass(frozen=True)
class Job:
    """One measurement.

    Attributes
    ----------
    store : Store
        Where the result is kept.
    key : dict
        What is measured.
    measure : callable
        Returns the values for the key, or several rows of values.
    """

    store: Store
    key: dict[str, Any]
    measure: Callable[[], Values | list[Values]]

    def do(self) -> None:
        """Measure and keep the result."""
        found = self.measure()
        rows = found if isinstance(found, list) else [found]
        self.store.add({**self.key, **row} for row in rows)


def work_through(title: str, jobs: list[Job], *, fresh: bool = False) -> None:
    """Do all jobs that have not been done before."""
    if fresh:
        for store in {id(job.store): job.store for job in jobs}.values():
            store.drop(job.key for job in jobs if job.store is store)
    waiting = [job for job in jobs if job.key not in job.store]
    console = Console(stderr=True)
    bar = Progress(
        TextColumn("[bold]{task.fields[title]}"),
        BarColumn(bar_width=30),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}"),
        console=console,
        disable=not console.is_terminal,
    )
    with bar:
        done = len(jobs) - len(waiting)
        task = bar.add_task("", total=len(jobs), completed=done, title=title)
        for number, job in enumerate(waiting, start=done + 1):
            what = ", ".join(str(value) for value in job.key.values())
            bar.update(task, description=what)
            if not console.is_terminal:
                console.print(f"{title} {number}/{len(jobs)}: {what}", highlight=False)
            job.do()
            bar.advance(task)
        bar.update(task, description="done")
