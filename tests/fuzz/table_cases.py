"""Random tables with columns of every type for `pellucid.explain`, and what must be true."""

from __future__ import annotations

import contextlib
import io
import re
import tempfile
import traceback
import warnings
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from pathlib import Path, PurePosixPath
from typing import Any
from uuid import UUID

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

import pellucid

from .running import Outcome

REPORTS = 0.02
"""Share of the tables of which a report is written."""

TWINS = 0.25
"""Share of the tables whose columns all have a plain form, which must give the same labels."""

_PACKAGE = str(Path(pellucid.__file__).parent)
_NAMES = re.compile(
    r"\b(table|columns?|rows?|k|labels?|exclude|categorical|profile|scale|missing|outliers|names|"
    r"method|leaves|objective|polish|max_depth|effort|clusters?)\b"
)
"""Things that a message of an error may name, next to the columns of the table."""


class Color(Enum):
    """A type of objects with a text."""

    RED = 1
    BLUE = 2


class Silent:
    """An object that can be neither written nor compared."""

    def __repr__(self) -> str:
        raise RuntimeError

    def __eq__(self, other: object) -> bool:
        raise RuntimeError

    __hash__ = None  # type: ignore[assignment]


@dataclass
class TableCase:
    """A table and the parameters of `explain`."""

    table: Any
    options: dict[str, Any]
    description: str
    names: list[str]
    twin: pl.DataFrame | None = None
    """The same table in plain types, without the columns that have to be ignored."""
    has_report: bool = False
    n_fits: int = field(default=0)

    def explain(self, table: Any):
        """Explain a table with the parameters of the case."""
        self.n_fits += 1
        return pellucid.explain(table, verbose=False, **self.options)


def _pick(rng, values, n):
    return [values[i] for i in rng.integers(0, len(values), n)]


def _clusters(rng, n):
    """Multiples of 1/4 around few centers, which every type of floats holds."""
    centers = rng.integers(-40, 40, int(rng.integers(1, 5)))
    return (centers[rng.integers(0, len(centers), n)] + rng.integers(-8, 9, n) / 4).tolist()


def _days(rng, n):
    start, step = date(2000, 1, 1), int(rng.integers(1, 400))
    return [start + timedelta(days=step * int(i)) for i in rng.integers(0, 30, n)]


def _moments(rng, n, zone=None):
    days = _days(rng, n)
    hours = rng.integers(0, 24, n).tolist()
    return [datetime(d.year, d.month, d.day, h, tzinfo=zone) for d, h in zip(days, hours)]


PLAIN = {
    "clusters": _clusters,
    "words": lambda rng, n: _pick(rng, ["red", "green", "blue", "dark red"], n),
    "integers": lambda rng, n: rng.integers(-5, 60, n).tolist(),
    "flags": lambda rng, n: _pick(rng, [True, False], n),
    "days": _days,
}
"""Values whose plain form is known."""

