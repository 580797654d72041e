"""The picture of a tree: all of its words are there, and none is on top of another."""

from __future__ import annotations

import subprocess
import sys

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import polars as pl
import pytest
from sklearn.datasets import load_wine, make_blobs
from sklearn.exceptions import NotFittedError

from _support.extended import EXTENDED
from pellucid import IMM, ExKMC, ExShallow
from pellucid.plotting import plot_tree
from pellucid.plotting.style import cluster_color, text_color
from pellucid.tables.encoding import Indicator
from pellucid.tree import ThresholdTree, TreeBuilder

mpl.use("Agg")

WINE_NAMES = list(load_wine().feature_names)
LONG_NAMES = [
    "share of households with at least one motor vehicle",
    "PercentageOfPopulationOlderThanSixtyFiveYearsLivingAlone",
    "cost_in_$_per_$_of_income_before_tax_and_transfers",
]


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def models():
    X, _ = make_blobs(900, len(WINE_NAMES), centers=30, random_state=0)
    return {
        3: IMM(3, random_state=0).fit(X),
        12: ExKMC(5, n_leaves=12, random_state=0, base=None).fit(X),
        30: ExShallow(30, random_state=0).fit(X),
    }


def caterpillar(n_leaves: int, n_features: int, *, to_the_right: bool) -> ThresholdTree:
    """The deepest tree there is: every split has a leaf on one side."""
    builder = TreeBuilder(n_features)
    node = 0
    for i in range(n_leaves - 1):
        children = builder.split(node, feature=i % n_features, threshold=np.pi * 10.0**i)
        builder.set_counts(node, n_leaves - i, n_leaves - i)
        leaf, node = children if to_the_right else children[::-1]
        builder.set_cluster(leaf, i)
        builder.set_counts(leaf, 1, 1.0)
    builder.set_cluster(node, n_leaves - 1)
    builder.set_counts(node, 1, 1.0)
    return builder.build()


def texts(ax, kind: str) -> dict[int, list]:
    """Text artists of one kind ("leaf", "split" or "answer") by node."""
    found: dict[int, list] = {}
    for text in ax.texts:
        name, _, node = text.get_gid().partition("-")
        if name == kind:
            found.setdefault(int(node), []).append(text)
    return found


def words(artists) -> str:
    return "\n".join(text.get_text() for text in artists)


def drawn_boxes(ax) -> list:
    figure = ax.figure.figure
    figure.draw_without_rendering()
    renderer = figure.canvas.get_renderer()
    return [text.get_window_extent(renderer) for text in ax.texts]


def assert_nothing_overlaps(ax) -> None:
    x0, y0, x1, y1 = np.array([box.extents for box in drawn_boxes(ax)]).T
    across = (x0[:, None] < x1) & (x0 < x1[:, None])
    overlaps = across & (y0[:, None] < y1) & (y0 < y1[:, None])
    # A title and the figures below it touch; they are lines of one text.
    gids = np.array([text.get_gid() for text in ax.texts])
    overlaps &= gids[:, None] != gids
    assert len(gids) > 1
    assert np.argwhere(overlaps).tolist() == []


def assert_everything_in_its_box(ax) -> None:
    boxes = drawn_boxes(ax)
    patches = [p.get_window_extent() for p in ax.patches if hasattr(p, "get_boxstyle")]
    for text, box in zip(ax.texts, boxes):
        if text.get_gid().startswith("answer"):
            continue
        assert any(
            patch.x0 <= box.x0 and box.x1 <= patch.x1 and patch.y0 <= box.y0 and box.y1 <= patch.y1
            for patch in patches
        ), text


@pytest.mark.slow
@pytest.mark.parametrize("n_leaves", [3, 12, 30])
def test_every_leaf_says_what_its_rule_says(models, n_leaves):
    model = models[n_leaves]
    leaves = texts(plot_tree(model), "leaf")
    assert model.n_leaves_ == n_leaves
    assert sorted(leaves) == [rule.leaf for rule in model._leaf_rules]
    for rule in model._leaf_rules:
        text = words(leaves[rule.leaf])
        share, purity = (
            "100%" if value == 1 else f"{100 * value:.1f}%" for value in (rule.share, rule.purity)
        )
        assert text.startswith(f"cluster {rule.cluster}\n{rule.n_samples:,} row")
        assert share in text
        assert text.endswith(f"{purity} pure")


@pytest.mark.slow
@pytest.mark.parametrize("n_leaves", [3, 12, 30])
@pytest.mark.parametrize(
    "names",
    [[f"{i} {n}" for i in range(5) for n in LONG_NAMES], *([WINE_NAMES] if EXTENDED else [])],
)
def test_no_text_overlaps_and_all_stay_in_their_boxes(models, n_leaves, names):
    ax = plot_tree(models[n_leaves], feature_names=names[: len(WINE_NAMES)])
    assert_nothing_overlaps(ax)
    assert_everything_in_its_box(ax)


