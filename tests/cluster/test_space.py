"""Thresholds on the columns of X, costs, centers and the reference in another space."""

import warnings
from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris, load_wine, make_circles
from sklearn.decomposition import PCA
from sklearn.kernel_approximation import Nystroem
from sklearn.preprocessing import scale
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import pellucid
from _support.extended import EXTENDED
from _support.fitting import assert_same_tree
from pellucid import ExplainableKMeans, SpEx, from_json
from pellucid.cluster import _space
from pellucid.plotting import plot_comparison

X = scale(load_wine().data)
Z = PCA(5, svd_solver="full").fit_transform(X)
KMEANS = KMeans(3, n_init=10, random_state=0).fit(Z)


def cost(rows, labels, weight=None):
    """Sum of squares about the means of the clusters, row by row."""
    weight = np.ones(len(rows)) if weight is None else weight
    total = 0.0
    for cluster in np.unique(labels):
        part, of_part = rows[labels == cluster], weight[labels == cluster]
        apart = part - np.average(part, axis=0, weights=of_part)
        total += float((of_part * (apart**2).sum(axis=1)).sum())
    return total


def fitted(rows=X, space=Z, **parameters):
    fit = {name: parameters.pop(name) for name in ("y", "sample_weight") if name in parameters}
    parameters = {"reference": KMEANS, "effort": "fast", **parameters}
    return ExplainableKMeans(**parameters).fit(rows, space=space, **fit)


def test_costs_and_centers_are_in_the_space_and_thresholds_in_the_columns():
    model = fitted()
    assert model.cluster_centers_.shape == model.reference_centers_.shape == (3, 5)
    assert model.tree_.n_features == model.n_features_in_ == 13
    labels = model.predict(X)
    np.testing.assert_array_equal(labels, model.labels_)
    np.testing.assert_array_equal(model.reference_labels_, KMEANS.labels_)
    assert model.inertia_ == pytest.approx(cost(Z, labels))
    assert model.reference_inertia_ == pytest.approx(KMEANS.inertia_)
    means = np.array([Z[labels == c].mean(axis=0) for c in range(3)])
    np.testing.assert_allclose(model.cluster_centers_, means, atol=1e-12)
    assert model.mistakes_ == (labels != KMEANS.labels_).sum()
    assert model.score(X, space=Z) == pytest.approx(-model.inertia_)


def test_the_columns_themselves_as_space_give_the_same_tree():
    expected = ExplainableKMeans(3, random_state=0, effort="fast", faithfulness=0).fit(X)
    found = ExplainableKMeans(3, random_state=0, effort="fast", faithfulness=0).fit(X, space=X)
    assert found.inertia_ <= expected.inertia_ * (1 + 1e-12)
    assert found.reference_inertia_ == expected.reference_inertia_


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n_leaves", "parameters"),
    [
        (n_leaves, parameters)
        for n_leaves, parameters in product([3, 6], [{"faithfulness": 0}, {}, {"effort": "fast"}])
        if EXTENDED or "effort" in parameters or ("faithfulness" in parameters) == (n_leaves == 6)
    ],
)
def test_never_costlier_than_label_trees_and_a_regression_tree(parameters, n_leaves):
    kernels = {load_wine: 0.02, load_iris: 0.5}
    if not EXTENDED and n_leaves > 3 and "effort" not in parameters:
        del kernels[load_wine]  # takes longest
    for load, kernel in kernels.items():
        rows = scale(load().data)
        space = Nystroem(gamma=kernel, n_components=40, random_state=0).fit_transform(rows)
        labels = KMeans(3, n_init=10, random_state=0).fit_predict(space)
        options = {"max_leaf_nodes": n_leaves, "random_state": 0}
        leaves = [
            DecisionTreeRegressor(**options).fit(rows, space).apply(rows),
            DecisionTreeClassifier(**options).fit(rows, labels).apply(rows),
            SpEx(n_leaves=n_leaves).fit(rows, labels).apply(rows),
        ]
        if n_leaves > 3:  # leaves of one cluster share its mean
            leaves = [
                np.array([np.bincount(labels[leaf == own]).argmax() for own in leaf])
                for leaf in leaves
            ]
        model = ExplainableKMeans(n_leaves=n_leaves, **parameters)
        model.fit(rows, labels, space=space)
        assert model.inertia_ <= min(cost(space, leaf) for leaf in leaves) * (1 + 1e-9)


