"""Trees for k-medians: the brute-force ones, with costs and centers in absolute distances."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris, make_blobs
from sklearn.exceptions import ConvergenceWarning

from _support import oracles
from _support.extended import examples
from _support.fitting import fit_exactly as fit
from _support.strategies import tiny_data
from pellucid import IMM, ExGreedy, ExKMC, ExShallow
from pellucid._core.data import binning as bins
from pellucid.baselines import CARTExplainer, KDTreeExplainer
from pellucid.metrics import kmedians_cost, surrogate_cost

pytestmark = pytest.mark.slow

METHODS = [IMM, ExGreedy, ExShallow, ExKMC]
each_method = pytest.mark.parametrize("method", METHODS)
tiny = tiny_data(max_rows=14, objective="kmedians")


@pytest.fixture(scope="module")
def blobs():
    X, _ = make_blobs(400, 5, centers=6, cluster_std=3.0, random_state=3)
    return np.where(np.abs(X) < 3, 0.0, X).astype(np.float32).astype(np.float64)


@pytest.fixture(scope="module", params=[3, bins.N_BINS], ids=["few bins", "many bins"])
def some_bins(request):
    before, bins.N_BINS = bins.N_BINS, request.param
    yield
    bins.N_BINS = before


@pytest.mark.usefixtures("some_bins")
class TestTheBruteForceTree:
    @given(tiny)
    @settings(max_examples=examples(80), deadline=None)
    def test_imm(self, data):
        assert oracles.as_nested(fit(IMM(), data).tree_) == oracles.grow_imm(data)

    @given(tiny, st.sampled_from([0.0, 0.03, 0.5]))
    @settings(max_examples=examples(80), deadline=None)
    def test_exgreedy_and_exshallow(self, data, penalty):
        model = ExShallow(depth_penalty=penalty) if penalty else ExGreedy()
        assert oracles.as_nested(fit(model, data).tree_) == oracles.grow_shallow(data, penalty)

    @given(tiny, st.integers(1, 7))
    @settings(max_examples=examples(80), deadline=None)
    def test_exkmc(self, data, n_leaves):
        model = fit(ExKMC(base=None, n_leaves=n_leaves), data)
        expected, curve = oracles.grow_exkmc(data, n_leaves)
        assert oracles.as_nested(model.tree_) == expected
        assert model.surrogate_costs_.tolist() == curve


@given(tiny, st.sampled_from(METHODS))
@settings(max_examples=examples(60), deadline=None)
def test_labels_costs_and_centers_are_in_absolute_distances(data, method):
    model = fit(method(), data)
    X, weight = data.X, data.weight
    np.testing.assert_array_equal(model.reference_labels_, data.labels)
    cost = 0.0
    for c, center in enumerate(model.cluster_centers_):
        rows = model.labels_ == c
        expected = oracles.medians(X[rows], weight[rows]) if rows.any() else data.centers[c]
        assert center.tolist() == expected.tolist()
        cost += weight[rows] @ np.abs(X[rows] - center).sum(axis=1)
    assert model.inertia_ == cost == kmedians_cost(X, model.labels_, sample_weight=weight)
    assert model.reference_inertia_ == kmedians_cost(X, data.labels, sample_weight=weight)
    assert model.score(X, sample_weight=weight) == -cost
    to_reference = surrogate_cost(
        X, model.labels_, data.centers, sample_weight=weight, objective="kmedians"
    )
    assert cost <= to_reference


@given(tiny, st.sampled_from(METHODS))
@settings(max_examples=examples(60), deadline=None)
def test_a_weight_is_a_number_of_copies(data, method):
    weight = data.weight.copy()
    weight[1:] -= 1
    copies = np.repeat(np.arange(len(weight)), weight.astype(int))
    weighted, repeated = (method(reference=data.centers, objective="kmedians") for _ in range(2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        weighted.fit(data.X, sample_weight=weight)
        repeated.fit(data.X[copies])
    for name in ("feature", "threshold", "cluster"):
        np.testing.assert_array_equal(getattr(weighted.tree_, name), getattr(repeated.tree_, name))
    np.testing.assert_array_equal(weighted.labels_[copies], repeated.labels_)
    np.testing.assert_array_equal(weighted.cluster_centers_, repeated.cluster_centers_)
    assert weighted.inertia_ == repeated.inertia_
    assert weighted.reference_inertia_ == repeated.reference_inertia_


@each_method
@pytest.mark.parametrize("weight", [None, np.linspace(0.1, 3.0, 400)], ids=["ones", "fractions"])
def test_storage_does_not_matter(method, weight, blobs):
    expected = method(6, objective="kmedians", random_state=0).fit(blobs, sample_weight=weight)
    others = [blobs.astype(np.float32), np.asfortranarray(blobs), sparse.csr_array(blobs)]
    for other in (*others, sparse.csc_array(blobs.astype(np.float32))):
        model = method(6, objective="kmedians", random_state=0).fit(other, sample_weight=weight)
        assert model.tree_ == expected.tree_
        np.testing.assert_array_equal(model.labels_, expected.labels_)
        np.testing.assert_array_equal(model.cluster_centers_, expected.cluster_centers_)
        np.testing.assert_array_equal(model.reference_centers_, expected.reference_centers_)
        assert model.inertia_ == pytest.approx(expected.inertia_, rel=1e-12)


@pytest.fixture(scope="module")
def many_rows():
    return make_blobs(20_000, 12, centers=5, cluster_std=4, random_state=0)[0]


@each_method
def test_threads_do_not_matter(method, many_rows):
    X = many_rows
    # One method finds the clusters itself, which all do by the same code.
    given = {"n_clusters": 5} if method is IMM else {"reference": X[:5]}
    first = method(**given, objective="kmedians", random_state=1, n_jobs=1).fit(X)
    for n_jobs in (2, 3):
        model = method(**given, objective="kmedians", random_state=1, n_jobs=n_jobs).fit(X)
        assert model.tree_ == first.tree_
        assert model.inertia_ == first.inertia_
        np.testing.assert_array_equal(model.cluster_centers_, first.cluster_centers_)


def test_labels_are_explained_by_the_medians_of_their_groups(blobs):
    names = np.array(["low", "middle", "high"])[np.digitize(blobs[:, 0], [-3, 3])]
    model = IMM(objective="kmedians").fit(blobs, names)
    expected = [np.percentile(blobs[names == n], 50, axis=0, method="inverted_cdf")
                for n in model.cluster_names_]  # fmt: skip
    np.testing.assert_array_equal(model.reference_centers_, expected)
    np.testing.assert_array_equal(model.labels_, names)
    assert model.inertia_ == model.reference_inertia_ == kmedians_cost(blobs, names)


def test_centers_get_the_rows_nearest_in_absolute_distance_and_estimators_their_own(blobs):
    kmeans = KMeans(5, n_init=3, random_state=0).fit(blobs)
    centers = kmeans.cluster_centers_
    nearest = oracles.nearest(blobs, centers, "kmedians")
    assert (nearest != kmeans.labels_).any()
    for reference, expected in ((centers, nearest), (kmeans, kmeans.labels_)):
        model = ExGreedy(reference=reference, objective="kmedians").fit(blobs)
        np.testing.assert_array_equal(model.reference_labels_, expected)
        np.testing.assert_array_equal(model.reference_centers_, centers)


def test_the_default_reference_is_k_medians(blobs):
    means = IMM(6, random_state=0).fit(blobs)
    medians = IMM(6, objective="kmedians", random_state=0).fit(blobs)
    assert medians.reference_inertia_ < kmedians_cost(blobs, means.reference_labels_)
    again = IMM(6, objective="kmedians", random_state=0).fit(blobs)
    np.testing.assert_array_equal(again.reference_centers_, medians.reference_centers_)
    with pytest.raises(ValueError, match="n_clusters=401 is more than n_samples=400"):
        IMM(401, objective="kmedians").fit(blobs)


def test_noise_that_is_left_out_pays_nothing(blobs):
    labels = np.digitize(blobs[:, 0], [-3, 3])
    labels[::7] = -1
    model = IMM(objective="kmedians", noise="drop").fit(blobs, labels)
    kept = labels >= 0
    assert model.reference_inertia_ == pytest.approx(kmedians_cost(blobs[kept], labels[kept]))
    expected = np.percentile(blobs[labels == 1], 50, axis=0, method="inverted_cdf")
    np.testing.assert_array_equal(model.reference_centers_[1], expected)


@pytest.mark.parametrize("method", [CARTExplainer, KDTreeExplainer, ExShallow])
def test_other_trees_take_it_too(method):
    X = load_iris().data
    model = method(3, objective="kmedians", random_state=0).fit(X)
    assert model.reference_inertia_ <= model.inertia_ == kmedians_cost(X, model.labels_)


def test_an_unfitted_base_is_grown_for_the_objective_of_the_whole():
    X = load_iris().data
    centers = X[[0, 60, 110, 140]]
    shallow = ExShallow(reference=centers, objective="kmedians").fit(X)
    grown = ExKMC(reference=centers, objective="kmedians", base=ExShallow()).fit(X)
    given_tree = ExKMC(reference=centers, objective="kmedians", base=shallow).fit(X)
    assert grown.tree_ == given_tree.tree_


def test_an_unknown_objective_is_refused(blobs):
    with pytest.raises(ValueError, match="'objective' parameter of IMM must be"):
        IMM(2, objective="kmodes").fit(blobs)
