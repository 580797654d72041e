"""ThresholdTree: routing, shape, immutability, equality; TreeBuilder: growth in any order."""

import pickle

import numpy as np
import pytest
from scipy import sparse

from pellucid.tree import ThresholdTree, TreeBuilder


def small_tree():
    """x1 <= 0.5 ? cluster 2 : (x0 <= 3 ? cluster 0 : cluster 1)."""
    builder = TreeBuilder(n_features=2)
    left, right = builder.split(0, feature=1, threshold=0.5)
    low, high = builder.split(right, feature=0, threshold=3.0)
    for node, cluster, count in ((left, 2, 5), (low, 0, 3), (high, 1, 2)):
        builder.set_cluster(node, cluster)
        builder.set_counts(node, count, float(count))
    builder.set_counts(0, 10, 10.0)
    builder.set_counts(right, 5, 5.0)
    return builder.build()


X = np.array([[0.0, 0.5], [3.0, 0.6], [3.1, 9.0], [-1.0, -1.0]])


def test_rows_go_left_at_or_below_the_threshold():
    tree = small_tree()
    assert tree.predict(X).tolist() == [2, 0, 1, 2]
    assert tree.apply(X).tolist() == [1, 3, 4, 1]
    assert np.issubdtype(tree.predict(X).dtype, np.integer)
    for other in (X.astype(np.float32), np.asfortranarray(X), sparse.csr_array(X), X.tolist()):
        assert tree.predict(other).tolist() == [2, 0, 1, 2]


def test_shape_of_the_tree():
    tree = small_tree()
    assert (tree.node_count, tree.n_leaves, tree.max_depth) == (5, 3, 2)
    assert tree.depth.tolist() == [0, 1, 1, 2, 2]
    assert tree.leaves.tolist() == [1, 3, 4]
    assert tree.path(4) == [(0, False), (2, False)]
    assert tree.path(0) == []
    assert tree.threshold.dtype == np.float64
    assert repr(tree) == "ThresholdTree(n_leaves=3, max_depth=2, n_features=2)"


def test_decision_path_holds_every_node_passed():
    path = small_tree().decision_path(X)
    assert path.shape == (4, 5)
    assert path.toarray().astype(int).tolist() == [
        [1, 1, 0, 0, 0],
        [1, 0, 1, 1, 0],
        [1, 0, 1, 0, 1],
        [1, 1, 0, 0, 0],
    ]


def test_a_tree_does_not_change():
    tree = small_tree()
    with pytest.raises(ValueError, match="read-only"):
        tree.threshold[0] = 1.0
    with pytest.raises(AttributeError, match="is immutable"):
        tree.threshold = np.zeros(5)
    with pytest.raises(AttributeError, match="is immutable"):
        del tree.feature


def test_equality_is_by_content_and_numbering_is_canonical():
    assert small_tree() == small_tree()
    assert hash(small_tree()) == hash(small_tree())
    assert pickle.loads(pickle.dumps(small_tree())) == small_tree()
    # skops restores an object by its state alone.
    restored = ThresholdTree.__new__(ThresholdTree)
    restored.__setstate__(small_tree().__getstate__())
    assert restored == small_tree()
    assert not restored.threshold.flags.writeable
    assert small_tree() != "a tree"
    one, two = TreeBuilder(2), TreeBuilder(2)
    for builder, order in ((one, "lr"), (two, "rl")):
        sides = dict(zip("lr", builder.split(0, feature=0, threshold=0.0)))
        for side in order:
            builder.split(sides[side], feature=1, threshold=1.0 if side == "l" else 2.0)
    assert one.build() == two.build()
    assert one.build(1).n_leaves == 2
    assert one.build(0).n_leaves == 1
    assert one.build() != one.build(2)


def test_a_builder_goes_on_from_a_tree():
    builder = TreeBuilder.from_tree(small_tree())
    builder.split(1, feature=0, threshold=-0.5)
    grown = builder.build()
    assert grown.n_leaves == 4
    np.testing.assert_array_equal(builder.build(2).threshold, small_tree().threshold)
    builder.undo()
    assert builder.build().n_leaves == 3
    with pytest.raises(ValueError, match="has already been split"):
        builder.split(0, feature=0, threshold=0.0)


def test_deep_trees_need_no_recursion():
    builder = TreeBuilder(1)
    node = 0
    for i in range(3000):
        _, node = builder.split(node, feature=0, threshold=float(i))
        builder.set_cluster(node, i)
    tree = builder.build()
    assert tree.max_depth == 3000
    assert tree.predict([[1e9]]).tolist() == [2999]


def test_wrong_width_is_an_error():
    with pytest.raises(ValueError, match=r"X has shape \(2, 3\), but the tree .* 2 columns"):
        small_tree().apply(np.zeros((2, 3)))


def test_a_single_leaf_is_a_tree():
    tree = TreeBuilder(3).build()
    assert isinstance(tree, ThresholdTree)
    assert tree.predict(np.zeros((2, 3))).tolist() == [0, 0]
    assert tree.max_depth == 0


@pytest.mark.parametrize(
    "matrix", [np.asarray, np.asfortranarray, sparse.csr_array, sparse.csc_array]
)
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
def test_many_rows_are_routed_as_few_are(matrix, dtype):
    rng = np.random.default_rng(0)
    rows = (rng.integers(-3, 12, (40_000, 2)) / 2).astype(dtype)
    tree = small_tree()
    few = np.concatenate([tree.apply(part) for part in np.array_split(rows, 10)])
    np.testing.assert_array_equal(tree.apply(matrix(rows)), few)
    assert set(few) == {1, 3, 4}


@pytest.mark.parametrize(
    ("name", "node", "value"),
    [
        ("feature", 0, 5),
        ("feature", 0, -1),
        ("children_left", 0, 0),
        ("children_right", 0, 9),
        ("children_right", 0, -7),
    ],
)
def test_rows_are_not_routed_by_indices_out_of_range(name, node, value):
    builder = TreeBuilder(n_features=2)
    builder.split(0, feature=1, threshold=0.5)
    tree = builder.build()
    array = getattr(tree, name).copy()
    array[node] = value
    with pytest.raises(ValueError, match="the arrays of the tree are inconsistent"):
        tree.replace(**{name: array}).predict(np.zeros((2, 2)))
