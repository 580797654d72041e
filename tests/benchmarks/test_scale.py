"""The benchmark of data larger than memory."""

from __future__ import annotations

import pytest

from benchmarks.__main__ import main
from benchmarks.store import read_rows

pytestmark = pytest.mark.slow


def test_a_small_file(tmp_path, capsys):
    assert main(["scale", "--quick", "--only", "IMM", "--output", str(tmp_path)]) == 0
    (row,) = read_rows(tmp_path / "scale.csv")
    assert row["outcome"] == "done"
    assert float(row["seconds"]) > 0
    rows = read_rows(tmp_path / "scale_trees.csv")
    assert [row["streamed"] for row in rows] == [row["Dask"] for row in rows] == ["same"] * 6
    printed = capsys.readouterr().out
    assert "Time and memory" in printed
    assert "The same tree as in memory" in printed
