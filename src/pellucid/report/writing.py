"""From a model and its rows to a file."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack

import numpy as np

from pellucid._utils.files import replacing
from pellucid._utils.texts import LANGUAGES, texts_in
from pellucid.explanation.explanation import Explanation
from pellucid.explanation.rules import column_names
from pellucid.report.alternatives import Subject
from pellucid.report.page import PageOptions, render
from pellucid.report.payload import make_payload
from pellucid.report.table_facts import TableFacts
from pellucid.tables.frames import Columns, as_table, dates_as_days

if TYPE_CHECKING:
    from pellucid.explanation.region_list import RegionList
    from pellucid.report.alternatives import AlternativeTrees
    from pellucid.tree.trade_off import TradeOffPoint


class ReportOptions(TypedDict, total=False):
    """The options of a report, for type checkers and editors; `write_report` describes them."""

    fitted: Any
    title: str | None
    rows: str
    reference: str | None
    trade_off: Literal["auto"] | Iterable[TradeOffPoint] | AlternativeTrees | None
    max_points: int
    n_typical: int
    series: Any
    times: Any
    made: dict[str, str] | None
    decisions: Sequence[str]
    warnings: Sequence[str]
    number_of_clusters: Sequence[Mapping[str, Any]]
    cluster_names: Mapping[Any, str] | None
    suggested_names: Sequence[str]
    table: TableFacts | None
    stability: Any
    exported: RegionList | None
    no_rows: bool
    language: Literal["en", "de"]


def report_html(model: Any, X: Any, **options: Unpack[ReportOptions]) -> str:
    """The report as a string; the parameters are those of :func:`write_report`.

    Returns
    -------
    str
        The HTML text.
    """
    page, is_noise = PageOptions(**options), None
    if page.language not in LANGUAGES:
        known = ", ".join(LANGUAGES)
        raise ValueError(f"language is {page.language!r}; the languages are {known}")
    if page.no_rows:
        page = replace(page, max_points=0, n_typical=0)
    if hasattr(getattr(model, "model", None), "levels_"):
        # What `explain_clusters` returns; with a reference, the classes are called clusters.
        page = replace(page, reference=page.reference or "the given clusters")
        if page.exported is None:
            page = replace(page, exported=model)
        if model.noise_note is not None:
            page = replace(page, warnings=[model.noise_note, *page.warnings])
            is_noise = model.is_noise
        model, X = _in_numbers(model, X)
    if hasattr(model, "levels_"):
        from pellucid.report.regions import make_regions_payload

        with texts_in(page.language):
            return render(make_regions_payload(model, X, page, is_noise))
    explanation = Explanation.of(model, feature_names=_new_names(model, X))
    fitted = model if page.fitted is None and not isinstance(model, Explanation) else page.fitted
    with texts_in(page.language):
        return render(make_payload(Subject(explanation, fitted, X), X, page))


def _in_numbers(found: Any, X: Any) -> tuple[Any, Any]:
    """The model of `ClusterRegions` and its rows, with indicators of categories as columns."""
    import narwhals as nw

    if found.encoding is None:
        return found.model, X
    names = [str(name) for name in found.encoding.names]
    model = copy.copy(found.model)
    model.feature_names_in_ = np.array(names, dtype=object)
    days = dates_as_days(Columns.of(X), found.model.formats_)
    numbers = np.asarray(found.encoding.transform(days))
    columns = {name: numbers[:, i] for i, name in enumerate(names)}
    return model, nw.from_dict(columns, backend=as_table(X).implementation).to_native()


def _new_names(model: Any, X: Any) -> list[str] | None:
    """Names of the columns of a table, where the model was fitted on columns without names."""
    table = None if isinstance(X, (np.ndarray, list)) else as_table(X)
    if table is None or column_names(model) is not None:
        return None
    n_features = getattr(model, "n_features_in_", getattr(model, "n_features", None))
    return [str(name) for name in table.columns] if table.shape[1] == n_features else None


def write_report(
    path: str | PathLike[str], model: Any, X: Any, **options: Unpack[ReportOptions]
) -> Path:
    """Write a report: one HTML file that explains the clusters and needs nothing else.

    It opens from the disk without a network, prints, and holds no more of the data than counts,
    `max_points` sampled rows and `n_typical` rows of each cluster, in the columns it shows. The
    same model and rows give the same file. Counts are of rows, without sample weights.

    Parameters
    ----------
    path : path-like
        The file.
    model : fitted estimator of this package, Explanation, ThresholdTree or ClusterRegions
        Of EOP models, and of what :func:`~pellucid.explain_clusters` returns, the page shows
        the levels and their regions; `fitted`, `trade_off`, `series` and `times` are not for them.
        Rows that `explain_clusters` has left out as noise are left out of the page, which says so.
    X : data frame, array-like or sparse matrix
        The rows to show, usually those of `fit`: estimators do not keep them. Agreement with
        the reference is counted anew if they are the same.
    fitted : estimator, optional
        Where `model` is an Explanation: the estimator it comes from, which knows the cost and
        the reference.
    title : str, optional
        Such as the name of the data.
    rows : str, default="rows"
        Plural noun for the rows, such as "customers".
    reference : str, optional
        Name of the explained clustering, such as "k-means".
    trade_off : "auto", None or TradeOff, default="auto"
        Other trees of the same clusters, to choose from with a slider; the page says what they
        are. ``"auto"`` looks for them on up to 5,000,000 numbers, columns times rows times
        clusters, and measures them on all rows: shorter ones along the path of
        :class:`~pellucid.ExShallow`, longer ones by expanding the model's own tree as
        :class:`~pellucid.ExKMC` does, or from the stages of a model that has any. Of
        :class:`~pellucid.XClusters`, the tree with fewer and fewer questions. What ``path(X)``
        returns is shown instead if it is given. A tree that is both longer and worse than
        another is left out.
    max_points : int, default=2000
        Rows to draw as points; 0 for none.
    n_typical : int, default=3
        Rows of each cluster to show in full; 0 for none.
    series : SeriesTable, array of shape (n_samples, n_times), or list of 1-D arrays, optional
        For :class:`~pellucid.XClusters` of series: what it was fitted on, to draw the course of
        each cluster. `X` is then the table of its explanation features.
    times : array of shape (n_times,), optional
        When the series were measured.
    made : dict of str to str, optional
        More to say about how it was made.
    decisions : sequence of str
        Sentences about how the data were read and prepared, such as ignored columns, dropped rows
        and filled values. The page lists them in a section about the data.
    warnings : sequence of str
        Sentences that the page shows at its top.
    number_of_clusters : sequence of dict
        The numbers of clusters that were tried, with the keys ``"k"`` and, where known,
        ``"score"``, ``"smallest"`` (a share or a number of rows), ``"stability"``,
        ``"agreement"`` and ``"chosen"``.
    cluster_names : mapping of label to str, optional
        Names of some or all clusters, which the reader can change.
    suggested_names : sequence of str
        A short description per cluster, such as "high income, low spending". Default: from the
        columns of numbers, if they have names and the clusters only have numbers; an empty text
        is none.
    table : TableFacts, optional
        What is known about the table that was clustered; :func:`pellucid.explain` and the command
        line fill it in. Without it, the page describes the columns of `X`.
    stability : Stability, optional
        What :func:`pellucid.stability` returns for the model: the page shows how often its
        questions return. Not for EOP models.
    exported : RegionList, optional
        Of EOP models: the regions in the columns of a table, for the model file and the SQL of the
        page. Default: those of `model`.
    language : {"en", "de"}, default="en"
        Language of the page, its rules, and those `decisions` and `warnings` that this package
        has written. Others are shown as they are.
    no_rows : bool, default=False
        Whether the page contains no value of a row, as with ``max_points=0, n_typical=0``: also no
        extremes, no rare categories and no statistics of clusters of fewer than 10 rows.

    Returns
    -------
    Path
        The file.

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.datasets import load_wine
    >>> from pellucid import ExShallow
    >>> from pellucid.report import write_report
    >>> X = load_wine(as_frame=True).data
    >>> model = ExShallow(3, random_state=0).fit(X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = write_report(f"{folder}/wine.html", model, X, title="Wines")
    ...     path.read_text(encoding="utf-8").startswith("<!doctype html>")
    True
    """
    path = Path(path)
    text = report_html(model, X, **options)
    with replacing(path) as unfinished:
        unfinished.write_bytes(text.encode("utf-8", errors="replace"))
    return path