def test_rings_that_kernel_k_means_separates():
    """The means of both rings are at one place, so that no threshold separates them."""
    rings, own = make_circles(300, factor=0.3, noise=0.05, random_state=0)
    space = Nystroem(gamma=5, n_components=50, random_state=0).fit_transform(rings)
    model = ExplainableKMeans(n_leaves=6).fit(rings, own, space=space)
    assert (model.predict(rings) == own).mean() > 0.97


def test_labels_and_several_partitions_side_by_side():
    one_hot = np.column_stack([np.eye(3)[KMEANS.labels_], np.eye(3)[load_wine().target]])
    model = fitted(space=one_hot, reference=None, y=KMEANS.labels_)
    assert model.cluster_centers_.shape == (3, 6)
    assert not hasattr(model, "disagreement_lower_bound_")
    assert model.inertia_ == pytest.approx(cost(one_hot, model.predict(X)))


@pytest.fixture(scope="module")
def few():
    """Few rows and columns, many values of which are zero, their space and their labels."""
    rows = X[::2, :6]
    return np.round(rows * (np.abs(rows) > 0.5), 2), Z[::2], KMEANS.labels_[::2]


def test_storage_and_threads_do_not_change_the_tree(few):
    rows, space, _ = few
    expected = fitted(rows, space, effort="balanced", n_jobs=1)
    forms = [sparse.csr_array, np.asfortranarray] + [sparse.csc_array] * EXTENDED
    for form in forms:
        assert_same_tree(fitted(form(rows), space, effort="balanced", n_jobs=2), expected)


def test_the_order_of_the_rows_does_not_change_the_tree(few):
    rows, space, labels = few
    order = np.random.default_rng(0).permutation(len(rows))
    other = ExplainableKMeans(effort="balanced").fit(rows[order], labels[order], space=space[order])
    same = ExplainableKMeans(effort="balanced").fit(rows, labels, space=space)
    assert_same_tree(other, same)
    assert other.inertia_ == pytest.approx(same.inertia_, rel=1e-12)


def test_weights_are_copies_of_rows(few):
    rows, space, labels = few
    times = np.random.default_rng(0).integers(0, 3, len(rows))
    model = ExplainableKMeans().fit(rows, labels, sample_weight=times, space=space)
    repeated = [np.repeat(part, times, axis=0) for part in (rows, labels, space)]
    copies = ExplainableKMeans().fit(repeated[0], repeated[1], space=repeated[2])
    np.testing.assert_array_equal(model.predict(rows), copies.predict(rows))
    assert model.inertia_ == pytest.approx(copies.inertia_)


def test_faithfulness_is_relative_to_the_cost_in_the_space():
    """Neither the unit of the columns nor that of the space changes the tree."""
    options = {"effort": "balanced" if EXTENDED else "fast", "faithfulness": 0.3}
    labels, expected = KMEANS.labels_, fitted(**options)
    for of_columns, of_space in [(2.0**10, 1.0), (1.0, 2.0**10)]:
        model = ExplainableKMeans(**options).fit(of_columns * X, labels, space=of_space * Z)
        np.testing.assert_array_equal(model.labels_, expected.labels_)
        assert model.mistakes_ == expected.mistakes_


def test_noise_does_not_count():
    labels = np.where(np.arange(len(X)) % 7 == 0, -1, KMEANS.labels_)
    model = ExplainableKMeans(effort="fast").fit(X, labels, space=Z)
    known = labels >= 0
    assert model.inertia_ == pytest.approx(cost(Z[known], model.predict(X)[known]))
    assert sum(leaf.n_noise for rule in model.rules_ for leaf in rule.rules) == (~known).sum()


def test_a_space_of_many_columns_is_searched_by_components(monkeypatch):
    monkeypatch.setattr(_space, "MAX_COLUMNS", 4)
    random = np.random.default_rng(0)
    wide = Z @ random.normal(size=(5, 30)) + 1e-3 * random.normal(size=(len(Z), 30))
    with pytest.warns(
        UserWarning, match=r"space has 30 columns; .* first 4 principal .* leave out"
    ):
        model = fitted(space=wide, reference=None, n_clusters=3, random_state=0)
    values = np.linalg.svd(wide - wide.mean(axis=0), compute_uv=False) ** 2
    assert model.space_loss_ == pytest.approx(1 - values[:4].sum() / values.sum())
    assert model.cluster_centers_.shape == (3, 30)  # costs are those of all columns
    assert model.inertia_ == pytest.approx(cost(wide, model.predict(X)))
    monkeypatch.undo()
    assert fitted().space_loss_ == 0


