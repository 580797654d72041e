"""The benchmark of data larger than memory."""

from __future__ import annotations

from benchmarks.__main__ import main
from benchmarks.store import read_rows


def test_a_small_file(tmp_path, capsys):
    assert main(["scale", "--quick", "--only", "IMM", "--output", str(tmp_path)]) == 0
    (row,) = read_rows(tmp_path / "scale.csv")
    assert row["outcome"] == "done"
    assert float(row["seconds"]) > 0
    assert "Data larger than memory" in capsys.readouterr().out
