"""A saved explanation of a table reads every table as the fitted one does."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.metrics import adjusted_rand_score, confusion_matrix

import pellucid
from _support.extended import seeds
from _support.tables import run_sql

N_ROWS = 90


def _gaps(values: list, rng: np.random.Generator) -> list:
    return [None if rng.random() < 0.06 else value for value in values]


def _pick(values: list, rng: np.random.Generator) -> list:
    return [values[i] for i in rng.integers(0, len(values), N_ROWS)]


NATIVE = {
    "number": lambda rng: pd.Series(rng.normal(50, 20, N_ROWS).round(2)),
    "gaps": lambda rng: pd.Series(
        _gaps(rng.normal(size=N_ROWS).round(2).tolist(), rng), dtype=float
    ),
    "whole": lambda rng: pd.Series(
        _gaps(rng.integers(0, 900, N_ROWS).tolist(), rng), dtype="Int64"
    ),
    "few": lambda rng: pd.Series(rng.choice([4, 6, 8], N_ROWS)),
    "word": lambda rng: pd.Series(_gaps(_pick(["a", "B b", "it's"], rng), rng), dtype=object),
    "truth": lambda rng: pd.Series(_gaps(_pick([True, False], rng), rng), dtype="boolean"),
    "flag": lambda rng: pd.Series(rng.choice([0, 1], N_ROWS)),
    "day": lambda rng: pd.Series(
        pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 800, N_ROWS), unit="D")
    ),
    "moment": lambda rng: pd.Series(
        pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 10**6, N_ROWS), unit="min")
    ),
}
"""Columns that a database stores as they are."""

OTHERS = {
    "objects": lambda rng: pd.Series(_pick([True, "a", date(2020, 1, 1), "b"], rng), dtype=object),
    "digits": lambda rng: pd.Series(_pick(["243", "308"], rng), dtype=object),
    "texts": lambda rng: pd.Series([f"${x:.2f}" for x in rng.uniform(0, 900, N_ROWS)]),
    "comma": lambda rng: pd.Series(
        [f"{x:.1f}".replace(".", ",") for x in rng.uniform(0, 9, N_ROWS)]
    ),
    "dates": lambda rng: pd.Series(
        [f"{d:02}.{m:02}.2021" for d, m in rng.integers(1, 12, (N_ROWS, 2))], dtype=object
    ),
    "codes": lambda rng: pd.Series(_pick(["007", "1.50", "x", "true"], rng), dtype=object),
    "marks": lambda rng: pd.Series(_pick(["007", "n/a", "b", " a "], rng), dtype=object),
    "decimal": lambda rng: pd.Series([Decimal(int(i)) / 4 for i in rng.integers(0, 99, N_ROWS)]),
    "category": lambda rng: pd.Series(rng.choice([1, 2, 5], N_ROWS)).astype("category"),
    "words": lambda rng: pd.Series(_pick(["x", "y"], rng)).astype("category"),
    "zone": lambda rng: NATIVE["moment"](rng).dt.tz_localize("Europe/Berlin", ambiguous=True),
    "span": lambda rng: pd.Series(pd.to_timedelta(rng.integers(0, 10**4, N_ROWS), unit="min")),
}


def _explained(makers: dict, seed: int):
    """A random table of two or three columns and its explanation."""
    rng = np.random.default_rng(seed)
    kinds = rng.choice(sorted(makers), size=int(rng.integers(2, 4)), replace=False)
    table = pd.DataFrame({kind: makers[kind](rng) for kind in kinds})
    forced = [kind for kind in kinds if rng.random() < 0.2 and table[kind].nunique() < 20]
    found = pellucid.explain(
        table,
        k=int(rng.integers(2, 5)),
        include=[kind for kind in kinds if kind in ("moment", "day", "dates", "zone", "truth")]
        or None,
        categorical=forced or None,
        effort="fast",
        verbose=False,
    )
    return found, table


@pytest.mark.parametrize("seed", seeds(25))
def test_a_saved_model_predicts_as_the_fitted_one(seed, capsys):
    found, table = _explained(NATIVE | OTHERS, seed)
    expected = found.labels.tolist()
    saved = pellucid.from_json(found.to_json())
    assert saved == found.explanation
    assert found.predict(table).tolist() == expected
    assert saved.predict(table).tolist() == expected
    assert [row.cluster for row in saved.explain(table)] == expected
    assert saved.count_unseen(table) == {}
    rows = np.flatnonzero(np.arange(N_ROWS) % 17 == seed % 17)
    for row in rows.tolist():
        assert saved.predict(table.iloc[[row]]).tolist() == [expected[row]]


@pytest.mark.parametrize("seed", seeds(8))
def test_the_library_of_the_table_does_not_matter(seed):
    found, table = _explained(NATIVE, seed)
    expected = found.labels.tolist()
    saved = pellucid.from_json(found.to_json())
    frame = pl.from_pandas(table)
    texts = frame.with_columns(pl.col(pl.String).cast(pl.Categorical))
    for same in (frame, frame.to_arrow(), texts, frame.to_pandas(use_pyarrow_extension_array=True)):
        assert saved.predict(same).tolist() == expected


@pytest.mark.parametrize("seed", seeds(8))
def test_exports_predict_as_the_saved_model(seed):
    found, table = _explained(NATIVE, seed)
    expected = found.labels.tolist()
    saved = pellucid.from_json(found.to_json())
    frame = pl.from_pandas(table)
    answers = run_sql(saved.to_sql(dialect="duckdb"), frame)
    assert [-1 if answer is None else answer for answer in answers] == expected
    function, numbers = _function(saved)
    for row, label in zip(frame.rows(named=True), expected):
        if all(row[name] is not None for name in numbers):
            assert function(row) == label


def _function(saved):
    """The exported Python function, and the columns of numbers, which must not be missing."""
    functions: dict = {}
    exec(saved.to_python(), functions)
    used = saved.input_columns.encoding
    numbers = [n for n, c in zip(used.input_names, used.is_categorical) if not c]
    return functions["cluster_of"], numbers


@pytest.mark.parametrize("kind", ["objects", "digits", "codes", "category", "truth", "word"])
def test_exported_functions_read_categories_as_the_saved_model(kind):
    makers = NATIVE | OTHERS
    table = pd.DataFrame({kind: makers[kind](np.random.default_rng(0))})
    found = pellucid.explain(table, k=2, categorical=kind, effort="fast", verbose=False)
    saved = pellucid.from_json(found.to_json())
    function, _ = _function(saved)
    cells = table[kind].astype(object).where(table[kind].notna(), None).tolist()
    assert [function({kind: cell}) for cell in cells] == found.labels.tolist()
    texts = ["" if cell is None else str(cell) for cell in cells]  # as csv.DictReader gives them
    assert [function({kind: text}) for text in texts] == found.labels.tolist()
    assert saved.predict(pd.DataFrame({kind: texts})).tolist() == found.labels.tolist()


def test_rows_without_a_cluster_have_the_label_of_noise():
    table = pd.DataFrame({"x": [*np.arange(20.0), *np.arange(100.0, 120.0)]})
    found = pellucid.explain(table, k=2, effort="fast", verbose=False)
    new = pd.DataFrame({"x": [1.0, np.nan, 110.0]})
    labels = found.predict(new)
    assert labels.dtype == np.int64
    assert labels[1] == -1
    assert confusion_matrix([0, 1, 1], labels).sum() == 3
    named = found.rename({0: "low", 1: "high"})
    assert named.predict(new)[1] == "-1"
    assert adjusted_rand_score([0, 1, 2], named.predict(new)) == 1


def test_arrays_are_read_by_position():
    table = pd.DataFrame({"kind": ["a", "b"] * 30, "x": np.arange(60.0) % 7})
    found = pellucid.explain(table, k=2, effort="fast", verbose=False)
    saved = pellucid.from_json(found.to_json())
    columns = saved.feature_names_in_.tolist()
    expected = found.labels.tolist()
    assert saved.predict(table[columns].to_numpy(dtype=object)).tolist() == expected
    assert saved.predict(table[columns].to_numpy(dtype=object).tolist()).tolist() == expected
    assert saved.predict(table.head(0)).tolist() == []
    with pytest.raises(ValueError, match="X has 3 columns, but the explanation expects 2"):
        saved.predict([[1, 2, 3]])


@pytest.fixture(scope="module")
def contracts():
    """An explanation of categories and few integers, whose rules list what the others are."""
    rng = np.random.default_rng(0)
    service, n_lines = rng.choice(["No", "DSL", "Fiber"], 300), rng.choice([1, 2, 4], 300)
    table = pd.DataFrame({"service": service, "lines": n_lines})
    table["kind"] = 2 * (table["service"] == "No") + (table["lines"] > 1)
    found = pellucid.explain(table, labels="kind", effort="fast", verbose=False)
    return pellucid.from_json(found.to_json())


def _holds(text: str, row: dict) -> bool:
    """Whether the text of a rule is true for a row."""
    for part in text.split(" and "):
        match part.split(" "):
            case [name, "is", "not", value]:
                holds = row[name] != value
            case [name, "is", *values]:
                holds = row[name] in values[::2]
            case [name, "=" | "≤" | ">" | "≥" as sign, value]:
                number = float(value)
                holds = {
                    "=": row[name] == number,
                    "≤": row[name] <= number,
                    ">": row[name] > number,
                    "≥": row[name] >= number,
                }[sign]
        if not holds:
            return False
    return True


def test_the_rule_of_a_row_is_true_for_it(contracts):
    assert "service is DSL or Fiber" in str(contracts.rules_)
    services, numbers = ["No", "DSL", "5G", "no", None], [1, 2, 3, 0.5, 9]
    rows = [{"service": s, "lines": n} for s in services for n in numbers]
    table = pl.DataFrame(rows, strict=False)
    explained = contracts.explain(table)
    answers = contracts.predict(table).tolist()
    assert [row.cluster for row in explained] == answers
    assert run_sql(contracts.to_sql(dialect="duckdb"), table) == answers
    function, _ = _function(contracts)
    assert [function(row) for row in rows] == answers
    for row, one in zip(rows, explained):
        assert _holds(one.rule.text, row), (row, one.rule.text)
        assert all(_holds(str(condition), row) for condition, _ in one.path)
        is_new = row["service"] not in ("No", "DSL"), row["lines"] not in (1, 2, 4)
        assert len(one.notes) == sum(is_new)


def test_notes_say_what_was_not_in_the_training_data(contracts):
    table = pd.DataFrame({"service": ["5G", "no", None, "DSL"], "lines": [1, 1, 1, 3]})
    assert [row.notes for row in contracts.explain(table)] == [
        ("service: '5G' was not in the training data",),
        ("service: 'no' was not in the training data; 'No' was",),
        ("service: missing values were not in the training data",),
        ("lines: 3 was not in the training data",),
    ]
    assert "service is not No" in str(contracts.explain(table)[0])
    assert str(contracts.explain(table)[0]).endswith("(service: '5G' was not in the training data)")


def test_a_decimal_comma_in_texts_is_remembered():
    texts = [f"{x:.3f}".replace(".", ",") for x in (*np.linspace(1, 2, 20), *np.linspace(8, 9, 20))]
    table = pd.DataFrame({"x": [*texts, "12,25"]})
    found = pellucid.explain(table, k=2, outliers="keep", effort="fast", verbose=False)
    saved = pellucid.from_json(found.to_json())
    # 1,000 alone could be one thousand.
    assert saved.predict(table.iloc[[0]]).tolist() == found.labels[:1].tolist()
    assert found.labels[0] != found.labels[39]


def test_onnx_treats_new_categories_as_the_saved_model(contracts):
    onnxruntime = pytest.importorskip("onnxruntime")
    table = pd.DataFrame({"service": ["No", "DSL", "5G", "no"] * 4, "lines": [1, 2, 3, 9.0] * 4})
    session = onnxruntime.InferenceSession(
        contracts.to_onnx().SerializeToString(), providers=["CPUExecutionProvider"]
    )
    feeds = {name: column.to_numpy().reshape(-1, 1) for name, column in table.items()}
    assert session.run(None, feeds)[0].tolist() == contracts.predict(table).tolist()
