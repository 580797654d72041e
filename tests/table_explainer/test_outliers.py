"""Rows that are far from all others."""

from __future__ import annotations

import re

import numpy as np
import polars as pl
import pytest

import pellucid
from _support.tables import blobs
from pellucid.table_explainer.outliers import (
    find_extremes,
    find_outliers,
    find_totals,
    smallest_size,
)


def with_total(table: pl.DataFrame) -> pl.DataFrame:
    """The table with names of its rows and their sum as the last row."""
    table = table.with_columns(store=pl.Series([f"store {i}" for i in range(table.height)]))
    return pl.concat([table, table.sum().with_columns(store=pl.lit("TOTAL"))])


@pytest.mark.slow
def test_a_total_row_is_set_apart_and_reported_by_name():
    table = with_total(blobs(200))
    found = pellucid.explain(table, k="2-4", effort="fast", verbose=False)
    assert found.outliers.tolist() == [200]
    line = (
        "set apart 1 row, because it is a total of other rows: row 201 (store TOTAL) "
        '(outliers="keep" to cluster it)'
    )
    assert line in found.decisions
    assert len(found.rules) == 3
    # The rules apply to it nevertheless.
    assert len(found.labels) == 201
    assert found.labels[200] != -1


def test_outliers_are_kept_on_request():
    table = with_total(blobs(200))
    found = pellucid.explain(table, k=2, outliers="keep", effort="fast", verbose=False)
    assert len(found.outliers) == 0
    assert sorted(rule.n_samples for rule in found.rules) == [1, 200]
    assert any("has only 1 row (0.5%)" in text for text in found.warnings)


def test_outliers_are_set_apart_for_a_given_number_too():
    found = pellucid.explain(with_total(blobs(200)), k=3, effort="fast", verbose=False)
    assert found.outliers.tolist() == [200]
    assert min(rule.n_samples for rule in found.rules) > 60


def test_many_outliers_are_listed_in_short():
    rng = np.random.default_rng(0)
    far = pl.DataFrame({"size": 500 + rng.normal(0, 5, 7), "weight": -400 + rng.normal(0, 5, 7)})
    found = pellucid.explain(pl.concat([blobs(393), far]), k=3, effort="fast", verbose=False)
    assert found.outliers.tolist() == list(range(393, 400))
    (line,) = [text for text in found.decisions if text.startswith("set apart")]
    assert re.fullmatch(
        "set apart 7 outliers, because they are far from all other rows: weight from -4[\\d.]+ to "
        r'-[\d.]+ in 7 rows, such as row 394 \(outliers="keep" to cluster them\)',
        line,
    )


def test_given_labels_have_no_outliers():
    table = with_total(blobs(200)).with_columns(group=pl.Series([*(["a", "b"] * 100), "a"]))
    found = pellucid.explain(table, labels="group", effort="fast", verbose=False)
    assert len(found.outliers) == 0


@pytest.mark.parametrize("n_rows", [60, 300, 7000])
def test_ordinary_rows_are_not_outliers(n_rows):
    Z = np.random.default_rng(0).normal(size=(n_rows, 3))
    assert len(find_outliers(Z)) == 0


def test_an_outlier_of_a_large_table_is_found():
    Z = np.random.default_rng(0).normal(size=(12_000, 3))
    Z[[5, 9000]] = 80
    assert find_outliers(Z).tolist() == [5, 9000]


def test_small_tables_have_no_outliers():
    assert len(find_outliers(np.array([[1.0], [3.0], [9.0], [9.0], [2.0]]))) == 0
    assert len(find_outliers(np.array([[1.5], [2.0], [90.0]]))) == 0
    values = np.append(np.arange(30.0), 900.0)[:, None]
    assert find_outliers(values).tolist() == [30]


@pytest.mark.parametrize("beside", ["numbers", "categories"])
@pytest.mark.parametrize(("rare", "text"), [([2.5], "2.5"), ([2.5, 900.25], "900.2")])
def test_an_outlier_is_reported_by_the_only_column_that_it_differs_in(beside, rare, text):
    rng = np.random.default_rng(0)
    values = {"numbers": rng.random(29), "categories": rng.choice(list("xyz"), 29)}[beside]
    table = pl.DataFrame({"rare": [1.5] * (29 - len(rare)) + rare, "b": values})
    found = pellucid.explain(table, k=2, effort="fast", verbose=False)
    assert 28 in found.outliers
    lines = [line for line in found.decisions if line.startswith("set apart")]
    assert len(lines) == 1
    assert f"row 29 with rare = {text} " in lines[0].replace(",", " ")


def test_the_only_row_that_differs_is_no_outlier():
    found = pellucid.explain(
        pl.DataFrame({"a": [1.5] * 28 + [2.5]}), k=2, effort="fast", verbose=False
    )
    assert len(found.outliers) == 0
    assert sorted(rule.n_samples for rule in found.rules) == [1, 28]


