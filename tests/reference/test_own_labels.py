"""The labels of a reference are those that it gives itself, for the columns that it knows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.cluster import DBSCAN, BisectingKMeans, KMeans
from sklearn.datasets import load_breast_cancer, load_iris

from pellucid import IMM, ExShallow, KMedoids

X = load_breast_cancer().data
FLOWERS = load_iris(as_frame=True).data


@pytest.mark.parametrize(
    "reference",
    [
        KMedoids(6, metric="cosine", random_state=0),
        KMedoids(4, metric="manhattan", random_state=0),
        BisectingKMeans(5, random_state=0),
        KMeans(5, n_init=1, random_state=0),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
@pytest.mark.parametrize("is_fitted", [True, False])
def test_labels_are_those_of_the_estimator(reference, is_fitted):
    own = reference.fit(X).labels_
    given = reference if is_fitted else type(reference)(**reference.get_params())
    model = ExShallow(reference=given).fit(X)
    assert np.array_equal(model.reference_labels_, own)


def test_purity_is_measured_against_the_labels_of_the_estimator():
    reference = KMedoids(6, metric="cosine", random_state=0).fit(X)
    model = IMM(reference=reference).fit(X)
    for rule in model.rules_:
        mine = model.labels_ == rule.cluster
        assert rule.purity == pytest.approx(np.mean(reference.labels_[mine] == rule.cluster))


def test_new_rows_get_the_labels_of_predict():
    reference = BisectingKMeans(4, random_state=0).fit(X[:300])
    # As many rows as in fit: the labels of other rows must not be taken.
    model = IMM(reference=reference).fit(X[200:500])
    assert np.array_equal(model.reference_labels_, reference.predict(X[200:500]))


@pytest.mark.parametrize("order", ["reversed", "other"])
def test_a_reference_of_other_columns_is_an_error(order):
    columns = FLOWERS.columns[::-1] if order == "reversed" else ["a", "b", "c", "d"]
    table = FLOWERS[columns] if order == "reversed" else FLOWERS.set_axis(columns, axis=1)
    reference = KMeans(3, n_init=1, random_state=0).fit(table)
    with pytest.raises(ValueError, match="feature names should match"):
        IMM(reference=reference).fit(FLOWERS)


def test_an_estimator_without_predict_is_checked_too():
    reference = DBSCAN().fit(FLOWERS[FLOWERS.columns[::-1]])
    with pytest.raises(ValueError, match="the columns of X are in another order"):
        IMM(reference=reference).fit(FLOWERS)


def test_centers_in_a_data_frame_are_compared_by_name():
    centers = KMeans(3, n_init=1, random_state=0).fit(FLOWERS).cluster_centers_
    right = pd.DataFrame(centers, columns=FLOWERS.columns)
    assert np.array_equal(
        IMM(reference=right).fit(FLOWERS).labels_, IMM(reference=centers).fit(FLOWERS).labels_
    )
    with pytest.raises(ValueError, match="in another order"):
        IMM(reference=right[right.columns[::-1]]).fit(FLOWERS)
    with pytest.raises(ValueError, match="X has no column 'width'"):
        IMM(reference=right.rename(columns={right.columns[0]: "width"})).fit(FLOWERS)


def test_a_class_is_no_reference():
    with pytest.raises(ValueError, match=r"the class KMeans; pass an object, KMeans\("):
        IMM(reference=KMeans).fit(FLOWERS)


@pytest.mark.parametrize("kind", ["array", "sparse", "frame"])
def test_a_reference_fitted_on_double_precision_labels_single_precision(kind):
    single = X[:, :5].astype(np.float32)
    names = list("abcde")
    double = single.astype(np.float64)
    fitted_on = pd.DataFrame(double, columns=names) if kind == "frame" else double
    reference = KMeans(4, n_init=1, random_state=0).fit(fitted_on)
    given = {
        "array": single,
        "sparse": sparse.csr_array(single),
        "frame": pd.DataFrame(single, columns=names),
    }[kind]
    model = IMM(reference=reference).fit(given)
    assert np.array_equal(model.reference_labels_, reference.labels_)
    if kind == "frame":
        with pytest.raises(ValueError, match="in another order"):
            IMM(reference=reference).fit(given[names[::-1]])


@pytest.mark.parametrize(("fitted_on", "given"), [("f4", "f8"), ("f8", "f4")])
def test_reference_of_another_precision(fitted_on, given):
    X = np.round(np.random.default_rng(0).normal(size=(200, 3)), 2).astype(np.float32)
    kmeans = KMeans(4, n_init=1, random_state=0).fit(X.astype(fitted_on))
    model = IMM(reference=kmeans).fit(X.astype(given))
    assert (model.reference_labels_ == kmeans.predict(X.astype(fitted_on))).all()