def test_frames_and_sparse_spaces():
    expected = fitted(reference=None, y=KMEANS.labels_)
    frame = pd.DataFrame(Z, columns=list("abcde"))
    assert_same_tree(fitted(space=frame, reference=None, y=KMEANS.labels_), expected)
    space = sparse.csr_array(Z)
    assert_same_tree(fitted(space=space, reference=None, y=KMEANS.labels_), expected)


def test_what_is_refused():
    model = fitted()
    broken = Z.copy()
    broken[7, 2] = np.nan
    for space, message in [
        (Z[:-1], "space has 177 rows, but X has 178"),
        (Z[:, 0], "Expected 2D array"),
        (broken, "space contains NaN: column 2, first at row 7"),
        (pd.DataFrame(broken, columns=list("abcde")), "column 'c', first at row 7"),
        (Z * 1e101, "space contains .* in column 0"),
        (sparse.csr_array((178, 600)), "space is sparse and has 600 columns; .*TruncatedSVD"),
        (Z.astype(str).astype(object) + "x", "space|could not convert"),
    ]:
        with pytest.raises(ValueError, match=message):
            fitted(space=space)
    with pytest.raises(ValueError, match="space needs all rows in memory"):
        ExplainableKMeans(3).fit(pellucid.scan(lambda: [X], [f"x{i}" for i in range(13)]), space=Z)
    with pytest.raises(ValueError, match=r"score\(X, space=Z\) needs the rows"):
        model.score(X)
    with pytest.raises(ValueError, match="space has 2 columns, but that of fit had 5"):
        model.score(X, space=Z[:, :2])
    with pytest.raises(ValueError, match="fitted without a space"):
        fitted(space=None, reference=None, n_clusters=3).score(X, space=Z)
    with pytest.raises(ValueError, match="not in the columns of X"):
        model.transform(X)


def test_a_new_fit_without_a_space_has_none():
    model = fitted()
    model.set_params(reference=None, n_clusters=3, random_state=0).fit(X)
    assert not hasattr(model, "space_loss_")
    assert model.cluster_centers_.shape == (3, 13)
    assert model.transform(X).shape == (178, 3)


def test_exports_and_json_describe_the_tree_on_the_columns():
    model = fitted()
    explanation = from_json(model.to_json())
    np.testing.assert_array_equal(explanation.predict(X), model.predict(X))


def test_further_references_are_found_in_the_space():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = fitted(reference=None, n_clusters=3, n_references=3, random_state=0)
    assert model.reference_centers_.shape == (3, 5)
    assert model.inertia_ <= 1.2 * model.reference_inertia_


def test_outputs_say_where_the_cost_is(tmp_path):
    model, plain = fitted(), ExplainableKMeans(3, random_state=0, effort="fast").fit(X)
    ratio = model.inertia_ / model.reference_inertia_
    assert f"cost in the space of fit {ratio:.3f} × that of the reference" in model.to_html()
    assert "the space" not in plain.to_html()
    ax = plot_comparison({"six": fitted(n_leaves=6), "three": model})
    assert ax.get_ylabel() == "cost of the clusters in the space of fit (reference = 1)"
    with pytest.raises(ValueError, match="costs cannot be compared; fit all of them with the same"):
        plot_comparison({"space": model, "columns": plain})
    path = tmp_path / "report.html"
    model.report(path, X)
    assert '"costRatio":null' in path.read_text().replace(" ", "")
    plain.report(path, X)
    assert '"costRatio":1.' in path.read_text().replace(" ", "")


def test_trade_off_in_a_space():
    points = fitted(reference=None, n_clusters=3, random_state=0).trade_off(
        X, KMEANS.labels_, space=Z, faithfulness=[0, 3]
    )
    for point in points:
        assert point.cost == pytest.approx(cost(Z, point.tree.predict(X)))


def test_stability_in_a_space():
    model = fitted(reference=None, y=KMEANS.labels_)
    found = pellucid.stability(model, X, n_bootstraps=3, space=Z)
    assert found.n_draws == 3
    assert found.ari.min() > 0.5
    for other, given, message in [
        (model, {}, r"pass the same: stability\(model, X, space=Z\)"),
        (ExplainableKMeans(3, effort="fast").fit(X), {"space": Z}, "fitted without a space"),
    ]:
        with pytest.raises(ValueError, match=message):
            pellucid.stability(other, X, n_bootstraps=3, **given)
