"""What the user asked for on the command line."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent


class Refused(Exception):
    """The benchmark cannot be run as asked; the message says why and what would work."""


@dataclass(frozen=True)
class Settings:
    """Options that all benchmarks share.

    Attributes
    ----------
    output : Path
        Folder for CSV files and pictures; the page goes beside it.
    data, golden, targets : Path or None
        Folders of data sets, of the published packages' figures, of the papers' figures.
    only : tuple of str
        Names of data sets or parts; all when empty.
    seeds : int or None
        Number of seeds or runs; the benchmark's own number when None.
    quick : bool
        Sizes that only show that everything works.
    fresh : bool
        Whether to measure again what has been measured.
    """

    output: Path = HERE / "results"
    data: Path | None = None
    golden: Path | None = None
    targets: Path | None = None
    only: tuple[str, ...] = ()
    seeds: int | None = None
    quick: bool = False
    fresh: bool = False

    def choose(self, names: Iterable[str]) -> list[str]:
        """Those of `names` that were asked for."""
        names = list(names)
        unknown = [name for name in self.only if name not in names]
        if unknown:
            raise Refused(f"--only: {unknown[0]!r} is unknown here; choose from {', '.join(names)}")
        return [name for name in names if not self.only or name in self.only]

    def n_seeds(self, usual: int, quick: int = 1) -> int:
        """Number of seeds or runs."""
        if self.seeds is not None:
            return self.seeds
        return quick if self.quick else usual
