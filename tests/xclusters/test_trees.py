"""Trees that predict clusters: exact, approximate and user-defined trees."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.cluster import KMeans
from sklearn.metrics import accuracy_score, f1_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from _support.extended import examples
from pellucid import IMM, ExKMC
from pellucid.xclusters.trees import (
    MEASURES,
    TreeGrower,
    confusion,
    reachable_accuracy,
    relabel_clusters,
)


def table(seed=0, n=200):
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.integers(0, 2, (n, 3)), rng.normal(size=(n, 2))])
    y = (X[:, 0] * 2 + (X[:, 3] > 0.3)).astype(int)
    y[rng.random(n) < 0.15] = 1
    return X, np.unique(y, return_inverse=True)[1], rng.uniform(0.5, 3, n)


@settings(deadline=None, max_examples=examples(60))
@given(
    arrays(np.int64, st.tuples(st.integers(2, 30), st.integers(1, 3)), elements=st.integers(0, 3)),
    st.integers(0, 10),
)
def test_exact_tree_reaches_the_best_accuracy(values, seed):
    rng = np.random.default_rng(seed)
    X, weight = values.astype(float), rng.integers(1, 4, len(values)).astype(float)
    labels = np.unique(rng.integers(0, 3, len(values)), return_inverse=True)[1]
    grower = TreeGrower(X, weight, measure="accuracy")
    found = grower.grow(labels)
    assert grower.size(labels) == (found.tree.node_count, found.accuracy)
    correct = weight @ (found.tree.predict(X) == labels)
    assert found.accuracy == pytest.approx(correct / weight.sum())
    assert found.accuracy == pytest.approx(reachable_accuracy(X, labels, weight))
    # No split is useless: sibling leaves differ, and the row counts are correct.
    tree = found.tree
    for node in np.flatnonzero(~tree.is_leaf):
        children = tree.children_left[node], tree.children_right[node]
        assert not all(tree.is_leaf[c] for c in children) or np.ptp(tree.cluster[[*children]])
        assert tree.n_node_samples[node] == sum(tree.n_node_samples[c] for c in children)
    reached = np.bincount(tree.apply(X), minlength=tree.node_count)
    np.testing.assert_array_equal(reached[tree.leaves], tree.n_node_samples[tree.leaves])


def test_exact_tree_has_as_many_nodes_as_cart():
    X, y, weight = table()
    found = TreeGrower(X, weight).grow(y)
    classifier = DecisionTreeClassifier(random_state=0).fit(X, y, sample_weight=weight)
    assert found.accuracy == 1.0
    assert abs(found.tree.node_count - classifier.tree_.node_count) <= 4  # ties
    np.testing.assert_array_equal(found.tree.predict(X), y)


def test_values_that_are_equal_in_float32_are_separated():
    X = np.array([[1.0], [1.0 + 1e-12], [1.0 + 2e-12]])
    found = TreeGrower(X, np.ones(3)).grow(np.array([0, 1, 0]))
    assert (found.tree.node_count, found.accuracy) == (5, 1.0)


@pytest.mark.parametrize("measure", ["f1", "accuracy"])
@pytest.mark.parametrize("min_accuracy", [0.3, 0.7, 0.85, 0.95])
def test_growth_stops_when_min_accuracy_is_reached(measure, min_accuracy):
    X, y, weight = table()
    exact = TreeGrower(X, weight, measure=measure).grow(y)
    grower = TreeGrower(X, weight, measure=measure, min_accuracy=min_accuracy)
    found = grower.grow(y)
    assert grower.size(y) == (found.tree.node_count, found.accuracy)
    assert min_accuracy <= found.accuracy <= 1
    assert found.tree.node_count < exact.tree.node_count
    less = TreeGrower(X, weight, measure=measure, min_accuracy=min_accuracy - 0.05).grow(y)
    assert less.tree.node_count <= found.tree.node_count


def test_measures_equal_scikit_learn():
    X, y, weight = table()
    predicted = np.roll(y, 3)
    matrix = confusion(y, predicted, weight)
    weights = {"sample_weight": weight}
    assert MEASURES["accuracy"](matrix) == pytest.approx(accuracy_score(y, predicted, **weights))
    assert MEASURES["f1"](matrix) == pytest.approx(
        f1_score(y, predicted, average="weighted", **weights)
    )
    tree = TreeGrower(X, weight, min_accuracy=0.8).grow(y)
    assert tree.accuracy == pytest.approx(
        f1_score(y, tree.tree.predict(X), average="weighted", **weights)
    )


def test_other_trees_can_be_plugged_in():
    X, y, weight = table()
    shallow = TreeGrower(X, weight, tree=DecisionTreeClassifier(max_depth=2, random_state=0))
    found = shallow.grow(y)
    assert found.tree.max_depth <= 2
    classifier = DecisionTreeClassifier(max_depth=2, random_state=0)
    expected = classifier.fit(X, y, sample_weight=weight).predict(X)
    np.testing.assert_array_equal(found.tree.predict(X), expected)
    ours = TreeGrower(X, weight, tree=IMM()).grow(y)
    assert ours.tree == IMM().fit(X, y, sample_weight=weight).tree_
    large = TreeGrower(X, weight, tree=ExKMC(n_leaves=9, base=None)).grow(y)
    assert large.tree.n_leaves == 9
    with pytest.raises(TypeError, match=r"does not fit a tree with a node .*; use an estimator"):
        TreeGrower(X, weight, tree=KMeans(2, n_init=1)).grow(y)


def test_each_cluster_gets_a_leaf():
    X = np.arange(100.0)[:, None]
    labels = np.repeat([0, 1, 2, 0], [50, 1, 1, 48])
    found = TreeGrower(X, np.ones(100), min_accuracy=0.5).grow(labels)
    assert set(found.tree.cluster[found.tree.leaves]) == {0, 1, 2}


class Unweighted(DecisionTreeClassifier):
    """A tree whose fit takes no weights."""

    def fit(self, X, y):
        return super().fit(X, y)


def test_trees_without_sample_weight():
    X, y, weight = table()
    tree = Unweighted(max_depth=3, random_state=0)
    same = DecisionTreeClassifier(max_depth=3, random_state=0)
    ones = np.ones(len(X))
    assert (
        TreeGrower(X, ones, tree=tree).grow(y).tree == TreeGrower(X, ones, tree=same).grow(y).tree
    )
    counts = np.random.default_rng(0).integers(1, 4, len(X)).astype(float)
    repeated, weighted = (TreeGrower(X, counts, tree=t).grow(y) for t in (tree, same))
    assert repeated.tree == weighted.tree != TreeGrower(X, ones, tree=same).grow(y).tree
    with pytest.raises(TypeError, match="has no sample_weight; such a tree needs integer weights"):
        TreeGrower(X, weight, tree=tree).grow(y)


class Plain:
    """A tree without get_params."""

    def fit(self, X, y, sample_weight=None):
        self.tree_ = DecisionTreeClassifier(max_depth=2).fit(X, y, sample_weight).tree_
        return self

    def predict(self, X):
        raise NotImplementedError


def test_a_tree_needs_no_parameters():
    X, y, weight = table()
    assert TreeGrower(X, weight, tree=Plain()).grow(y).tree.max_depth == 2


class Opaque:
    """A tree without splits to read, of a stated size."""

    def __init__(self, **sizes):
        self.sizes = sizes

    def fit(self, X, y):
        self.inner = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y)
        vars(self).update(self.sizes)
        return self

    def predict(self, X):
        return self.inner.predict(X)


@pytest.mark.parametrize(
    "sizes",
    [{"node_count_": 99}, {"tree_": SimpleNamespace(node_count=99)}, {"get_n_leaves": lambda: 50}],
)
def test_a_tree_needs_only_predictions_and_a_size(sizes):
    X, y, _ = table()
    grower = TreeGrower(X, np.ones(len(X)), tree=Opaque(**sizes))
    found = grower.grow(y)
    expected = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y).predict(X)
    np.testing.assert_array_equal(found.tree.predict(X), expected)
    assert grower.size(y) == (99, found.accuracy)


def test_a_tree_predicts_labels():
    X, y, _ = table()
    with pytest.raises(ValueError, match=r"Opaque\(\): predict must return one of the labels"):
        TreeGrower(X, np.ones(len(X)), tree=Opaque(node_count_=3, predict=np.negative)).grow(y)


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        (DecisionTreeClassifier, r"tree is the class .*pass an instance: tree=DecisionTreeClassi"),
        (make_pipeline(StandardScaler(), DecisionTreeClassifier()), "tree is a pipeline; pass its"),
        (StandardScaler(), "has no method predict; use an estimator of this package"),
    ],
)
def test_estimators_that_are_no_trees_are_refused(tree, message):
    X, _, weight = table()
    with pytest.raises(TypeError, match=message):
        TreeGrower(X, weight, tree=tree)


@pytest.mark.parametrize("min_accuracy", [0.8, 1.0])
def test_weights_of_the_measure_do_not_change_the_exact_tree(min_accuracy):
    X, y, weight = table()
    ones = np.ones(len(X))
    grower = TreeGrower(X, ones, min_accuracy=min_accuracy, measure_weight=weight)
    found = grower.grow(y)
    predicted = found.tree.predict(X)
    expected = f1_score(y, predicted, average="weighted", sample_weight=weight)
    assert found.accuracy == pytest.approx(expected)
    assert grower.size(y) == (found.tree.node_count, found.accuracy)
    if min_accuracy == 1:
        assert found.tree == TreeGrower(X, ones).grow(y).tree


def test_one_cluster_needs_no_split():
    found = TreeGrower(np.arange(4.0)[:, None], np.ones(4)).grow(np.zeros(4, dtype=int))
    assert (found.tree.node_count, found.accuracy) == (1, 1.0)


def test_relabel_clusters():
    X, y, weight = table()
    tree = TreeGrower(X, weight).grow(y).tree
    new_label = np.array([2, 0, 3, 1])[: y.max() + 1]
    n_rows = 3 * np.bincount(tree.apply(X), minlength=tree.node_count)
    other = relabel_clusters(tree, new_label, n_rows)
    np.testing.assert_array_equal(other.predict(X), new_label[tree.predict(X)])
    np.testing.assert_array_equal(other.n_node_samples, 3 * tree.n_node_samples)
    np.testing.assert_array_equal(other.weighted_n_node_samples, tree.weighted_n_node_samples)