HOSTILE = {
    "several zones": lambda rng, n: _moments(rng, n, UTC) if n % 2 else _moments(rng, n),
    "moments": _moments,
    "zoned": lambda rng, n: _moments(rng, n, UTC),
    "mixed times": lambda rng, n: _pick(
        rng, [date(2020, 1, 1), datetime(2020, 1, 2, 3), time(4, 5), datetime(1, 1, 1)], n
    ),
    "extreme times": lambda rng, n: _pick(
        rng, [datetime.min, datetime.max, datetime(2020, 1, 1)], n
    ),
    "durations": lambda rng, n: _pick(rng, [timedelta(hours=h) for h in range(9)], n),
    "extreme durations": lambda rng, n: _pick(rng, [timedelta.max, timedelta.min, timedelta(1)], n),
    "times": lambda rng, n: _pick(rng, [time(h) for h in range(9)], n),
    "decimals": lambda rng, n: [Decimal(int(v)) / 8 for v in rng.integers(0, 99, n)],
    "extreme decimals": lambda rng, n: _pick(
        rng, [Decimal("1e60"), Decimal("NaN"), Decimal("Infinity"), Decimal("1e-60"), Decimal(1)], n
    ),
    "fractions": lambda rng, n: [Fraction(int(v), 7) for v in rng.integers(0, 99, n)],
    "long integers": lambda rng, n: [10**30 + int(v) for v in rng.integers(0, 9, n)],
    "integers of many lengths": lambda rng, n: _pick(
        rng, [3, -(10**30), 10**45, 2**63, 2**64, 7], n
    ),
    "unsigned": lambda rng, n: _pick(rng, [2**64 - 1, 2**63, 0, 5], n),
    "too long for floats": lambda rng, n: _pick(rng, [10**400, 1, 2], n),
    "extreme floats": lambda rng, n: _pick(rng, [1e300, -1e300, 5e-324, 0.0, -0.0, 1.7e308], n),
    "infinite": lambda rng, n: _pick(rng, [float("inf"), 1.5, 2.5, float("-inf")], n),
    "complex": lambda rng, n: (rng.normal(size=n) + 1j).tolist(),
    "lists": lambda rng, n: _pick(rng, [[1, 2], [], ["a"], [[1]]], n),
    "tuples": lambda rng, n: _pick(rng, [(1, 2), (3, 4)], n),
    "dicts": lambda rng, n: _pick(rng, [{"a": 1}, {"b": "x"}, {}], n),
    "sets": lambda rng, n: _pick(rng, [{1}, frozenset([2])], n),
    "arrays": lambda rng, n: _pick(rng, [np.array([1, 2]), np.array(3.0), np.eye(2)], n),
    "bytes": lambda rng, n: _pick(rng, [b"a", b"\xff\xfe", b""], n),
    "objects": lambda rng, n: [object() for _ in range(n)],
    "silent": lambda rng, n: [Silent() if i % 2 else "a" for i in range(n)],
    "types": lambda rng, n: _pick(rng, [int, str, print, Ellipsis], n),
    "texts of objects": lambda rng, n: _pick(
        rng, [Color.RED, Color.BLUE, UUID(int=5), PurePosixPath("a/b"), pd.Interval(0, 1)], n
    ),
    "periods": lambda rng, n: _pick(rng, [pd.Period("2020-01"), pd.Period("2021Q2")], n),
    "numbers and words": lambda rng, n: _pick(rng, [1, "1", 1.0, True, "True", "a", 2.5], n),
    "markers": lambda rng, n: _pick(rng, ["NA", "n/a", "-", "?", "", " ", "null", "None", "x"], n),
    "numbers in text": lambda rng, n: _pick(rng, ["1", "2.5", "1e3", "$5", "7 %", "1,234", "x"], n),
    "codes": lambda rng, n: _pick(rng, ["00501", "00502", "12345", "99999999999999999999"], n),
    "dates in text": lambda rng, n: _pick(rng, ["2020-01-31", "31.12.2020", "1/2/20", "2020"], n),
    "dates in integers": lambda rng, n: _pick(rng, [20200101, 20211231, 20200229], n),
    "long texts": lambda rng, n: _pick(rng, ["a" * 20000, "b" * 20000, "c"], n),
    "odd texts": lambda rng, n: _pick(
        rng, ["\0", "a\nb", "‮x", "😀", "'; --", "<b>", "=1+1", "e\u0301", "\u00e9", "a "], n
    ),
    "broken texts": lambda rng, n: _pick(rng, ["\ud800", "a", "b"], n),
    "unique texts": lambda rng, n: [f"key {i}" for i in range(n)],
    "row numbers": lambda rng, n: list(range(n)),
    "constant": lambda rng, n: [7] * n,
    "nearly constant": lambda rng, n: [1.5] * (n - 1) + [2.5] * min(n, 1),
    "empty": lambda rng, n: [None] * n,
    "several missing": lambda rng, n: _pick(rng, [None, float("nan"), pd.NA, pd.NaT, 1.5], n),
    "numpy scalars": lambda rng, n: _pick(
        rng, [np.float32(1.5), np.int8(3), np.bool_(True), np.str_("a"), np.datetime64("2020")], n
    ),
}
"""Values of which only a clear answer is required."""

