"""How a report came about: the reference, the model and its parameters, versions."""

from __future__ import annotations

import platform
from typing import Any

import numpy as np

from pellucid._utils.texts import say
from pellucid.report.columns import clipped


def reference_word(fitted: Any) -> str:
    """Name of the explained clustering."""
    if hasattr(fitted, "medoid_indices_") and not hasattr(fitted, "reference_labels_"):
        return "k-medoids"
    if not hasattr(fitted, "reference_labels_"):
        return "the reference"
    if getattr(fitted, "_has_labels", False):
        return "the given clusters"
    reference = getattr(fitted, "reference", None)
    if reference is None:
        return "k-medians" if getattr(fitted, "objective", "kmeans") == "kmedians" else "k-means"
    name = type(reference).__name__
    known = {"KMeans": "k-means", "MiniBatchKMeans": "k-means", "ndarray": "the given centers"}
    return known.get(name, name)


def describe_making(fitted: Any, method: str | None) -> dict[str, str]:
    """Versions and parameters, the seed among them."""
    import numba
    import sklearn

    from pellucid._version import __version__

    made = {"model": method or say("notKnown")}
    if hasattr(fitted, "get_params"):
        for name, value in fitted.get_params(deep=False).items():
            made[name] = _parameter(value)
    made["pellucid"] = __version__
    made["Python"] = platform.python_version()
    made["NumPy"], made["scikit-learn"] = np.__version__, sklearn.__version__
    made["Numba"] = numba.__version__
    return made


def _parameter(value: Any) -> str:
    """Short text of a parameter, without memory addresses."""
    if isinstance(value, (list, tuple)) or (np.ndim(value) and hasattr(value, "__len__")):
        return say("valuesOfShape", shape="×".join(map(str, np.shape(value))))
    if isinstance(value, (str, int, float, bool, type(None), np.generic)):
        return clipped(str(value))
    if hasattr(value, "get_params"):
        return clipped(" ".join(repr(value).split()))
    return type(value).__name__
