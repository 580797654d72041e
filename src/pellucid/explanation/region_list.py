"""A decision list of regions without the data and the fit: it predicts, explains and exports."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pellucid.explanation.input_columns import InputColumns
from pellucid.explanation.mixins import RegionExportMixin
from pellucid.regions.answer_regions import AnswerRegion, answer_regions, region_text
from pellucid.regions.classifiers import Stump
from pellucid.regions.levels import LevelAnswers, ListLevel, find_answers
from pellucid.regions.words import with_formats
from pellucid.tables.column_formats import ColumnFormat
from pellucid.tables.encoding import ColumnNames, Indicator, columns_of
from pellucid.tree import ThresholdTree
from pellucid.tree.builder import TreeBuilder

NOWHERE = "in no region"
"""Text for rows that no region contains."""


class RegionList(RegionExportMixin):
    """Regions that are tried in order; a row belongs to the first that contains it.

    Made from a fitted :class:`~pellucid.EOPClassifier` by :meth:`of`, or from a file by
    :func:`pellucid.from_json`. It holds no data and cannot be fitted.

    Parameters
    ----------
    levels : sequence of ListLevel
        The levels, in order.
    names : sequence of str or Indicator
        Description of each column of the levels.
    classes : sequence
        Labels of the clusters.
    default : int or None
        Index of the cluster of rows in no region; None if they have none.
    total : float
        Weight of all training rows.
    columns : sequence of str, optional
        Names of the columns of the data, in order. Default: those that `names` mention.
    fill : dict of str to value, optional
        Replacement of missing values, by column of the data.
    formats : dict of str to ColumnFormat, optional
        How the values of numeric columns of the data are written, by column.
    reading : dict, optional
        How the table was read from a file; stored as it is.

    Attributes
    ----------
    levels_, names_, default_, total_, fill_, formats_, reading_
        See the parameters.
    classes_ : ndarray
    feature_names_in_ : ndarray of str
        Names of the columns of the data.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from pellucid import EOPClassifier
    >>> from pellucid.explanation.region_list import RegionList
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> regions = RegionList.of(EOPClassifier(random_state=0).fit(X, y))
    >>> regions.predict(X[:2])
    array([0, 0])
    >>> regions.describe(X[:1])
    ['1. petal length (cm) ≤ 2']
    """

    def __init__(
        self,
        levels: Sequence[ListLevel],
        *,
        names: ColumnNames,
        classes: Sequence[Any],
        default: int | None,
        total: float,
        columns: Sequence[str] | None = None,
        fill: dict[str, Any] | None = None,
        formats: dict[str, ColumnFormat] | None = None,
        reading: dict[str, Any] | None = None,
    ) -> None:
        self.fill_: dict[str, Any] = dict(fill or {})
        self.formats_: dict[str, ColumnFormat] = dict(formats or {})
        self.levels_: list[ListLevel] = list(levels)
        self.names_: list[str | Indicator] = with_formats(names, self.formats_)
        self.classes_: np.ndarray = np.asarray(classes)
        self.default_: int | None = default
        self.total_: float = float(total)
        columns = columns_of(self.names_) if columns is None else list(columns)
        self.feature_names_in_: np.ndarray = np.array(columns, dtype=object)
        self.reading_ = reading
        tree = _tree_of(self.used_features, len(self.names_))
        known = self.names_, self.feature_names_in_.tolist(), self.fill_, self.formats_
        self._inputs = InputColumns(tree, *known, replaced=(reading or {}).get("replaced"))

    @classmethod
    def of(
        cls,
        model: Any,
        *,
        names: ColumnNames | None = None,
        columns: Sequence[str] | None = None,
        check: bool = True,
        **more: Any,
    ) -> RegionList:
        """Make a decision list from a fitted EOP model.

        Parameters
        ----------
        model : EOPClassifier, ATEOPClassifier, ClusterRegions, RuleSet or RegionList
            With boxes, polyhedra or ellipses, and constants or stumps as base classifiers.
        names, columns : sequence, optional
            See :class:`RegionList`. Default: those of the model.
        check : bool, default=True
            Whether other shapes and classifiers, which no other language can state, are an error.
        **more
            Further parameters of :class:`RegionList`: `fill`, `formats` and `reading`.
        """
        if isinstance(model, cls):
            return model
        model = getattr(model, "model", model)
        check_is_fitted(model)
        if isinstance(found := getattr(model, "region_list_", None), cls):  # rules of a set
            if columns is None:
                return found
            same = {n: getattr(found, f"{n}_") for n in ("names", "classes", "default", "total")}
            known = {"formats": found.formats_, **same, "columns": columns, **more}
            return cls(found.levels_, **known)
        if check:
            for level in model.levels_:
                _check_level(level, model.base)
        levels = []
        for level in model.levels_:
            answers, counts = level.classifier, level.counts * model._weight_unit
            answers = answers.with_finite_threshold() if isinstance(answers, Stump) else answers
            levels.append(ListLevel(level.features, answers, level.regions, counts))
        return cls(
            levels,
            names=list(model._column_names if names is None else names),
            classes=model.classes_,
            default=None if model.leftover == "abstain" else model._leftover_answer,
            total=model._total * model._weight_unit,
            columns=columns,
            **{"formats": model.formats_, **more},
        )

    @property
    def used_features(self) -> list[int]:
        """Indices of the columns that the levels use."""
        return sorted({f for level in self.levels_ for f in level.features})

    @property
    def used_names(self) -> list[str | Indicator]:
        """Descriptions of the columns that the levels use."""
        return [self.names_[f] for f in self.used_features]

    def pieces(self) -> list[AnswerRegion]:
        """All regions, each divided by predicted cluster, in the order of the levels.

        Returns
        -------
        list of AnswerRegion
            The parts of the regions.
        """
        total = self.total_ or 1.0
        by_level = answer_regions(self.levels_, self.names_, self.classes_, total)
        return [piece for pieces in by_level for piece in pieces]

    def _answers(self, X: Any) -> LevelAnswers:
        encoded = self._inputs.read(X)
        numbers = np.zeros((len(encoded), len(self.names_)))
        numbers[:, self._inputs.features] = encoded[:, : len(self._inputs.features)]
        return find_answers(self.levels_, numbers)

    def apply(self, X: Any) -> np.ndarray:
        """Indices of the level and the region that contain each row; -1 for rows in no region.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_features)
            Rows, as in `predict`.

        Returns
        -------
        ndarray of shape (n_samples, 2), int
            Level and region of each row.
        """
        found = self._answers(X)
        return np.column_stack([found.level, found.region])

    def predict(self, X: Any) -> np.ndarray:
        """Cluster of each row; None for rows in no region, if there is no default cluster.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_features)
            A data frame needs only the columns that the regions use.

        Returns
        -------
        ndarray of shape (n_samples,)
            Clusters.
        """
        answer = self._answers(X).answer
        if self.default_ is not None:
            return self.classes_[np.where(answer < 0, self.default_, answer)]
        return np.append(self.classes_.astype(object), np.array([None]))[answer]

    def describe(self, X: Any) -> list[str]:
        """Level and text of the region that contains each row.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_features)
            Rows, as in `predict`.

        Returns
        -------
        list of str
            A text per row.
        """
        found = self._answers(X)
        texts = {(p.level, p.region, p.answer): region_text(p) for p in self.pieces()}
        names = [[self.names_[f] for f in level.features] for level in self.levels_]
        bare = [level.regions.texts(known) for level, known in zip(self.levels_, names)]
        described = []
        for level, region, answer in zip(*(part.tolist() for part in found)):
            if level < 0:
                described.append(NOWHERE)
                continue
            key = level, region, self.classes_[answer]
            described.append(f"{level + 1}. {texts.get(key) or bare[level][region]}")
        return described

    def rename_clusters(self, names: Mapping[Any, str]) -> RegionList:
        """The same regions with other labels of the clusters.

        Parameters
        ----------
        names : mapping of label to str
            Names of some or all clusters.

        Returns
        -------
        RegionList
            A copy.
        """
        if not names:
            return self
        found = copy.copy(self)
        labels = self.classes_.tolist()
        found.classes_ = np.array([str(names.get(label, label)) for label in labels], dtype=object)
        return found

    def __repr__(self) -> str:
        n = sum(len(level.regions) for level in self.levels_)
        return f"RegionList(n_levels={len(self.levels_)}, n_regions={n})"


def _check_level(level: Any, base: Any) -> None:
    """Raise an error if a level cannot be stated in another language."""
    if level.regions.kind == "nonparametric":
        raise ValueError(
            "nonparametric regions cannot be exported, because they consist of the training rows; "
            "use boxes, polyhedra or ellipses"
        )
    if not level.regions.fields:
        raise ValueError(
            f"regions of the kind {level.regions.kind!r} cannot be exported; use boxes, polyhedra "
            "or ellipses, or pickle the model"
        )
    if not isinstance(level.classifier, Stump):
        raise ValueError(
            f"base={base!r} cannot be exported; use base='constant' or base='stump', or pickle the "
            "model"
        )


def _tree_of(features: list[int], n_features: int) -> ThresholdTree:
    """A tree that splits on the given columns once: `InputColumns` reads the columns of a tree."""
    builder, node = TreeBuilder(n_features), 0
    for feature in features:
        node = builder.split(node, feature=feature, threshold=0.0)[1]
    return builder.build()