def test_equal_rows_give_no_warning(recwarn):
    Z = np.repeat([[0.0], [1.0]], 60, axis=0)
    assert len(find_outliers(Z)) == 0
    assert len(recwarn) == 0


def test_not_more_than_three_percent_are_set_apart():
    rng = np.random.default_rng(0)
    Z = np.concatenate([rng.normal(size=(900, 2)), rng.normal(size=(100, 2)) * 0.1 + 60])
    assert len(find_outliers(Z)) == 0
    scattered = np.concatenate([rng.normal(size=(900, 2)), rng.uniform(-90, 90, size=(100, 2))])
    assert len(find_outliers(scattered)) <= 30


def test_smallest_size():
    assert [smallest_size(n) for n in (10, 100, 101, 1000)] == [2, 2, 3, 20]


def test_a_total_row_changes_nothing_else():
    rng = np.random.default_rng(0)
    group = np.arange(200) % 4
    table = pl.DataFrame(
        {
            "place": [f"place {i}" for i in range(200)],
            "age": rng.integers(18, 70, 200),
            "income": 30.0 + group // 2 * 40 + rng.normal(0, 4, 200),
            "score": 20.0 + group % 2 * 50 + rng.normal(0, 4, 200),
            "sex": np.where(rng.random(200) < 0.5, "m", "f"),
        }
    )
    last = table.select(
        place=pl.lit("Total"),
        **{name: pl.col(name).sum() for name in ("age", "income", "score")},
        sex=pl.lit(None, dtype=pl.String),
    )
    plain, found = (
        pellucid.explain(each, k="4-5", effort="fast", verbose=False)
        for each in (table, pl.concat([table, last]))
    )
    assert found.outliers.tolist() == [200]
    assert found.labels.tolist()[:200] == plain.labels.tolist()
    assert str(found.rules) == str(plain.rules)
    assert not any("logarithmic" in text for text in found.decisions)


@pytest.mark.parametrize("label", ["Total", "Grand total", "Gesamtsumme", "Average"])
def test_totals_by_label(label):
    numbers = np.random.default_rng(0).integers(1, 90, (60, 2))
    last = numbers.mean(axis=0) if label == "Average" else numbers.sum(axis=0)
    values = np.vstack([numbers, last])
    names = [*(f"shop {i}" for i in range(60)), label]
    table = pl.DataFrame({"shop": names, "sales": values[:, 0], "visits": values[:, 1]})
    assert find_totals(table).tolist() == [60]
    assert find_totals(table.with_columns(sales=pl.col("sales") * 0 + 7)).tolist() == [60]


def test_totals_by_their_numbers_and_parts():
    numbers = np.random.default_rng(0).integers(1, 90, (60, 2))
    values = np.vstack([numbers, numbers.sum(axis=0)])
    assert find_totals(pl.DataFrame(values, schema=["sales", "visits"])).tolist() == [60]
    parts = np.vstack([numbers[:30], numbers[:30].sum(axis=0), numbers[30:]])
    names = [f"shop {i}" for i in range(61)]
    names[30] = "Subtotal north"
    table = pl.DataFrame({"shop": names, "sales": parts[:, 0], "visits": parts[:, 1]})
    assert find_totals(table).tolist() == [30]


def test_a_company_called_total_is_no_total():
    table = pl.DataFrame({"name": [*(f"c{i}" for i in range(60)), "Total"], "sales": np.arange(61)})
    assert len(find_totals(table)) == 0


def test_a_number_beyond_all_others_decides_no_scale():
    rng = np.random.default_rng(0)
    age = np.append(rng.normal(40, 9, 300), 90_000.0)
    table = pl.DataFrame({"age": age, "size": rng.normal(size=301), "weight": rng.normal(size=301)})
    found = pellucid.explain(table, k=2, effort="fast", verbose=False)
    assert found.outliers.tolist() == [300]
    assert not any("logarithmic" in text for text in found.decisions)
    line = "set apart 1 outlier, because it is far from all other rows: row 301 with age = 90000 "
    assert any(text.startswith(line) for text in found.decisions)
    assert len(find_extremes([np.random.default_rng(0).lognormal(0, 1.5, 500)])) == 0


def test_rare_categories_are_no_outliers_and_cells_are_named():
    kinds = np.random.default_rng(0).choice(3, 600, p=[0.7, 0.29, 0.01])
    sexes = np.random.default_rng(1).choice(["m", "f"], 600)
    table = pl.DataFrame({"kind": np.array(["x", "y", "z"])[kinds], "sex": sexes})
    found = pellucid.explain(table, effort="fast", verbose=False)
    assert len(found.outliers) == 0
    assert any("different combinations of values" in text for text in found.warnings)


def test_an_extreme_among_few_values_is_farther_away():
    garages = np.tile([0.0, 1.0, 2.0, 3.0], 60)
    for most, n_found in ((30.0, 0), (300.0, 1)):
        garages[-1] = most
        assert len(find_extremes([garages])) == n_found
