"""Profile, partition, trade-off and comparison: what is drawn is what was measured."""

from __future__ import annotations

from types import SimpleNamespace

import matplotlib
import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris, load_wine

from pellucid import IMM, ExKMC, ExShallow, plotting
from pellucid.plotting.profile import standardized_differences
from pellucid.plotting.style import cluster_color

matplotlib.use("Agg")
from matplotlib import pyplot as plt
from matplotlib.text import Text


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def wine():
    return load_wine(as_frame=True).data


@pytest.fixture(scope="module")
def model(wine):
    return IMM(4, random_state=0).fit(wine)


@pytest.mark.slow
def test_bars_are_the_standardized_differences(model, wine):
    ax = plotting.plot_profile(model, wine, cluster=1, n_features=5)
    here = model.predict(wine) == 1
    X = wine.to_numpy()
    expected = (X[here].mean(axis=0) - X[~here].mean(axis=0)) / X.std(axis=0)
    order = np.argsort(-abs(expected))[:5]
    np.testing.assert_allclose([bar.get_width() for bar in ax.patches], expected[order])
    assert [t.get_text() for t in ax.get_yticklabels()] == [wine.columns[j] for j in order]
    assert matplotlib.colors.to_hex(ax.patches[0].get_facecolor()).upper() == cluster_color(1)


def test_table_has_a_cell_for_each_cluster_and_feature(model, wine):
    ax = plotting.plot_profile(model, wine, n_features=6)
    assert ax.images[0].get_array().shape == (6, 4)
    assert [t.get_text() for t in ax.get_xticklabels()] == [f"cluster {c}" for c in range(4)]


def test_differences_of_constant_columns_and_empty_clusters():
    X = np.array([[1.0, 5.0], [3.0, 5.0]])
    found = standardized_differences(X, np.array([0, 1]), [0, 1, 2])
    assert found[0, 0] == -2.0
    assert found[0, 1] == 0.0
    assert np.isnan(found[2]).all()


def test_unknown_cluster_is_named(model, wine):
    with pytest.raises(ValueError, match=r"no cluster 9; the clusters are \[0, 1, 2, 3\]"):
        plotting.plot_profile(model, wine, cluster=9)


def test_partition_draws_every_cut_on_the_two_features():
    X = load_iris(as_frame=True).data
    model = IMM(3, random_state=0).fit(X)
    ax = plotting.plot_partition(model, X, features=("petal length (cm)", 3))
    cuts = model.tree_.threshold[~model.tree_.is_leaf]
    drawn = [line.get_xdata()[0] for line in ax.lines]
    assert sorted(drawn) == sorted(cuts)
    assert len(ax.patches) == 3  # all cuts are on petal length: the regions are shaded
    n_points = sum(len(points.get_offsets()) for points in ax.collections)
    assert n_points == len(X)
    assert ax.get_xlabel() == "petal length (cm)"


def test_partition_picks_the_features_most_asked_about(model, wine):
    ax = plotting.plot_partition(model, wine)
    tree = model.tree_
    assert ax.get_xlabel() == wine.columns[tree.feature[0]]


@pytest.mark.slow
def test_partition_of_sparse_rows_draws_at_most_five_thousand():
    X = sparse.random_array((12_000, 4), density=0.5, random_state=0, format="csr")
    model = IMM(3, random_state=0).fit(X)
    ax = plotting.plot_partition(model, X)
    assert sum(len(points.get_offsets()) for points in ax.collections) <= 5000


@pytest.mark.parametrize("features", [(0,), ("nothing", 0), (0, 99)])
def test_partition_refuses_columns_that_are_not_there(model, wine, features):
    with pytest.raises(ValueError, match="two columns|no column"):
        plotting.plot_partition(model, wine, features=features)


@pytest.mark.parametrize("measure", ["waes", "wad", "n_leaves"])
def test_trade_off_has_a_point_for_each_tree(wine, measure):
    path = ExShallow(5, random_state=0).path(wine)
    ax = plotting.plot_trade_off(path, measure=measure)
    points = set(map(tuple, np.column_stack(ax.lines[0].get_data()).tolist()))
    assert points == {(float(getattr(p, measure)), p.npc) for p in path}


def test_comparison_joins_what_nothing_undercuts(wine):
    models = {"a": IMM(5, random_state=0).fit(wine), "b": ExKMC(5, random_state=0).fit(wine)}
    ax = plotting.plot_comparison(models)
    costs = {name: m.inertia_ / m.reference_inertia_ for name, m in models.items()}
    drawn = sorted(line.get_ydata()[0] for line in ax.lines[1:])
    np.testing.assert_allclose(drawn, sorted(costs.values()))
    assert {text.get_text() for text in ax.texts} == {"a", "b"}


def test_wrong_measure_and_no_model_are_refused(wine):
    with pytest.raises(ValueError, match="measure is 'size'"):
        plotting.plot_comparison([IMM(2, random_state=0).fit(wine)], measure="size")
    with pytest.raises(ValueError, match="no model to compare"):
        plotting.plot_comparison([])


