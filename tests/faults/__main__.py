"""``python -m tests.faults``: plant each fault in a copy of the package, and see what finds it.

First the tests of all faults run on the unchanged copy, where they must pass. Then, for each fault,
its tests run up to the first failure. Where they pass, random problems of `tests.fuzz` follow.
"""

from __future__ import annotations

import argparse
import csv
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.fuzz.counts import commit

from .planted import FAULTS, Fault

ROOT = Path(__file__).parents[2]
FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)
COLUMNS = ("fault", "file", "found by", "seconds", "commit")
MISSED = "missed: "

FUZZ = """
import sys, time
from tests.fuzz.running import run_case
end, seed, last = time.monotonic() + float(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
while time.monotonic() < end and seed <= last:
    outcome = run_case(seed)
    if outcome.is_failure:
        print(f"fuzz case {seed} ({outcome.estimator}: {outcome.kind})")
        sys.exit(1)
    seed += 1
print(f"{seed} fuzz cases")
"""
FUZZ_CASE = re.compile(r"^fuzz case (\d+) ")
LAST_SEED = 10**9


class Copy:
    """A copy of the package in a temporary folder, which tests import instead of the original."""

    def __init__(self, folder: Path, limit: float) -> None:
        self.folder, self.package, self.limit = folder, folder / "src/pellucid", limit
        shutil.copytree(
            ROOT / "src/pellucid", self.package, ignore=shutil.ignore_patterns("__pycache__")
        )

    def run(self, arguments: list[str], compiled: bool, limit: float) -> tuple[int | None, str]:
        """Exit code and output of a Python process; the code is None if the time is over."""
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(self.folder / "src"), str(ROOT)]),
            "NUMBA_CACHE_DIR": str(self.folder / "cache"),
            "PYTHONDONTWRITEBYTECODE": "1",
            "OMP_NUM_THREADS": "1",
        }
        if not compiled:
            environment["NUMBA_DISABLE_JIT"] = "1"
        try:
            done = subprocess.run(
                [sys.executable, *arguments],
                cwd=ROOT,
                env=environment,
                capture_output=True,
                text=True,
                timeout=limit,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return None, ""
        return done.returncode, done.stdout + done.stderr

    def run_tests(
        self, tests: list[str], compiled: bool, limit: float, *options: str
    ) -> tuple[int | None, str]:
        """Exit code and output of pytest."""
        # The settings of the project put the folder of the original first.
        pytest = ["-m", "pytest", "-o", "pythonpath=. tests", "-p", "no:cacheprovider"]
        plugin = ["-p", "tests.faults.first_failures"]
        arguments = [*pytest, *plugin, "-q", "--tb=line", "-rfE", *options, *tests]
        return self.run(arguments, compiled, limit)

    def fuzz(
        self, compiled: bool, seconds: float, first: int = 0, last: int = LAST_SEED
    ) -> str | None:
        """The last line of a run of random problems; None if it did not end."""
        arguments = ["-c", FUZZ, str(seconds), str(first), str(last)]
        code, output = self.run(arguments, compiled, 2 * seconds + 60)
        return output.splitlines()[-1] if output and code in (0, 1) else None

    def find(self, fault: Fault, fuzz_seconds: float) -> str:
        """What finds a fault."""
        path = self.package / fault.file
        original = path.with_suffix(".original")
        shutil.copy2(path, original)
        try:
            fault.plant(self.package)
            code, output = self.run_tests(list(fault.tests), fault.compiled, self.limit, "-x")
            if failed := FAILED.search(output):
                return failed[1].removeprefix("tests/")
            said = {0: "tests pass", None: "tests exceed the time"}.get(code, f"pytest ends {code}")
            if not fuzz_seconds:
                return MISSED + said
            found = self.fuzz(fault.compiled, fuzz_seconds)
        finally:
            # With its time, so that machine code of the unchanged file is found again.
            os.replace(original, path)
        case = FUZZ_CASE.match(found or "")
        if case is None:
            return f"{MISSED}{said}, {found or 'fuzzing does not end'}"
        seed = int(case[1])
        unchanged = self.fuzz(fault.compiled, fuzz_seconds, seed, seed)
        return MISSED + "also without the fault, " + case[0] if unchanged == found else str(found)


def main() -> int:
    """Run; the exit code is 1 if a fault is missed."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("--only", default="", help="faults whose name or file contains this text")
    parser.add_argument("--limit", type=float, default=600, help="seconds for the tests of a fault")
    parser.add_argument("--fuzz", type=float, default=60, help="seconds of random problems")
    parser.add_argument("--output", type=Path, help="CSV file for the table")
    options = parser.parse_args()
    faults = [f for f in FAULTS if options.only in f.name or options.only in f.file]
    with tempfile.TemporaryDirectory() as folder:
        copy = Copy(Path(folder), options.limit)
        failing = check_unchanged(copy, faults)
        if failing:
            print("tests that fail without any fault:", *failing, sep="\n  ")
            return 1
        version, rows = commit(), []
        for fault in faults:
            begin = time.monotonic()
            found = copy.find(fault, options.fuzz)
            if found.startswith(MISSED) and fault.supposition:
                found += f" (supposed: {fault.supposition})"
            rows.append((fault.name, fault.file, found, round(time.monotonic() - begin), version))
            print(f"{fault.name:62}{found}", flush=True)
    missed = [row[0] for row in rows if row[2].startswith(MISSED)]
    print(f"{len(rows) - len(missed)} of {len(rows)} faults found")
    if options.output:
        with open(options.output, "w", encoding="utf-8", newline="") as stream:
            writer = csv.writer(stream, lineterminator="\n")
            writer.writerows([COLUMNS, *rows])
    return int(bool(missed))


def check_unchanged(copy: Copy, faults: list[Fault]) -> list[str]:
    """Tests of the faults that fail on the unchanged copy."""
    failing: list[str] = []
    for compiled in (False, True):
        tests = sorted({test for f in faults if f.compiled == compiled for test in f.tests})
        # A test of a file that runs as a whole would run twice.
        tests = [test for test in tests if test.partition("::")[0] not in tests or "::" not in test]
        if not tests:
            continue
        code, output = copy.run_tests(tests, compiled, copy.limit * len(tests))
        if code != 0:
            reason = f"pytest ends with {code}"
            failing += FAILED.findall(output) or [f"{reason}: {output[-2000:]}"]
    return failing


if __name__ == "__main__":
    sys.exit(main())
