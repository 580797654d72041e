"""Pictures of clustered trends and of the search: all that was found is there to be seen."""

from __future__ import annotations

from functools import cache

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from _support.extended import EXTENDED
from pellucid import XClusters
from pellucid.datasets import make_card_trends
from pellucid.plotting import plot_search, plot_trends
from pellucid.plotting.style import cluster_color
from pellucid.xclusters import SeriesTable

mpl.use("Agg")


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@cache
def card_trends():
    return make_card_trends(90, random_state=0)


@cache
def of_accuracy(wanted):
    """A model of four clusters whose tree need not be more accurate."""
    how = {"k_range": (4, 4), "accuracy_distance": "euclidean", "max_evaluations": 2}
    card = card_trends()
    return XClusters(**how, tree_accuracy=wanted).fit(card.series, explanation=card.explanation)


@pytest.fixture(scope="module")
def card():
    return card_trends()


@pytest.fixture(scope="module")
def model(card):
    how = {"k_range": (3, 6), "accuracy_distance": "euclidean", "tolerance": 0.1}
    return XClusters(**how, tree_accuracy=1.0).fit(card.series, explanation=card.explanation)


@pytest.fixture(scope="module")
def grid(card):
    how = {"k_range": (3, 6), "accuracy_distance": "euclidean", "search": "grid"}
    return XClusters(**how).fit(card.series, explanation=card.explanation)


def texts(figure, gid):
    found = [one for ax in figure.axes for one in ax.texts] + list(figure.texts)
    return [one.get_text() for one in found if (one.get_gid() or "").startswith(gid)]


def overlaps(figure):
    """Pairs of texts that lie on top of each other, as drawn."""
    figure.canvas.draw()
    boxes = [one.get_window_extent() for one in figure.texts if one.get_text()]
    return [
        (i, j)
        for i, a in enumerate(boxes)
        for j, b in enumerate(boxes[:i])
        if min(a.x1, b.x1) - max(a.x0, b.x0) > 1 and min(a.y1, b.y1) - max(a.y0, b.y0) > 2
    ]


def test_years_have_no_fractions_and_large_numbers_have_separators(card, model):
    n_times = len(card.series[0])
    years = np.arange(1990, 1990 + n_times)
    figure = plot_trends(model, np.asarray(card.series), times=years)
    ax = figure.axes[-1]
    assert all(float(tick).is_integer() for tick in ax.get_xticks())
    assert ax.xaxis.get_major_formatter()(1995.0) == "1995"
    assert ax.yaxis.get_major_formatter()(2_000_000.0) == "2,000,000"


def test_the_label_does_not_touch_large_numbers(card, model):
    series = 1e8 * np.asarray(card.series)
    figure = plot_trends(model, series, times=card.times, label="spending")
    figure.canvas.draw()
    label = next(text for text in figure.texts if text.get_text() == "spending")
    numbers = [text for ax in figure.axes for text in ax.get_yticklabels() if text.get_text()]
    assert max(len(text.get_text()) for text in numbers) >= 11
    assert label.get_window_extent().x1 < min(text.get_window_extent().x0 for text in numbers)


@pytest.mark.slow
def test_every_cluster_has_its_trends_its_medoid_and_its_rules(card, model):
    figure = plot_trends(model, card.series, times=card.times, label="spending")
    assert len(figure.axes) == model.best_k_
    for cluster, ax in enumerate(figure.axes):
        medoids = [line for line in ax.lines if line.get_gid() == "medoid"]
        assert len(medoids) == 1
        wanted = card.series[model.medoid_indices_[cluster]]
        np.testing.assert_array_equal(medoids[0].get_ydata(), wanted)
        others = [line for line in ax.lines if line is not medoids[0]]
        assert len(others) == np.sum(model.labels_ == cluster)
        assert {line.get_color() for line in others} == {cluster_color(cluster)}
        assert medoids[0].get_linewidth() > 2 * max(line.get_linewidth() for line in others)
        size = np.sum(model.labels_ == cluster)
        assert texts(figure, f"title-{cluster}") == [f"cluster {cluster}: {size} of 90 rows"]
        words = " ".join(" ".join(texts(figure, f"rule-{cluster}")).split())
        first = max(model.rules_[cluster].alternatives, key=lambda way: way.n_samples)
        assert words.startswith(first.text.split(" and ")[0])
    assert not overlaps(figure)


def test_rules_without_room_are_counted(card, model):
    figure = plot_trends(model, card.series)
    for cluster, rule in enumerate(model.rules_):
        lines = texts(figure, f"rule-{cluster}")
        shown = 1 + sum(line.startswith("or ") and "more rule" not in line for line in lines)
        more = [line for line in lines if "more rule" in line]
        left = int(more[0].split()[1]) if more else 0
        assert shown + left == len(rule.alternatives)


