"""Trees of scikit-learn: the same leaves and clusters there and back."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris, load_wine
from sklearn.exceptions import NotFittedError
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor, export_text
from sklearn.utils.validation import check_is_fitted

from _support.export_cases import category_model, explanations, format_model
from _support.extended import examples, seeds
from pellucid import ExKMC, Explanation, ThresholdTree, from_sklearn
from pellucid.export import to_sklearn
from pellucid.tables.encoding import Encoding
from pellucid.tree import TreeBuilder


def around(thresholds):
    """Values at thresholds and beside them, in float64 and in float32."""
    single = np.float32(thresholds)
    near = [f(x) for x in (thresholds, single) for f in (lambda x: x, up, down)]
    return np.unique(np.concatenate([np.asarray(x, dtype=np.float64) for x in near]))


def up(x):
    return np.nextafter(x, x.dtype.type(np.inf))


def down(x):
    return np.nextafter(x, x.dtype.type(-np.inf))


def inner_thresholds(tree):
    return tree.threshold[tree.children_left >= 0]


def assert_same_leaves(classifier, model, X):
    """Node numbers are the same, so that equal leaves mean equal paths."""
    np.testing.assert_array_equal(classifier.apply(X), model.apply(X))
    np.testing.assert_array_equal(classifier.predict(X), model.predict(X))


def random_classifier(seed, n_features=3, **options):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(200, n_features)) * 10.0 ** rng.integers(-3, 10, n_features)
    y = np.array(["a", "b", "c"])[rng.integers(0, 3, 200)]
    weight = rng.integers(1, 4, 200)
    options = {"splitter": "random", "random_state": seed, **options}
    return DecisionTreeClassifier(**options).fit(X, y, sample_weight=weight), X


@given(explanations(plain=True), st.data())
@settings(max_examples=examples(40), deadline=None)
def test_single_precision_is_exact_on_any_tree(explanation, data):
    tree = explanation.tree_
    at = np.append(tree.threshold[~tree.is_leaf], 0.0)
    near = around(at[np.abs(at) < 1e38]).astype(np.float32)
    row = st.tuples(*[st.sampled_from(near[np.isfinite(near)].tolist())] * tree.n_features)
    X = np.array(data.draw(st.lists(row, min_size=1, max_size=30)), dtype=np.float32)
    assert_same_leaves(explanation.to_sklearn(dtype="float32"), explanation, X)
    assert_same_leaves(explanation.to_sklearn(X), explanation, X)


@pytest.mark.parametrize("seed", seeds(4))
def test_values_that_equal_a_threshold_go_left(seed):
    """Decimals that are no float32 numbers, many of them rounded to a larger one."""
    X = np.random.default_rng(seed).integers(-500, 500, size=(300, 2)) / 100
    model = ExKMC(3, n_leaves=25, threshold_style="data", random_state=0).fit(X)
    assert np.isin(inner_thresholds(model.tree_), X).all()
    assert_same_leaves(model.to_sklearn(), model, X)
    assert_same_leaves(model.to_sklearn(X), model, X)
    assert (model.to_sklearn(dtype="float32").apply(X) != model.apply(X)).any()


def test_only_values_rounded_to_the_threshold_itself_can_differ():
    builder = TreeBuilder(1)
    builder.set_cluster(builder.split(0, feature=0, threshold=0.1)[1], 1)
    explanation = Explanation(builder.build())
    X = np.linspace(0.1 - 3e-8, 0.1 + 3e-8, 201)[:, None]
    found, expected = explanation.to_sklearn().predict(X), explanation.predict(X)
    same_single = (np.float32(X) == np.float32(0.1))[:, 0]
    np.testing.assert_array_equal(found != expected, same_single & (X[:, 0] > 0.1))


def test_rows_that_single_precision_cannot_separate_are_named():
    X = pd.DataFrame({"time": [1.7e9, 1.7e9 + 1, 1.8e9]})
    model = ExKMC(n_leaves=3).fit(X, [0, 1, 2])
    with pytest.raises(ValueError, match="column 'time': .* equal in single precision"):
        model.to_sklearn(X)


def test_attributes_are_those_of_a_fitted_classifier():
    X, y = load_wine(as_frame=True, return_X_y=True)
    labels = np.array(["red", "green", "amber"])[y]
    weight = np.linspace(0.5, 1.5, len(X))
    model = ExKMC(n_leaves=8).fit(X, labels, sample_weight=weight)
    classifier, tree = model.to_sklearn(X), model.tree_
    check_is_fitted(classifier)
    assert classifier.classes_.tolist() == ["amber", "green", "red"]
    assert classifier.n_features_in_ == X.shape[1]
    assert classifier.feature_names_in_.tolist() == X.columns.tolist()
    assert classifier.get_n_leaves() == model.n_leaves_ > 3
    assert classifier.get_depth() == tree.max_depth
    for name in ("n_node_samples", "weighted_n_node_samples", "children_left", "children_right"):
        np.testing.assert_array_equal(getattr(classifier.tree_, name), getattr(tree, name))
    value = classifier.tree_.value[:, 0]
    root = [weight[model.labels_ == name].sum() for name in classifier.classes_]
    np.testing.assert_allclose(value[0], np.array(root) / weight.sum())
    np.testing.assert_allclose(classifier.tree_.impurity, 1 - (value**2).sum(axis=1))
    chance = (model.labels_[:, None] == classifier.classes_).astype(float)
    np.testing.assert_array_equal(classifier.predict_proba(X), chance)
    assert classifier.feature_importances_.sum() == pytest.approx(1)


def test_functions_of_scikit_learn_read_the_tree():
    X = load_iris(as_frame=True).data
    model = ExKMC(3, n_leaves=5, random_state=0).fit(X)
    classifier = model.to_sklearn(X)
    text = export_text(classifier, feature_names=list(X.columns))
    assert text.count("class:") == 5
    assert "petal length (cm) <= " in text
    path = classifier.decision_path(X)
    np.testing.assert_array_equal(path.toarray(), model.decision_path(X).toarray())
    assert_same_leaves(classifier, model, X)


def test_labels_in_any_order_and_clusters_without_leaves():
    builder = TreeBuilder(2)
    left, _ = builder.split(0, feature=1, threshold=0.5)
    builder.set_cluster(left, 2)
    explanation = Explanation(builder.build(), clusters=["z", "unused", "a"])
    classifier = explanation.to_sklearn()
    assert classifier.classes_.tolist() == ["a", "unused", "z"]
    assert classifier.predict([[9, 0.5], [9, 0.6]]).tolist() == ["a", "z"]
    assert classifier.tree_.value[0, 0].tolist() == [0.5, 0.0, 0.5]
    assert not hasattr(classifier, "feature_names_in_")


def test_a_single_leaf():
    classifier = to_sklearn(TreeBuilder(3).build())
    assert classifier.predict(np.zeros((2, 3))).tolist() == [0, 0]
    assert from_sklearn(classifier).tree_ == TreeBuilder(3).build()


def test_categories_are_columns_of_zeros_and_ones():
    explanation, table, expected = category_model()
    matrix = Encoding.fit(table, categorical=["zip"]).transform(table)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        classifier = explanation.to_sklearn(table)
    assert len(classifier.classes_) > 20  # scikit-learn may take many classes for numbers
    assert "district is Gangnam" in classifier.feature_names_in_
    frame = pd.DataFrame(matrix, columns=classifier.feature_names_in_)
    np.testing.assert_array_equal(classifier.predict(frame), expected)


def test_dates_keep_their_clusters():
    explanation, table = format_model()
    classifier = explanation.to_sklearn(table)
    numbers = explanation.input_columns.read(table)
    X = np.zeros((len(numbers), classifier.n_features_in_))
    X[:, explanation.input_columns.features] = numbers
    frame = pd.DataFrame(X, columns=classifier.feature_names_in_)
    np.testing.assert_array_equal(classifier.predict(frame), explanation.predict(table))


@pytest.mark.parametrize("options", [{}, {"max_leaf_nodes": 12}, {"splitter": "best"}])
@pytest.mark.parametrize("seed", seeds(5))
def test_from_sklearn_is_exact_for_all_numbers(seed, options):
    classifier, X = random_classifier(seed, **options)
    explanation = from_sklearn(classifier)
    found, rng = classifier.tree_, np.random.default_rng(seed)
    near = [around(found.threshold[found.feature == f]) for f in range(3)]
    rows = np.column_stack([rng.choice(np.append(values, 0.0), 3000) for values in near])
    for data in (X, rows, rows.astype(np.float32)):
        np.testing.assert_array_equal(explanation.predict(data), classifier.predict(data))
    purity = {rule.leaf: rule.purity for rule in explanation._leaf_rules}
    reached, leaf = classifier.predict_proba(X).max(axis=1), explanation.apply(X)
    np.testing.assert_allclose([purity[node] for node in leaf], reached)
    np.testing.assert_allclose(
        explanation.tree_.n_node_samples[leaf], found.n_node_samples[classifier.apply(X)]
    )


@pytest.mark.parametrize("seed", seeds(5))
def test_there_and_back(seed):
    classifier, X = random_classifier(seed)  # grown depth first: nodes have the same numbers
    explanation = from_sklearn(classifier)
    again = explanation.to_sklearn(dtype="float32")
    for name in ("feature", "children_left", "n_node_samples", "weighted_n_node_samples"):
        np.testing.assert_array_equal(getattr(again.tree_, name), getattr(classifier.tree_, name))
    np.testing.assert_array_equal(again.apply(X), classifier.apply(X))
    assert from_sklearn(again).tree_ == explanation.tree_


@pytest.mark.parametrize("style", ["round", "midpoint", "data"])
def test_rows_give_thresholds_with_few_digits(style):
    X, y = load_iris(as_frame=True, return_X_y=True)
    classifier = DecisionTreeClassifier(random_state=0).fit(X, y)
    explanation = from_sklearn(classifier, X, threshold_style=style)
    np.testing.assert_array_equal(explanation.predict(X), classifier.predict(X))
    assert explanation.method_ == "DecisionTreeClassifier"
    if style == "data":
        assert np.isin(inner_thresholds(explanation.tree_), X.to_numpy()).all()
    elif style == "round":
        assert all(len(f"{t:g}") <= 4 for t in inner_thresholds(explanation.tree_))


def test_thresholds_beyond_single_precision():
    builder = TreeBuilder(1)
    _, above = builder.split(0, feature=0, threshold=-1e80)
    below, _ = builder.split(above, feature=0, threshold=1e80)
    _, right = builder.split(below, feature=0, threshold=0.0)
    builder.set_cluster(right, 1)
    explanation, X = Explanation(builder.build()), [[-3e38], [0.0], [1.0], [3e38]]
    for classifier in (explanation.to_sklearn(), explanation.to_sklearn(X)):
        assert classifier.predict(X).tolist() == [0, 0, 1, 1]
        assert from_sklearn(classifier).predict(X).tolist() == [0, 0, 1, 1]


def test_what_cannot_be_read_is_refused():
    with pytest.raises(TypeError, match="not a DecisionTreeRegressor"):
        from_sklearn(DecisionTreeRegressor())
    with pytest.raises(NotFittedError):
        from_sklearn(DecisionTreeClassifier())
    with pytest.raises(ValueError, match="2 outputs"):
        from_sklearn(DecisionTreeClassifier().fit([[0.0], [1.0]], [[0, 1], [1, 0]]))
    missing = DecisionTreeClassifier().fit([[0.0], [1.0], [np.nan]], [0, 0, 1])
    with pytest.raises(ValueError, match="separates missing values of column 0"):
        from_sklearn(missing)
    with pytest.raises(ValueError, match="dtype is 'float16'"):
        to_sklearn(TreeBuilder(1).build(), dtype="float16")


@pytest.mark.slow
def test_models_survive_skops():
    sio = pytest.importorskip("skops.io")
    X = load_iris(as_frame=True).data
    model = ExKMC(3, n_leaves=5, random_state=0).fit(X)
    for thing in (model.tree_, model, Explanation.of(model)):
        text = sio.dumps(thing)
        again = sio.loads(text, trusted=sio.get_untrusted_types(data=text))
        tree = again if isinstance(again, ThresholdTree) else again.tree_
        assert tree == model.tree_
        rows = X.to_numpy() if again is tree else X
        np.testing.assert_array_equal(again.predict(rows), thing.predict(rows))


def test_splits_by_sets_of_categories_are_refused():
    from sklearn.datasets import load_iris
    from sklearn.tree import DecisionTreeClassifier

    from pellucid import from_sklearn

    X, y = load_iris(return_X_y=True)
    classifier = DecisionTreeClassifier(max_leaf_nodes=3, random_state=0).fit(X, y)
    assert len(from_sklearn(classifier).rules_) == 3
    classifier.categorical_features = [0]
    with pytest.raises(ValueError, match="sets of categories"):
        from_sklearn(classifier)
