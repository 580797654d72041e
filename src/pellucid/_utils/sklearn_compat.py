"""The private names of scikit-learn 1.6 to 1.9 and of joblib that the package uses, in one place.

scikit-learn does not document parameter constraints, but every estimator of its own has them, and
they give users the messages they are used to. ``tests/utils/test_sklearn_compat.py`` checks that no
other module imports private names.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import _safe_indexing
from sklearn.utils._openmp_helpers import _openmp_effective_n_threads
from sklearn.utils._param_validation import HasMethods as HasMethods
from sklearn.utils._param_validation import Interval as Interval
from sklearn.utils._param_validation import StrOptions as StrOptions

if TYPE_CHECKING:
    from sklearn.tree import DecisionTreeClassifier

# What a node of a tree of scikit-learn 1.6 to 1.9 has.
_NODE_FIELDS = (
    *("left_child", "right_child", "feature", "threshold", "impurity", "n_node_samples"),
    *("weighted_n_node_samples", "missing_go_to_left"),
)


def has_categorical_splits(classifier: DecisionTreeClassifier) -> bool:
    """Whether splits of a tree may be sets of categories, as later versions of scikit-learn have.

    A tree with unknown fields of its nodes, one of which is used, may have such splits.
    """
    if getattr(classifier, "categorical_features", None) is not None:
        return True
    nodes = classifier.tree_.__getstate__()["nodes"]
    unknown = [name for name in nodes.dtype.names if name not in _NODE_FIELDS]
    return any(np.asarray(nodes[name]).astype(bool).any() for name in unknown)


def take_rows(X: Any, rows: np.ndarray) -> Any:
    """Some rows of an array, a sparse matrix or a data frame."""
    return _safe_indexing(X, rows)


def openmp_threads() -> int:
    """Threads that OpenMP may use, by its environment variables and by threadpoolctl."""
    return int(_openmp_effective_n_threads())


def configured_n_jobs() -> int | None:
    """`n_jobs` of the active ``joblib.parallel_config``; None outside of one.

    It is 1 in a thread of joblib, because its threads use all processors already. joblib offers
    no public function that distinguishes a configured 1 from its default of 1.
    """
    from joblib import parallel

    config = getattr(getattr(parallel, "_backend", None), "config", None)
    default = getattr(parallel, "default_parallel_config", None)
    if not config or not default:
        return None
    is_nested = getattr(config.get("backend"), "nesting_level", None)
    if is_nested and threading.current_thread() is not threading.main_thread():
        return 1
    if config.get("n_jobs") is default["n_jobs"]:
        return None
    n_jobs = config["n_jobs"]
    return n_jobs if isinstance(n_jobs, int) else None


def validate_parameters(estimator: Any) -> None:
    """Check an estimator's parameters against its ``_parameter_constraints`` (a `ValueError`)."""
    estimator._validate_params()


def input_columns(column_transformer: Any, name: str) -> list[int]:
    """Positions of the columns that one part of a fitted ColumnTransformer takes."""
    return list(column_transformer._transformer_to_input_indices[name])


def decision_tree_classifier(
    nodes: Mapping[str, np.ndarray], values: np.ndarray, *, n_features: int, max_depth: int
) -> DecisionTreeClassifier:
    """A fitted classifier with the given nodes; its classes are 0, 1, ...

    scikit-learn has no public function for this; the state by which trees are pickled is used.
    `nodes` has fields by scikit-learn's names; those left out are 0. `values` is the fraction of
    each class, of shape (node_count, n_classes).
    """
    from scipy import sparse
    from sklearn.tree import DecisionTreeClassifier

    # Constant columns give a single leaf, and all attributes that a fit sets. There are two rows
    # per class, because scikit-learn warns about fewer.
    classes = np.repeat(np.arange(values.shape[1]), 2)
    constant = sparse.csc_matrix((len(classes), n_features), dtype=np.float32)
    classifier = DecisionTreeClassifier().fit(constant, classes)
    kind, arguments, state = classifier.tree_.__reduce__()
    records = np.zeros(len(values), dtype=state["nodes"].dtype)
    for name, array in nodes.items():
        records[name] = array
    state.update(
        max_depth=max_depth,
        node_count=len(records),
        nodes=records,
        values=np.ascontiguousarray(values[:, None, :], dtype=np.float64),
    )
    tree = kind(*arguments)
    tree.__setstate__(state)
    classifier.tree_ = tree
    return classifier
