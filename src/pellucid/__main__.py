"""``python -m pellucid`` and ``pellucid`` run the command line, if its packages are installed."""

from __future__ import annotations

import sys

from pellucid._utils.imports import MissingPackageError, require_package


def main() -> None:
    """Entry point of the ``pellucid`` command."""
    try:
        for module in ("typer", "rich", "polars"):
            require_package(module, "the command line")
    except MissingPackageError as error:
        sys.exit(f"error: {error.message}\nhint: {error.hint}")
    from pellucid.cli.app import main as run

    run()


if __name__ == "__main__":
    main()
