"""ONNX gives what predict gives, in the runtime itself."""

import json
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_wine

from _support.export_cases import (
    FORMATS,
    category_model,
    explanations,
    format_model,
    hostile_model,
)
from _support.extended import examples
from pellucid import IMM, ExKMC, Explanation
from pellucid.export import to_onnx
from pellucid.tables.encoding import Encoding, Indicator
from pellucid.tree import TreeBuilder

pytestmark = pytest.mark.slow

onnxruntime = pytest.importorskip("onnxruntime")


def run(model, feeds):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    return session.run(None, feeds)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("style", ["round", "data", "midpoint"])
@pytest.mark.parametrize("words", [False, True])
def test_training_rows_keep_their_clusters(dtype, style, words):
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    y = y + 2 * (X["mean area"] > 600)
    reference = np.array(["it's", "b", "", "나이"])[y] if words else y.to_numpy() - 2
    model = ExKMC(n_leaves=25, threshold_style=style).fit(X, reference)
    exported = model.to_onnx(X, dtype=dtype)
    labels, scores = run(exported, {"X": X.to_numpy(dtype)})
    np.testing.assert_array_equal(labels, model.labels_)
    names = model.cluster_names_.tolist()
    assert scores.tolist() == [[float(name == label) for name in names] for label in model.labels_]
    assert json.loads(exported.metadata_props[0].value) == X.columns.tolist()


@given(explanations(plain=True), st.data())
@settings(max_examples=examples(25), deadline=None)
def test_double_precision_is_exact_on_any_tree(explanation, data):
    tree = explanation.tree_
    explanation = Explanation(tree, clusters=[5, -1, 9])
    at = np.append(tree.threshold[~tree.is_leaf], 0.0)
    near = np.concatenate([at, np.nextafter(at, np.inf), np.nextafter(at, -np.inf)])
    row = st.tuples(*[st.sampled_from(near.tolist())] * tree.n_features)
    X = np.array(data.draw(st.lists(row, min_size=1, max_size=30)))
    np.testing.assert_array_equal(run(to_onnx(explanation), {"X": X})[0], explanation.predict(X))


def test_values_that_differ_in_double_precision_only_are_named():
    X = pd.DataFrame({"a": [1.0, np.nextafter(1.0, 2), 5.0], "b": [0.0, 0.0, 0.0]})
    model = IMM().fit(X, [0, 1, 2])
    with pytest.raises(
        ValueError, match="column 'a': 1.0 and 1.0000000000000002 are on different sides of"
    ):
        model.to_onnx(X, dtype="float32")
    np.testing.assert_array_equal(run(model.to_onnx(), {"X": X.to_numpy()})[0], [0, 1, 2])


@given(
    st.lists(st.integers(0, 60), min_size=2, max_size=30, unique=True),
    st.floats(-1e6, 1e6),
    st.booleans(),
)
@settings(max_examples=examples(25), deadline=None)
def test_single_thresholds_part_neighbours(steps, start, downwards):
    """Values a few single-precision steps apart, off the single grid, each a cluster."""
    grid = np.spacing(np.float32(start)).astype(np.float64)
    off = grid * (0.4 if downwards else -0.4)
    X = (np.float64(np.float32(start)) + grid * np.sort(steps) + off)[:, None]
    labels = np.arange(len(X))
    model = IMM(threshold_style="data").fit(X, labels)
    found = run(model.to_onnx(X, dtype="float32"), {"X": X.astype(np.float32)})[0]
    np.testing.assert_array_equal(found, labels)


@pytest.mark.parametrize("n_clusters", [1, 2])
@pytest.mark.parametrize("words", [False, True])
def test_one_and_two_clusters(n_clusters, words):
    X = load_wine().data
    y = (X[:, 0] > 13).astype(int) % n_clusters
    model = ExKMC(n_leaves=4).fit(X, np.array(["a", "b"])[y] if words else y)
    np.testing.assert_array_equal(run(model.to_onnx(), {"X": X})[0], model.labels_)
    # Two clusters of which only one has a leaf.
    builder = TreeBuilder(1)
    for cluster in range(n_clusters):
        builder.set_cluster(0, cluster)
        alone = Explanation(builder.build(), clusters=["a", "b"] if words else [3, 4])
        found = run(alone.to_onnx(), {"X": np.zeros((2, 1))})[0]
        assert found.tolist() == [alone.cluster_names_[cluster]] * 2


def test_dates_are_days():
    explanation, table = format_model()
    days = np.column_stack([FORMATS[n].read(table[n].to_numpy()) for n in FORMATS])
    found, _ = run(explanation.to_onnx(), {"X": days.astype(np.float64)})
    np.testing.assert_array_equal(found, explanation.predict(table))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_categories_have_an_input_a_column(dtype):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "cluster": rng.normal(size=200),
            "X": rng.choice(["it's", "b", "c"], 200),
            "zip": rng.integers(0, 4, 200),
            "member": rng.integers(0, 2, 200).astype(bool),
        }
    )
    encoding = Encoding.fit(table, categorical=["zip"])
    matrix = encoding.transform(table)
    reference = (table["zip"] + 4 * (table["X"] == "b") + 8 * table["member"]) % 9
    model = ExKMC(n_leaves=40).fit(matrix, reference.to_numpy())
    explanation = Explanation.of(model, feature_names=encoding.names)
    exported = explanation.to_onnx(table, dtype=dtype)
    kinds = {"cluster": dtype, "X": object, "zip": np.int64, "member": np.int64}
    feeds = {i.name: table[[i.name]].to_numpy(kinds[i.name]) for i in exported.graph.input}
    assert len(feeds) == 4
    np.testing.assert_array_equal(run(exported, feeds)[0], model.labels_)


def test_what_cannot_be_written_is_refused():
    model, X = hostile_model()
    with pytest.raises(ValueError, match="dtype='float32' needs X, the rows whose clusters"):
        model.to_onnx(dtype="float32")
    with pytest.raises(ValueError, match="dtype is 'float16'; it can be"):
        model.to_onnx(X, dtype="float16")
    with pytest.raises(ValueError, match="condition district is missing; ONNX has no missing"):
        category_model()[0].to_onnx()
    tree = IMM(2).fit([[0.0], [1.0]]).tree_
    with pytest.raises(TypeError, match="cluster 0.5: labels in ONNX are strings or integers"):
        Explanation(tree, clusters=[0.5, 1.0]).to_onnx()
    with pytest.raises(TypeError, match="column 'c' has 0.5 as a category"):
        Explanation(tree, names=[Indicator("c", 0.5)]).to_onnx()


def test_without_onnx_the_error_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match=r"pip install 'pellucid\[onnx\]'"):
        IMM(2).fit([[0.0], [1.0]]).to_onnx()
