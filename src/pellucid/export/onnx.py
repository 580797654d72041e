"""Export to ONNX, for runtimes without Python.

The graph is built with `onnx.helper`. skl2onnx converts only estimators that it knows, and compares
in single precision; it converts the result of `to_sklearn`, also inside a pipeline.
"""

from __future__ import annotations

import json
from itertools import count, islice
from typing import Any

import numpy as np

from pellucid._utils.estimators import FloatType, documented
from pellucid._utils.imports import import_optional
from pellucid.explanation.explanation import Explanation
from pellucid.export._values import plain_value, replaced_values
from pellucid.export.sklearn import single_thresholds
from pellucid.tables.encoding import ColumnNames, Indicator

_OPSETS = (("", 17), ("ai.onnx.ml", 3))
_IR_VERSION = 8
"""Versions that runtimes of 2022 and later read; doubles in trees came with ai.onnx.ml 3."""


@documented
def to_onnx(
    model: Any,
    X: Any = None,
    *,
    dtype: FloatType = "float64",
    feature_names: ColumnNames | None = None,
) -> Any:
    """Export a model as an ONNX ``TreeEnsembleClassifier``. Needs the package ``onnx``.

    The input is ``X``, a matrix of all columns. If some columns of the data are categories, there
    is instead one input per column that the tree uses, of shape (n, 1) and named like the
    column: numbers as `dtype`, text as strings, integers and booleans that are
    categories as int64. The outputs are ``cluster``, the labels, and ``scores``, which are 1 for
    the cluster and 0 for the others. Names of columns are kept in the metadata, under
    ``columns``.

    Parameters
    ----------
    {model}
    X : data frame, array-like or sparse matrix, optional
        Rows whose clusters must not change with ``dtype="float32"``; usually the training rows.
    dtype : {"float64", "float32"}, default="float64"
        Type of the numeric inputs. Double precision gives the clusters of `predict` for all rows.
        Single precision rounds the inputs; thresholds are then chosen so that every row of `X`
        keeps its cluster after rounding.
    {feature_names}

    Returns
    -------
    onnx.ModelProto
        ``model.SerializeToString()`` gives the bytes of a file.

    Raises
    ------
    ValueError
        If two rows of `X` on different sides of a threshold become equal by rounding. The message
        names the column.

    Notes
    -----
    ONNX cannot reject a row. Where `predict` raises an error for NaN, the ONNX model treats NaN as
    larger than every threshold, unless the explanation has a replacement value (`fill_`). An
    unseen category matches none of the known ones, as in
    :class:`~pellucid.tables.encoding.Encoding`. Splits on missing categories are not supported.
    The input of a column of dates (`formats_`) is a number of days since 1970-01-01.

    Examples
    --------
    >>> from pellucid import IMM
    >>> model = IMM(2, random_state=0).fit([[0.0], [1.0], [9.0]])
    >>> [output.name for output in model.to_onnx().graph.output]
    ['cluster', 'scores']
    """
    if dtype not in ("float32", "float64"):
        raise ValueError(f"dtype is {dtype!r}; it can be 'float64' or 'float32'")
    onnx = import_optional("onnx", "to_onnx")
    explanation = Explanation.of(model, feature_names=feature_names)
    if dtype == "float64":
        thresholds = explanation.input_columns.tree.threshold
    elif X is None:
        raise ValueError(
            "dtype='float32' needs X, the rows whose clusters must not change by rounding: pass "
            "the training data, or use dtype='float64', which needs no X"
        )
    else:
        thresholds = single_thresholds(explanation, X)
    return _Graph(onnx, explanation, thresholds, np.dtype(dtype)).model()


