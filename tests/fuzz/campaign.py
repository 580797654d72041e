"""Many cases on several processes: crashes and hangs are found, counted and survived."""

from __future__ import annotations

import contextlib
import faulthandler
import json
import multiprocessing
import os
import tempfile
import time
from collections import Counter
from pathlib import Path

TIME_LIMIT = 60
"""Seconds after which a case counts as a hang."""

_REPORT_EVERY = 1.0


def _work(number, n_workers, first_seed, last_time, current, pipe, log):
    """Run every n-th case until the time is over; the counts go through the pipe."""
    from .running import run_case

    with open(log, "w", encoding="utf-8") as stream:
        faulthandler.enable(stream)
        counts: Counter = Counter()
        seed, reported = first_seed, time.monotonic()
        while time.time() < last_time:
            current[number] = seed
            # Ends the process even in the middle of compiled code.
            faulthandler.dump_traceback_later(TIME_LIMIT, exit=True, file=stream)
            outcome = run_case(seed)
            faulthandler.cancel_dump_traceback_later()
            counts[outcome.estimator, "cases"] += 1
            counts[outcome.estimator, "fits"] += outcome.n_fits
            counts[outcome.estimator, outcome.kind] += 1
            failure = outcome if outcome.is_failure else None
            seed += n_workers
            if failure or time.monotonic() - reported > _REPORT_EVERY:
                pipe.send((counts, failure))
                counts, reported = Counter(), time.monotonic()
        pipe.send((counts, None))


class Campaign:
    """Cases from a first seed on, for some minutes, on some processes.

    Attributes
    ----------
    counts : Counter
        Number by (estimator, word): cases, fits, and the kinds of outcome.
    failures : list of dict
    """

    def __init__(self, minutes: float, n_workers: int, first_seed: int, show=print) -> None:
        self.first_seed, self.n_workers, self.show = first_seed, n_workers, show
        self.last_time = time.time() + 60 * minutes
        self.counts: Counter = Counter()
        self.failures: list[dict] = []
        os.environ.setdefault("OMP_NUM_THREADS", "1")
        self._context = multiprocessing.get_context("spawn")
        self._current = self._context.Array("q", n_workers, lock=False)

    def run(self) -> None:
        """Run to the end."""
        shown = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            running = {
                i: self._start(i, self.first_seed + i, folder) for i in range(self.n_workers)
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
                            following = self._current[number] + self.n_workers
                            running[number] = self._start(number, following, folder)
                if time.monotonic() - shown > 30:
                    shown = time.monotonic()
                    self.show(self.line())

    def _start(self, number, seed, folder):
        here, there = self._context.Pipe(duplex=False)
        log = str(Path(folder) / f"{number}-{seed}.log")
        arguments = (number, self.n_workers, seed, self.last_time, self._current, there, log)
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
        traceback = Path(log).read_text(encoding="utf-8", errors="replace")
        kind = "hang" if "Timeout" in traceback else "crash"
        seed = int(self._current[number])
        self.counts["(process)", "cases"] += 1
        self.counts["(process)", kind] += 1
        message = f"exit code {code}\n{traceback[:1500]}"
        self._record({"seed": seed, "estimator": "?", "kind": kind, "message": message})

    def _record(self, failure: dict) -> None:
        self.failures.append(failure)
        about = failure.get("description", "")
        self.show(
            f"seed {failure['seed']} {failure['estimator']}: {failure['kind']}: "
            f"{failure['message']} | {about}"
        )

    def total(self, word: str) -> int:
        """The sum of a count over all estimators."""
        return sum(n for (_, w), n in self.counts.items() if w == word)

    def line(self) -> str:
        """The counts so far in one line."""
        words = ("cases", "fits", "correct", "clear error")
        return (
            ", ".join(f"{self.total(w):,} {w}" for w in words) + f", {len(self.failures)} failures"
        )


WORDS = ("fits", "cases", "correct", "clear error")


def table(counts) -> str:
    """The counts by estimator as text."""
    names = sorted({name for name, _ in counts})
    lines = [f"{'':20}" + "".join(f"{word:>14}" for word in (*WORDS, "failures"))]
    for name in [*names, "all"]:
        values = Counter()
        for (of, word), n in counts.items():
            if name in (of, "all"):
                values[word if word in WORDS else "failures"] += n
        lines.append(f"{name:20}" + "".join(f"{values[w]:14,}" for w in (*WORDS, "failures")))
    return "\n".join(lines)


def accumulate(path: Path, campaign: Campaign) -> Counter:
    """Add the counts of a campaign to those of a file; return the sums."""
    path.parent.mkdir(parents=True, exist_ok=True)
    known = json.loads(path.read_text()) if path.exists() else {"estimators": {}, "runs": []}
    counts = Counter(
        {(n, w): c for n, words in known["estimators"].items() for w, c in words.items()}
    )
    counts.update(campaign.counts)
    estimators: dict = {}
    for (name, word), n in sorted(counts.items()):
        estimators.setdefault(name, {})[word] = n
    run = {
        "first_seed": campaign.first_seed,
        "cases": campaign.total("cases"),
        "fits": campaign.total("fits"),
        "failures": len(campaign.failures),
    }
    document = {"estimators": estimators, "runs": [*known["runs"], run]}
    path.write_text(json.dumps(document, indent=1) + "\n")
    return counts
