"""Pictures of levels: the rows that reach them, what is answered, the regions, the query."""

from __future__ import annotations

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from pellucid import EOPClassifier, explain_clusters
from pellucid.datasets import make_three_features
from pellucid.plotting import plot_calibration, plot_level, plot_row
from pellucid.plotting.regions import DELETED, PASSED_ON
from pellucid.plotting.style import cluster_color
from pellucid.tables.column_formats import ColumnFormat

mpl.use("Agg")

SHAPES = ("box", "nonparametric", "polyhedron", "ellipse")


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def data():
    X, y = make_three_features(400, random_state=0)
    return X, np.array(["red", "blue"])[y]


@pytest.fixture(scope="module")
def models(data):
    return {
        shape: EOPClassifier("linear_svm", regions=shape, random_state=0, max_levels=5).fit(*data)
        for shape in SHAPES
    }


def points(ax, color):
    """How many points there are, of a colour."""
    return sum(
        len(c.get_offsets())
        for c in ax.collections
        if len(c.get_facecolor()) and to_hex(c.get_facecolor()[0]) == color.lower()
    )


def lines(ax):
    return [line for line in ax.lines if (line.get_gid() or "").startswith("region-")]


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
def test_answered_rows_are_coloured_and_others_grey(models, data, shape):
    model, (X, y) = models[shape], data
    at = model.apply(X)[:, 0]
    for level in {0, len(model.levels_) - 1}:
        ax = plot_level(model, X, y, level)
        reached = (at < 0) | (at >= level)
        assert points(ax, PASSED_ON) == np.sum(reached & (at != level))
        for position, name in enumerate(model.classes_):
            expected = np.sum((at == level) & (y == name))
            assert points(ax, cluster_color(position)) == expected
        features = model.levels_[level].features
        assert ax.get_xlabel() == f"x{features[0]}"
        if len(features) == 2:
            assert ax.get_ylabel() == f"x{features[1]}"
        wrong = int(np.sum((at == level) & (model.predict(X) != y)))
        assert f"{np.sum(at == level)} of {np.sum(reached)} rows answered, {wrong} wrongly" in (
            ax.get_title()
        )


@pytest.mark.slow
@pytest.mark.parametrize("shape", ["polyhedron", "ellipse"])
def test_outlines_are_the_edges_of_the_regions(models, data, shape):
    model = models[shape]
    n_seen = 0
    for number, level in enumerate(model.levels_):
        if len(level.features) != 2:
            continue
        found = lines(plot_level(model, *data, number))
        assert len(found) == len(level.regions)
        for position, line in enumerate(found):
            edge = line.get_xydata()
            middle = edge[:-1].mean(axis=0)
            assert edge[0] == pytest.approx(edge[-1])
            which = level.regions.which(middle + 0.99 * (edge - middle))
            # Regions may overlap, and the first that holds a place counts.
            assert ((which >= 0) & (which <= position)).all()
            assert (level.regions.which(middle + 1.01 * (edge - middle)) != position).all()
            n_seen += 1
    assert n_seen


def test_boxes_are_drawn_at_their_ends(models, data):
    model = models["box"]
    for number, level in enumerate(model.levels_):
        found = lines(plot_level(model, *data, number))
        assert len(found) == len(level.regions)
        for line, low, high in zip(found, level.regions.lower, level.regions.upper):
            edge = line.get_xydata()[:, : len(level.features)]
            for ends, drawn in ((low, edge.min(axis=0)), (high, edge.max(axis=0))):
                known = np.isfinite(ends)
                assert drawn[known] == pytest.approx(ends[known])


@pytest.mark.slow
def test_the_shade_is_where_the_regions_are(models, data):
    for model in models.values():
        for number, level in enumerate(model.levels_):
            if len(level.features) != 2 or number > 1:
                continue
            ax = plot_level(model, *data, number)
            image = ax.images[0]
            alpha = image.get_array()[..., 3]
            left, right, bottom, top = image.get_extent()
            n = len(alpha)
            grid = np.meshgrid(np.linspace(left, right, n), np.linspace(bottom, top, n))
            inside = level.regions.contains(np.column_stack([g.ravel() for g in grid]))
            assert np.array_equal(alpha.ravel() > 0, inside)


def test_one_column_is_drawn_as_a_strip(data):
    X, y = data
    model = EOPClassifier("stump", max_dim=1, random_state=0, max_levels=2).fit(X, y)
    ax = plot_level(model, X, y)
    assert ax.get_yticks().tolist() == []
    assert len(lines(ax)) == len(model.levels_[0].regions)
    plot_calibration(model, X, y)
    plot_row(model, X[0], X, y)


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
def test_calibration_shows_before_and_after(models, data, shape):
    model = models[shape]
    [story] = [s for s in model.history_ if s.level == 0 and s.is_used]
    before, after = plot_calibration(model, *data, level=0)
    assert f"{len(story.before)} region" in before.get_title()
    assert f"{len(story.after)} region" in after.get_title()
    if shape != "nonparametric" and len(model.levels_[0].features) == 2:
        assert [len(lines(before)), len(lines(after))] == [len(story.before), len(story.after)]
        dashed = [line for line in lines(before) if line.get_linestyle() == "--"]
        assert len(dashed) == len(story.deleted)
        assert all(line.get_color() == DELETED for line in dashed)
    assert points(before, PASSED_ON) == 0


