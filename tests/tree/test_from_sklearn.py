"""Threshold trees made from fitted scikit-learn trees."""

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.tree import DecisionTreeClassifier

from pellucid.tree.from_sklearn import build_from_splits, splits_in_growth_order

X, y = load_wine(return_X_y=True)
ROWS = np.arange(len(X))


def values(feature, rows):
    return X[rows, feature]


@pytest.mark.parametrize("parameters", [{"max_leaf_nodes": 6}, {"max_depth": 3}, {}])
def test_every_row_gets_the_prediction_of_the_classifier(parameters):
    classifier = DecisionTreeClassifier(random_state=0, **parameters).fit(X, y)
    builder, leaf_rows = build_from_splits(
        splits_in_growth_order(classifier.tree_, ROWS, values),
        n_features=X.shape[1],
        rows=ROWS,
        cluster=classifier.tree_.value[:, 0, :].argmax(axis=1),
        values=values,
        total_weight=len,
    )
    tree = builder.build()
    np.testing.assert_array_equal(tree.predict(X), classifier.predict(X))
    assert tree.n_leaves == classifier.get_n_leaves()
    assert sorted(np.concatenate(list(leaf_rows.values()))) == ROWS.tolist()


def test_the_first_splits_are_those_of_a_smaller_best_first_tree():
    large, small = (
        DecisionTreeClassifier(random_state=0, max_leaf_nodes=n).fit(X, y) for n in (8, 4)
    )
    first, expected = (
        [
            (split.feature, len(split.rows[0]))
            for split in splits_in_growth_order(model.tree_, ROWS, values)
        ]
        for model in (large, small)
    )
    assert first[:3] == expected
