"""Methods of models: exports, plots, reports, and those of scikit-learn's trees.

Only this module offers functions of higher layers. They are imported when they are called.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from types import MethodType
from typing import TYPE_CHECKING, Any, Final

from sklearn.utils.validation import check_is_fitted

from pellucid import export, plotting
from pellucid._utils.estimators import VersionedPickleMixin, find_rows, find_training_data

if TYPE_CHECKING:
    from os import PathLike
    from pathlib import Path
    from typing import Unpack

    from scipy import sparse

    from pellucid.report.writing import ReportOptions
    from pellucid.tree import ThresholdTree


class FunctionAsMethod:
    """A function of `package` that takes a model, as a method; it is imported when it is used."""

    def __init__(self, package: Any = export, name: str = "") -> None:
        self.package: Any = package
        self.name: str = name

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = self.name or name

    def __get__(self, model: Any, owner: type | None = None) -> Callable[..., Any]:
        function = getattr(self.package, self.name)
        return function if model is None else MethodType(function, model)


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
        from pellucid.report import write_report

        if hasattr(self, "fit"):
            check_is_fitted(self)
        if X is None and (series := find_training_data(self, "series")) is not None:
            options.setdefault("series", series)
        return write_report(path, self, find_rows(self, X), **options)


class PlotRegionsMixin:
    """The plot of the levels as a method."""

    if TYPE_CHECKING:
        plot: Final = plotting.plot_levels
    else:
        plot = FunctionAsMethod(plotting, "plot_levels")


class PlotTreeMixin:
    """The plot of the tree as a method."""

    if TYPE_CHECKING:
        plot: Final = plotting.plot_tree
    else:
        plot = FunctionAsMethod(plotting, "plot_tree")


class CommonExportMixin:
    """Functions of :mod:`pellucid.export` that take any model, as methods of the same names."""

    if TYPE_CHECKING:
        to_dict: Final = export.to_dict
        to_dmn: Final = export.to_dmn
        to_frame: Final = export.to_frame
        to_json: Final = export.to_json
        to_python: Final = export.to_python
        to_sql: Final = export.to_sql
    else:
        to_dict, to_dmn, to_frame = FunctionAsMethod(), FunctionAsMethod(), FunctionAsMethod()
        to_json, to_python, to_sql = FunctionAsMethod(), FunctionAsMethod(), FunctionAsMethod()


class RegionExportMixin(CommonExportMixin):
    """Exports of a decision list of regions as methods."""


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
        from pellucid.report.rules import write_rule_report

        check_is_fitted(self)
        return write_rule_report(path, self, find_rows(self, X), title=title)

    if TYPE_CHECKING:
        plot: Final = plotting.plot_rules
        to_sql_columns: Final = export.to_sql_columns
    else:
        plot = FunctionAsMethod(plotting, "plot_rules")
        to_sql_columns = FunctionAsMethod()


class ExportMixin(CommonExportMixin, ReportMixin):
    """All exports of a tree, and its report, as methods."""

    if TYPE_CHECKING:
        to_dot: Final = export.to_dot
        to_html: Final = export.to_html
        to_mermaid: Final = export.to_mermaid
        to_onnx: Final = export.to_onnx
        to_sklearn: Final = export.to_sklearn
    else:
        to_dot, to_html, to_mermaid = FunctionAsMethod(), FunctionAsMethod(), FunctionAsMethod()
        to_onnx, to_sklearn = FunctionAsMethod(), FunctionAsMethod()


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
        check_is_fitted(self)
        return self.tree_.max_depth

    def get_n_leaves(self) -> int:
        """Number of leaves of the tree.

        Returns
        -------
        int
            The number of leaves.
        """
        check_is_fitted(self)
        return self.tree_.n_leaves

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
        check_is_fitted(self)
        return self.tree_.decision_path(self._tree_input(X))
