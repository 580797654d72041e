"""A tree with its words, apart from any estimator."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.datasets import load_wine
from sklearn.exceptions import NotFittedError

from _support.export_cases import category_model
from pellucid import IMM, ExKMC, Explanation
from pellucid.tables.encoding import Indicator
from pellucid.tree import TreeBuilder


@pytest.fixture(scope="module")
def wine():
    X = load_wine(as_frame=True).data
    return ExKMC(n_leaves=12).fit(X, np.arange(178) % 5), X


def test_every_kind_of_rows(wine):
    model, X = wine
    explanation = Explanation.of(model)
    for rows in (
        X,
        pl.from_pandas(X),
        X.to_numpy(),
        X.to_numpy(np.float32).astype(np.float64),
        X.to_numpy().tolist(),
        np.asfortranarray(X.to_numpy()),
        sparse.csr_array(X.to_numpy()),
        sparse.csc_matrix(X.to_numpy()),
    ):
        numbers = np.asarray(rows.todense() if sparse.issparse(rows) else rows)
        np.testing.assert_array_equal(explanation.apply(rows), model.tree_.apply(numbers))
        np.testing.assert_array_equal(explanation.predict(rows), model.tree_.predict(numbers))
    assert explanation.predict(X.head(0)).shape == (0,)


def test_only_columns_that_are_asked_about_are_looked_at(wine):
    model, X = wine
    explanation = Explanation.of(model)
    asked = sorted({X.columns[f] for f in model.tree_.feature if f >= 0}, reverse=True)
    np.testing.assert_array_equal(explanation.predict(X[asked]), model.labels_)
    holes = X.copy()
    holes[[name for name in X if name not in asked]] = np.nan
    np.testing.assert_array_equal(explanation.predict(holes), model.labels_)
    np.testing.assert_array_equal(explanation.predict(holes.to_numpy()), model.labels_)
    holes.loc[5, asked[0]] = np.nan
    for rows in (holes, holes.to_numpy(), holes.to_numpy(object)):
        with pytest.raises(ValueError, match=f"column '{asked[0]}' contains NaN, first at row 5"):
            explanation.predict(rows)
    with pytest.raises(ValueError, match=f"X has no column '{asked[0]}', which the tree uses"):
        explanation.predict(X.drop(columns=asked[0]))
    with pytest.raises(ValueError, match=r"X has shape \(178, 2\), but the explanation expects 13"):
        explanation.predict(X.to_numpy()[:, :2])


def test_rows_are_explained(wine):
    model, X = wine
    explanation = Explanation.of(model)
    assert tuple(explanation.explain(X)) == tuple(model.explain(X))
    assert explanation.explain() is explanation.rules_
    assert str(explanation.explain()) == str(model.explain())


def test_categories_are_explained():
    explanation, table, expected = category_model()
    for row, cluster in zip(explanation.explain(table), expected):
        assert row.cluster == cluster
        for condition, value in row.path:
            assert (value <= condition.threshold) == condition.is_upper
    assert "district is " in str(explanation.explain())


def test_a_single_leaf_needs_no_column():
    builder = TreeBuilder(2)
    builder.set_cluster(0, 1)
    explanation = Explanation(builder.build(), clusters=["a", "b"])
    assert explanation.predict([[np.nan, None], [1, 2]]).tolist() == ["b", "b"]
    assert explanation.predict(pd.DataFrame({"z": [1]})).tolist() == ["b"]


def test_names_and_labels_must_fit():
    tree = IMM().fit([[0.0, 1.0], [0.0, 5.0]], [0, 1]).tree_
    with pytest.raises(ValueError, match="1 feature names for a tree of 2 columns"):
        Explanation(tree, names=["a"])
    with pytest.raises(ValueError, match="column 'a' appears more than once"):
        Explanation(tree, names=["a", "a"])
    with pytest.raises(ValueError, match="1 labels for a tree of 2 clusters"):
        Explanation(tree, clusters=["a"])
    with pytest.raises(ValueError, match="uses 'b', which is not among the columns"):
        Explanation(tree, names=["a", "b"], columns=["a", "c"])
    with pytest.raises(ValueError, match="splits the indicator column 'b is x' at 3.0"):
        Explanation(tree, names=["a", Indicator("b", "x")])
    with pytest.raises(NotFittedError):
        Explanation.of(IMM(2))
    with pytest.raises(NotFittedError):
        IMM(2).to_sql()


def test_equality(wine):
    model, _ = wine
    explanation = Explanation.of(model)
    assert explanation == Explanation.of(model) == Explanation.of(explanation)
    assert hash(explanation) == hash(Explanation.of(model))
    assert explanation != Explanation.of(model.tree_)
    assert explanation != 3
    assert Explanation.of(model, feature_names=[f"c{i}" for i in range(13)]) != explanation
    assert repr(Explanation.of(model.tree_)) == "Explanation(n_leaves=12, n_clusters=5)"
