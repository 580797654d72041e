"""Methods of models: exports, plots, reports, and those of scikit-learn's trees.

Only this module offers functions of higher layers. They are imported when they are called.
"""

from __future__ import annotations

import inspect
from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

from pellucid import export
from pellucid._utils.estimators import (
    FloatType,
    FrameKind,
    SQLDialect,
    VersionedPickleMixin,
    find_rows,
    find_training_data,
)

if TYPE_CHECKING:
    from os import PathLike
    from pathlib import Path
    from typing import Unpack

    import numpy as np
    import pandas as pd
    import polars as pl
    from matplotlib.axes import Axes
    from onnx import ModelProto
    from scipy import sparse
    from sklearn.tree import DecisionTreeClassifier

    from pellucid.report.writing import ReportOptions
    from pellucid.tables.encoding import ColumnNames
    from pellucid.tree import ThresholdTree

_Method = TypeVar("_Method", bound=Callable[..., Any])

_PARAMETERS = {
    "X": """X : array-like, sparse matrix or data frame of shape (n_samples, n_features), optional
    Rows that must keep their clusters.""",
    "dialect": """dialect : str, default="standard"
    Name of the SQL dialect.""",
    "table": """table : str or sequence of str, optional
    Table to query. Default: only the expression.""",
    "column": """column : str, default="cluster"
    Name of the new column.""",
    "name": """name : str, default="cluster_of"
    Name of the function.""",
    "kind": """kind : {"pandas", "polars", "dict"}, optional
    Type of the result. Default: a library that is there.""",
    "indent": """indent : int, optional
    Spaces per level. Default: all in one line.""",
    "dtype": """dtype : {"float64", "float32"}, default="float64"
    Type of the input.""",
    "feature_names": """feature_names : sequence of str, optional
    Names of the columns. Default: those of the model.""",
}
"""Descriptions of the parameters of exports."""


def _returns(kind: str, what: str) -> Callable[[_Method], _Method]:
    """Add the parameters and the returned value of an export to its one-line docstring."""

    def documented(method: _Method) -> _Method:
        taken = [name for name in inspect.signature(method).parameters if name != "self"]
        parts = [method.__doc__ or "", ""]
        if taken:
            parts += ["Parameters\n----------", *(_PARAMETERS[name] for name in taken), ""]
        method.__doc__ = "\n".join([*parts, f"Returns\n-------\n{kind}\n    {what}\n"])
        return method

    return documented


class RulesHtmlMixin:
    """What notebooks show of a list of rules."""

    def _repr_html_(self) -> str:
        from pellucid.export.html import rules_to_html

        return rules_to_html(self)  # type: ignore[arg-type]  # a sequence, beside this mixin


class ReportMixin(VersionedPickleMixin):
    """The report as a method of every fitted model."""

    def report(
        self, path: str | PathLike[str], X: Any = None, **options: Unpack[ReportOptions]
    ) -> Path:
        """Write a report, one HTML file: see :func:`pellucid.report.write_report`.

        Parameters
        ----------
        path : path-like
            The file.
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features), optional
            The rows to show. Default: those of `fit`, if they are still in memory; estimators do
            not store them.
        **options
            Options of :func:`pellucid.report.write_report`.

        Returns
        -------
        Path
            The file.
        """
        from sklearn.utils.validation import check_is_fitted

        from pellucid.report import write_report

        if hasattr(self, "fit"):
            check_is_fitted(self)
        if X is None and (series := find_training_data(self, "series")) is not None:
            options.setdefault("series", series)
        return write_report(path, self, find_rows(self, X), **options)


class PlotRegionsMixin:
    """The plot of the levels as a method."""

    def plot(self, X: Any, y: Any, *, n_levels: int = 4) -> np.ndarray:
        """Draw the first levels side by side; see :func:`pellucid.plotting.plot_level`.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows to show.
        y : array-like of shape (n_samples,)
            Their classes.
        n_levels : int, default=4
            Maximum number of levels.

        Returns
        -------
        ndarray of matplotlib Axes
            One per level.
        """
        from pellucid.plotting.regions import plot_levels

        return plot_levels(self, X, y, n_levels=n_levels)


class PlotTreeMixin:
    """The plot of the tree as a method."""

    def plot(self, X: Any = None, *, ax: Axes | None = None) -> Axes:
        """Draw the tree; the same as :func:`pellucid.plot_tree`.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame, optional
            Rows whose distributions the questions contain.
        ax : matplotlib Axes, optional
            Default: those of a new figure.

        Returns
        -------
        matplotlib Axes
            The axes with the tree.
        """
        from sklearn.utils.validation import check_is_fitted

        from pellucid.plotting import plot_tree

        check_is_fitted(self)
        return plot_tree(self, X, ax=ax)


