"""`compare_explanations`: trees, regions and rules of the same clusters by the same measures."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_consistent_length

from pellucid._utils.estimators import FrameKind
from pellucid._utils.sklearn_compat import take_rows
from pellucid._utils.texts import aligned, html_table
from pellucid.explanation.region_list import RegionList
from pellucid.export.frame import make_frame
from pellucid.tables.encoding import Encoding
from pellucid.tables.frames import Columns, as_category, as_table


@dataclass(frozen=True)
class ComparedExplanation:
    """One explanation of some clusters.

    Attributes
    ----------
    name : str
        What it is called.
    coverage : float
        Fraction of the rows in clusters to which it gives their own cluster.
    precision : float
        Fraction of the rows to which it gives a cluster that are in it. Noise is in none.
    held_out_coverage, held_out_precision : float
        The same for rows that a second fit, on the others, has not seen.
    n_rules : int
        Number of rules: leaves, regions, or rules of a set.
    conditions : float
        Mean number of conditions per rule.
    clusters : int
        Number of clusters that it gives to some row.
    seconds : float
        Time of the fit.
    """

    name: str
    coverage: float
    precision: float
    held_out_coverage: float
    held_out_precision: float
    n_rules: int
    conditions: float
    clusters: int
    seconds: float


@dataclass(frozen=True, repr=False)
class ExplanationComparison:
    """Explanations of the same clusters, by the same measures; prints as a table.

    Attributes
    ----------
    explanations : tuple of ComparedExplanation
        The explanations, in the order in which they were given.
    """

    explanations: tuple[ComparedExplanation, ...]

    def __iter__(self) -> Iterator[ComparedExplanation]:
        return iter(self.explanations)

    def __len__(self) -> int:
        return len(self.explanations)

    def to_frame(self, *, kind: FrameKind | None = None) -> Any:
        """The measures as a table with a row per explanation.

        Parameters
        ----------
        kind : {"pandas", "polars", "dict"}, optional
            Type of the result. Default: a library that is there.

        Returns
        -------
        data frame or dict of str to ndarray
            One column per attribute of :class:`ComparedExplanation`.
        """
        names = [field.name for field in fields(ComparedExplanation)]
        table = {name: np.array([getattr(each, name) for each in self]) for name in names}
        return make_frame(table, kind)

    def plot(self, *, ax: Any = None) -> Any:
        """Draw coverage against precision, of training rows and of rows that were held out.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Default: those of a new figure.

        Returns
        -------
        matplotlib Axes
            The axes.
        """
        from pellucid.plotting.rules import plot_explanations

        return plot_explanations(self, ax=ax)

    def _table(self) -> list[tuple[str, ...]]:
        shares = ("coverage", "precision", "held_out_coverage", "held_out_precision")
        heads = ("", *shares[:2], "coverage*", "precision*", "rules", "conditions", "seconds")
        lines: list[tuple[str, ...]] = [heads]
        for each in self:
            values = [getattr(each, name) for name in shares]
            texts = ["–" if np.isnan(share) else f"{100 * share:.1f}%" for share in values]
            size = (str(each.n_rules), f"{each.conditions:.1f}", f"{each.seconds:.2f}")
            lines.append((each.name, *texts, *size))
        return lines

    def __str__(self) -> str:
        return f"{aligned(self._table())}\n* of held-out rows"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return f"<div>{html_table(self._table())}<p>* of held-out rows</p></div>"


def compare_explanations(
    X: Any,
    labels: Any,
    models: Mapping[str, Any] | None = None,
    *,
    held_out: float = 0.3,
    random_state: Any = 0,
) -> ExplanationComparison:
    """Measure explanations of the same clusters: how much they explain, how well, and their size.

    Parameters
    ----------
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        Rows; a data frame may have columns of text.
    labels : array-like of shape (n_samples,), or a fitted clusterer
        Cluster of each row; -1, None and NaN are noise. A fitted clusterer provides its `labels_`.
    models : dict of str to estimator, optional
        Estimators with `fit(X, y)` and `predict`, which are cloned. Default: the tree of
        :class:`ExplainableKMeans` for labels, the regions of :func:`explain_clusters`, and
        :class:`RuleSet`.
    held_out : float, default=0.3
        Fraction of the rows of each cluster on which a second fit is measured.
    random_state : int, RandomState instance or None, default=0
        Seed of the rows that are held out.

    Returns
    -------
    ExplanationComparison
        The measures; :class:`ComparedExplanation` states them. An explanation that leaves noise
        unexplained is more precise than one that gives it a cluster.

    See Also
    --------
    stability : How often a tree returns on other draws of the rows.
    RuleSet : Rules for a part of the rows.
    explain_clusters : Regions for the clusters.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from pellucid import RuleSet, SpEx, compare_explanations
    >>> X, y = load_wine(return_X_y=True)
    >>> found = compare_explanations(X, y, {"tree": SpEx(), "rules": RuleSet()})
    >>> [each.name for each in found]
    ['tree', 'rules']
    """
    labels = np.asarray(getattr(labels, "labels_", labels))
    check_consistent_length(X, labels)
    if not 0 < held_out < 1:
        raise ValueError(f"held_out={held_out!r} must be between 0 and 1, such as 0.3")
    is_noise = find_noise(labels)
    if is_noise.all():
        raise ValueError("every label is noise (-1, None or NaN), so that nothing is explained")
    X = _as_numbers(X)
    tested = _draw(labels, is_noise, held_out, check_random_state(random_state))
    chosen = default_models() if models is None else models
    return ExplanationComparison(
        tuple(_measure(name, model, X, labels, tested) for name, model in chosen.items())
    )


def default_models() -> dict[str, Any]:
    from pellucid.cluster import ExplainableKMeans
    from pellucid.eop import EOPClassifier
    from pellucid.rules.rule_set import RuleSet

    tree = ExplainableKMeans(random_state=0, noise="background")
    regions = EOPClassifier(
        max_error=0.05, strict=True, complexity_penalty=0.001, calibration=0, leftover="abstain"
    )
    return {"tree": tree, "regions": regions, "rules": RuleSet()}


def find_noise(labels: np.ndarray) -> np.ndarray:
    if labels.dtype.kind in "if":
        return (labels == -1) | np.isnan(labels)
    return np.array([as_category(label) in (None, -1) for label in labels.tolist()], dtype=bool)


def _as_numbers(X: Any) -> Any:
    """A data frame with categories as a matrix of indicators; other data as they are."""
    table = None if isinstance(X, (np.ndarray, list, tuple)) else as_table(X)
    if table is None or all(dtype.is_numeric() for dtype in table.schema.values()):
        return np.asarray(X) if isinstance(X, (list, tuple)) else X
    columns = Columns.of(X)
    return Encoding.fit(columns).transform(columns)


def _draw(labels: np.ndarray, is_noise: np.ndarray, held_out: float, random: Any) -> np.ndarray:
    """Rows to be held out: a fraction of each cluster, and of noise."""
    groups = np.where(is_noise, "-1", labels.astype(str))
    found = np.zeros(len(labels), dtype=bool)
    for group in np.unique(groups):
        members = random.permutation(np.flatnonzero(groups == group))
        found[members[: int(held_out * len(members))]] = True
    return found


def _measure(
    name: str, model: Any, X: Any, labels: np.ndarray, tested: np.ndarray
) -> ComparedExplanation:
    start = time.perf_counter()
    fitted = _fit(model, X, labels)
    seconds = time.perf_counter() - start
    trained, held = np.flatnonzero(~tested), np.flatnonzero(tested)
    again = _fit(model, take_rows(X, trained), labels[trained])
    coverage, precision, clusters = _shares(fitted, X, labels)
    held_out = _shares(again, take_rows(X, held), labels[held])[:2]
    sizes = _sizes(fitted)
    conditions = float(np.mean(sizes)) if sizes else float("nan")
    shares = (coverage, precision, *held_out)
    return ComparedExplanation(name, *shares, len(sizes), conditions, clusters, seconds)


def _fit(model: Any, X: Any, labels: np.ndarray) -> Any:
    """The model, fitted; without rows of noise, unless it knows what they are."""
    with warnings.catch_warnings(action="ignore"):
        fitted = clone(model)
        if "noise" in model.get_params():
            # "group", the default of some trees, makes noise a cluster.
            noise = "background" if model.noise == "group" else model.noise
            return fitted.set_params(noise=noise).fit(X, labels)
        rows = np.flatnonzero(~find_noise(labels))
        known = np.array(labels[rows].tolist())  # objects without None are texts or numbers
        return fitted.fit(take_rows(X, rows), known)


def _shares(model: Any, X: Any, labels: np.ndarray) -> tuple[float, float, int]:
    """Coverage, precision, and the number of clusters that are predicted."""
    is_noise = find_noise(labels)
    known = labels[~is_noise]
    predicted = np.asarray(model.predict(X), dtype=object)
    has_cluster = np.array([each in set(known.tolist()) for each in predicted.tolist()], dtype=bool)
    right = has_cluster & ~is_noise & (predicted == labels.astype(object))
    precision = right.sum() / has_cluster.sum() if has_cluster.any() else float("nan")
    n_predicted = len(set(predicted[has_cluster].tolist()))
    return float(right.sum() / len(known)), float(precision), n_predicted


def _sizes(model: Any) -> list[int]:
    """Number of conditions of each rule."""
    if hasattr(model, "_leaf_rules"):
        return [len(rule.conditions) for rule in model._leaf_rules]
    if hasattr(model, "region_list_"):
        return [rule.size for rule in model.rules_]
    if hasattr(model, "levels_"):
        return [piece.n_inequalities for piece in RegionList.of(model, check=False).pieces()]
    raise TypeError(
        f"{type(model).__name__} has no rules that can be counted; compare trees, regions and "
        "rules of this package"
    )