PANDAS_TYPES = {
    "float64": True,
    "float32": True,
    "float16": True,
    "longdouble": True,
    ">f8": True,
    "Float64": True,
    "Int64": True,
    "int8": True,
    "string": True,
    "category": True,
    "boolean": True,
    "Sparse[float64]": True,
    "double[pyarrow]": True,
    "complex128": False,
    "datetime64[s]": True,
    "datetime64[ns, Asia/Tokyo]": False,
    "period[M]": False,
    "period[D]": True,
    "timedelta64[ns]": False,
    "uint64": True,
}
"""Types to which columns of pandas are converted where they can; whether the values stay."""

_CRASHING = (Silent, np.generic)
"""Objects at which pyarrow itself may end the process; polars prints errors of the first ones."""

ODD_NAMES = (
    *("", " ", "a,b", 'say "a"', "x\ny", "‮name", "😀", "None", "1", "cluster", "'; --"),
    *("n" * 300, "a is b", "year", "zip", "customer_id", "*", "missing", "x0", "<b>", "a" + "\0"),
)
OTHER_NAMES = (1, 1.5, None, float("nan"), ("a", 1), True, pd.Timestamp("2020"), "b\ud800")


def draw_table_case(rng) -> TableCase:
    """A random case."""
    n = int(rng.choice([int(rng.integers(5, 30)), int(rng.integers(30, 201)), int(rng.integers(5))],
                       p=[0.72, 0.25, 0.03]))  # fmt: skip
    d = int(rng.integers(1, 9)) if rng.random() < 0.5 else int(rng.integers(1, 4))
    is_twin = rng.random() < TWINS
    kinds = [_draw_kind(rng, is_twin) for _ in range(d)]
    columns = [_with_gaps(rng, {**PLAIN, **HOSTILE}[kind](rng, n)) for kind in kinds]
    container = str(
        rng.choice(["pandas", "pandas", "pandas", "polars", "pyarrow", "array", "rows"])
    )
    names = _draw_names(rng, d, container)
    given, kept, how = _CONTAINERS[container](rng, columns, names)
    texts = [f"x{j}" for j in range(d)]
    if container not in ("array", "rows"):
        texts = list(map(str, given.columns if container == "pandas" else names))
    options = _draw_options(rng, texts)
    twin = None
    if is_twin and kept and len(set(texts)) == d and "\ud800" not in "".join(texts):
        twin = pl.DataFrame([pl.Series(t, c, strict=False) for t, c in zip(texts, columns)])
    described = ", ".join(f"{t[:20]!r}: {k} as {h}" for t, k, h in zip(texts, kinds, how))
    description = f"{container} of {n} rows: {described}; {options}"
    return TableCase(given, options, description, texts, twin, rng.random() < REPORTS)


def _draw_kind(rng, is_twin):
    if is_twin or rng.random() < 0.4:
        return str(rng.choice(list(PLAIN)))
    return str(rng.choice(list(HOSTILE)))


def _with_gaps(rng, values):
    share = float(rng.choice([0, 0.05, 0.3, 0.7, 1], p=[0.7, 0.14, 0.1, 0.04, 0.02]))
    if not share:
        return values
    return [None if rng.random() < share else value for value in values]


def _draw_names(rng, d, container):
    names: list[Any] = [f"{'abcdefgh'[j]}{j}" for j in range(d)]
    for j in range(d):
        if rng.random() < 0.15:
            names[j] = str(rng.choice(ODD_NAMES))
        elif rng.random() < 0.05 and container == "pandas":
            names[j] = OTHER_NAMES[rng.integers(len(OTHER_NAMES))]
    if container == "polars":
        names = [name if name not in names[:j] else f"{name} {j}" for j, name in enumerate(names)]
    return names


