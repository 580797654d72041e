"""Large inputs: many rows, many columns, many stored entries, many clusters, many leaves.

Each case runs in a process of its own, with a time limit: ``python -m benchmarks.big CASE 0``
prints one JSON object per step. Measured are seconds and the peak of the memory above what was in
use before the step, with the data loaded.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.child import _peak, _reset_peak
from benchmarks.page import Section, Sheet
from benchmarks.settings import Settings
from benchmarks.store import Store, read_rows

FILE = "big.csv"
LIMIT = 600
"""Seconds for a whole case."""

Steps = Iterator[tuple[str, Callable[[], Any]]]


def _fits(X, k: int, *methods) -> Steps:
    centers = X[:k].toarray() if hasattr(X, "toarray") else np.array(X[:k], dtype=np.float64)
    for method in methods:
        yield method.__name__, lambda method=method: method(reference=centers).fit(X)


def _many_rows(quick: bool) -> Steps:
    from pellucid import IMM, ExKMC, ExShallow

    rng = np.random.default_rng(0)
    X = rng.random((200_000 if quick else 20_000_000, 5), dtype=np.float32)
    yield from _fits(X, 5, IMM, ExShallow, ExKMC)


def _many_columns(quick: bool) -> Steps:
    from pellucid import IMM, ExKMC, ExShallow

    X = np.random.default_rng(0).normal(size=(2_000, 1_000 if quick else 20_000))
    yield from _fits(X, 10, IMM, ExShallow, ExKMC)


def _sparse(quick: bool) -> Steps:
    from scipy import sparse

    from pellucid import IMM, ExShallow

    rows, columns, entries = (20_000, 5_000, 200_000) if quick else (200_000, 50_000, 20_000_000)
    rng = np.random.default_rng(0)
    where = rng.integers(0, rows, entries), rng.integers(0, columns, entries)
    X = sparse.coo_array((rng.random(entries), where), shape=(rows, columns)).tocsr()
    yield from _fits(X, 10, IMM, ExShallow)


def _many_clusters(k: int, quick: bool) -> Steps:
    from pellucid import IMM, ExKMC, ExShallow, SpEx

    X = np.random.default_rng(0).normal(size=(5_000 if quick else 50_000, 10))
    yield from _fits(X, k // 10 if quick else k, IMM, ExShallow, ExKMC, SpEx)


def _chain(quick: bool) -> Steps:
    """Centers on a line: no cut makes a mistake, so each cut separates the lowest center."""
    from pellucid import IMM

    k = 60 if quick else 2_000
    X = np.arange(5.0 * k)[:, None]
    model = IMM(reference=X[2::5], threshold_style="data")
    yield "IMM", lambda: model.fit(X)
    yield from _uses(model, X)


def _many_leaves(quick: bool) -> Steps:
    """Labels at random: only single rows are pure."""
    from pellucid.baselines import CARTExplainer

    n, rng = 2_000 if quick else 200_000, np.random.default_rng(0)
    X, y = rng.normal(size=(n, 3)), rng.integers(0, 8, n)
    model = CARTExplainer(n_leaves=n // 2)
    yield "CARTExplainer", lambda: model.fit(X, y)
    yield from _uses(model, X)


def _uses(model, X) -> Steps:
    """What is done with a tree; each answer is checked."""
    from pellucid import export_text, from_json

    def rules():
        assert sum(rule.n_samples for rule in model.rules_) == len(X)
        return str(model.explain())

    def python():
        scope: dict = {}
        exec(model.to_python(), scope)
        rows = [scope["cluster_of"]({f"x{j}": v for j, v in enumerate(row)}) for row in X[:100]]
        assert rows == model.labels_[:100].tolist()

    def in_json():
        read = from_json(model.to_json())
        np.testing.assert_array_equal(read.predict(X[:1000]), model.labels_[:1000])

    def rows():
        assert model.explain(X[:1000])[0].cluster == model.labels_[0]

    yield "depth", lambda: print(json.dumps({"depth": model.tree_.max_depth}), file=sys.stderr)
    yield "predict", lambda: np.testing.assert_array_equal(model.predict(X), model.labels_)
    yield "explain rows", rows
    yield "decision_path", lambda: model.decision_path(X[:1000])
    yield "rules", rules
    yield "export_text", lambda: export_text(model)
    yield "to_json, from_json", in_json
    yield "to_sql", lambda: model.to_sql(dialect="duckdb")
    yield "to_python, executed", python
    yield "to_dot", model.to_dot
    yield "to_mermaid", model.to_mermaid
    yield "to_frame", model.to_frame
    yield "to_onnx", model.to_onnx
    yield "to_html", model.to_html


CASES: dict[str, Callable[[bool], Steps]] = {
    "rows": _many_rows,
    "columns": _many_columns,
    "sparse": _sparse,
    "k500": lambda quick: _many_clusters(500, quick),
    "k2000": lambda quick: _many_clusters(2_000, quick),
    "chain": _chain,
    "leaves": _many_leaves,
}


TITLES = {
    "rows": "20,000,000 × 5, float32",
    "columns": "2,000 × 20,000",
    "sparse": "200,000 × 50,000, sparse, 20,000,000 entries",
    "k500": "50,000 × 10, k = 500",
    "k2000": "50,000 × 10, k = 2,000",
    "chain": "chain of 2,000 leaves",
    "leaves": "100,000 leaves",
}


def run_case(name: str, quick: bool) -> None:
    """Do the steps of a case and print a line for each."""
    _warm_up(quick)
    for step, work in CASES[name](quick):
        before = _reset_peak()
        start = perf_counter()
        try:
            work()
            outcome = "done"
        except Exception as error:
            outcome = f"{type(error).__name__}: {str(error)[:150]}"
        seconds = perf_counter() - start
        line = {"step": step, "seconds": seconds, "peak_bytes": max(_peak() - before, 0)}
        print(json.dumps({**line, "outcome": outcome}), flush=True)


def _warm_up(quick: bool) -> None:
    """Compile what the cases use."""
    from scipy import sparse

    from pellucid import IMM, ExKMC, ExShallow, SpEx

    X = np.random.default_rng(0).normal(size=(100, 3))
    for method in (IMM,) if quick else (IMM, ExShallow, ExKMC, SpEx):
        for data in (X, X.astype(np.float32), sparse.csr_array(X)):
            method(reference=X[:3]).fit(data).predict(data)


def measure(settings: Settings) -> None:
    """Run the cases that have not been run."""
    store = Store(settings.output / FILE, ("case", "step"), ("seconds", "peak_bytes", "outcome"))
    for name in settings.choose(CASES):
        if settings.fresh:
            store.drop([{"case": name}])
        if {"case": name} not in store:
            print(f"big: {name}", flush=True)
            store.add({"case": name, **line} for line in _ask(name, settings.quick))


def _ask(name: str, quick: bool) -> list[dict]:
    """The lines that a case prints in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.big", name, str(int(quick))]
    try:
        printed = subprocess.run(command, stdout=subprocess.PIPE, timeout=LIMIT, check=False)
        ended = f"exit code {printed.returncode}" if printed.returncode else ""
        text = printed.stdout
    except subprocess.TimeoutExpired as late:
        ended, text = f"more than {LIMIT} seconds", late.stdout or b""
    lines = [json.loads(line) for line in text.decode().splitlines()]
    return lines + [{"step": "(process)", "outcome": ended}] * bool(ended)


def sections(settings: Settings) -> list[Section]:
    """Seconds and memory of each step."""
    lines = []
    for row in read_rows(settings.output / FILE):
        seconds = f"{float(row['seconds']):.2f} s" if row["seconds"] else "–"
        memory = f"{float(row['peak_bytes']) / 2**20:,.0f} MiB" if row["peak_bytes"] else "–"
        lines.append([TITLES[row["case"]], row["step"], seconds, memory, row["outcome"]])
    note = "Memory is the peak above what was in use before the step, with the data loaded."
    columns = ["case", "step", "time", "memory", "outcome"]
    sheet = Sheet("Large inputs", columns, lines, note)
    return [Section("Large inputs", "", [sheet])] * bool(lines)


if __name__ == "__main__":
    run_case(sys.argv[1], bool(int(sys.argv[2])))