@pytest.mark.parametrize("shape", SHAPES)
def test_a_row_is_shown_in_the_level_that_answers_it(models, data, shape):
    model, (X, y) = models[shape], data
    level = model.apply(X)[:, 0]
    for number in {0, int(level.max())}:
        row = X[np.flatnonzero(level == number)[0]]
        ax = plot_row(model, row, X, y)
        features = model.levels_[number].features
        star = ax.collections[-1].get_offsets()[0]
        assert star[0] == row[features[0]]
        if len(features) == 2:
            assert star[1] == row[features[1]]
        assert f"{model.predict(row[None])[0]}, by level {number + 1}" in ax.get_title()
        assert "this row" in [text.get_text() for text in ax.get_legend().get_texts()]


def test_a_row_that_no_region_holds_is_said_to_be_so(data):
    X, y = data
    with pytest.warns(ConvergenceWarning):
        model = EOPClassifier("stump", max_error=0.05, relax=False, random_state=0).fit(X, y)
    outside = np.flatnonzero(model.apply(X)[:, 0] < 0)
    assert len(outside)
    assert "no region holds this row" in plot_row(model, X[outside[0]], X, y).get_title()


def test_names_tables_and_sparse_rows(models, data):
    X, y = data
    table = pd.DataFrame(X, columns=["cost in $", "b", "c"])
    model = EOPClassifier("linear_svm", random_state=0, max_levels=2).fit(table, y)
    names = table.columns[list(model.levels_[0].features)]
    ax = plot_level(model, table, y)
    assert ax.get_xlabel() == names[0]
    plot_row(model, table.iloc[[3]], table, y)
    given = plot_level(models["box"], X, y, feature_names=["p", "q", "r"])
    assert given.get_xlabel() in ("p", "q", "r")
    dense, scattered = (plot_level(models["box"], m, y) for m in (X, sparse.csr_array(X)))
    assert [c.get_offsets().tolist() for c in dense.collections] == [
        c.get_offsets().tolist() for c in scattered.collections
    ]


def test_given_axes_are_used(models, data):
    axes = plt.subplots(1, 4)[1]
    assert plot_level(models["box"], *data, ax=axes[0]) is axes[0]
    assert plot_row(models["box"], data[0][0], *data, ax=axes[1]) is axes[1]
    assert plot_calibration(models["box"], *data, axes=axes[2:]).tolist() == axes[2:].tolist()
    with pytest.raises(ValueError, match="two axes are needed"):
        plot_calibration(models["box"], *data, axes=axes[:3])


def test_errors_say_what_is_wrong(models, data):
    model, (X, y) = models["box"], data
    n = len(model.levels_)
    with pytest.raises(ValueError, match=rf"level={n}, but the levels of this model are 0 \.\. "):
        plot_level(model, X, y, n)
    with pytest.raises(ValueError, match="y has shape"):
        plot_level(model, X, y[:-1])
    with pytest.raises(ValueError, match="2 feature names for a model of 3 columns"):
        plot_level(model, X, y, feature_names=["a", "b"])
    with pytest.raises(ValueError, match="row has 2 rows"):
        plot_row(model, X[:2], X, y)
    with pytest.raises(NotFittedError):
        plot_level(EOPClassifier("stump"), X, y)


def test_levels_side_by_side_and_scores():
    from sklearn.datasets import load_iris

    from pellucid.plotting import plot_score_map

    X, y = load_iris(return_X_y=True)
    model = EOPClassifier(max_error=0.1, complexity_penalty=0.01, random_state=0).fit(X, y)
    axes = model.plot(X, y, n_levels=2)
    assert len(axes) == 2
    with pytest.raises(ValueError, match="regions without scores"):
        plot_score_map(model, X, y)
    scored = EOPClassifier("stump", regions="nonparametric", random_state=0, max_levels=1)
    ax = plot_score_map(scored.fit(X, y), X, y)
    assert len(ax.collections) >= 2


def test_rows_of_no_class_are_not_counted():
    random = np.random.default_rng(0)
    X = random.normal(size=(6000, 2))
    y = np.where(np.arange(6000) % 3 == 0, -1, X[:, 0] > 0.5)
    found = explain_clusters(X, y)
    ax = plot_level(found.model, X, y)
    region = found.model.apply(X)[:, 0] == 0
    wanted = f"{(region & (y >= 0)).sum():,} of 4,000 rows answered, 0 wrongly"
    assert wanted in ax.get_title()
    assert f"not counted: 2,000 rows of no class, {(region & (y < 0)).sum():,}" in ax.get_title()
    assert "of no class" in [text.get_text() for text in ax.get_legend().get_texts()]


def test_an_axis_of_dates_and_units():
    random = np.random.default_rng(0)
    day, price = random.integers(18993, 19358, 300), random.normal(50, 9, 300)
    labels = np.where((day > 19200) == (price > 50), "a", "b")
    X = np.column_stack([day, price])
    formats = {"x0": ColumnFormat("date"), "x1": ColumnFormat(prefix="$")}
    model = explain_clusters(X, labels, formats=formats).model
    level = next(i for i, level in enumerate(model.levels_) if len(level.features) == 2)
    ax = plot_level(model, X, labels, level=level)
    ax.figure.canvas.draw()
    words = [[text.get_text() for text in axis.get_ticklabels()] for axis in (ax.xaxis, ax.yaxis)]
    assert "Jul" in words[0]
    assert "$60" in words[1]
    row = X[model.apply(X)[:, 0] == level][0]
    assert "x0" in (title := plot_row(model, row, X, labels).get_title())
    assert " 2022-0" in title
    assert "$" in title
