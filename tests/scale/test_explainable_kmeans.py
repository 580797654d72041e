"""ExplainableKMeans on a scan: in memory if the rows fit, otherwise by a sample and all rows."""

from __future__ import annotations

import numpy as np
import pytest

import pellucid
from _support.fitting import assert_same_tree
from pellucid import IMM, ExplainableKMeans, scan
from pellucid._core.batches.batch import RawBatch
from pellucid._core.refine import tuning
from pellucid._utils.notices import InputError
from pellucid.cluster import _explainable_kmeans
from pellucid.scale.sampling import GatherTask, RowSample

polars = pytest.importorskip("polars")


def make_data(seed=0, n=1500, decimals=2):
    random = np.random.default_rng(seed)
    labels = random.integers(5, size=n)
    X = np.round(3 * random.normal(size=(5, 3))[labels] + random.normal(size=(n, 3)), decimals)
    return X, labels


def frames(X, n_parts=4, order=None, **columns):
    order = np.arange(len(X)) if order is None else order
    table = polars.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], **columns})[order]
    return [table[part] for part in np.array_split(np.arange(len(X)), n_parts)]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["centers", "none", "labels"])
def test_rows_that_fit_give_the_tree_of_memory(kind):
    X, labels = make_data()
    weight = 1.0 + np.arange(len(X)) % 3
    names = np.array(["e", "d", "c", "b", "a"])[labels]
    options = {"effort": "fast", "random_state": 0}
    if kind == "centers":
        options["reference"] = X[:5]
    parts = frames(X, w=weight, segment=names)
    is_labelled = kind == "labels"
    data = scan(lambda: parts, ["a", "b", "c"], weight="w", labels="segment" * is_labelled or None)
    model = ExplainableKMeans(5, **options).fit(data)
    in_memory = ExplainableKMeans(5, **options)
    in_memory.fit(X, names if is_labelled else None, sample_weight=weight)
    assert_same_tree(model, in_memory)
    assert model.inertia_ == in_memory.inertia_
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    assert not hasattr(model, "labels_")
    assert not hasattr(model, "reference_labels_")


@pytest.mark.parametrize("decimals", [0, 2])
@pytest.mark.parametrize("options", [{}, {"n_leaves": 7}, {"depth_penalty": 0.05, "max_depth": 4}])
def test_batches_and_order_do_not_matter(options, decimals, monkeypatch):
    monkeypatch.setattr(_explainable_kmeans, "SCAN_SAMPLE_ROWS", 300)  # fewer than rows
    X, _ = make_data(decimals=decimals)
    weight = 1.0 + np.arange(len(X)) % 3
    centers, models = X[[0, 1, 2, 3, 4]], []
    for seed, n_parts in ((0, 1), (1, 13)):
        order = np.random.default_rng(seed).permutation(len(X))
        parts = frames(X, n_parts, order, w=weight)
        data = scan(lambda parts=parts: parts, weight="w", memory=20_000)
        model = ExplainableKMeans(reference=centers, effort="fast", **options)
        models.append(model.fit(data))
    assert_same_tree(*models)
    model = models[0]
    rows, cluster = model.tree_.predict(X), model.tree_.apply(X)
    assert (
        np.bincount(cluster, minlength=model.tree_.node_count)
        == np.where(model.tree_.is_leaf, model.tree_.n_node_samples, 0)
    ).all()
    cost = sum(
        (weight[rows == c, None] * (X[rows == c] - model.cluster_centers_[c]) ** 2).sum()
        for c in np.unique(rows)
    )
    assert model.inertia_ == pytest.approx(cost)
    for c in np.unique(rows):
        mean = np.average(X[rows == c], axis=0, weights=weight[rows == c])
        np.testing.assert_allclose(model.cluster_centers_[c], mean)


@pytest.mark.slow
def test_the_cheapest_tree_over_all_rows_is_kept(monkeypatch):
    monkeypatch.setattr(_explainable_kmeans, "SCAN_SAMPLE_ROWS", 200)  # fewer than rows
    monkeypatch.setattr(tuning, "MAX_ROWS", 100)
    X, _ = make_data(3)
    data = scan(lambda: frames(X), memory=20_000)
    model = ExplainableKMeans(reference=X[:5], effort="balanced", faithfulness=0).fit(data)
    assert model.n_trees_tried_ > 3
    assert model.inertia_ < IMM(reference=X[:5]).fit(X).inertia_


def test_copies_of_rows_are_counted():
    X = np.array([[1.0, 2.0], [0.0, 1.0], [-0.0, 1.0], [1.0, 2.0], [5.0, 5.0]])
    ones = np.ones(5, dtype=np.int64)
    rows = RowSample(np.asfortranarray(X), 0 * ones, np.ones(5), ones)
    found = rows.smallest(10, 2**64 - 1)
    counts = {tuple(row): n for row, n in zip(found.X.tolist(), found.copies.tolist())}
    assert counts == {(1.0, 2.0): 2, (0.0, 1.0): 2, (5.0, 5.0): 1}
    shuffled = RowSample(*(array[[4, 2, 0, 3, 1]] for array in rows)).smallest(2, 2**64 - 1)
    assert shuffled.X.tolist() == found.X[:2].tolist()


def test_errors_name_the_batch():
    X, _ = make_data()
    X[700, 1] = np.nan
    parts = frames(X)
    with pytest.raises(InputError, match=r"column 'b' contains missing values .* in batch 1"):
        ExplainableKMeans(reference=X[:5]).fit(scan(lambda: parts))


def test_dask():
    dd = pytest.importorskip("dask.dataframe")
    X, _ = make_data()
    data = pellucid.scan(dd.from_pandas(polars.concat(frames(X)).to_pandas(), npartitions=12))
    model = ExplainableKMeans(reference=X[:5], effort="fast").fit(data)
    assert_same_tree(model, ExplainableKMeans(reference=X[:5], effort="fast").fit(X))


def test_rows_are_in_the_order_of_the_partitions():
    task = GatherTask(6, ("x",), None)
    parts = [task(RawBatch(np.full((2, 1), i), None, None, f"partition {i}")) for i in (10, 2, 0)]
    X, weight, labels = task.merge(task.merge(parts[0], parts[1]), parts[2]).arrays()
    assert X[:, 0].tolist() == [0, 0, 2, 2, 10, 10]
    assert weight is None
    assert labels is None
    too_many = task.merge(task.merge(parts[0], parts[1]), task.merge(parts[1], parts[2]))
    assert too_many == (8, None)
