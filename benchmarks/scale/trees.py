"""Trees of generated data sets in memory, streamed, on Dask and on Spark: all arrays are compared.

The sets have ties, skew, different magnitudes and weights. Their rows are shuffled and divided into
1 to 64 partitions, some of them empty.
"""

from __future__ import annotations

import os
import sys
import warnings
from functools import partial
from typing import Any

import numpy as np

import pellucid
from benchmarks.page import Sheet
from benchmarks.settings import Settings
from benchmarks.store import Store, read_rows

FILE = "scale_trees.csv"
PART = "trees"
N_SETS, N_SPARK_SETS = 200, 6
METHODS = {
    "IMM": pellucid.IMM,
    "EMN": pellucid.EMN,
    "ExGreedy": pellucid.ExGreedy,
    "ExShallow": pellucid.ExShallow,
    "ExKMC": pellucid.ExKMC,
    "BSIMM": partial(pellucid.BSIMM, beam_width=6),
}
ENGINES = ("streamed", "Dask", "Spark")


def make_set(
    seed: int, most_parts: int = 64
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None, list[dict]]:
    """Rows, centers, weights and partitions of a data set."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(5, 4000)), int(rng.integers(1, 7))
    X = rng.normal(size=(n, d)) * rng.choice([1.0, 10.0, 1e-3], size=d) + rng.normal(size=d)
    kind = seed % 4
    if kind == 1:
        X = np.round(X, 1)
    elif kind == 2:
        X = rng.gamma(0.3, size=(n, d))
    elif kind == 3:
        X = X.astype(np.float32)
    centers = X[rng.choice(n, min(int(rng.integers(2, 9)), n), replace=False)].astype(np.float64)
    if rng.random() < 0.5:
        centers = centers + 0.1 * rng.normal(size=centers.shape)
    weights = [
        None,
        rng.integers(0, 4, size=n) + (np.arange(n) == 0.0),
        rng.random(n),
        np.exp(3 * rng.normal(size=n)),
    ][int(rng.integers(4))]
    cuts = np.sort(rng.integers(0, n + 1, size=int(rng.integers(0, most_parts))))
    parts = []
    for rows in np.split(rng.permutation(n), cuts):
        part = {f"x{j}": X[rows, j] for j in range(d)}
        parts.append(part if weights is None else {**part, "w": weights[rows].astype(float)})
    return X, centers, weights, parts


def _source(engine: str, parts: list[dict], spark: Any) -> Any:
    import pandas as pd

    frames = [pd.DataFrame(part) for part in parts]
    if engine == "streamed":
        return lambda: frames
    if engine == "Dask":
        import dask
        import dask.dataframe as dd

        delayed = [dask.delayed(frame) for frame in frames]
        return dd.from_delayed(delayed, meta=frames[0].iloc[:0], verify_meta=False)
    together = spark.createDataFrame(pd.concat(frames))
    return together.repartition(min(len(frames), 8))


def _start_spark() -> Any:
    """A local session; None without Java or pyspark."""
    try:
        from pyspark.sql import SparkSession

        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
        return builder.getOrCreate()
    except Exception as error:
        print(f"scale: Spark is not measured ({type(error).__name__})", flush=True)
        return None


def measure(settings: Settings) -> None:
    """Compare the trees of the sets that have not been compared."""
    columns = ("method", "rows", "partitions", "weighted", *ENGINES)
    store = Store(settings.output / FILE, ("seed",), columns)
    n_sets, n_spark = (6, 0) if settings.quick else (N_SETS, settings.n_seeds(N_SPARK_SETS))
    most_parts = 3 if settings.quick else 64
    spark = None
    for seed in range(n_sets):
        if settings.fresh:
            store.drop([{"seed": seed}])
        known = next((row for row in store.rows if row["seed"] == str(seed)), None)
        if known is not None and (known["Spark"] or seed >= n_spark):
            continue
        if seed < n_spark and spark is None:
            spark = _start_spark()
        has_spark = spark is not None and seed < n_spark
        if known is not None and not has_spark:
            continue
        engines = (() if known else ENGINES[:2]) + ENGINES[2:] * has_spark
        found = compare(seed, engines, spark, most_parts)
        store.drop([{"seed": seed}])
        store.add([{"seed": seed, **(known or {}), **found}])
    if spark is not None:
        spark.stop()


def compare(seed: int, engines: tuple[str, ...], spark: Any = None, most_parts: int = 64) -> dict:
    """Fit one data set in memory and on some engines."""
    name = list(METHODS)[seed % len(METHODS)]
    X, centers, weights, parts = make_set(seed, most_parts)
    found = {"method": name, "rows": len(X), "partitions": len(parts)}
    found["weighted"] = weights is not None
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "the tree has")
        expected = METHODS[name](reference=centers).fit(X, sample_weight=weights).tree_
        for engine in engines:
            source = _source(engine, parts, spark)
            data = pellucid.scan(source, weight=None if weights is None else "w")
            tree = METHODS[name](reference=centers).fit(data).tree_
            found[engine] = "same" if tree == expected else "different"
    return found


def sheets(settings: Settings) -> list[Sheet]:
    """How many trees are the same, by method and engine."""
    rows = read_rows(settings.output / FILE)
    lines = []
    for name in [*METHODS, "all"]:
        of_method = [row for row in rows if name in (row["method"], "all")]
        counts = []
        for engine in ENGINES:
            outcomes = [row[engine] for row in of_method if row.get(engine)]
            counts.append(f"{outcomes.count('same')} of {len(outcomes)}" if outcomes else "–")
        lines.append([name, str(len(of_method)), *counts])
    note = (
        "Data sets with ties, skew, weights, shuffled rows and 1 to 64 partitions, some of them "
        "empty. A tree counts if all its arrays are those of the tree in memory."
    )
    title = "The same tree as in memory"
    return [Sheet(title, ["method", "data sets", *ENGINES], lines, note)] * bool(rows)
