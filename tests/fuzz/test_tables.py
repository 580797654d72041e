"""Tables of every type are explained, or refused by a clear error; the oracles find mistakes."""

from __future__ import annotations

import pytest

from _support.extended import EXTENDED

from .running import is_table
from .table_cases import draw_table_case_of, is_clear, run_table_case

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("first", range(0, 400, 50) if EXTENDED else [0])
def test_short_run(first):
    outcomes = [run_table_case(seed) for seed in range(first, first + (50 if EXTENDED else 25))]
    assert [outcome for outcome in outcomes if outcome.is_failure] == []
    assert len({outcome.kind for outcome in outcomes}) == 2


def test_tables_repeat_by_their_number():
    for seed in range(20):
        first, second = draw_table_case_of(seed), draw_table_case_of(seed)
        assert first.description == second.description


def test_kinds_of_cases():
    assert [seed for seed in range(20) if is_table(seed)] == [0, 8, 16]
    assert is_table(1, "tables")
    assert not is_table(0, "models")


def test_errors_of_other_libraries_are_not_clear():
    with pytest.raises(ValueError, match="column") as caught:
        int("column")
    assert not is_clear(caught.value, ["column"])


def test_a_wrong_reading_is_found(monkeypatch):
    import pellucid

    read = pellucid.from_json

    def damaged(text):
        explanation = read(text)
        names = explanation.cluster_names_.tolist()
        return explanation.rename_clusters(dict(zip(names, [f"other {name}" for name in names])))

    monkeypatch.setattr(pellucid, "from_json", damaged)
    kinds = [run_table_case(seed).kind for seed in range(5)]
    assert "wrong result" in kinds
    assert "correct" not in kinds
