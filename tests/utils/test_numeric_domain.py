"""Numbers outside the numeric domain are refused; inside it all results are finite."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import pellucid
from _support.extended import EXTENDED
from fuzz.exact import partition_cost
from pellucid import EMN, IMM, ExGreedy, ExKMC, ExplainableKMeans, ExShallow, OptimalTree, SpEx
from pellucid._core.data.arrays import Weights
from pellucid._utils.numeric_domain import (
    MAX_VALUE,
    MAX_WEIGHT,
    MIN_SPREAD,
    MIN_WEIGHT,
    are_in_domain,
    check_spread,
    check_values,
    check_weights,
)

TREES = (IMM, EMN, ExGreedy, ExKMC, ExShallow, SpEx, OptimalTree, ExplainableKMeans)
X = np.random.default_rng(0).normal(size=(40, 3))
Y = np.repeat(np.arange(4), 10)


def is_finite(model) -> bool:
    tree = model.tree_
    numbers = tree.threshold[tree.feature >= 0], model.cluster_centers_, [model.inertia_]
    return all(np.isfinite(values).all() for values in numbers) and model.inertia_ >= 0


@pytest.mark.parametrize("store", [np.asarray, np.asfortranarray, sparse.csr_array])
@pytest.mark.parametrize("kind", ["y", "centers", "default"])
def test_large_values_are_refused_by_column(store, kind):
    large = X.copy()
    large[7, 1] = -1.797e308
    model = IMM(4, reference=X[:4] if kind == "centers" else None)
    with pytest.raises(ValueError, match=r"Input X contains -1.797e\+308 in column 1: numbers of"):
        model.fit(store(large), Y if kind == "y" else None)


def test_the_column_is_named():
    table = pd.DataFrame(X, columns=["a", "b", "c"])
    table.loc[3, "b"] = 1e101
    with pytest.raises(ValueError, match=r"Input X contains 1e\+101 in column 'b'"):
        IMM(3).fit(table)


def test_nan_is_still_reported_as_nan():
    wrong = X.copy()
    wrong[2, 0], wrong[3, 1] = np.nan, 1e200
    with pytest.raises(ValueError, match="Input X contains NaN: column 0, first at row 2"):
        IMM(reference=X[:4]).fit(wrong)


def test_large_centers_are_refused():
    with pytest.raises(ValueError, match=r"reference contains 1e\+200 in column 2"):
        IMM(reference=[[0.0, 0.0, 0.0], [0.0, 0.0, 1e200]]).fit(X)


@pytest.mark.parametrize("store", [np.asarray, sparse.csc_array])
def test_rows_that_hardly_differ_are_refused(store):
    with pytest.raises(ValueError, match="the rows of X differ by at most .* in every column"):
        IMM(4).fit(store(X * 1e-150), Y)


@pytest.mark.parametrize(("scale", "which"), [(1e-300, "3.7e-300"), (1e300, "3.7e\\+300")])
def test_extreme_weights_are_refused(scale, which):
    with pytest.raises(ValueError, match=f"the largest sample_weight is {which}; it must be"):
        IMM(4).fit(X, Y, sample_weight=np.full(40, 3.7 * scale))


@pytest.mark.slow
@pytest.mark.parametrize("method", TREES)
@pytest.mark.parametrize("weight", [None, MIN_WEIGHT, MAX_WEIGHT])
@pytest.mark.parametrize("size", [MIN_SPREAD, 1.0, MAX_VALUE])
def test_results_at_the_limits_are_finite_and_alike(method, weight, size):
    at_limit = X * (size / np.abs(X).max())
    rows = np.unique(at_limit, axis=0)
    assert np.ptp(rows, axis=0).max() >= MIN_SPREAD
    given = None if weight is None else np.full(40, weight)
    options = {} if method is OptimalTree else {"threshold_style": "data"}
    model = method(4, **options).fit(at_limit, Y, sample_weight=given)
    assert is_finite(model)
    np.testing.assert_array_equal(model.predict(at_limit), model.labels_)
    if size != 1.0:
        usual = method(4, **options).fit(X / np.abs(X).max(), Y)
        assert (usual.labels_ == model.labels_).mean() > 0.9


@pytest.mark.parametrize("power", [-90, -3, 60])
def test_weights_times_a_power_of_two_give_the_same_tree(power):
    weight = np.random.default_rng(1).random(40)
    one, other = (
        ExGreedy(4, polish=True).fit(X, Y, sample_weight=weight * scale)
        for scale in (1.0, 2.0**power)
    )
    np.testing.assert_array_equal(one.tree_.threshold, other.tree_.threshold)
    np.testing.assert_array_equal(one.labels_, other.labels_)
    assert other.inertia_ == one.inertia_ * 2.0**power


@pytest.mark.parametrize("objective", ["kmeans", "kmedians"])
def test_a_weight_that_rounds_to_zero_is_zero(objective):
    tiny, zero = np.ones(40), np.ones(40)
    tiny[::3], zero[::3] = 1e-300, 0.0
    fits = [IMM(4, objective=objective).fit(X, Y, sample_weight=w) for w in (tiny, zero)]
    assert fits[0].tree_ == fits[1].tree_
    assert fits[0].inertia_ == fits[1].inertia_


def test_units_of_weights_do_not_depend_on_the_order_of_rows():
    weight = np.array([0.1] * 9 + [0.1 + 2.0**-54, 1e-17] * 3)
    random = np.random.default_rng(0)
    found = {Weights.of(random.permutation(weight)).units_per_weight for _ in range(200)}
    assert len(found) == 1


def test_a_split_that_leaves_no_cost_ends_polishing():
    """Rounding errors of a gain are not compared with a cost of 0."""
    values = np.array([[3.0], [3e8], [2e-8], [2.0], [3.0], [2e-8], [3.0], [2e-8]])
    centers = [[0.50000002], [0.50000002], [3.0], [2e-08]]
    model = IMM(reference=centers, polish=True).fit(values)
    assert is_finite(model)
    # Gains far below the squares of the outlier are rounding errors.
    assert model.inertia_ <= IMM(reference=centers).fit(values).inertia_


def fit_stored(model, store, X, labels, weight):
    """Fit on rows in memory or on a scan, and return the model with the labels of the rows."""
    if store != "scan":
        return model.fit(store(X), labels, sample_weight=weight), model.labels_
    polars = pytest.importorskip("polars")
    names = [f"x{j}" for j in range(X.shape[1])]
    table = polars.DataFrame(X, schema=names)
    given = {"labels": labels, "weight": weight}
    columns = [polars.Series(name, values) for name, values in given.items() if values is not None]
    batches = list(table.with_columns(columns).iter_slices(7))
    roles = {name: name for name, values in given.items() if values is not None}
    model.fit(pellucid.scan(lambda: batches, names, **roles))
    return model, model.predict(X)


def assert_right_cost(store, model, X, labels=None, weight=None):
    model, found = fit_stored(model, store, X, labels, weight)
    weight = np.ones(len(X)) if weight is None else weight
    exact = float(partition_cost(X, found, weight, 2))
    assert model.inertia_ == pytest.approx(exact, rel=1e-10, abs=0)
    assert np.isfinite(model.cluster_centers_).all()


STORED = [np.asarray, np.asfortranarray, sparse.csr_array, sparse.csc_array, "scan"]


@pytest.mark.filterwarnings("ignore:the tree has")
@pytest.mark.parametrize("store", STORED)
@pytest.mark.parametrize("distance", [1e12, 1e50, MAX_VALUE])
@pytest.mark.parametrize("size", [1.0, MIN_SPREAD / 2])
def test_costs_do_not_depend_on_the_distance_of_reference_centers(store, distance, size):
    """The cost is that of the rows at their means, wherever the reference centers are."""
    rows = size * X.astype(np.float32).astype(float)
    centers = np.clip([[distance, 0, 0], [-distance, 0, distance]], -MAX_VALUE, MAX_VALUE)
    weight = np.random.default_rng(2).random(40)
    for method in (IMM, ExKMC):
        assert_right_cost(store, method(reference=centers), rows, weight=weight)
    if size == 1.0 and store != "scan":
        single = IMM(reference=centers).fit(store(rows.astype(np.float32)))
        exact = float(partition_cost(rows, single.labels_, np.ones(40), 2))
        assert single.inertia_ == pytest.approx(exact, rel=1e-10, abs=0)


@pytest.mark.parametrize("store", STORED)
@pytest.mark.parametrize("largest", [1e12, 1e50, MAX_VALUE])
@pytest.mark.parametrize("method", [IMM, ExKMC])
def test_costs_of_a_small_column_beside_a_large_one(store, largest, method):
    """A column that is constant in each cluster hides nothing of the others."""
    random = np.random.default_rng(3)
    large = np.repeat([largest, -largest, largest / 3], 20)
    rows = np.column_stack([large, random.integers(0, 2, 60)])
    labels = np.repeat(np.arange(3), 20)
    labels[::9] = 1  # rows that go to another cluster take their squares with them
    assert_right_cost(store, method(3), rows, labels)


@pytest.mark.parametrize("objective", ["kmeans", "kmedians"])
def test_sparse_costs_of_light_rows_beside_heavy_ones(objective):
    """The weight of entries that are not stored is right, however small it is."""
    rows = np.array([[5.0], [5.0], [0.0], [0.0], [9.0]])
    weight = np.array([0.3, 0.7, 1e-14, 3e-14, 1.0])
    labels = np.array([0, 0, 0, 0, 1])
    model = IMM(2, objective=objective).fit(sparse.csr_array(rows), labels, sample_weight=weight)
    exact = partition_cost(rows, labels, weight, 2 if objective == "kmeans" else 1)
    assert model.reference_inertia_ == pytest.approx(float(exact), rel=1e-12, abs=0)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("shape", "orders", "polish"),
    [((30, 3), 20, "deep"), ((1200, 30), 20, True), *[((1200, 30), 0, True)] * EXTENDED],
)
def test_polish_gives_the_same_tree_in_any_storage(shape, orders, polish):
    """Also with weights over many orders of magnitude, and with too many values to copy them."""
    random = np.random.default_rng(2)
    rows = random.integers(0, 5, shape) * (random.random(shape) < 0.5) * 1.0
    weight = 10.0 ** random.uniform(-orders, 0, len(rows))
    labels = np.arange(len(rows)) % 4
    expected, *others = (
        ExKMC(4, n_leaves=7, polish=polish).fit(store(rows), labels, sample_weight=weight).tree_
        for store in (np.asarray, np.float32, sparse.csr_array, sparse.csc_array)
    )
    assert all(tree == expected for tree in others)


def test_values_are_checked_in_any_storage():
    values = np.full((300, 300), 0.5 * MAX_VALUE)  # the sum of squares is above the limit
    assert are_in_domain(values)
    assert are_in_domain(values[:, ::2])
    values[-1, -2] = -1.1 * MAX_VALUE
    assert not are_in_domain(values)
    assert not are_in_domain(values[:, ::2])
    assert not are_in_domain(np.array([0.0, np.nan]))
    assert are_in_domain(np.full(3, 3e38, dtype=np.float32))
    assert not are_in_domain(np.array([np.inf], dtype=np.float32))
    with pytest.raises(ValueError, match="column 298"):
        check_values(values)


def test_spread_is_that_of_all_rows():
    values = np.zeros((1000, 2))
    check_spread(values)
    check_spread(sparse.csc_array(values))
    values[13, 1] = 1e-120
    full = values + np.array([5.0, 0.0])
    for X in (values, sparse.csc_array(values), sparse.csc_array(full)):
        with pytest.raises(ValueError, match="differ by at most 1e-120"):
            check_spread(X)
    values[13, 0] = 1.0
    check_spread(values)
    check_spread(sparse.csc_array(values))


def test_only_the_largest_weight_is_limited():
    check_weights(np.array([1e-300, 0.0, 1.0]))
    with pytest.raises(ValueError, match=r"the largest weight is 1e\+31"):
        check_weights(np.array([1.0, 1e31]), "weight")