class RegionExportMixin:
    """Exports of a decision list of regions as methods."""

    @_returns("dict", "Lists, dictionaries, texts and numbers.")
    def to_dict(self) -> dict[str, Any]:
        """As plain lists and dictionaries, in the form of `to_json`."""
        return export.to_dict(self)

    @_returns("str", "The JSON text.")
    def to_json(self, *, indent: int | None = None) -> str:
        """As JSON, which :func:`pellucid.from_json` reads: see :func:`pellucid.export.to_json`."""
        return export.to_json(self, indent=indent)

    @_returns("str", "The SQL text.")
    def to_sql(
        self,
        *,
        dialect: SQLDialect = "standard",
        table: str | Sequence[str] | None = None,
        column: str = "cluster",
    ) -> str:
        """As an SQL expression, or a query: see :func:`pellucid.export.to_sql`."""
        return export.to_sql(self, dialect=dialect, table=table, column=column)

    @_returns("str", "The XML text.")
    def to_dmn(self, *, column: str = "cluster") -> str:
        """As a decision table in DMN: see :func:`pellucid.export.to_dmn`."""
        return export.to_dmn(self, column=column)

    @_returns("str", "The source of the function.")
    def to_python(self, *, name: str = "cluster_of") -> str:
        """As the source of a Python function: see :func:`pellucid.export.to_python`."""
        return export.to_python(self, name=name)

    @overload
    def to_frame(self, *, kind: Literal["pandas"]) -> pd.DataFrame: ...
    @overload
    def to_frame(self, *, kind: Literal["polars"]) -> pl.DataFrame: ...
    @overload
    def to_frame(self, *, kind: Literal["dict"]) -> dict[str, np.ndarray]: ...
    @overload
    def to_frame(
        self, *, kind: FrameKind | None = None
    ) -> pd.DataFrame | pl.DataFrame | dict[str, np.ndarray]: ...
    @_returns("data frame or dict of str to ndarray", "One row per region and predicted cluster.")
    def to_frame(self, *, kind: FrameKind | None = None) -> Any:
        """As a table with a row for each region: see :func:`pellucid.export.to_frame`."""
        return export.to_frame(self, kind=kind)


class RuleSetMixin(RegionExportMixin):
    """Exports, the report and the plot of a set of rules as methods."""

    def report(self, path: str | PathLike[str], X: Any = None, *, title: str | None = None) -> Path:
        """Write a card per rule, overlaps, and what stays unexplained, as one HTML file.

        Parameters
        ----------
        path : path-like
            The file.
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features), optional
            Rows of which overlaps are counted. Default: those of `fit`, if they are in memory.
        title : str, optional
            Heading of the page.

        Returns
        -------
        Path
            The file.
        """
        from sklearn.utils.validation import check_is_fitted

        from pellucid.report.rules import write_rule_report

        check_is_fitted(self)
        return write_rule_report(path, self, find_rows(self, X), title=title)

    @_returns("str", "The SQL text: columns, or a query.")
    def to_sql_columns(
        self, *, dialect: SQLDialect = "standard", table: str | Sequence[str] | None = None
    ) -> str:
        """As one SQL column per rule: see :func:`pellucid.export.to_sql_columns`."""
        return export.to_sql_columns(self, dialect=dialect, table=table)

    def plot(self, *, ax: Any = None) -> Any:
        """Draw a bar per rule; the same as :func:`pellucid.plotting.plot_rules`.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Default: those of a new figure.

        Returns
        -------
        matplotlib Axes
            The axes with the bars.
        """
        from pellucid.plotting import plot_rules

        return plot_rules(self, ax=ax)


