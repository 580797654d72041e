"""What `stability` finds, as numbers, tables and text."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from html import escape
from typing import Any, Literal, NamedTuple

import numpy as np

from pellucid._utils.estimators import FrameKind
from pellucid._utils.texts import aligned, count, html_table, percent
from pellucid.explanation.rules import label_text
from pellucid.export.frame import make_frame
from pellucid.tables.column_formats import format_number

_SHOWN_COLUMNS = 10  # columns in the printed table, most often used first


class QuestionStability(NamedTuple):
    """How often a question of the model returns, as in `Stability.questions`.

    `lowest` and `highest` are the least and the largest threshold that returned; None if none did,
    or if the model was fitted on scaled columns.
    """

    node: int
    question: str
    column: str
    column_used: int
    returns: int
    lowest: float | None
    highest: float | None


class ColumnStability(NamedTuple):
    """In how many draws the tree uses a column, and uses it first; whether the model uses it."""

    column: str
    used: int
    first: int
    in_model: bool


class ClusterStability(NamedTuple):
    """The number of rows of a cluster of the model, and the mean of their stability."""

    cluster: Any
    rows: int
    stability: float


_TYPES: dict[str, Any] = {
    "questions": QuestionStability,
    "columns": ColumnStability,
    "clusters": ClusterStability,
}


@dataclass(frozen=True)
class Stability:
    """How often the parts of a tree return when it is fitted again; see :func:`stability`.

    Prints as text; notebooks show tables.

    Attributes
    ----------
    n_draws : int
        Number of trees that were fitted.
    reference : {"fixed", "refit"}
        Whether the reference was that of the model, or fitted again as well.
    fraction : float or None
        Share of the rows in a draw; None for a bootstrap.
    agreement : float
        Mean share of the rows, by weight, that a draw assigns to the same cluster as the model.
    ari : ndarray of shape (n_draws,)
        Adjusted Rand index of the assignments of the model and of each draw, over all rows.
    rows : ndarray of shape (n_samples,)
        Share of the draws in which the row is in the same cluster as in the model.
    clusters : tuple of ClusterStability
        By cluster of the model: `cluster`, `rows` and the mean `stability` of its rows.
    columns : tuple of ColumnStability
        By column that a tree uses, most often used first: `column`, `used` (number of draws),
        `first` (number of draws that ask it first) and `in_model`.
    questions : tuple of QuestionStability
        By inner node of the model: `node`, `question`, `column`, `column_used`, `returns`,
        `lowest` and `highest`. A question returns if the tree of a draw has a split on the same
        column that divides the rows of the node in the same way, up to 5 % of them and up to half
        of the smaller side.

    See Also
    --------
    stability : Measures it.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import pellucid
    >>> X = load_iris().data
    >>> model = pellucid.ExShallow(3, random_state=0).fit(X)
    >>> found = pellucid.stability(model, X, n_bootstraps=20)
    >>> found.n_draws, bool(0.9 < found.agreement <= 1)
    (20, True)
    """

    n_draws: int
    reference: Literal["fixed", "refit"]
    fraction: float | None
    agreement: float
    ari: np.ndarray = field(repr=False)
    rows: np.ndarray = field(repr=False)
    clusters: tuple[ClusterStability, ...] = field(repr=False)
    columns: tuple[ColumnStability, ...] = field(repr=False)
    questions: tuple[QuestionStability, ...] = field(repr=False)

    @property
    def mean_ari(self) -> float:
        """Mean of `ari`."""
        return float(np.mean(self.ari))

    def to_dict(self) -> dict[str, Any]:
        """All but the single rows, in lists and dictionaries.

        Returns
        -------
        dict
            Can be written as JSON.
        """
        names = ("clusters", "columns", "questions")
        return {
            "draws": self.n_draws,
            "reference": self.reference,
            "fraction": self.fraction,
            "agreement": self.agreement,
            "mean_ari": self.mean_ari,
            "ari": self.ari.tolist(),
            **{name: [_without_nan(entry) for entry in getattr(self, name)] for name in names},
        }

    def to_json(self, *, indent: int | None = None) -> str:
        """What `to_dict` returns, as JSON.

        Parameters
        ----------
        indent : int, optional
            Spaces per level. Default: one line.

        Returns
        -------
        str
            The JSON text.
        """
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False)

    def to_frame(
        self,
        table: Literal["questions", "columns", "clusters", "rows"] = "questions",
        *,
        kind: FrameKind | None = None,
    ) -> Any:
        """One of the tables as a data frame.

        Parameters
        ----------
        table : {"questions", "columns", "clusters", "rows"}, default="questions"
            The attribute to convert.
        kind : {"pandas", "polars", "dict"}, optional
            Type of the result, as in :func:`pellucid.export.to_frame`.

        Returns
        -------
        data frame or dict of str to ndarray
            One row per question, column, cluster or row of the data.
        """
        if table == "rows":
            return make_frame({"stability": self.rows}, kind)
        if table not in _TYPES:
            raise ValueError(f"table is {table!r}; it can be {', '.join([*_TYPES, 'rows'])}")
        values = {
            name: np.array([getattr(entry, name) for entry in getattr(self, table)])
            for name in _TYPES[table]._fields
        }
        for name in {"lowest", "highest"} & set(values):
            values[name] = values[name].astype(np.float64)
        return make_frame(values, kind)

    def sentences(self) -> list[str]:
        """The result in plain words, a sentence per line.

        Returns
        -------
        list of str
            What was fitted, how many rows stay, and whether the first question returns.
        """
        drawn = count(self.n_draws, "bootstrap")
        if self.fraction is not None:
            drawn = f"{count(self.n_draws, 'draw')} of {percent(self.fraction)}"
        reference = "the same reference" if self.reference == "fixed" else "its own reference"
        found = [
            f"{drawn} of the rows, each with a tree for {reference}",
            f"{percent(self.agreement)} of the rows stay in their cluster, on average "
            f"(adjusted Rand index {self.mean_ari:.2f})",
        ]
        if self.questions:
            first = self.questions[0]
            found.append(
                f"the first question ({first.question}) returns in {first.returns} of "
                f"{self.n_draws} draws"
            )
        return found

    def _tables(self) -> list[list[list[str]]]:
        """Questions, columns and clusters as texts, each with a line of headings."""
        has_cuts = any(q.lowest is not None for q in self.questions)
        questions = [["question", "returns", "column used", *(["thresholds"] if has_cuts else [])]]
        for q in self.questions:
            cuts = [] if not has_cuts else [_range(q.lowest, q.highest)]
            questions.append([q.question, str(q.returns), str(q.column_used), *cuts])
        columns = [["column", "used", "asked first"]]
        columns += [[c.column, str(c.used), str(c.first)] for c in self.columns[:_SHOWN_COLUMNS]]
        clusters = [["cluster", "rows", "rows that stay"]]
        clusters += [
            [label_text(c.cluster), f"{c.rows:,}", percent(c.stability)] for c in self.clusters
        ]
        return [table for table in (questions, columns, clusters) if len(table) > 1]

    def __str__(self) -> str:
        return "\n\n".join(["\n".join(self.sentences()), *map(aligned, self._tables())])

    def _repr_html_(self) -> str:
        text = "".join(f"<p>{escape(sentence)}</p>" for sentence in self.sentences())
        return f"<div>{text}{''.join(map(html_table, self._tables()))}</div>"


def _without_nan(entry: Any) -> dict[str, Any]:
    """An entry of a table; a cluster without rows has no stability."""
    return {name: None if value != value else value for name, value in entry._asdict().items()}


def _range(lowest: float | None, highest: float | None) -> str:
    if lowest is None or highest is None:
        return "-"
    return " to ".join(dict.fromkeys([format_number(lowest), format_number(highest)]))