class _Graph:
    """Builder of the ONNX graph."""

    def __init__(
        self, onnx: Any, explanation: Explanation, thresholds: np.ndarray, dtype: np.dtype
    ) -> None:
        self.onnx, self.helper = onnx, onnx.helper
        self.explanation, self.thresholds, self.dtype = explanation, thresholds, dtype
        self.number = onnx.helper.np_dtype_to_tensor_dtype(dtype)
        self.nodes: list[Any] = []
        self.inputs: list[Any] = []
        self.taken: set[str] = set()

    def model(self) -> Any:
        """The complete model, checked by ONNX."""
        explanation = self.explanation
        names: Any = getattr(explanation, "feature_names_in_", None)
        is_plain = names is None or explanation.tree_columns_ == names.tolist()
        # Categories, replaced values and columns unknown to the tree do not fit into one matrix.
        if is_plain and not (explanation.reading_ or {}).get("replaced"):
            self.taken.add("X")
            matrix = self._input("X", self.number, explanation.n_features_in_)
            if explanation.fill_:  # only columns with names have replacements
                matrix = self._filled(matrix, [explanation.fill_.get(name) for name in names])
            features = explanation.tree_.feature
        else:
            matrix, features = self._columns(), explanation.input_columns.tree.feature
        outputs = self._tree(matrix, features)
        graph = self.helper.make_graph(self.nodes, "explanation", self.inputs, outputs)
        opsets = [self.helper.make_opsetid(*opset) for opset in _OPSETS]
        model = self.helper.make_model(
            graph, opset_imports=opsets, ir_version=_IR_VERSION, producer_name="pellucid"
        )
        if names is not None:
            entry = model.metadata_props.add()
            entry.key, entry.value = "columns", json.dumps(names.tolist())
        self.onnx.checker.check_model(model)
        return model

    def _free(self, name: str) -> str:
        """A name that is not used yet."""
        while name in self.taken:
            name += "_"
        self.taken.add(name)
        return name

    def _input(self, name: str, kind: int, width: int) -> str:
        self.inputs.append(self.helper.make_tensor_value_info(name, kind, [None, width]))
        return name

    def _add(self, op: str, inputs: list[str], **attributes: Any) -> str:
        name = self._free(op.lower())
        self.nodes.append(self.helper.make_node(op, inputs, [name], **attributes))
        return name

    def _filled(self, numbers: str, values: list[Any]) -> str:
        """Replace NaN by a value per column; None leaves NaN as it is."""
        fill = self._row([v if isinstance(v, (int, float)) else np.nan for v in values])
        return self._add("Where", [self._add("IsNaN", [numbers]), fill, numbers])

    def _row(self, values: list[float]) -> str:
        """A constant row of numbers."""
        tensor = self.onnx.numpy_helper.from_array(np.array([values], dtype=self.dtype))
        return self._add("Constant", [], value=tensor)

    def _columns(self) -> str:
        """One input per column, concatenated to the matrix of features."""
        self.taken.update(self.explanation.input_columns.encoding.input_names)
        if not self.taken:
            problem = "the tree has a single leaf and uses no column"
            raise ValueError(f"{problem}, so ONNX would have no input")
        parts, fill = [], self.explanation.fill_
        known: dict[str, type] = {}
        for name in self.explanation.input_columns.encoding.names:
            if not isinstance(name, Indicator):
                column, value = self._input(name, self.number, 1), fill.get(name)
                for sentinel, _ in replaced_values(self.explanation, name):
                    number, missing = self._row([sentinel]), self._row([np.nan])
                    is_sentinel = self._add("Equal", [column, number])
                    column = self._add("Where", [is_sentinel, missing, column])
                parts.append(column if value is None else self._filled(column, [value]))
                continue
            value = _category(name)
            kind = str if isinstance(value, str) else int
            if name.column not in known:
                text, whole = self.onnx.TensorProto.STRING, self.onnx.TensorProto.INT64
                self._input(name.column, text if kind is str else whole, 1)
            if known.setdefault(name.column, kind) is not kind:
                raise TypeError(
                    f"column {name.column!r} has text and numbers as categories; an ONNX column "
                    "has one type: convert them all to text before fitting"
                )
            pairs = replaced_values(self.explanation, name.column)
            texts = [value, *(other for other, category in pairs if category == value)]
            keys = {"keys_strings": texts} if kind is str else {"keys_int64s": [int(value)]}
            ones = [1.0] * (len(texts) if kind is str else 1)
            options = {"values_floats": ones, "default_float": 0.0, "domain": "ai.onnx.ml"}
            holds = self._add("LabelEncoder", [name.column], **keys, **options)
            parts.append(self._add("Cast", [holds], to=self.number))
        return self._add("Concat", parts, axis=1)

    def _tree(self, matrix: str, features: np.ndarray) -> list[Any]:
        tree = self.explanation.tree_
        n, leaves = tree.node_count, tree.leaves.tolist()
        values = np.where(tree.is_leaf, 0.0, self.thresholds).astype(self.dtype)
        labels, kind = _labels(self.onnx, self.explanation.cluster_names_)
        weights = np.ones(len(leaves), dtype=self.dtype)
        numbers = {"nodes_values": values, "class_weights": weights}
        if self.dtype == np.float64:
            array = self.onnx.numpy_helper.from_array
            numbers = {f"{name}_as_tensor": array(found) for name, found in numbers.items()}
        cluster, every_score = self._free("cluster"), self._free("every_score")
        node = self.helper.make_node(
            "TreeEnsembleClassifier",
            [matrix],
            [cluster, every_score],
            domain="ai.onnx.ml",
            nodes_treeids=[0] * n,
            nodes_nodeids=list(range(n)),
            nodes_featureids=np.maximum(features, 0).tolist(),
            nodes_modes=["LEAF" if leaf else "BRANCH_LEQ" for leaf in tree.is_leaf.tolist()],
            nodes_truenodeids=np.maximum(tree.children_left, 0).tolist(),
            nodes_falsenodeids=np.maximum(tree.children_right, 0).tolist(),
            class_treeids=[0] * len(leaves),
            class_nodeids=leaves,
            class_ids=tree.cluster[leaves].tolist(),
            post_transform="NONE",
            **numbers,
            **labels,
        )
        self.nodes.append(node)
        n_clusters = len(self.explanation.cluster_names_)
        real = self._add("Constant", [], value_ints=list(range(n_clusters)))
        scores = self._free("scores")
        self.nodes.append(self.helper.make_node("Gather", [every_score, real], [scores], axis=1))
        info, number = self.helper.make_tensor_value_info, self.onnx.TensorProto.FLOAT
        return [info(cluster, kind, [None]), info(scores, number, [None, n_clusters])]


