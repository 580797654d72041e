"""Export to SQL: one ``CASE`` expression with a ``WHEN`` per rule."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from pellucid._utils.estimators import SQLDialect
from pellucid.explanation.conditions import Condition
from pellucid.explanation.explanation import Explanation
from pellucid.explanation.rules import Rule
from pellucid.export._values import plain_value
from pellucid.export.sql_dialects import SqlWriter
from pellucid.tables.encoding import Indicator


def to_sql(
    model: Any,
    *,
    dialect: SQLDialect = "standard",
    table: str | Sequence[str] | None = None,
    column: str = "cluster",
    feature_names: Sequence[str | Indicator] | None = None,
) -> str:
    """Export a model as an SQL expression that gives the cluster of a row.

    Each leaf is a ``WHEN`` with all of its conditions, so that it can be read by itself. Names
    and strings are quoted for the dialect. Thresholds are double-precision numbers that compare
    as in `predict`.

    Parameters
    ----------
    model : fitted estimator of this package, Explanation or ThresholdTree
        A fitted tree model, an :class:`~pellucid.Explanation` or a tree.
    dialect : {"standard", "bigquery", "duckdb", "mssql", "mysql", "postgres", "snowflake", \
            "spark", "sqlite"}, default="standard"
        The database that will run the query.
    table : str or sequence of str, optional
        If given, the result is a complete query, ``SELECT *, CASE ... END AS cluster FROM table``.
        A sequence is a qualified name, such as ``("schema", "table")``.
    column : str, default="cluster"
        Name of the cluster column in the query.
    feature_names : sequence of str or Indicator, optional
        Names of the columns; those seen in `fit`, or ``x0, x1, ...``, when left out.

    Returns
    -------
    str
        The SQL text.

    Notes
    -----
    `predict` rejects rows with a missing number. In SQL a comparison with NULL is not true, so a
    row with a missing number has a cluster if the path of the row does not use the column;
    otherwise the result is NULL. NaN and infinities compare like numbers in some databases. There
    the result is NULL if any numeric column that the tree uses is NaN or infinite. NULL in a
    categorical column is treated as a category that differs from all known ones, as in
    :class:`~pellucid.tables.encoding.Encoding`. If an explanation has a replacement for missing
    values (`fill_`), NULL is replaced.

    A boolean column that the tree uses as a number has to be cast to a number first, in databases
    that do not cast it by themselves. A column of dates (`formats_`) compares with date literals:
    its type in the database is a date or a timestamp, in SQLite text in the ISO format
    ``2021-03-15`` or ``2021-03-15 14:30:00``. A column with a unit, such as ``$``, is a number in
    the database. Strings compare by the collation of the column: where it
    ignores case, categories that differ only in case are one. Old builds of SQLite misread decimals
    of more than 15 digits; thresholds in the style "round" are shorter.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from pellucid import IMM
    >>> model = IMM(3, random_state=0).fit(load_iris(as_frame=True).data)
    >>> print(model.to_sql())
    CASE
        WHEN "petal length (cm)" <= 2 THEN 1
        WHEN "petal length (cm)" > 2 AND "petal length (cm)" <= 5.1e0 THEN 0
        WHEN "petal length (cm)" > 5.1e0 THEN 2
    END
    """
    explanation = Explanation.of(model, feature_names=feature_names)
    writer = _Writer(explanation, dialect)
    return writer.query(_expression(explanation, writer), table, column)


def _expression(explanation: Explanation, writer: _Writer) -> str:
    dialect = writer.dialect
    labels = {
        name: dialect.literal(plain_value(name, "a cluster"))
        for name in explanation.cluster_names_.tolist()
    }
    rules = [rule for rule in explanation._leaf_rules if _can_hold(rule)]
    if len(rules) == 1:
        return f"CASE WHEN {dialect.always} THEN {labels[rules[0].cluster]} END"
    lines = [f"WHEN {missing} THEN NULL" for missing in writer.guards()]
    lines += [f"WHEN {writer.conditions(rule)} THEN {labels[rule.cluster]}" for rule in rules]
    return "\n    ".join(["CASE", *lines]) + "\nEND"


def _can_hold(rule: Rule) -> bool:
    """Whether a row can reach the leaf: an imported tree may have x > 5 below x <= 3.

    Such leaves are left out. DuckDB's optimizer fails on them.
    """
    low = {c.feature: c.threshold for c in rule.conditions if not c.is_upper}
    return all(low.get(c.feature, -math.inf) < c.threshold for c in rule.conditions if c.is_upper)


class _Writer(SqlWriter):
    """Writes conditions of an explanation in a dialect."""

    def guards(self) -> list[str]:
        """One test per numeric column that is true where it is NaN or infinite."""
        tree, names = self.model.tree_, self.model.tree_columns_
        used = dict.fromkeys(names[f] for f in tree.feature[~tree.is_leaf])
        # NULL needs no test: a comparison with NULL is not true.
        return self.no_number(used, with_null=False)

    def conditions(self, rule: Rule) -> str:
        """All conditions of a leaf, grouped by column, the lower bound first."""
        parts: dict[tuple[Any, ...], list[Condition]] = {}
        for condition in rule.conditions:
            name = condition.name
            key = (name.column, condition.is_upper) if isinstance(name, Indicator) else (name,)
            parts.setdefault(key, []).append(condition)
        return " AND ".join(test for part in parts.values() for test in self._tests(part))

    def _tests(self, conditions: list[Condition]) -> list[str]:
        name, dialect = conditions[0].name, self.dialect
        column = self.column(name)
        if not isinstance(name, Indicator):
            bounds = sorted(conditions, key=lambda bound: bound.is_upper)
            signs = [(">", "<=")[bound.is_upper] for bound in bounds]
            return [
                f"{column} {sign} {self.number(name, bound.threshold)}"
                for bound, sign in zip(bounds, signs)
            ]
        values = [_category(c.name) for c in conditions if isinstance(c.name, Indicator)]
        if conditions[0].is_upper:
            return [dialect.is_none_of(column, values, can_be_null=self.can_be_null(name))]
        return [dialect.is_one(column, value) for value in values]


def _category(name: Indicator) -> Any:
    if name.value is None:
        return None
    return plain_value(name.value, f"a category of column {name.column!r}")
