"""Reports of the passes over the data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from threading import Lock
from typing import Any

from pellucid._core.batches.batch import Batch, Encoder, RawBatch
from pellucid._core.batches.partitions import LocalPartitions, Partitions, Task, over_batches
from pellucid._utils.progress import Progress

_STEP = 10
"""Percent between two reports."""


def with_reports(partitions: Partitions, progress: Progress) -> Partitions:
    """The same partitions; every pass is reported if somebody wants to know."""
    return ReportedPartitions(partitions, progress) if progress.is_reported else partitions


class ReportedPartitions(Partitions):
    """Partitions that report the number of the pass, and its percentage of the rows.

    Percentages are reported of batches on this machine, from the second pass on, when the number of
    rows is known.
    """

    def __init__(self, partitions: Partitions, progress: Progress) -> None:
        self._partitions, self._progress = partitions, progress
        self.passes_are_costly = partitions.passes_are_costly
        self._n_passes, self._n_rows = 0, 0

    def map_raw(self, task: Task) -> Any:
        """Merged results over the batches as they were read."""
        with _Pass(self) as counted:
            return self._partitions.map_raw(counted(task))

    def map_encoded(self, task: Task, encoder: Encoder) -> Any:
        """Merged results over the encoded batches."""
        with _Pass(self) as counted:
            return self._partitions.map_encoded(counted(task), encoder)

    def close(self) -> None:
        """Remove temporary files."""
        self._partitions.close()


class _Pass:
    """One pass."""

    def __init__(self, owner: ReportedPartitions) -> None:
        self.owner, self.done, self.shown, self.lock = owner, 0, 0, Lock()

    def __enter__(self):
        self.owner._n_passes += 1
        self._report("")
        is_local = isinstance(self.owner._partitions, LocalPartitions)
        return (lambda task: _CountedTask(task, self)) if is_local else (lambda task: task)

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        self.owner._n_rows = max(self.owner._n_rows, self.done)

    def _report(self, text: str) -> None:
        self.owner._progress.report(f"pass {self.owner._n_passes}{text}")

    def count(self, n_rows: int) -> None:
        """Count rows, and report the next full ten percent."""
        with self.lock:
            self.done += n_rows
            if not self.owner._n_rows:
                return
            percent = min(100, 100 * self.done // self.owner._n_rows)
            if percent >= self.shown + _STEP:
                self.shown = percent - percent % _STEP
                self._report(f": {percent}%")


class _CountedTask:
    """A task that counts the rows it has seen."""

    def __init__(self, task: Task, of_pass: _Pass) -> None:
        self._task, self._pass = task, of_pass

    def __call__(self, batch: Any) -> Any:
        found = self._task(batch)
        self._pass.count(len(batch.X) if isinstance(batch, RawBatch) else batch.n_rows)
        return found

    def over(self, batches: Iterable[Batch]) -> Any:
        """The merged result of several batches."""
        return over_batches(self._task, self._counted(batches))

    def _counted(self, batches: Iterable[Batch]) -> Iterator[Batch]:
        for batch in batches:
            yield batch
            self._pass.count(batch.n_rows)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._task, name)
