"""Scales of columns before clustering."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import pellucid
from _support.tables import decisions, prepare, source
from pellucid.table_explainer.arguments import ExplainOptions
from pellucid.table_explainer.scaling import find_scales

RANDOM = np.random.default_rng(0)
TABLE = pl.DataFrame(
    {
        "height": RANDOM.normal(170, 10, 300),
        "income": RANDOM.lognormal(10, 1, 300),
        "balance": RANDOM.normal(0, 1, 300) ** 3,
        "spent": np.where(RANDOM.random(300) < 0.3, 0.0, RANDOM.lognormal(3, 1.2, 300)),
        "kind": RANDOM.choice(["a", "b", "c"], 300),
    }
)
NUMBERS = slice(0, 4)


def Z_of(scale: str, table: pl.DataFrame = TABLE) -> tuple[np.ndarray, list[str]]:
    found, lines = decisions(prepare, source(table), ExplainOptions(scale=scale))
    return found.Z, lines


def test_numbers_are_standardized():
    Z, lines = Z_of("standard")
    np.testing.assert_allclose(Z[:, NUMBERS].mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(Z[:, NUMBERS].std(axis=0), 1)
    assert lines[-1] == (
        "columns standardized before clustering; rules stay in the original units (scale= to "
        "change)"
    )


def test_similar_spreads_are_standardized_too():
    table = pl.DataFrame({"a": RANDOM.normal(0, 1, 100), "b": RANDOM.normal(0, 1.2, 100)})
    np.testing.assert_allclose(Z_of("auto", table)[0].std(axis=0), 1)


def test_skewed_columns_are_on_a_logarithmic_scale():
    Z, lines = Z_of("auto")
    income = np.log(TABLE["income"].to_numpy())
    np.testing.assert_allclose(Z[:, 1], (income - income.mean()) / income.std())
    balance = TABLE["balance"].to_numpy()
    np.testing.assert_allclose(Z[:, 2], (balance - balance.mean()) / balance.std())
    assert lines[-1].startswith("clustered on a logarithmic scale")
    assert lines[-1].endswith(": income, spent")


def test_a_logarithmic_scale_does_not_depend_on_the_unit():
    other = TABLE.with_columns(pl.col("income", "spent") * 1000)
    np.testing.assert_allclose(Z_of("auto")[0], Z_of("auto", other)[0], atol=1e-9)


def test_robust_scale():
    Z, _ = Z_of("robust")
    low, middle, high = np.quantile(Z[:, NUMBERS], [0.25, 0.5, 0.75], axis=0)
    np.testing.assert_allclose(middle, 0, atol=1e-12)
    np.testing.assert_allclose(high - low, 1.349)


def test_ranks():
    Z, lines = Z_of("rank")
    for j, name in enumerate(TABLE.columns[:3]):
        assert Z[:, j].argsort().tolist() == TABLE[name].to_numpy().argsort().tolist()
        np.testing.assert_allclose(np.diff(np.sort(Z[:, j])), np.diff(np.sort(Z[:, 0])))
    # Equal values have equal ranks.
    assert len(np.unique(Z[TABLE["spent"].to_numpy() == 0, 3])) == 1
    assert lines[-1].startswith("columns replaced by ranks before clustering")


def test_no_scale():
    found, lines = decisions(prepare, source(TABLE), ExplainOptions(scale="none"))
    np.testing.assert_array_equal(found.Z[:, NUMBERS], TABLE.to_numpy()[:, NUMBERS].astype(float))
    assert set(np.unique(found.Z[:, 4:]).tolist()) == {0.0, 1.0}
    assert not any("standardized" in line or "scale" in line for line in lines)


def test_two_categories_are_equally_far_apart_whatever_their_number():
    for n in (2, 5):
        kinds = np.array([f"k{i % n}" for i in range(100)])
        table = pl.DataFrame({"x": np.arange(100) * 1.5, "kind": kinds})
        Z, _ = Z_of("auto", table)
        distance = ((Z[:, None, 1:] - Z[None, :, 1:]) ** 2).sum(axis=2)
        np.testing.assert_allclose(distance[kinds[:, None] == kinds], 0)
        different = distance[kinds[:, None] != kinds]
        np.testing.assert_allclose(different, different[0])
        assert 0.5 <= different[0] <= 2


@pytest.mark.parametrize("scale", ["auto", "standard", "robust", "log", "rank", "none"])
def test_rules_are_in_the_units_of_the_table(scale):
    found = pellucid.explain(TABLE, k=4, scale=scale, effort="fast", verbose=False)
    rows = found.fitted.prepared.rows
    assert found.labels[rows].tolist() == found.model.labels_.tolist()


@pytest.mark.parametrize("scale", ["standard", "robust", "log", "rank", "none"])
def test_scales_say_what_they_do(scale):
    scales = find_scales([np.array([1.0, 2.0, 4.0])], ["size"], {}, scale)
    assert [found.kind for found in scales] == [scale]
