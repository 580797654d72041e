"""The synthetic data are what the EOP paper describes."""

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from pellucid.datasets import make_eop_patterns, make_three_features, make_xor_triangles


def test_patterns_are_gaussian_in_their_columns_and_uniform_in_the_others():
    X, y, pattern, patterns = make_eop_patterns(
        20_000, background=0.2, random_state=3, return_patterns=True
    )
    assert X.shape == (20_000, 10)
    assert set(y) == {0, 1} == {p.label for p in patterns}
    assert sorted(len(p.features) for p in patterns) == [2, 2, 2, 2, 3, 3, 4]
    assert np.sum(pattern == -1) == 4000
    sizes = np.bincount(pattern[pattern >= 0])
    assert sizes.max() - sizes.min() <= 1
    for number, found in enumerate(patterns):
        rows = X[pattern == number]
        inside, outside = rows[:, found.features], np.delete(rows, found.features, axis=1)
        assert (y[pattern == number] == found.label).all()
        assert list(found.features) == sorted(set(found.features))
        assert inside.mean(axis=0) == pytest.approx(found.center, abs=0.01)
        assert np.cov(inside.T) == pytest.approx(found.covariance, abs=1e-3)
        deviations = np.sqrt(np.linalg.eigvalsh(found.covariance))
        assert 0.03 - 1e-9 <= deviations.min() <= deviations.max() <= 0.1 + 1e-9
        check_uniform(outside)
    check_uniform(X[pattern == -1])
    assert y[pattern == -1].mean() == pytest.approx(0.5, abs=0.03)


def check_uniform(values):
    assert values.min() >= 0
    assert values.max() <= 1
    quartiles = np.quantile(values, [0.25, 0.5, 0.75], axis=0)
    assert quartiles == pytest.approx(
        np.repeat([[0.25], [0.5], [0.75]], values.shape[1], axis=1), abs=0.05
    )


def test_patterns_of_both_classes_occur_with_every_seed():
    for seed in range(30):
        patterns = make_eop_patterns(
            10, 4, pattern_dims=(2, 1), random_state=seed, return_patterns=True
        )[3]
        assert {p.label for p in patterns} == {0, 1}


def test_background_and_width_make_it_harder():
    def score(**parameters):
        X, y = make_eop_patterns(random_state=0, **parameters)
        tree = DecisionTreeClassifier(max_leaf_nodes=20, random_state=0).fit(X[:2000], y[:2000])
        return tree.score(X[2000:], y[2000:])

    assert score(background=0.0) > score(background=0.3) + 0.05
    assert score(width=(0.02, 0.05)) > score(width=(0.1, 0.2)) + 0.05


def test_only_patterns_or_no_patterns():
    *_, pattern, patterns = make_eop_patterns(
        70, background=0, random_state=0, return_patterns=True
    )
    assert np.bincount(pattern).tolist() == [10] * 7
    *_, pattern, patterns = make_eop_patterns(
        9, 2, pattern_dims=(), random_state=0, return_patterns=True
    )
    assert patterns == []
    assert (pattern == -1).all()


def test_squares_and_triangles_have_the_same_density():
    X, y = make_xor_triangles(30_000, gap=0, random_state=0)
    below = X < 1
    assert (y == (below[:, 0] == below[:, 1])).all()
    assert y.mean() == pytest.approx(2 / 3, abs=0.01)
    for left, bottom in ((0, 0), (1, 1)):
        inside = (np.floor(X) == (left, bottom)).all(axis=1)
        assert inside[y == 1].mean() == pytest.approx(1 / 2, abs=0.02)
        check_uniform(X[inside & (y == 1)] - (left, bottom))
    depth = np.abs(X[y == 0] - 1).sum(axis=1)
    assert depth.max() <= 1
    # The share of a triangle within half its height from the corner is a quarter.
    assert (depth < 0.5).mean() == pytest.approx(1 / 4, abs=0.02)
    assert (X[y == 0, 0] < 1).mean() == pytest.approx(1 / 2, abs=0.02)


def test_gap_moves_the_triangles_along_the_diagonal():
    touching, y = make_xor_triangles(200, gap=0, random_state=0)
    apart, again = make_xor_triangles(200, gap=0.3, random_state=0)
    assert (y == again).all()
    assert (touching[y == 1] == apart[y == 1]).all()
    moved = apart[y == 0] - touching[y == 0]
    assert np.linalg.norm(moved, axis=1) == pytest.approx(0.3)
    assert (np.sign(moved) == np.sign(touching[y == 0] - 1)).all()


def test_greedy_trees_need_many_nodes():
    """The paper: 21 nodes, where 3 questions would do."""
    X, y = make_xor_triangles(random_state=0)
    tree = DecisionTreeClassifier(random_state=0).fit(X, y)
    assert tree.tree_.node_count >= 15


def test_three_features_contain_two_clusters():
    X, y = make_three_features(8001, random_state=0)
    assert np.bincount(y).tolist() == [4001, 4000]
    check_uniform(X[y == 0] / 5)
    close = np.hypot(X[:, 0] - 1.2, X[:, 1] - 3.8) < 1, np.hypot(X[:, 0] - 3.8, X[:, 2] - 1.2) < 1
    for inside in close:
        assert inside[y == 1].mean() > 3 * inside[y == 0].mean()
    assert (close[0] | close[1])[y == 1].mean() > 0.75


@pytest.mark.parametrize("make", [make_eop_patterns, make_xor_triangles, make_three_features])
def test_random_state(make):
    (first, y), (again, y_again), (other, _) = (make(60, random_state=s) for s in (1, 1, 2))
    assert np.array_equal(first, again)
    assert np.array_equal(y, y_again)
    assert not np.array_equal(first, other)


def test_invalid_arguments():
    with pytest.raises(
        ValueError, match="pattern_dims contains 3; a pattern has between 1 and n_fea"
    ):
        make_eop_patterns(10, 2, pattern_dims=(2, 3))
    with pytest.raises(ValueError, match="background=1.5 must be between 0 and 1"):
        make_eop_patterns(background=1.5)
    with pytest.raises(ValueError, match="the smaller one first"):
        make_eop_patterns(width=(0.2, 0.1))
    with pytest.raises(ValueError, match="gap=-1 must be at least 0"):
        make_xor_triangles(gap=-1)
    for make in (make_eop_patterns, make_xor_triangles, make_three_features):
        with pytest.raises(ValueError, match="must be at least 1"):
            make(0)