def _labels(onnx: Any, names: np.ndarray) -> tuple[dict[str, list[Any]], int]:
    """The labels as an attribute, and their type.

    Runtimes treat one or two classes specially, so unused labels make them three.
    """
    labels = [plain_value(label, "a cluster") for label in names.tolist()]
    is_text = all(isinstance(label, str) for label in labels)
    if not is_text:
        for label in labels:
            if label != int(label):
                raise TypeError(f"cluster {label!r}: labels in ONNX are strings or integers")
        labels = list(map(int, labels))
    others = (f"unused {i}" if is_text else i for i in count())
    labels += islice((other for other in others if other not in labels), max(3 - len(labels), 0))
    kind = onnx.TensorProto.STRING if is_text else onnx.TensorProto.INT64
    return {"classlabels_strings" if is_text else "classlabels_int64s": labels}, kind


def _category(name: Indicator) -> str | int:
    if name.value is None:
        raise ValueError(
            f"the tree has the condition {name!s}; ONNX has no missing values: replace them by a "
            "category of their own before fitting"
        )
    value = plain_value(name.value, f"a category of column {name.column!r}")
    if isinstance(value, float):
        raise TypeError(
            f"column {name.column!r} has {value!r} as a category; in ONNX they are strings or "
            "integers: convert them to strings before fitting"
        )
    return value
