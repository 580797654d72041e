"""A tree with names: a fitted model without the data and the fit."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from math import isnan
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pellucid.explanation.input_columns import InputColumns
from pellucid.explanation.mixins import ExportMixin
from pellucid.explanation.rules import (
    ClusterRule,
    ExplainMixin,
    RowExplanation,
    RowRule,
    RuleList,
    cluster_rules,
    column_names,
    default_names,
    explain_rows,
    label_text,
    leaf_rules,
    special_rules,
)
from pellucid.tables.column_formats import ColumnFormat
from pellucid.tables.encoding import ColumnNames, Indicator, columns_of
from pellucid.tables.frames import Columns
from pellucid.tree import ThresholdTree


class Explanation(ExplainMixin, ExportMixin):
    """A tree with the names of its columns and clusters: it predicts, explains and exports.

    Made from a fitted estimator by :meth:`of`, from a file by :func:`pellucid.from_json`, or from
    a pipeline by :func:`pellucid.explain_pipeline`. It holds no data and cannot be fitted.

    Only the columns that the tree uses are read, here as in every export: a table may lack the
    others, and they may hold anything. A missing category is a category of its own, unless `fill`
    has a replacement. A missing number is an error. An explanation of a table (`reading` is given,
    as by :func:`pellucid.explain`) reads every table that `pellucid.explain` takes, also numbers
    and dates in text; there, a row has no cluster (-1) if a number on its path is missing.

    Parameters
    ----------
    tree : ThresholdTree
        The tree.
    names : sequence of str or Indicator, optional
        Description of each column of the tree. Default: ``x0, x1, ...``.
    clusters : sequence, optional
        Labels of the clusters 0, 1, ... Default: the numbers themselves.
    purity : dict of int to float, optional
        Purity of the leaves, by node number.
    noise : dict of int to int, optional
        Rows of noise in the leaves, by node number.
    columns : sequence of str, optional
        Names of the columns of the data, in order, if they differ from `names` because some are
        encoded or not used.
    fill : dict of str to value, optional
        Replacement of missing values, by column of the data.
    method : str, optional
        Name of the method that made the tree.
    formats : dict of str to ColumnFormat, optional
        How the values of numeric columns of the data are written, by column. A column in the
        format of dates is read as days since 1970-01-01; `predict` accepts dates, times and
        their texts.
    reading : dict, optional
        How the table of the model was read, as strings, numbers, lists and dictionaries; empty for
        a data frame. Further tables are read in the same way.

    Attributes
    ----------
    tree_ : ThresholdTree
    rules_ : RuleList
        Rule of each cluster.
    cluster_names_ : ndarray of shape (n_clusters,)
        Labels of the clusters.
    n_leaves_ : int
    n_features_in_ : int
        Number of columns of the data.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if they have any.
    tree_columns_ : list of str or Indicator
        Descriptions of the columns of the tree.
    fill_, method_, formats_, reading_
        See the parameters.

    See Also
    --------
    explain_pipeline : The explanation of a tree behind a scaler, in original units.
    from_json : Reads a model that `to_json` wrote.
    from_sklearn : The explanation of a tree of scikit-learn.

    Notes
    -----
    A category that was not in the training data differs from all known ones, also if only its case
    differs: it goes the same way as a row for which "column is A" is false, in every export.
    :meth:`explain` describes such a row by a rule that is true for it, "continent is not Europe"
    instead of "continent is Asia or Africa", with a note. :meth:`count_unseen` counts such rows.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from pellucid import IMM, Explanation
    >>> X = load_iris(as_frame=True).data
    >>> explanation = Explanation.of(IMM(3, random_state=0).fit(X))
    >>> explanation
    Explanation(method='IMM', n_leaves=3, n_clusters=3)
    >>> explanation.predict(X[["petal length (cm)"]].iloc[[0, 60, 140]])
    array([1, 0, 2])
    """

    def __init__(
        self,
        tree: ThresholdTree,
        *,
        names: ColumnNames | None = None,
        clusters: Sequence[Any] | None = None,
        purity: dict[int, float] | None = None,
        noise: Mapping[int, int] | None = None,
        columns: Sequence[str] | None = None,
        fill: dict[str, Any] | None = None,
        method: str | None = None,
        formats: Mapping[str, ColumnFormat] | None = None,
        reading: dict[str, Any] | None = None,
    ) -> None:
        if names is not None and len(names) != tree.n_features:
            raise ValueError(f"{len(names)} feature names for a tree of {tree.n_features} columns")
        n_clusters = int(tree.cluster.max()) + 1
        clusters = list(range(n_clusters)) if clusters is None else list(clusters)
        if len(clusters) < n_clusters:
            raise ValueError(f"{len(clusters)} labels for a tree of {n_clusters} clusters")
        described = default_names(tree.n_features) if names is None else list(names)
        self.tree_columns_: list[str | Indicator] = [
            n if isinstance(n, Indicator) else str(n) for n in described
        ]
        if names is not None or columns is not None:
            known = columns_of(self.tree_columns_) if columns is None else columns
            self.feature_names_in_: np.ndarray = np.array([str(n) for n in known], dtype=object)
            _check_names(self.tree_columns_, self.feature_names_in_.tolist())
        _check_indicators(tree, self.tree_columns_)
        self.n_features_in_: int = tree.n_features if names is columns is None else len(known)
        self.tree_ = tree
        self.n_leaves_: int = tree.n_leaves
        self.cluster_names_: np.ndarray = np.array(clusters)
        self.fill_: dict[str, Any] = dict(fill or {})
        self.method_ = method
        self.formats_: dict[str, ColumnFormat] = dict(formats or {})
        self.reading_ = reading
        for column, written in self.formats_.items():
            if not isinstance(written, ColumnFormat):
                kind = type(written).__name__
                raise TypeError(f"the format of column {column!r} is a {kind}, not a ColumnFormat")
            if column not in self._columns:
                raise ValueError(
                    f"formats contains {column!r}, which is not a column; the columns are "
                    f"{', '.join(map(repr, self._columns))}"
                )
        labels, quality = self.cluster_names_.tolist(), (purity, noise)
        self._leaf_rules = leaf_rules(tree, self.tree_columns_, labels, *quality, self.formats_)
        self.rules_: RuleList[ClusterRule] = cluster_rules(self._leaf_rules, labels)

    @classmethod
    def of(cls, model: Any, *, feature_names: ColumnNames | None = None) -> Explanation:
        """The explanation of a fitted estimator, or of a tree.

        Parameters
        ----------
        model : fitted estimator of this package, Explanation or ThresholdTree
            A fitted tree model, an :class:`~pellucid.Explanation` or a tree.
        feature_names : sequence of str or Indicator, optional
            Other descriptions of the columns than those seen in `fit`.
        """
        if isinstance(model, ThresholdTree):
            return cls(model, names=feature_names)
        # What `pellucid.explain` returns has an explanation.
        model = getattr(model, "explanation", model)
        if isinstance(model, Explanation) and feature_names is None:
            return model
        if not hasattr(model, "tree_"):
            if hasattr(model, "fit"):
                check_is_fitted(model)
            raise TypeError(f"{type(model).__name__} has no tree, so there is no explanation of it")
        names, columns = feature_names, None
        more: dict[str, Any] = {}
        if feature_names is None:
            more = {n: getattr(model, f"{n}_", None) for n in ("fill", "formats", "reading")}
            names = column_names(model)
            columns = getattr(model, "feature_names_in_", None)
            described = [] if names is None else columns_of(names)
            if columns is not None and not set(described) <= set(map(str, columns)):
                columns = None
        return cls(
            model.tree_,
            names=names,
            clusters=model.cluster_names_.tolist(),
            purity={rule.leaf: rule.purity for rule in model._leaf_rules},
            noise={rule.leaf: rule.n_noise for rule in model._leaf_rules},
            columns=columns,
            method=getattr(model, "method_", type(model).__name__),
            **more,
        )

    def __repr__(self) -> str:
        method = "" if self.method_ is None else f"method={self.method_!r}, "
        n_clusters = len(self.cluster_names_)
        return f"Explanation({method}n_leaves={self.n_leaves_}, n_clusters={n_clusters})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Explanation):
            return NotImplemented
        return self.tree_ == other.tree_ and self._names_and_purity() == other._names_and_purity()

    def __hash__(self) -> int:
        return hash(self.tree_)

    def _names_and_purity(self) -> tuple[Any, ...]:
        quality = [(None if isnan(r.purity) else r.purity, r.n_noise) for r in self._leaf_rules]
        names = getattr(self, "feature_names_in_", None)
        columns = self.n_features_in_, None if names is None else names.tolist()
        categories = [n.categories for n in self.tree_columns_ if isinstance(n, Indicator)]
        others = self.fill_, self.method_, self.formats_, self.reading_
        labels = self.cluster_names_.tolist()
        return self.tree_columns_, categories, *columns, labels, quality, *others

    def _repr_html_(self) -> str:
        return self.to_html()

    def apply(self, X: Any) -> np.ndarray:
        """Node number of the leaf that each row reaches.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_features)
            Rows, as in `predict`.

        Returns
        -------
        ndarray of shape (n_samples,)
            Numbers of nodes of the tree; -1 for rows without a cluster.
        """
        return self.input_columns.find_leaves(self.input_columns.read(X))[0]

    def predict(self, X: Any) -> np.ndarray:
        """Cluster of each row, by its label.

        Parameters
        ----------
        X : data frame, array-like, sparse matrix or Scan
            A data frame needs the columns that the tree uses, by name, in any order; any other
            input needs all columns of the data in their order.

        Returns
        -------
        ndarray of shape (n_samples,)
            The label -1, as text if the labels are texts, for rows without a cluster. For a
            :func:`pellucid.scan`, a lazy frame of its rows with a column ``cluster``; then the tree
            may use plain numbers only.
        """
        if type(X).__module__.startswith("pellucid.scale"):
            return X.with_clusters(self)
        numbers = self.input_columns.read(X)
        if np.isnan(numbers).any():
            return self.labels_of(self.input_columns.find_leaves(numbers)[0])
        labels = self.cluster_names_[self.tree_.cluster]
        return self.input_columns.tree.leaf_values(numbers, labels)[0]

    def labels_of(self, leaf: np.ndarray) -> np.ndarray:
        """Labels of the clusters of leaves; -1 for rows without a leaf.

        Parameters
        ----------
        leaf : ndarray of int of shape (n_samples,)
            As :meth:`apply` returns them.

        Returns
        -------
        ndarray of shape (n_samples,)
            Of the type of the labels; -1 is a text if they are texts.
        """
        names = self.cluster_names_
        labels = names[self.tree_.cluster[leaf]]
        if not (leaf < 0).any():
            return labels
        return np.where(leaf < 0, "-1" if names.dtype.kind == "U" else -1, labels)

    def _explain_rows(self, X: Any) -> RuleList[RowExplanation]:
        numbers = self.input_columns.read(X)
        leaf, missing = self.input_columns.find_leaves(numbers)
        position = {feature: i for i, feature in enumerate(self.input_columns.features)}
        special = self.special_rules(leaf, missing, self.input_columns.columns_of(X))

        def values(feature: int, rows: np.ndarray) -> np.ndarray:
            return numbers[rows, position[feature]]

        known = self.tree_columns_, self.formats_, special
        return explain_rows(self.tree_, self._leaf_rules, leaf, values, *known)

    def special_rules(
        self, leaf: np.ndarray, missing: np.ndarray, columns: Columns
    ) -> dict[int, RowRule]:
        """Rules of rows without a cluster, or with values outside the training data, with notes.

        Parameters
        ----------
        leaf, missing : ndarray of int of shape (n_samples,)
            Leaf of each row, and the column of a missing value on its path.
        columns : Columns
            The rows, as `input_columns` reads them.

        Returns
        -------
        dict of int to RowRule
            By row.
        """
        inputs = self.input_columns
        found = special_rules(self._leaf_rules, leaf, inputs.unusual(columns), inputs.known)
        for row in np.flatnonzero(leaf < 0).tolist():
            found[row] = RowRule(None, (f"{self.tree_columns_[missing[row]]} is missing",))
        return found

    def rename_clusters(self, names: Mapping[Any, Any]) -> Explanation:
        """The same explanation with other labels of clusters.

        Parameters
        ----------
        names : dict
            New label by old label, or by the text of the old label. Clusters that are left out
            keep their label. If the new labels are of different types, all become strings.

        Returns
        -------
        Explanation
            Predicts, prints and exports the new labels.

        Raises
        ------
        ValueError
            If a cluster is unknown or two clusters have the same name.

        Examples
        --------
        >>> from pellucid import IMM, Explanation
        >>> explanation = Explanation.of(IMM(2, random_state=0).fit([[0.0], [1.0], [9.0]]))
        >>> print(explanation.rename_clusters({0: "cheap", 1: "expensive"}).rules_)
        cluster cheap: x0 ≤ 5
            2 rows (66.7%, 100.0% pure)
        cluster expensive: x0 > 5
            1 row (33.3%, 100.0% pure)
        """
        labels = self.cluster_names_.tolist()
        renamed = copy.copy(self)
        renamed.cluster_names_ = np.array(_renamed(labels, names))
        new = dict(zip(labels, renamed.cluster_names_.tolist()))
        renamed._leaf_rules = [replace(r, cluster=new[r.cluster]) for r in self._leaf_rules]
        renamed.rules_ = cluster_rules(renamed._leaf_rules, list(new.values()))
        return renamed

    def count_unseen(self, X: Any) -> dict[str, dict[Any, int]]:
        """Count values of the columns of the tree that were not in the training data.

        A new category goes the same way as a row for which "column is A" is false.

        Parameters
        ----------
        X : data frame, array-like or sparse matrix
            As in :meth:`predict`.

        Returns
        -------
        dict of str to dict
            By column, the number of rows per new value, the most frequent first. None stands for
            missing values. Only columns with new values are included, of those that the tree
            uses and whose values are known: categories, and integers with few values.

        Examples
        --------
        >>> import pandas as pd
        >>> from pellucid import IMM, Explanation
        >>> from pellucid.tables.encoding import ColumnNames, Encoding
        >>> table = pd.DataFrame({"continent": ["Asia", "Asia", "Europe"]})
        >>> encoding = Encoding.fit(table)
        >>> model = IMM(2, random_state=0).fit(encoding.transform(table))
        >>> explanation = Explanation.of(model, feature_names=encoding.names)
        >>> explanation.count_unseen(pd.DataFrame({"continent": ["Asia", "Antarctica"]}))
        {'continent': {'Antarctica': 1}}
        """
        inputs = self.input_columns
        unusual = inputs.unusual(inputs.columns_of(X)) if inputs.known else {}
        return {
            name: dict(Counter(cells.values()).most_common())
            for name, cells in unusual.items()
            if name in inputs.known
        }

    @cached_property
    def input_columns(self) -> InputColumns:
        """The columns of the data that the tree uses."""
        replaced = (self.reading_ or {}).get("replaced")
        known = self._columns, self.fill_, self.formats_, self.reading_, replaced
        return InputColumns(self.tree_, self.tree_columns_, *known)

    @property
    def _columns(self) -> list[str]:
        """Names of the columns of the data."""
        return list(getattr(self, "feature_names_in_", default_names(self.n_features_in_)))


def _check_names(names: list[str | Indicator], columns: list[str]) -> None:
    for given in (names, columns):
        twice = [name for name, count in Counter(given).items() if count > 1]
        if twice:
            name = str(twice[0])
            raise ValueError(f"column {name!r} appears more than once; column names must be unique")
    for name in columns_of(names):
        if name not in columns:
            raise ValueError(f"the tree uses {name!r}, which is not among the columns")


def _renamed(labels: list[Any], names: Mapping[Any, Any]) -> list[Any]:
    """Labels with some of them replaced."""
    place = {label_text(label): i for i, label in enumerate(labels)}
    place |= {label: i for i, label in enumerate(labels)}
    renamed = list(labels)
    for label, name in names.items():
        if label not in place:
            known = ", ".join(map(repr, labels))
            raise ValueError(f"there is no cluster {label!r} to rename; the clusters are {known}")
        renamed[place[label]] = name
    if len({type(name) for name in renamed}) > 1:
        renamed = [label_text(name) for name in renamed]
    twice = [name for name, count in Counter(renamed).items() if count > 1]
    if twice:
        raise ValueError(f"two clusters would have the name {twice[0]!r}; names must be unique")
    return renamed


def _check_indicators(tree: ThresholdTree, names: list[str | Indicator]) -> None:
    """Check that indicator columns are split between 0 and 1."""
    for node in np.flatnonzero(~tree.is_leaf).tolist():
        name, threshold = names[tree.feature[node]], float(tree.threshold[node])
        if isinstance(name, Indicator) and not 0 <= threshold < 1:
            raise ValueError(
                f"the tree splits the indicator column {str(name)!r} at {threshold}; a threshold "
                "of an indicator must be at least 0 and below 1"
            )
