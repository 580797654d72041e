"""What estimators share: types of options, parts of docstrings, references to training data."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeVar
from weakref import WeakKeyDictionary, ref

from pellucid._version import __version__

# Types of the options that are strings, for type checkers. ``tests/utils/test_options.py`` compares
# them with the strings that are accepted.
Objective = Literal["kmeans", "kmedians"]
Noise = Literal["background", "cluster", "drop", "group"]
Polish = bool | Literal["deep"]
Effort = Literal["fast", "balanced", "best"]
RegionShape = Literal["box", "nonparametric", "polyhedron", "ellipse"]
FloatType = Literal["float64", "float32"]
FrameKind = Literal["pandas", "polars", "dict"]
SQLDialect = Literal[
    "standard", "bigquery", "duckdb", "mssql", "mysql", "postgres", "snowflake", "spark", "sqlite"
]


def is_background(noise: str) -> bool:
    """Whether rows of noise are left out; "drop" is an older word for "background"."""
    return noise in ("background", "drop")


def has_space(model: Any) -> bool:
    """Whether costs and centers of a fitted model are in another space than the columns of X."""
    return getattr(model, "space_loss_", None) is not None


_Documented = TypeVar("_Documented", bound=Callable[..., Any])


def fill_docstring(cls: _Documented, parts: Mapping[str, str]) -> _Documented:
    """Replace ``{name}`` in the docstring of a class or function by the part with this name.

    The lines of the parts, except the first, are indented as in the body of a class. The docstring
    is then without indentation, as Python 3.13 stores it.
    """
    if cls.__doc__:
        filled = inspect.cleandoc(cls.__doc__) + "\n"
        for name, text in parts.items():
            filled = filled.replace(f"{{{name}}}", text.replace("\n    ", "\n"))
        cls.__doc__ = filled
    return cls


def documented(function: _Documented) -> _Documented:
    """Fill the parameters that exports and plots share in the docstring of a function."""
    return fill_docstring(function, _PARTS)


_PARTS = {
    "model": """model : fitted estimator, Explanation or ThresholdTree
        A fitted tree model, an :class:`~pellucid.Explanation` or a tree.""",
    "any_model": """model : fitted estimator, Explanation, ThresholdTree or RegionList
        A fitted model, an :class:`~pellucid.Explanation`, a tree, or regions: boxes, polyhedra or
        ellipses, with stumps or constants as base classifiers.""",
    "feature_names": """feature_names : sequence of str or Indicator, optional
        Names of the columns; those seen in `fit`, or ``x0, x1, ...``, when left out.""",
    "level_rows": """model : fitted EOPClassifier or ATEOPClassifier
        A fitted EOP classifier.
    X : array-like or data frame of shape (n_samples, n_features)
        Rows to show: those of the training, or others.
    y : array-like of shape (n_samples,)
        Their classes.""",
    "level": """level : int, default=0
        Number of the level, from 0.""",
    "measure": """measure : {"waes", "wad", "n_leaves"}, default="waes"
        The length that is drawn along the x axis.
    reference : str, default="reference"
        Name of the explained clustering, such as "k-means".""",
    "ax": """ax : matplotlib Axes, optional
        Where to draw; a new figure when left out.

    Returns
    -------
    matplotlib Axes
        The axes of the plot.""",
}


def store_parameters(estimator: Any, given: Mapping[str, Any]) -> None:
    """Set the parameters of an estimator: `given` are the ``locals()`` of its `__init__`."""
    for name, value in given.items():
        if name != "self":
            setattr(estimator, name, value)


class VersionedPickleMixin:
    """Pickles with the version of the package; another version warns, as scikit-learn does."""

    def __getstate__(self) -> Any:
        state = super().__getstate__()
        return {**state, _VERSION: __version__} if isinstance(state, dict) else state

    def __setstate__(self, state: Any) -> None:
        state = dict(state)
        version = state.pop(_VERSION, None)
        if version != __version__:
            warnings.warn(
                f"this {type(self).__name__} was pickled by pellucid {version or '0.1'} and is "
                f"loaded by {__version__}, which may fail or give other results; to_json writes "
                "models that all later versions read",
                UserWarning,
                stacklevel=2,
            )
        parent = getattr(super(), "__setstate__", None)
        self.__dict__.update(state) if parent is None else parent(state)


_VERSION = "_pellucid_version"

_DATA: WeakKeyDictionary[Any, dict[str, ref]] = WeakKeyDictionary()
"""Weak references to the data of fits, by model.

Estimators do not store their data, which would be part of every pickle and stay in memory. A weak
reference does neither, and lets a report be written right after `fit` without passing the rows
again.
"""


def store_training_data(model: Any, **data: Any) -> None:
    """Store weak references to the data of a fit by name; objects without them are left out."""
    references = {}
    for name, value in data.items():
        try:
            references[name] = ref(value)
        except TypeError:  # lists, for instance
            continue
    _DATA[model] = references


def find_training_data(model: Any, name: str) -> Any:
    """The data of a fit by name; None if they were not stored or are no longer in memory."""
    reference = _DATA.get(model, {}).get(name)
    return None if reference is None else reference()


def find_rows(model: Any, X: Any) -> Any:
    """`X`, or if that is None the rows of the fit; an error if they are no longer in memory."""
    found = find_training_data(model, "X") if X is None else X
    if found is None:
        raise ValueError(
            "X is missing: the rows of fit are no longer in memory (or were a list), and models "
            "do not store them; pass them as X"
        )
    return found
