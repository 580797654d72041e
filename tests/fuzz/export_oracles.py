"""What the exports of a model must answer: the same as `predict`, where they are executed."""

from __future__ import annotations

import pickle
import sqlite3

import numpy as np

from pellucid import from_json
from pellucid._utils.imports import is_missing

from .tree_oracles import require, same_tree


def check_exports(model, X: np.ndarray, rng) -> None:
    """One export of a fitted tree, executed on the rows of X, if its packages are installed."""
    check, packages = _CHECKS[rng.integers(len(_CHECKS))]
    if not any(is_missing(package) for package in packages):
        check(model, X)


def _columns(X):
    return [f"x{j}" for j in range(X.shape[1])]


def _check_python(model, X):
    scope: dict = {}
    exec(model.to_python(), scope)
    names = _columns(X)
    found = [scope["cluster_of"](dict(zip(names, row))) for row in X.tolist()]
    require(found == model.labels_.tolist(), "to_python answers otherwise")


def _check_json(model, X):
    read = from_json(model.to_json())
    require(same_tree(read.tree_, model.tree_), "the tree read from JSON differs")
    require(np.array_equal(read.predict(X), model.labels_), "the model read from JSON differs")


def _check_pickle(model, X):
    read = pickle.loads(pickle.dumps(model))
    require(np.array_equal(read.predict(_like(model, X)), model.labels_), "pickling changes it")


def _like(model, X):
    if not hasattr(model, "feature_names_in_"):
        return X
    import pandas as pd

    return pd.DataFrame(X, columns=model.feature_names_in_)


def run_sqlite(expression: str, X: np.ndarray) -> list:
    """Values of an SQL expression of the columns x0, x1, ... for each row."""
    connection = sqlite3.connect(":memory:")
    try:
        names = ", ".join(f"x{j} REAL" for j in range(X.shape[1]))
        connection.execute(f"CREATE TABLE t (i INTEGER, {names})")
        marks = ", ".join("?" * (X.shape[1] + 1))
        rows = [(i, *row) for i, row in enumerate(X.tolist())]
        connection.executemany(f"INSERT INTO t VALUES ({marks})", rows)
        return [v for (v,) in connection.execute(f"SELECT {expression} FROM t ORDER BY i")]
    finally:
        connection.close()


_duckdb = []


def run_duckdb(expression: str, X: np.ndarray) -> list:
    """The same in DuckDB."""
    import duckdb
    import pyarrow as pa

    if not _duckdb:
        _duckdb.append(duckdb.connect(config={"threads": 1}))
    columns = {"i": np.arange(len(X)), **dict(zip(_columns(X), np.ascontiguousarray(X.T)))}
    _duckdb[0].register("t", pa.table(columns))
    return [v for (v,) in _duckdb[0].execute(f"SELECT {expression} FROM t ORDER BY i").fetchall()]


def _check_sqlite(model, X):
    found = run_sqlite(model.to_sql(dialect="sqlite"), X)
    require(found == model.labels_.tolist(), "SQLite answers otherwise")


def _check_duckdb(model, X):
    found = run_duckdb(model.to_sql(dialect="duckdb"), X)
    require(found == model.labels_.tolist(), "DuckDB answers otherwise")


def _check_onnx(model, X):
    import onnxruntime

    exported = model.to_onnx(dtype="float64")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        exported.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    inputs = {session.get_inputs()[0].name: X}
    found = np.asarray(session.run(None, inputs)[0]).ravel()
    require(found.tolist() == model.labels_.tolist(), "ONNX Runtime answers otherwise")


_CHECKS = (
    (_check_python, ()),
    (_check_json, ("fastjsonschema",)),
    (_check_sqlite, ()),
    (_check_duckdb, ("duckdb", "pyarrow")),
    (_check_onnx, ("onnx", "onnxruntime")),
    (_check_pickle, ()),
)
"""Checks of exports, and the packages that they need."""
