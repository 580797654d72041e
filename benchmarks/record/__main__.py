"""The record without the other benchmarks, for versions of the package that these cannot import."""

from __future__ import annotations

import argparse
import sys

from benchmarks import record
from benchmarks.settings import Refused


def main(arguments: list[str] | None = None) -> int:
    """Run the command; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.record", description=record.ABOUT)
    record.add_options(parser)
    try:
        return record.run(vars(parser.parse_args(arguments)))
    except Refused as refusal:
        print(f"error: {refusal}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    raise SystemExit(main())
