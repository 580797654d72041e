"""The benchmark of large inputs, in tiny sizes."""

from __future__ import annotations

import pytest

from benchmarks.__main__ import main
from benchmarks.store import read_rows

pytestmark = pytest.mark.slow


def test_a_deep_chain_and_all_its_exports(tmp_path):
    assert main(["big", "--quick", "--only", "chain", "--output", str(tmp_path)]) == 0
    rows = read_rows(tmp_path / "big.csv")
    assert {row["outcome"] for row in rows} == {"done"}
    assert {"IMM", "to_sql", "to_python, executed", "to_json, from_json"} <= {
        r["step"] for r in rows
    }
