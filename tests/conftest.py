"""Markers: tests that take long are `slow` and are left out by ``make test-quick``."""

from __future__ import annotations

import signal

import pytest

SLOW = (
    "baselines/",
    "benchmarks/",
    "cli/",
    "cluster/test_explainable_kmeans.py",
    "cluster/test_few_bins.py",
    "cluster/test_inputs.py",
    "cluster/test_kmedians_trees.py",
    "cluster/test_optimal_tree.py",
    "cluster/test_path.py",
    "cluster/test_polish_parameter.py",
    "cluster/test_random_thresholds.py",
    "core/refine/",
    "eop/",
    "export/test_onnx.py",
    "faults/",
    "plotting/",
    "report/",
    "table_explainer/",
    "tables/test_reading_",
    "tables/test_writing.py",
    "test_sklearn_contract.py",
    "test_import.py",
    "tree/test_predictor.py",
    "test_docs.py",
    "utils/test_compilation.py",
    "xclusters/",
)
"""Paths of slow tests, or parts of paths: contracts, browsers, compilation, whole programs."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark slow tests by their path."""
    for item in items:
        if any(part in item.path.as_posix() for part in SLOW) and "/tests/" in str(item.path):
            item.add_marker(pytest.mark.slow)


@pytest.fixture(autouse=True)
def python_handles_ctrl_c() -> None:
    """Python's own handler for SIGINT: a Spark session replaces it for the rest of the process."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
