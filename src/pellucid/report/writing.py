"""From a model and its rows to a file."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any

from pellucid.portable import Explanation
from pellucid.report.page import render
from pellucid.report.payload import make_payload
from pellucid.report.subject import Subject


def report_html(
    model: Any,
    X: Any,
    *,
    fitted: Any = None,
    title: str | None = None,
    reference: str | None = None,
    trade_off: Any = "auto",
    max_points: int = 2000,
    n_typical: int = 3,
    made: dict[str, str] | None = None,
) -> str:
    """The report as a string; the parameters are those of :func:`write_report`."""
    explanation = Explanation.of(model)
    fitted = model if fitted is None and not isinstance(model, Explanation) else fitted
    payload = make_payload(
        Subject(explanation, fitted, X),
        X,
        title=title,
        reference=reference,
        trade_off=trade_off,
        max_points=max_points,
        n_typical=n_typical,
        made=made,
    )
    return render(payload)


def write_report(path: str | PathLike, model: Any, X: Any, **options: Any) -> Path:
    """Write a report: one HTML file that explains the clusters and needs nothing else.

    It opens from the disk without a network, prints, and holds no more of the data than counts,
    `max_points` sampled rows and `n_typical` rows of each cluster, in the columns it shows. The
    same model and rows give the same file. Counts are of rows, without sample weights.

    Parameters
    ----------
    path : path-like
    model : fitted estimator of this package, Explanation or ThresholdTree
    X : data frame, array-like or sparse matrix
        The rows to show, usually those of `fit`: estimators do not keep them. Agreement with
        the reference is counted anew if they are the same.
    fitted : estimator, optional
        Where `model` is an Explanation: the estimator it comes from, which knows the cost and
        the reference.
    title : str, optional
        Such as the name of the data.
    reference : str, optional
        What is explained, in words, such as "k-means".
    trade_off : "auto", None or TradeOff, default="auto"
        Other trees of the same clusters, to choose from with a slider: what ``path(X)`` of
        :class:`~pellucid.ExShallow` returns. ``"auto"`` asks the model for it, if it has one and
        that takes moments.
    max_points : int, default=2000
        Rows to draw as points; 0 for none.
    n_typical : int, default=3
        Rows of each cluster to show in full; 0 for none.
    made : dict of str to str, optional
        More to say about how it was made.

    Returns
    -------
    Path

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
    path.write_bytes(text.encode("utf-8", errors="replace"))
    return path