@pytest.mark.slow
@pytest.mark.parametrize("to_the_right", [True, False])
def test_no_text_overlaps_in_the_deepest_tree(to_the_right):
    ax = plot_tree(caterpillar(16, 3, to_the_right=to_the_right), feature_names=LONG_NAMES)
    assert_nothing_overlaps(ax)
    assert_everything_in_its_box(ax)


@pytest.mark.slow
@pytest.mark.parametrize("layout", [None, "constrained"])
def test_the_font_shrinks_until_the_tree_fits_given_axes(models, layout):
    figure, axes = plt.subplots(1, 2, figsize=(12, 4), layout=layout)
    for ax, n_leaves in zip(axes, (3, 30)):
        assert plot_tree(models[n_leaves], ax=ax) is ax
        assert_nothing_overlaps(ax)
        for box in drawn_boxes(ax):
            assert ax.bbox.x0 <= box.x0
            assert box.x1 <= ax.bbox.x1
            assert ax.bbox.y0 <= box.y0
            assert box.y1 <= ax.bbox.y1
    sizes = [ax.texts[-1].get_fontsize() for ax in axes]
    assert sizes[1] < sizes[0]
    assert plt.get_fignums() == [figure.number]


def test_splits_and_answers_are_where_rows_go(models):
    model = models[12]
    tree = model.tree_
    ax = plot_tree(model, feature_names=WINE_NAMES)
    splits, answers = texts(ax, "split"), texts(ax, "answer")
    assert sorted(splits) == np.flatnonzero(~tree.is_leaf).tolist()
    for node, artists in splits.items():
        said = words(artists).replace("_\n", "_").replace("\n", " ")
        assert said.startswith(WINE_NAMES[tree.feature[node]])
        assert float(said.rpartition("≤ ")[2]) == tree.threshold[node]
        left, right = int(tree.children_left[node]), int(tree.children_right[node])
        assert (words(answers[left]), words(answers[right])) == ("yes", "no")
        assert answers[left][0].get_position()[0] < artists[0].get_position()[0]
        assert answers[right][0].get_position()[0] > artists[0].get_position()[0]


def test_leaves_are_evenly_spread_and_parents_in_the_middle(models):
    tree = models[30].tree_
    ax = plot_tree(models[30])
    x = {
        node: artists[0].get_position()[0]
        for kind in ("leaf", "split")
        for node, artists in texts(ax, kind).items()
    }
    gaps = np.diff([x[leaf] for leaf in tree.leaves.tolist()])
    assert np.allclose(gaps, gaps[0])
    assert gaps[0] > 0
    for node in np.flatnonzero(~tree.is_leaf).tolist():
        children = (x[int(tree.children_left[node])], x[int(tree.children_right[node])])
        assert x[node] == pytest.approx(sum(children) / 2)


def test_lines_are_as_wide_as_their_share_of_rows(models):
    tree = models[12].tree_
    ax = plot_tree(models[12])
    lines = [patch for patch in ax.patches if not hasattr(patch, "get_boxstyle")]
    children = [
        int(child)
        for node in np.flatnonzero(~tree.is_leaf)
        for child in (tree.children_left[node], tree.children_right[node])
    ]
    widths = [line.get_linewidth() for line in lines]
    shares = tree.weighted_n_node_samples[children] / tree.weighted_n_node_samples[0]
    assert len(widths) == tree.node_count - 1
    assert np.corrcoef(widths, shares)[0, 1] == pytest.approx(1.0)


def test_leaves_have_the_colour_of_their_cluster(models):
    tree = models[12].tree_
    ax = plot_tree(models[12])
    faces = [
        mpl.colors.to_hex(patch.get_facecolor()).upper()
        for patch in ax.patches
        if hasattr(patch, "get_boxstyle")
    ]
    inner = tree.node_count - tree.n_leaves
    expected = [cluster_color(position) for position in tree.cluster[tree.leaves].tolist()]
    assert faces[inner:] == expected
    for color, leaf in zip(expected, tree.leaves.tolist()):
        assert {t.get_color() for t in texts(ax, "leaf")[leaf]} == {text_color(color)}


def test_the_figure_grows_with_the_leaves_and_stays_readable(models):
    sizes = {n: plot_tree(model).figure.get_size_inches() for n, model in models.items()}
    assert sizes[3][0] < sizes[12][0] < sizes[30][0]
    assert plot_tree(models[30]).texts[-1].get_fontsize() >= 7


@pytest.mark.slow
def test_a_very_large_tree_still_fits_an_image():
    ax = plot_tree(caterpillar(250, 2, to_the_right=True))
    assert len(texts(ax, "leaf")) == 250
    assert max(ax.figure.get_size_inches()) == pytest.approx(200)


