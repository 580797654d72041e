"""Command line of the benchmarks: ``python -m benchmarks NAME --help``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from benchmarks import (
    big,
    eop,
    golden,
    machine,
    papers,
    quality,
    record,
    report,
    scale,
    speed,
    tables,
    xclusters,
)
from benchmarks.settings import HERE, Refused, Settings

BENCHMARKS = {
    "speed": (speed, "time, memory, threads and compilation, beside k-means"),
    "papers": (papers, "the tables and figures of the papers, ours beside theirs"),
    "quality": (quality, "cost of our best trees beside the published methods' and the optimum"),
    "xclusters": (xclusters, "clusters chosen so that they can be explained, beside the paper"),
    "eop": (eop, "regions in projections beside boosting, CART and the paper's tables"),
    "tables": (tables, "the first answer on real tables, with the defaults"),
    "big": (big, "large inputs: rows, columns, entries, clusters, leaves"),
    "scale": (scale, "Parquet files larger than memory, beside one plain read"),
    "golden": (golden, "cost and size beside the published packages'"),
}
REPORT = "the result page again, from what has been measured"


def main(arguments: list[str] | None = None) -> int:
    """Run a benchmark; returns the exit code."""
    options = vars(_parser().parse_args(arguments))
    command = options.pop("command")
    try:
        if command == "record":
            return record.run(options)
        settings, found = _settings(options), {}
        if command != "report":
            benchmark, _ = BENCHMARKS[command]
            machine.remember(settings.output)
            benchmark.measure(settings)
            found[benchmark] = benchmark.sections(settings)
            report.show(found[benchmark])
        print(f"results: {report.write_page(settings, found)}")
    except Refused as refusal:
        print(f"error: {refusal}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("interrupted; the same command goes on from here", file=sys.stderr)
        return 130
    return 0


def _settings(options: dict) -> Settings:
    options["only"] = tuple(filter(None, (options["only"] or "").split(",")))
    if options["output"] is None:
        options["output"] = HERE / "quick" / "results" if options["quick"] else HERE / "results"
    for name in ("data", "golden", "targets"):
        if options[name] is not None and not options[name].is_dir():
            raise Refused(f"--{name}: {options[name]} is not a folder")
    if options["seeds"] is not None and options["seeds"] < 1:
        raise Refused(f"--seeds {options['seeds']}: at least one is needed")
    return Settings(**options)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    for name, about in [*((n, a) for n, (_, a) in BENCHMARKS.items()), ("report", REPORT)]:
        _add_options(commands.add_parser(name, help=about, description=about))
    about = record.ABOUT
    record.add_options(commands.add_parser("record", help=about, description=about))
    return parser


def _add_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--data", type=Path, help="folder of <name>.npz files with X and y")
    add("--golden", type=Path, help="folder with peers.csv and <name>_centers.npz")
    add("--targets", type=Path, help="folder with the papers' figures as CSV")
    add("--only", help="data sets (for speed: parts), separated by commas")
    add("--seeds", type=int, help="number of seeds (for speed: of runs)")
    add("--quick", action="store_true", help="tiny sizes, to see that everything works")
    add("--fresh", action="store_true", help="measure again what has been measured")
    add("--output", type=Path, help="folder for CSV and PNG; the page goes beside it")


if __name__ == "__main__":
    raise SystemExit(main())