class ExportMixin(ReportMixin):
    """The functions of :mod:`pellucid.export` as methods of the same names."""

    @_returns("dict", "Lists, dictionaries, texts and numbers.")
    def to_dict(self, *, feature_names: ColumnNames | None = None) -> dict[str, Any]:
        """As plain lists and dictionaries: see :func:`pellucid.export.to_dict`."""
        return export.to_dict(self, feature_names=feature_names)

    @_returns("str", "The JSON text.")
    def to_json(
        self, *, feature_names: ColumnNames | None = None, indent: int | None = None
    ) -> str:
        """As JSON, which :func:`pellucid.from_json` reads: see :func:`pellucid.export.to_json`."""
        return export.to_json(self, feature_names=feature_names, indent=indent)

    @_returns("str", "The SQL text.")
    def to_sql(
        self,
        *,
        dialect: SQLDialect = "standard",
        table: str | Sequence[str] | None = None,
        column: str = "cluster",
        feature_names: ColumnNames | None = None,
    ) -> str:
        """As an SQL expression, or a query: see :func:`pellucid.export.to_sql`."""
        return export.to_sql(
            self, dialect=dialect, table=table, column=column, feature_names=feature_names
        )

    @_returns("str", "The source of the function.")
    def to_python(
        self, *, name: str = "cluster_of", feature_names: ColumnNames | None = None
    ) -> str:
        """As the source of a Python function: see :func:`pellucid.export.to_python`."""
        return export.to_python(self, name=name, feature_names=feature_names)

    @overload
    def to_frame(
        self, *, kind: Literal["pandas"], feature_names: ColumnNames | None = None
    ) -> pd.DataFrame: ...
    @overload
    def to_frame(
        self, *, kind: Literal["polars"], feature_names: ColumnNames | None = None
    ) -> pl.DataFrame: ...
    @overload
    def to_frame(
        self, *, kind: Literal["dict"], feature_names: ColumnNames | None = None
    ) -> dict[str, np.ndarray]: ...
    @overload
    def to_frame(
        self, *, kind: FrameKind | None = None, feature_names: ColumnNames | None = None
    ) -> pd.DataFrame | pl.DataFrame | dict[str, np.ndarray]: ...
    @_returns("data frame or dict of str to ndarray", "The nodes.")
    def to_frame(
        self, *, kind: FrameKind | None = None, feature_names: ColumnNames | None = None
    ) -> Any:
        """As a table with a row for each node: see :func:`pellucid.export.to_frame`."""
        return export.to_frame(self, kind=kind, feature_names=feature_names)

    @_returns("str", "The XML text.")
    def to_dmn(self, *, column: str = "cluster", feature_names: ColumnNames | None = None) -> str:
        """As a decision table in DMN: see :func:`pellucid.export.to_dmn`."""
        return export.to_dmn(self, column=column, feature_names=feature_names)

    @_returns("str", "The text in the DOT language.")
    def to_dot(self, *, feature_names: ColumnNames | None = None) -> str:
        """As a graph for Graphviz: see :func:`pellucid.export.to_dot`."""
        return export.to_dot(self, feature_names=feature_names)

    @_returns("str", "The text of the flowchart.")
    def to_mermaid(self, *, feature_names: ColumnNames | None = None) -> str:
        """As a flowchart for Mermaid: see :func:`pellucid.export.to_mermaid`."""
        return export.to_mermaid(self, feature_names=feature_names)

    @_returns("str", "The HTML text.")
    def to_html(self, *, feature_names: ColumnNames | None = None) -> str:
        """As a piece of HTML, which notebooks show: see :func:`pellucid.export.to_html`."""
        return export.to_html(self, feature_names=feature_names)

    @_returns("onnx.ModelProto", "The model.")
    def to_onnx(
        self,
        X: Any = None,
        *,
        dtype: FloatType = "float64",
        feature_names: ColumnNames | None = None,
    ) -> ModelProto:
        """As an ONNX model: see :func:`pellucid.export.to_onnx`."""
        return export.to_onnx(self, X, dtype=dtype, feature_names=feature_names)

    @_returns("DecisionTreeClassifier", "The fitted classifier.")
    def to_sklearn(
        self,
        X: Any = None,
        *,
        dtype: FloatType = "float64",
        feature_names: ColumnNames | None = None,
    ) -> DecisionTreeClassifier:
        """As a fitted decision tree of scikit-learn: see :func:`pellucid.export.to_sklearn`."""
        return export.to_sklearn(self, X, dtype=dtype, feature_names=feature_names)


class EstimatorExportMixin(ExportMixin):
    """The same for estimators, which notebooks show as their rules once they are fitted."""

    @property
    def _repr_html_(self) -> Any:
        drawn = super()._repr_html_  # type: ignore[misc]  # missing unless scikit-learn is set to draw diagrams
        return self.to_html if hasattr(self, "tree_") else drawn

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]:
        bundle = super()._repr_mimebundle_(**options)  # type: ignore[misc]
        if "text/html" in bundle and hasattr(self, "tree_"):
            bundle["text/html"] = self.to_html()
        return bundle


class TreeModelMixin:
    """Depth, number of leaves and decision paths, under the names of scikit-learn's trees."""

    tree_: ThresholdTree

    @abstractmethod
    def _tree_input(self, X: Any) -> Any:
        """`X` as the matrix that `tree_` takes."""

    def get_depth(self) -> int:
        """Depth of the tree: the number of splits on the longest path.

        Returns
        -------
        int
            The depth.
        """
        return _fitted_tree(self).max_depth

    def get_n_leaves(self) -> int:
        """Number of leaves of the tree.

        Returns
        -------
        int
            The number of leaves.
        """
        return _fitted_tree(self).n_leaves

    def decision_path(self, X: Any) -> sparse.csr_array:
        """Nodes that each row passes, as an indicator matrix.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Rows with the columns of `fit`.

        Returns
        -------
        csr_array of shape (n_samples, node_count)
            Entry (i, j) is 1 if row i passes node j of `tree_`. A row of depth d has d + 1 entries.
        """
        return _fitted_tree(self).decision_path(self._tree_input(X))


def _fitted_tree(model: TreeModelMixin) -> ThresholdTree:
    """The tree of a model; an error if it is not fitted."""
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(model)
    return model.tree_
