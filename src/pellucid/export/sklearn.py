"""Trees of scikit-learn: to and from ``DecisionTreeClassifier``.

scikit-learn rounds the data to float32 and compares ``float32(x) <= threshold``. A threshold tree
compares x itself. Both functions choose thresholds so that the two agree.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid._utils.estimators import FloatType, documented
from pellucid._utils.sklearn_compat import decision_tree_classifier, has_categorical_splits
from pellucid.explanation.explanation import Explanation
from pellucid.tables.encoding import ColumnNames
from pellucid.tree import LEAF, ThresholdTree, TreeBuilder
from pellucid.tree.rounding import ThresholdStyle, choose_threshold

if TYPE_CHECKING:
    from sklearn.tree import DecisionTreeClassifier


@documented
def to_sklearn(
    model: Any,
    X: Any = None,
    *,
    dtype: FloatType = "float64",
    feature_names: ColumnNames | None = None,
) -> DecisionTreeClassifier:
    """Export a model as a fitted ``DecisionTreeClassifier`` of scikit-learn with the same tree.

    Programs that read trees of scikit-learn, such as ``sklearn.tree.plot_tree``, SHAP and
    dtreeviz, read the result. Nodes have the same numbers and counts. The classes are the labels
    of the clusters in sorted order. The value of a node is the fraction of its training rows, by
    weight, in each cluster of the tree. So it is 0 or 1 at a leaf, and so are the results of
    `predict_proba`. Impurities are Gini impurities of these fractions.

    Parameters
    ----------
    {model}
    X : data frame, array-like or sparse matrix, optional
        Rows that must keep their cluster; usually the training rows.
    dtype : {"float64", "float32"}, default="float64"
        Type of the values that the classifier will be given, see Notes. Not used if `X` is given.
    {feature_names}

    Returns
    -------
    sklearn.tree.DecisionTreeClassifier
        Its columns are those of the tree. A category is a column of zeros and ones, named for
        instance ``continent is Asia``, and a date is the number of days since 1970-01-01.
        Replacements of missing values (`fill_`) are not part of it. `feature_names_in_` is
        set if the columns have names.

    Raises
    ------
    ValueError
        If two rows of `X` on different sides of a threshold become equal in float32. The message
        names the column.

    Notes
    -----
    scikit-learn rounds values to float32. The classifier gives the clusters of `predict`

    - for all rows whose values are float32 numbers, with ``dtype="float32"``. These are also the
      integers up to 2**24.
    - for all rows of which no value is rounded to the same float32 number as a threshold that is
      less than the value, with ``dtype="float64"``. Values that equal a threshold go left, as in
      `predict`.
    - for all rows of `X`, if it is given.

    A float64 value between two neighbouring float32 numbers is rounded to one of them. It can go
    the other way only if a threshold lies between the same two numbers. With ``dtype="float32"``
    this can be the case for values that equal a threshold: 0.1 is rounded to a larger number.
    With ``dtype="float64"`` that larger number goes left, also if it is the value itself.

    scikit-learn refuses values that are too large for float32. It sends NaN, which `predict`
    refuses, to the right.

    Examples
    --------
    >>> from sklearn.tree import export_text
    >>> from pellucid import IMM
    >>> model = IMM().fit([[0.0], [1.0], [9.0]], ["low", "low", "high"])
    >>> classifier = model.to_sklearn()
    >>> print(export_text(classifier))
    |--- feature_0 <= 5.00
    |   |--- class: low
    |--- feature_0 >  5.00
    |   |--- class: high
    <BLANKLINE>
    >>> classifier.predict([[5.0], [6.0]])
    array(['low', 'high'], dtype='<U4')
    """
    if dtype not in ("float32", "float64"):
        raise ValueError(f"dtype is {dtype!r}; it can be 'float64' or 'float32'")
    explanation = Explanation.of(model, feature_names=feature_names)
    tree = explanation.tree_
    threshold = tree.threshold
    if X is not None:
        single = single_thresholds(explanation, X).astype(np.float64)
        threshold = np.where(np.isfinite(single), single, threshold)
    elif dtype == "float64":
        # Rounding is monotone: a value that is at most a threshold stays at most its rounded one.
        with np.errstate(over="ignore"):
            single = threshold.astype(np.float32).astype(np.float64)
        threshold = np.where(np.isfinite(single), np.maximum(single, threshold), threshold)
    classes, position = np.unique(explanation.cluster_names_, return_inverse=True)
    values = _class_fractions(tree, position, len(classes))
    nodes = {
        "left_child": tree.children_left,
        "right_child": tree.children_right,
        # scikit-learn has -2 as feature and as threshold of a leaf.
        "feature": np.where(tree.is_leaf, -2, tree.feature),
        "threshold": np.where(tree.is_leaf, -2.0, threshold),
        "impurity": 1.0 - (values**2).sum(axis=1),
        "n_node_samples": tree.n_node_samples,
        "weighted_n_node_samples": tree.weighted_n_node_samples,
    }
    classifier = decision_tree_classifier(
        nodes, values, n_features=tree.n_features, max_depth=tree.max_depth
    )
    classifier.classes_ = classes
    if hasattr(explanation, "feature_names_in_"):
        names = [str(name) for name in explanation.tree_columns_]
        classifier.feature_names_in_ = np.array(names, dtype=object)
    return classifier


@documented
def from_sklearn(
    classifier: DecisionTreeClassifier,
    X: Any = None,
    *,
    feature_names: ColumnNames | None = None,
    threshold_style: ThresholdStyle = "round",
) -> Explanation:
    """Read a fitted ``DecisionTreeClassifier`` of scikit-learn.

    Parameters
    ----------
    classifier : sklearn.tree.DecisionTreeClassifier
        Fitted, with one output. Its classes are the clusters.
    X : data frame, array-like or sparse matrix, optional
        Rows that must keep their class; usually the training rows. With it, thresholds are chosen
        between the values of these rows, so that rules have few digits.
    {feature_names}
    threshold_style : {"round", "midpoint", "data"}, default="round"
        Which of the thresholds that split `X` alike to use: the one with the fewest significant
        digits, the middle, or the largest value that goes left. Not used without `X`.

    Returns
    -------
    Explanation
        Explains, predicts and exports. The purity of a leaf is the fraction of its training rows
        in its class, by weight.

    Raises
    ------
    ValueError
        If the classifier has several outputs, splits by sets of categories, or a split that
        separates missing values from all others.

    See Also
    --------
    from_json : Read a model that `to_json` wrote.
    Explanation : What is returned.

    Notes
    -----
    scikit-learn rounds values to float32. Without `X`, a threshold becomes the largest float64
    number that is rounded to a float32 number not above it. Then `predict` gives the classes of
    the classifier for all finite float32 and float64 values that are not too large for float32.
    With `X`, it does so for the rows of `X`, and for all other rows that have no value between a
    threshold of the classifier and the chosen one.

    Rows with missing values, which the classifier may accept, are refused by `predict`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from pellucid import from_sklearn
    >>> X, y = load_iris(as_frame=True, return_X_y=True)
    >>> classifier = DecisionTreeClassifier(max_leaf_nodes=3, random_state=0).fit(X, y)
    >>> print(from_sklearn(classifier, X).rename_clusters({0: "setosa"}).rules_[0])
    cluster setosa: petal width (cm) ≤ 0.8
        50 rows (33.3%, 100.0% pure)
    """
    from sklearn.tree import DecisionTreeClassifier
    from sklearn.utils.validation import check_is_fitted

    if not isinstance(classifier, DecisionTreeClassifier):
        kind = type(classifier).__name__
        raise TypeError(f"from_sklearn takes a fitted DecisionTreeClassifier, not a {kind}")
    check_is_fitted(classifier)
    if classifier.n_outputs_ != 1:
        raise ValueError(
            f"the classifier has {classifier.n_outputs_} outputs; only trees of one output are "
            "supported: fit one classifier per output"
        )
    if has_categorical_splits(classifier):
        raise ValueError(
            "the classifier splits by sets of categories, which a tree of thresholds cannot "
            "represent; encode the categories before fitting it, for instance with OneHotEncoder"
        )
    tree, purity = _read_tree(classifier)
    if feature_names is None:
        feature_names = getattr(classifier, "feature_names_in_", None)
    labels, method = classifier.classes_.tolist(), type(classifier).__name__
    known: dict[str, Any] = {"names": feature_names, "clusters": labels, "method": method}
    explanation = Explanation(tree, purity=purity, **known)
    if X is None:
        return explanation
    # Between the values of the rows on both sides; as they are if a side is empty.
    thresholds = tree.threshold.copy()
    for node, low, high in _nearest_values(explanation, X):
        if np.isfinite(low) and np.isfinite(high):
            thresholds[node] = choose_threshold(low, high, threshold_style)
    return Explanation(tree.replace(threshold=thresholds), purity=purity, **known)


def _class_fractions(tree: ThresholdTree, position: np.ndarray, n_classes: int) -> np.ndarray:
    """Fraction of each class at each node, by weight; by leaves where there is no weight."""
    weight, leaves = np.zeros((2, tree.node_count, n_classes))
    at = tree.leaves
    weight[at, position[tree.cluster[at]]] = tree.weighted_n_node_samples[at]
    leaves[at, position[tree.cluster[at]]] = 1.0
    for node in np.flatnonzero(~tree.is_leaf)[::-1]:  # children come after their parent
        children = [tree.children_left[node], tree.children_right[node]]
        weight[node] = weight[children].sum(axis=0)
        leaves[node] = leaves[children].sum(axis=0)
    weight = np.where(weight.sum(axis=1, keepdims=True) > 0, weight, leaves)
    return weight / weight.sum(axis=1, keepdims=True)


def _read_tree(classifier: DecisionTreeClassifier) -> tuple[ThresholdTree, dict[int, float]]:
    """The tree of a classifier, exact in float64, and the purity of its leaves."""
    found, n_features = classifier.tree_, classifier.n_features_in_
    values = found.value[:, 0, :]
    thresholds = _largest_that_goes_left(found.threshold)
    left = found.children_left
    unclear = np.flatnonzero((left != LEAF) & ~np.isfinite(thresholds))
    if len(unclear):
        raise ValueError(
            f"node {unclear[0]} separates missing values of column {found.feature[unclear[0]]} "
            "from all others; replace missing values before fitting the classifier"
        )
    counts = {name: getattr(found, name) for name in ("n_node_samples", "weighted_n_node_samples")}
    splits = {"feature": found.feature, "threshold": thresholds, "children_left": left}
    splits |= {"children_right": found.children_right, "cluster": values.argmax(axis=1)}
    builder = TreeBuilder.from_tree(ThresholdTree(n_features=n_features, **splits, **counts))
    order = builder.preorder()
    tree = builder.build().replace(**{name: array[order] for name, array in counts.items()})
    purest = (values.max(axis=1) / values.sum(axis=1))[order]
    return tree, {leaf: float(purest[leaf]) for leaf in tree.leaves.tolist()}


def _largest_that_goes_left(thresholds: np.ndarray) -> np.ndarray:
    """The largest float64 number that, rounded to float32, is at most the threshold."""
    with np.errstate(over="ignore", invalid="ignore"):
        low = thresholds.astype(np.float32)
        low = np.where(low > thresholds, np.nextafter(low, np.float32(-np.inf)), low)
        high = np.nextafter(low, np.float32(np.inf))
        # Exact: neighbouring float32 numbers have a float64 number in their middle.
        middle = low.astype(np.float64) / 2 + high.astype(np.float64) / 2
        goes_left = middle.astype(np.float32) <= low
        largest = np.where(goes_left, middle, np.nextafter(middle, -np.inf))
    # All float32 numbers are on one side of a threshold that is too large for float32.
    return np.where(np.isfinite(low) & np.isfinite(high), largest, thresholds)


def _nearest_values(explanation: Explanation, X: Any) -> Iterator[tuple[int, float, float]]:
    """Each split, its largest value that goes left (-∞ if none) and the smallest that does not."""
    numbers, tree = explanation.input_columns.read_complete(X), explanation.input_columns.tree
    for node, rows in tree.rows_by_node(numbers):
        if tree.children_left[node] != LEAF:
            values = numbers[rows, tree.feature[node]].astype(np.float64, copy=False)
            goes_left = values <= tree.threshold[node]
            low = values.max(initial=-np.inf, where=goes_left)
            yield node, float(low), float(values.min(initial=np.inf, where=~goes_left))


def single_thresholds(explanation: Explanation, X: Any) -> np.ndarray:
    """A float32 threshold per split that sends the rounded rows of `X` to the same side; else NaN.

    With ``low`` the largest value that goes left and ``high`` the smallest that goes right, it is
    the largest t with ``float32(low) <= t < float32(high)`` that does not exceed the threshold, so
    that values that are float32 already keep their side where possible.
    """
    tree = explanation.input_columns.tree
    thresholds = np.full(tree.node_count, np.nan, dtype=np.float32)
    for node, low, high in _nearest_values(explanation, X):
        threshold = float(tree.threshold[node])
        if np.isfinite(low) and np.isfinite(high) and _single(low) >= _single(high):
            name = explanation.input_columns.encoding.names[tree.feature[node]]
            raise ValueError(
                f"column {str(name)!r}: {low!r} and {high!r} are on different sides of the "
                f"threshold {threshold!r} but equal in single precision; use dtype='float64', or "
                "round the column before fitting"
            )
        single, lowest = _single(threshold), np.float32(-np.inf)
        single = np.nextafter(single, lowest) if single > threshold else single
        thresholds[node] = max(_single(low), min(single, np.nextafter(_single(high), lowest)))
    return thresholds


def _single(value: float) -> np.float32:
    with np.errstate(over="ignore"):
        return np.float32(value)