def _pandas(rng, columns, names):
    made, kept, how = [], True, []
    for values in columns:
        column = pd.Series(values, dtype=object)
        chosen = str(rng.choice(["object", "inferred", *PANDAS_TYPES]))
        if any(isinstance(value, _CRASHING) for value in values):
            chosen = "object"
        try:
            if chosen == "inferred":
                column = pd.Series(values)
            elif chosen != "object":
                converted = column.astype(chosen)
                kept = kept and PANDAS_TYPES[chosen] and _is_same(converted, values)
                column = converted
        except Exception:
            chosen = "object"
        made.append(column)
        how.append(chosen)
    table = pd.concat(made, axis=1)
    table.columns = pd.Index(names, dtype=object)
    if rng.random() < 0.05 and "b\ud800" not in names:
        table.columns = pd.MultiIndex.from_tuples([("top", name) for name in names])
        return table, False, how
    if rng.random() < 0.1:
        table.index = pd.Index(rng.integers(0, 3, len(table)))
    return table, kept, how


def _is_same(column, values):
    """Whether a column has kept its numbers and gaps; pandas may read None as a text or a flag."""
    found = column.astype(object).tolist()
    return all(
        b is not None and (not isinstance(b, (int, float)) or isinstance(a, str) or a == b)
        for a, b in zip(found, values)
    )


def _polars(rng, columns, names):
    made, how = [], []
    for name, given in zip(names, columns):
        values = ["" if isinstance(value, Silent) else value for value in given]
        chosen = str(rng.choice(["inferred", "inferred", "object", "text", "categorical"]))
        try:
            column = pl.Series(name, values, strict=False)
            if chosen in ("text", "categorical"):
                column = column.cast(pl.String if chosen == "text" else pl.Categorical)
        except (Exception, pl.exceptions.PanicException):
            chosen = "object"
        if chosen == "object" or len(column) != len(values):  # polars looks into the first value
            column = pl.Series(name, ["", *values], dtype=pl.Object)[1:]
        made.append(column)
        how.append(chosen)
    return pl.DataFrame(made), True, how


def _pyarrow(rng, columns, names):
    made, how = [], []
    for values in columns:
        chosen = str(rng.choice(["inferred", "inferred", "text", "dictionary", "decimal256"]))
        try:
            column = pa.array(["" if isinstance(value, _CRASHING) else value for value in values])
            if chosen == "text":
                column = column.cast(pa.string())
            elif chosen == "dictionary":
                column = column.dictionary_encode()
            elif chosen == "decimal256":
                column = column.cast(pa.decimal256(40, 3))
        except Exception:
            chosen = "repr"
            column = pa.array([f"{type(value)}" for value in values])
        made.append(column)
        how.append(chosen)
    return pa.table(made, names=[str(name) for name in names]), "repr" not in how, how


def _array(rng, columns, names):
    array = np.empty((len(columns[0]), len(columns)), dtype=object)
    for j, values in enumerate(columns):
        for i, value in enumerate(values):
            array[i, j] = value
    return array, True, ["object"] * len(columns)


def _rows(rng, columns, names):
    rows = [list(row) for row in zip(*columns)]
    if rng.random() < 0.05 and len(rows) > 1:
        rows[-1] = rows[-1][:-1]
    return rows, False, ["object"] * len(columns)


_CONTAINERS = {
    "array": _array,
    "pandas": _pandas,
    "polars": _polars,
    "pyarrow": _pyarrow,
    "rows": _rows,
}


def _draw_options(rng, names):
    options: dict[str, Any] = {"k": [2, 2, 3, 4][rng.integers(4)]}
    if rng.random() < 0.97:
        options["effort"] = "fast"
    if rng.random() < 0.04:
        options["k"] = ["auto", "2-4", 1, 50][rng.integers(4)]
    for name, share, values in (
        ("outliers", 0.9, ["keep"]),
        ("scale", 0.3, ["standard", "robust", "log", "rank", "none"]),
        ("missing", 0.2, ["drop", "median", "error"]),
        ("names", 0.1, ["suggested"]),
    ):
        if rng.random() < share:
            options[name] = str(rng.choice(values))
    for name, share in (
        ("columns", 0.1),
        ("exclude", 0.1),
        ("categorical", 0.15),
        ("profile", 0.1),
    ):
        if rng.random() < share:
            options[name] = [str(text) for text in rng.choice(names, int(rng.integers(1, 3)))]
    if rng.random() < 0.05:
        options["labels"] = str(rng.choice(names))
        options.pop("k")
        options.pop("effort", None)
    elif rng.random() < 0.05:
        options["method"] = str(rng.choice(["imm", "exkmc", "exgreedy", "spex"]))
        options.pop("effort", None)
    return options


