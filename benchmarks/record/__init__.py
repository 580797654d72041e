"""A record of what the estimators compute, to compare the code before and after a change.

Every fit has a key. Under it are hashes of the tree, the rules, the labels and the centers, and
the costs as hexadecimal floats. All seeds are fixed and the numerical libraries use one thread, so
two runs of the same code with the same versions on the same machine give the same record.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from time import perf_counter
from typing import Any

from benchmarks import machine
from benchmarks.record.comparison import compare
from benchmarks.settings import Refused

ABOUT = "what the estimators compute, to the last bit, to compare two versions of the code"
_VERSIONS = ("processor", "Python", "numpy", "scipy", "scikit-learn", "numba")


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    add = parser.add_argument
    add("target", nargs="?", type=Path, metavar="OUTPUT.json", help="where to write the record")
    add("--compare", nargs=2, type=Path, metavar=("OLD", "NEW"), help="compare two records")
    add("--only", default="", help="only fits whose keys contain this text")


def run(options: dict[str, Any]) -> int:
    """Write a record, or compare two; returns the exit code, 1 if the two differ."""
    if (options["target"] is None) == (options["compare"] is None):
        raise Refused("record: name either one file to write or --compare OLD NEW")
    if options["compare"] is not None:
        old, new = map(read, options["compare"])
        return compare(old, new, options["only"])
    write(options["target"], make(options["only"]))
    return 0


def make(only: str = "") -> dict[str, Any]:
    """Fit everything; returns the record.

    Parameters
    ----------
    only : str
        Fit only what has this text in its key.
    """
    # Threads can be limited only in libraries that have been loaded.
    from threadpoolctl import threadpool_limits

    from benchmarks.record.cases import all_cases

    cases, fits, start = all_cases(only), {}, perf_counter()
    if not cases:
        raise Refused(f"--only: no key contains {only!r}")
    with threadpool_limits(limits=1):
        for number, case in enumerate(cases, start=1):
            fits[case.key] = case.record()
            if sys.stderr.isatty() or number % 100 == 0 or number == len(cases):
                seconds = perf_counter() - start
                end = "\r" if sys.stderr.isatty() and number < len(cases) else "\n"
                print(f"{number} of {len(cases)} fits, {seconds:.0f} s", end=end, file=sys.stderr)
    failed = [key for key, found in fits.items() if "error" in found]
    for key in failed:
        print(f"{key}: {fits[key]['error']}", file=sys.stderr)
    known = machine.describe()
    return {"made_with": {name: known[name] for name in _VERSIONS if name in known}, "fits": fits}


def write(path: Path, record: dict[str, Any]) -> None:
    """Write a record as JSON with one line per fit."""
    lines = [f"{json.dumps(key)}: {json.dumps(found)}" for key, found in record["fits"].items()]
    fits, made_with = ",\n".join(lines), json.dumps(record["made_with"])
    path.write_text(f'{{"made_with": {made_with},\n"fits": {{\n{fits}\n}}}}\n', encoding="utf-8")


def read(path: Path) -> dict[str, Any]:
    """Read a record."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise Refused(f"{path} cannot be read as a record: {error}") from error
    if not isinstance(record, dict) or not {"made_with", "fits"} <= record.keys():
        raise Refused(f"{path} is not a record; make one with `python -m benchmarks record`")
    return record
