"""Command line of the benchmarks: ``python -m benchmarks NAME --help``."""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks import golden


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("golden", help="cost and size beside the published packages'")
    command.add_argument("--data", type=Path, help="folder of <name>.npz files with X and y")
    command.add_argument("--golden", type=Path, help="folder with peers.csv and <name>_centers.npz")
    command.add_argument("--only", help="data sets, separated by commas")
    command.set_defaults(run=golden.run)
    arguments = parser.parse_args()
    arguments.run(arguments)


if __name__ == "__main__":
    main()