def test_column_names_seen_in_fit_are_used_and_given_ones_win():
    X, _ = make_blobs(60, 2, centers=2, random_state=0)
    model = IMM(2, random_state=0).fit(pl.DataFrame(X, schema=["age", "income"]))
    used = ["age", "income"][model.tree_.feature[0]]
    assert words(texts(plot_tree(model), "split")[0]).startswith(f"{used} ≤ ")
    given = plot_tree(model, feature_names=["$a$", "$b$"])
    assert words(texts(given, "split")[0])[:3] in ("$a$", "$b$")
    given.figure.canvas.draw()


def test_a_bare_tree_has_no_purity_and_an_uncounted_one_no_rows():
    counted = texts(plot_tree(caterpillar(3, 2, to_the_right=True)), "leaf")
    assert words(counted[1]) == "cluster 0\n1 row (33.3%)"
    builder = TreeBuilder(n_features=1)
    builder.split(0, feature=0, threshold=0.5)
    uncounted = texts(plot_tree(builder.build()), "leaf")
    assert [words(artists) for artists in uncounted.values()] == ["cluster 0", "cluster 0"]


def test_a_tree_without_splits_is_one_box():
    ax = plot_tree(TreeBuilder(n_features=1).build())
    assert [text.get_text() for text in ax.texts] == ["cluster 0"]


def test_errors_say_what_is_wrong(models):
    with pytest.raises(ValueError, match="2 feature names for a tree of 13 columns"):
        plot_tree(models[3], feature_names=["a", "b"])
    with pytest.raises(NotFittedError):
        plot_tree(IMM(3))


def test_importing_the_package_does_not_import_matplotlib():
    code = "import sys, pellucid.plotting; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_colours_are_distinct_readable_and_start_with_okabe_and_ito():
    colors = [cluster_color(position) for position in range(200)]
    assert len(set(colors)) == 200
    assert colors[:3] == ["#0072B2", "#E69F00", "#009E73"]
    assert all(_contrast(color, text_color(color)) >= 4.5 for color in colors)
    with pytest.raises(ValueError, match="positions start at 0"):
        cluster_color(-1)


def _contrast(a: str, b: str) -> float:
    def luminance(color):
        rgb = np.array(mpl.colors.to_rgb(color))
        linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
        return linear @ [0.2126, 0.7152, 0.0722]

    low, high = sorted((luminance(a), luminance(b)))
    return (high + 0.05) / (low + 0.05)


def test_yes_is_on_the_left_for_numbers_and_categories():
    builder = TreeBuilder(2)
    left, right = builder.split(0, feature=1, threshold=0.5)
    builder.set_cluster(left, 0)
    low, high = builder.split(right, feature=0, threshold=3.0)
    builder.set_cluster(low, 1), builder.set_cluster(high, 2)
    ax = plot_tree(builder.build(), feature_names=["size", Indicator("town", "Aa")])
    places = {node: artists[0].get_position()[0] for node, artists in texts(ax, "answer").items()}
    answers = {node: words(artists) for node, artists in texts(ax, "answer").items()}
    assert answers == {left: "no", right: "yes", low: "yes", high: "no"}
    assert places[right] < places[left]
    assert places[low] < places[high]


def test_questions_contain_the_distribution_of_the_rows_that_reach_them(models):
    from sklearn.datasets import load_wine

    X = load_wine(as_frame=True).data
    model = IMM(3, random_state=0).fit(X)
    ax = plot_tree(model, X)
    bars = [patch for patch in ax.patches if isinstance(patch, mpl.patches.Rectangle)]
    # A histogram has the rows of its node: bars of a split, by colour, have its clusters.
    tree, cluster = model.tree_, model.tree_.cluster[model.apply(X)]
    colours = {mpl.colors.to_hex(bar.get_facecolor()) for bar in bars if bar.get_height()}
    assert colours == {cluster_color(c).lower() for c in np.unique(cluster)}
    root = _histograms_of(model, X)[0]
    assert sum(counts.sum() for counts in root.counts.values()) == len(X)
    below = tree.threshold[0] >= X.iloc[:, tree.feature[0]]
    edges, threshold = root.positions, root.threshold
    is_left = edges[1:] <= threshold + 1e-9
    left = sum(counts[is_left].sum() for counts in root.counts.values())
    assert abs(left - below.sum()) <= max(c.max() for c in root.counts.values())
    assert {c: int(n.sum()) for c, n in root.counts.items()} == {
        c: int((cluster == c).sum()) for c in np.unique(cluster).tolist()
    }


def _histograms_of(model, X):
    from pellucid.plotting.tree import _read_histograms

    return _read_histograms(model, X)


def test_distributions_of_tables_with_categories():
    table = pl.DataFrame({"kind": ["a", "a", "b", "b", "b", "a"], "size": [1, 2, 9, 8, 7, 1]})
    import pellucid

    found = pellucid.explain(table, k=2, verbose=False)
    assert plot_tree(found.explanation, table).patches