def test_pictures_go_into_given_axes(model, wine):
    _, ax = plt.subplots()
    assert plotting.plot_profile(model, wine, ax=ax) is ax
    assert plotting.plot_partition(model, wine, ax=ax) is ax
    assert plotting.plot_comparison([model], ax=ax) is ax
    assert model.plot(ax=ax) is ax


@pytest.mark.slow
def test_names_of_points_overlap_nothing(wine):
    models = {f"a method with number {i}": IMM(5, random_state=0).fit(wine) for i in range(3)}
    models |= {
        f"other {i}": ExShallow(5, depth_penalty=i / 4, random_state=0).fit(wine) for i in range(4)
    }
    ax = plotting.plot_comparison(models)
    ax.figure.draw_without_rendering()
    # Without the line from a name to its point.
    boxes = [Text.get_window_extent(text) for text in ax.texts]
    assert len(boxes) == len(models)
    for i, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[:i])


def test_the_legend_of_a_comparison_names_the_best_trade_offs(model):
    costs = {"one": 1.0, "as good": 1.0, "costlier": 1.5}
    models = {
        name: SimpleNamespace(tree_=model.tree_, inertia_=cost, reference_inertia_=1.0)
        for name, cost in costs.items()
    }
    ax = plotting.plot_comparison(models, measure="n_leaves")
    words = [text.get_text() for text in ax.get_legend().get_texts()]
    assert words == ["best trade-offs", "others"]
    assert [line.get_markersize() for line in ax.lines[1:]] == [8, 8, 6]
    del models["costlier"]
    assert plotting.plot_comparison(models, measure="n_leaves").get_legend() is None


def test_a_very_costly_model_is_drawn_at_the_edge_with_its_cost(model):
    costs = {"a": 1.1, "b": 1.2, "c": 1.3, "far": 90.0}
    models = {
        name: SimpleNamespace(tree_=model.tree_, inertia_=cost, reference_inertia_=1.0)
        for name, cost in costs.items()
    }
    ax = plotting.plot_comparison(models, measure="n_leaves")
    assert ax.get_ylim()[1] < 2
    assert [line.get_marker() for line in ax.lines[1:]] == ["o", "o", "o", "^"]
    assert "far (cost 90)" in {text.get_text() for text in ax.texts}
    assert all(float(tick).is_integer() for tick in ax.get_xticks())


def test_integers_are_jittered_and_thresholds_lie_between_them():
    random = np.random.default_rng(0)
    X = np.column_stack([random.integers(0, 4, 300), random.normal(size=300)]).astype(float)
    model = IMM(3, random_state=0).fit(X)
    ax = plotting.plot_partition(model, X, features=(0, 1))
    drawn = np.concatenate([points.get_offsets()[:, 0] for points in ax.collections])
    assert len(np.unique(drawn)) > 200
    assert np.abs(drawn - np.round(drawn)).max() <= 0.25
    vertical = [line.get_xdata()[0] for line in ax.lines if np.ptp(line.get_xdata()) == 0]
    assert vertical
    assert {float(at) % 1 for at in vertical} == {0.5}


@pytest.mark.slow
def test_outliers_do_not_squeeze_a_partition():
    random = np.random.default_rng(0)
    X = random.normal(size=(1000, 2))
    X[0, 0] = 500.0
    model = IMM(2, random_state=0).fit(X[1:])
    model.tree_ = model.tree_.replace(threshold=np.where(model.tree_.is_leaf, np.nan, 0.0))
    ax = plotting.plot_partition(model, X, features=(0, 1))
    assert ax.get_xlim()[1] < 50
    assert "rows beyond the axes" in ax.get_title(loc="left")


def test_skewed_features_have_a_logarithmic_axis():
    X = np.random.default_rng(0).lognormal(6, 1.5, size=(500, 2))
    ax = plotting.plot_partition(IMM(3, random_state=0).fit(X), X)
    assert "(log scale)" in ax.get_xlabel()
    assert ax.get_xlim()[1] >= X.max(axis=0).min()


def test_a_difference_of_nothing_has_no_sign():
    X = np.array([[0.0, 0.0], [0.0, 1.0], [9.0, 0.0], [9.0, 1.001]])
    ax = plotting.plot_profile(IMM(2, random_state=0).fit(X), X)
    assert {"-0.0", "+0.0"}.isdisjoint(text.get_text() for text in ax.texts)
    assert "0.0" in {text.get_text() for text in ax.texts}


def test_the_title_of_the_colour_bar_fits(model, wine):
    ax = plotting.plot_profile(model, wine, n_features=5)
    ax.figure.draw_without_rendering()
    bar = ax.figure.axes[-1]
    title = bar.yaxis.label.get_window_extent()
    assert title.height <= bar.get_window_extent().height