@pytest.mark.slow
@pytest.mark.parametrize("wanted", [0.7, 0.9, 1.0] if EXTENDED else [0.7, 1.0])
def test_no_word_leaves_the_figure(card, wanted):
    figure = plot_trends(of_accuracy(wanted), card.series, label="spending")
    assert not overlaps(figure)
    width, height = figure.canvas.get_width_height()
    for text in figure.texts:
        box = text.get_window_extent()
        assert box.x0 >= 0
        assert box.x1 <= width
        assert box.y0 >= 0
        assert box.y1 <= height


@pytest.mark.slow
def test_trees_that_are_not_always_right_are_said_to_be(card, model):
    assert "F1" not in texts(plot_trends(model, card.series), "note")[0]
    rough = of_accuracy(0.7)
    assert rough.accuracy_ < 1
    note = texts(plot_trends(rough, card.series), "note")[0]
    assert f"The rules reproduce the clusters with an F1 of {rough.accuracy_:.2f}." in note


def test_no_line_ends_in_the_middle_of_a_comparison(card, model):
    for line in texts(plot_trends(model, card.series), "rule-"):
        assert not line.rstrip().endswith(("≤", "<", ">"))
        assert not line.lstrip().startswith(("≤", "<", ">"))


def test_many_rows_are_thinned_out(card, model):
    figure = plot_trends(model, card.series, max_lines=5)
    assert all(2 <= len(ax.lines) <= 6 for ax in figure.axes)


def test_a_series_table_brings_its_times(card, model):
    table = SeriesTable(card.series, card.times, card.explanation, card.weights)
    figure = plot_trends(model, table)
    there = figure.axes[0].lines[0].get_xdata()
    np.testing.assert_array_equal(there, card.times)


def test_series_of_unequal_length_are_drawn(card, model):
    series = [row[: 20 + i % 5] for i, row in enumerate(card.series)]
    times = [card.times[: len(row)] for row in series]
    lengths = {
        len(line.get_xdata())
        for ax in plot_trends(model, series, times=times).axes
        for line in ax.lines
    }
    assert lengths == {20, 21, 22, 23, 24}
    assert plot_trends(model, series).axes[0].lines[0].get_xdata()[0] == 0


def test_series_that_do_not_fit_the_model_are_refused(card, model):
    with pytest.raises(ValueError, match="89 series, but the model was fitted on 90 rows"):
        plot_trends(model, card.series[1:])
    with pytest.raises(ValueError, match="48 times, but series 0 has 49 values"):
        plot_trends(model, card.series, times=card.times[1:])


def test_the_plane_shows_every_pair_in_order_and_the_best(model):
    ax = plot_search(model)
    tried = model.evaluations_
    points = ax.collections[0]
    np.testing.assert_allclose(points.get_offsets(), np.column_stack([tried["alpha"], tried["k"]]))
    np.testing.assert_allclose(points.get_array(), tried["objective"])
    assert texts(ax.figure, "evaluation-") == [str(i + 1) for i in range(len(tried))]
    best = next(line for line in ax.lines if line.get_gid() == "best")
    assert best.get_xydata().tolist() == [[model.best_alpha_, model.best_k_]]
    legend = ax.get_legend().get_texts()[0].get_text()
    assert legend.startswith(f"best of {len(tried)} pairs: k = {model.best_k_}, α = ")


def test_the_plane_shows_the_blocks_that_were_not_split(model):
    ax = plot_search(model)
    fates = model.bounds_["fate"]
    drawn = [patch.get_gid() for patch in ax.patches]
    assert drawn.count("pruned") == np.sum(fates == "pruned") > 0
    assert drawn.count("finished") == np.sum(fates == "finished")
    area = sum(patch.get_width() * patch.get_height() for patch in ax.patches)
    # Blocks share edges only, save where a pair of ks or αs with nothing in between is parted.
    assert area <= 1.0 * (6 - 3) + 1e-9


@pytest.mark.slow
def test_other_searches_have_points_but_no_blocks(grid):
    ax = plot_search(grid)
    assert len(ax.collections[0].get_offsets()) == len(grid.evaluations_) == 84
    assert not ax.patches
    assert texts(ax.figure, "evaluation-") == []
    assert len(ax.get_legend().get_texts()) == 1


def test_given_axes_are_used(model):
    _, axes = plt.subplots(1, 2)
    assert plot_search(model, ax=axes[1]) is axes[1]
    assert not axes[0].collections


@pytest.mark.parametrize("draw", [plot_search, lambda model: plot_trends(model, np.zeros((3, 3)))])
def test_what_is_not_fitted_cannot_be_drawn(draw):
    with pytest.raises(NotFittedError):
        draw(XClusters())
