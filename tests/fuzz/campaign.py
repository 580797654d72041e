"""Many cases on several processes: crashes and hangs are found, counted and survived."""

from __future__ import annotations

import contextlib
import faulthandler
import multiprocessing
import os
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

TIME_LIMIT = 60.0
"""Seconds after which a case counts as a hang."""

_REPORT_EVERY, _SHOW_EVERY = 1.0, 30.0
"""Seconds between two reports of a process, and between two lines of output."""

_COMPILING = 0.3
"""Share of the time after which the cases begin even if not everything is compiled."""

_THREADS = (
    *("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"),
    *("POLARS_MAX_THREADS", "RAYON_NUM_THREADS"),
)
"""Variables that keep other libraries from using more threads than there are processes."""


def _warm_up(number: int, n_processes: int) -> None:
    """Compile the loops of a part of all fits; later processes read the machine code."""
    from pellucid.first_use import all_fits

    fits = list(all_fits())
    warnings.simplefilter("ignore")
    for fit in fits[len(fits) * number // n_processes : len(fits) * (number + 1) // n_processes]:
        fit()


def _work(number, n_processes, seed, end_seed, last_time, time_limit, only, current, pipe, log):
    """Run every n-th case until the time is over; the counts go through the pipe."""
    from .running import run_case_of

    with open(log, "w", encoding="utf-8") as stream:
        faulthandler.enable(stream)
        counts: Counter = Counter()
        reported = time.monotonic()
        while time.time() < last_time and seed < end_seed:
            current[number] = seed
            # Ends the process even in the middle of compiled code.
            faulthandler.dump_traceback_later(time_limit, exit=True, file=stream)
            outcome = run_case_of(seed, only)
            faulthandler.cancel_dump_traceback_later()
            if outcome.kind != "skipped" or only in (None, "models", "tables"):
                counts[outcome.estimator, "cases"] += 1
                counts[outcome.estimator, "fits"] += outcome.n_fits
                counts[outcome.estimator, outcome.kind] += 1
            failure = outcome if outcome.is_failure else None
            seed += n_processes
            if failure or time.monotonic() - reported > _REPORT_EVERY:
                pipe.send((counts, failure))
                counts, reported = Counter(), time.monotonic()
        pipe.send((counts, None))


class Campaign:
    """Cases from a first seed on, for some minutes, on some processes.

    Parameters
    ----------
    minutes : float
        Including the compilation at the beginning.
    n_processes, first_seed : int
    n_cases : int, optional
        The run ends after so many cases, if the time is not over before.
    show : callable
        Gets one line of text per failure, and the counts so far every half minute.
    save : callable
        Gets the campaign every half minute, too, and at the end.
    time_limit : float
        Seconds per case.
    only : str, optional
        Kind of the cases: "models", "tables", or the name of an estimator. Default: all.

    Attributes
    ----------
    counts : Counter
        Number by (estimator, word): cases, fits, and the kinds of outcome.
    failures : list of dict
    """

    def __init__(
        self,
        minutes: float,
        n_processes: int,
        first_seed: int,
        n_cases: int | None = None,
        show: Callable[[str], Any] = print,
        save: Callable[[Campaign], Any] = lambda campaign: None,
        time_limit: float = TIME_LIMIT,
        only: str | None = None,
    ) -> None:
        self.first_seed, self.n_processes, self.time_limit = first_seed, n_processes, time_limit
        self.show, self.save, self.only = show, save, only
        self.end_seed = 2**62 if n_cases is None else first_seed + n_cases
        self.last_time = time.time() + 60 * minutes
        self.counts: Counter = Counter()
        self.failures: list[dict] = []
        for name in _THREADS:
            os.environ.setdefault(name, "1")
        self._context = multiprocessing.get_context("spawn")
        self._current = self._context.Array("q", n_processes, lock=False)
        self._current[:] = [first_seed - 1] * n_processes

    def run(self) -> None:
        """Run to the end."""
        if self.n_processes > 1:
            compiling = [
                self._context.Process(target=_warm_up, args=(i, self.n_processes), daemon=True)
                for i in range(self.n_processes)
            ]
            for process in compiling:
                process.start()
            end = time.time() + _COMPILING * max(0.0, self.last_time - time.time())
            for process in compiling:
                process.join(max(0.0, end - time.time()))
        shown = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            running = {
                i: self._start(i, self.first_seed + i, folder) for i in range(self.n_processes)
            }
            while running:
                time.sleep(0.1)
                for number, (process, pipe, log) in list(running.items()):
                    is_over = not process.is_alive()
                    self._receive(pipe)
                    if is_over:
                        del running[number]
                        pipe.close()
                        if process.exitcode != 0:
                            self._record_death(number, process.exitcode, log)
                            following = self._current[number] + self.n_processes
                            running[number] = self._start(number, following, folder)
                if time.monotonic() - shown > _SHOW_EVERY:
                    shown = time.monotonic()
                    self.show(self.line())
                    self.save(self)
        self.save(self)

    def _start(self, number, seed, folder):
        here, there = self._context.Pipe(duplex=False)
        log = str(Path(folder) / f"{number}-{seed}.log")
        arguments = (
            *(number, self.n_processes, seed, self.end_seed),
            *(self.last_time, self.time_limit, self.only, self._current, there, log),
        )
        process = self._context.Process(target=_work, args=arguments, daemon=True)
        process.start()
        there.close()
        return process, here, log

    def _receive(self, pipe) -> None:
        with contextlib.suppress(EOFError, OSError):
            while pipe.poll():
                counts, failure = pipe.recv()
                self.counts.update(counts)
                if failure:
                    self._record(vars(failure))

    def _record_death(self, number, code, log) -> None:
        if not Path(log).exists():
            raise RuntimeError("a process ended before its first case; its error is above")
        traceback = Path(log).read_text(encoding="utf-8", errors="replace")
        kind = "hang" if "Timeout" in traceback else "crash"
        self.counts["(process)", "cases"] += 1
        self.counts["(process)", kind] += 1
        message = f"exit code {code}, {traceback[:1500]}"
        seed = int(self._current[number])
        self._record({"seed": seed, "estimator": "?", "kind": kind, "message": message})

    def _record(self, failure: dict) -> None:
        self.failures.append(failure)
        text = (
            f"seed {failure['seed']} {failure['estimator']}: {failure['kind']}: "
            f"{failure['message']} | {failure.get('description', '')}"
        )
        self.show(" / ".join(line.strip() for line in text.splitlines()))

    def total(self, word: str) -> int:
        """The sum of a count over all estimators."""
        return sum(n for (_, w), n in self.counts.items() if w == word)

    def line(self) -> str:
        """The counts so far in one line."""
        words = ("cases", "fits", "correct", "clear error", "skipped")
        return (
            ", ".join(f"{self.total(w):,} {w}" for w in words) + f", {len(self.failures)} failures"
        )

    def document(self) -> dict[str, Any]:
        """The counts of this run, as they are written to a file."""
        from .counts import version

        estimators: dict[str, dict[str, int]] = {}
        for (name, word), n in sorted(self.counts.items()):
            estimators.setdefault(name, {})[word] = n
        run = {
            "first_seed": self.first_seed,
            "next_seed": max(self._current) + 1,
            "cases": self.total("cases"),
            "fits": self.total("fits"),
            "failures": len(self.failures),
        }
        return {**version(), "estimators": estimators, "runs": [run]}