def draw_table_case_of(seed: int) -> TableCase:
    """The table of a number."""
    return draw_table_case(np.random.default_rng([seed, 1]))


def run_table_case(seed: int) -> Outcome:
    """Explain the table of a number, and check the result."""
    quiet = contextlib.redirect_stderr(io.StringIO())
    with quiet, warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        case = draw_table_case_of(seed)
        warnings.filterwarnings("error", category=RuntimeWarning, module=r"pellucid\.")
        kind, message = _solve(case)
    return Outcome(seed, "explain", kind, max(case.n_fits, 1), message, case.description)


def _solve(case: TableCase) -> tuple[str, str]:
    try:
        found = case.explain(case.table)
    except (Exception, pl.exceptions.PanicException) as error:
        if not is_clear(error, case.names):
            return "unclear error", _where(error)
        if case.twin is not None and (label := _labels_of_twin(case)) is not None:
            return "refused without a reason", f"{error}; the plain table has the labels {label}"
        return "clear error", str(error)
    try:
        return _check(case, found)
    except (Exception, pl.exceptions.PanicException) as error:
        return "unclear error", _where(error)


def _check(case: TableCase, found) -> tuple[str, str]:
    labels = found.labels.tolist()
    str(found), found.profile, found.measures
    if case.has_report:
        with tempfile.TemporaryDirectory() as folder:
            found.report(Path(folder) / "report.html")
    if found.predict(case.table).tolist() != labels:
        return "wrong result", "predict differs from labels"
    read = pellucid.from_json(found.to_json())
    if (saved := read.predict(case.table).tolist()) != labels:
        rows = [i for i, (a, b) in enumerate(zip(saved, labels)) if a != b]
        return "wrong result", f"the saved model differs in rows {rows[:5]}, {len(rows)} in all"
    roles = found.fitted.prepared.roles
    named = {*roles.used, *roles.profile, *case.options.get("exclude", ())}
    named.add(case.options.get("labels"))
    if "columns" not in case.options:
        said = "\n".join(found.decisions)
        silent = [name for name in case.names if name not in named and name not in said]
        if silent:
            return "wrong result", f"column {silent[0]!r} is ignored without a line"
    if case.twin is not None and (expected := _labels_of_twin(case)) is None:
        return "wrong result", "the plain table is refused"
    if case.twin is not None and _groups(expected) != _groups(labels):
        return "wrong result", f"the labels are {labels[:9]}, those of plain types {expected[:9]}"
    return "correct", ""


def _labels_of_twin(case: TableCase):
    try:
        return case.explain(case.twin).labels.tolist()
    except ValueError:
        return None


def _groups(labels):
    """The labels by their first row: names of clusters depend on the types of columns."""
    return [labels.index(label) for label in labels]


def is_clear(error: BaseException, names: list[str]) -> bool:
    """Whether an error is raised by this package and names a column, a parameter or the rows."""
    raised_in = traceback.extract_tb(error.__traceback__)[-1].filename
    text = str(error)
    return (
        isinstance(error, (ValueError, TypeError))
        and raised_in.startswith(_PACKAGE)
        and (bool(_NAMES.search(text)) or any(repr(name) in text for name in names))
    )


def _where(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    places = [f"{Path(f.filename).name}:{f.lineno}" for f in frames[-5:]]
    return f"{type(error).__name__}: {str(error)[:200]} ({' > '.join(places)})"
