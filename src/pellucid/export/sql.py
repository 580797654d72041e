"""Export to SQL: one ``CASE`` expression with a ``WHEN`` per rule or region."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from pellucid._utils.estimators import SQLDialect, documented
from pellucid.explanation.explanation import Explanation
from pellucid.explanation.region_list import RegionList
from pellucid.export._values import (
    ExportedRule,
    exported,
    exported_rules,
    plain_category,
    plain_labels,
    replaced_values,
)
from pellucid.export.sql_dialects import DIALECTS
from pellucid.tables.column_formats import PLAIN
from pellucid.tables.encoding import ColumnNames, Indicator, column_of

_ALWAYS = "1 = 1"  # a condition that is true


@documented
def to_sql(
    model: Any,
    *,
    dialect: SQLDialect = "standard",
    table: str | Sequence[str] | None = None,
    column: str = "cluster",
    feature_names: ColumnNames | None = None,
) -> str:
    """Export a model as an SQL expression that gives the cluster of a row.

    Each leaf is a ``WHEN`` with all of its conditions, so that it can be read by itself. Regions
    are in the order in which they are tried: boxes are comparisons; polyhedra and ellipses are
    sums of products. Names and strings are quoted for the dialect. Thresholds are double-precision
    numbers that compare as in `predict`.

    Parameters
    ----------
    {any_model}
    dialect : {"standard", "bigquery", "duckdb", "mssql", "mysql", "postgres", "snowflake", \
            "spark", "sqlite"}, default="standard"
        The database that will run the query.
    table : str or sequence of str, optional
        If given, the result is a complete query, ``SELECT *, CASE ... END AS cluster FROM table``.
        A sequence is a qualified name, such as ``("schema", "table")``.
    column : str, default="cluster"
        Name of the cluster column in the query.
    {feature_names}

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
    values (`fill_`), NULL is replaced, and so are sentinels and spellings that were replaced in the
    table. Of regions, the result is NULL if any numeric column that
    they use is missing. Sums of products may be rounded differently from `predict`: a row within
    about 1e-15, relatively, of the boundary of an ellipse or polyhedron may be on its other side.

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
    found = exported(model, feature_names)
    writer = _SqlWriter(found, dialect)
    expression = _expression(found, writer)
    if table is None:
        return expression
    name = writer.dialect.identifier(column)
    return f"SELECT *,\n{expression} AS {name}\nFROM {writer.table(table)}"


def to_sql_columns(
    model: Any, *, dialect: SQLDialect = "standard", table: str | Sequence[str] | None = None
) -> str:
    """Export a set of rules as one SQL column per rule: 1 where it holds, else 0.

    Rules may overlap, which one column of clusters cannot show. The columns are ``rule_1``,
    ``rule_2`` and so on, in the order of `rules_`.

    Parameters
    ----------
    model : RuleSet
        Fitted rules.
    dialect : {"standard", "bigquery", "duckdb", "mssql", "mysql", "postgres", "snowflake", \
            "spark", "sqlite"}, default="standard"
        The database that will run the query.
    table : str or sequence of str, optional
        If given, the result is a complete query.

    Returns
    -------
    str
        The SQL text. A rule does not hold for a row with NULL or NaN in one of its columns.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from pellucid import RuleSet
    >>> model = RuleSet(n_rules=1).fit(*load_iris(return_X_y=True, as_frame=True))
    >>> print(model.to_sql_columns(table="flowers"))
    SELECT *,
        CASE WHEN "petal length (cm)" <= 2 THEN 1 ELSE 0 END AS "rule_1"
    FROM "flowers"
    """
    regions = exported(model)
    if not isinstance(regions, RegionList) or not hasattr(model, "priorities_"):
        raise TypeError(f"to_sql_columns is for a RuleSet; got {type(model).__name__}")
    writer = _SqlWriter(regions, dialect)
    found = [""] * len(regions.levels_)
    for position, rule in zip(model.priorities_, exported_rules(regions)):
        tests = writer.tests(rule)
        guards = [f"NOT ({test})" for test in writer.no_number(rule.names, with_null=False)]
        holds = " AND ".join([*guards, *tests]) if tests else _ALWAYS
        name = writer.dialect.identifier(f"rule_{position + 1}")
        found[position] = f"CASE WHEN {holds} THEN 1 ELSE 0 END AS {name}"
    columns = ",\n    ".join(found)
    return columns if table is None else f"SELECT *,\n    {columns}\nFROM {writer.table(table)}"


def _expression(found: Explanation | RegionList, writer: _SqlWriter) -> str:
    labels = [writer.dialect.literal(label) for label in plain_labels(found)]
    rules = exported_rules(found)
    if isinstance(found, RegionList):
        # NULL needs no test in a tree: a comparison with NULL is not true.
        guards = writer.no_number(found.used_names, with_null=True)
        default = "NULL" if found.default_ is None else labels[found.default_]
        last, only = [f"ELSE {default}"], None if guards or rules else default
    else:
        # A leaf that no row can reach, such as x > 5 below x <= 3 in an imported tree, is left out:
        # the optimizer of DuckDB fails on it.
        rules = [rule for rule in rules if all(low < high for _, low, high in rule.tests)]
        tree, names = found.tree_, found.tree_columns_
        used = dict.fromkeys(names[f] for f in tree.feature[~tree.is_leaf])
        guards, last = writer.no_number(used, with_null=False), []
        only = labels[rules[0].cluster] if len(rules) == 1 else None
    if only is not None:
        return f"CASE WHEN {_ALWAYS} THEN {only} END"
    lines = [f"WHEN {test} THEN NULL" for test in guards]
    lines += [
        f"WHEN {' AND '.join(writer.tests(rule)) or _ALWAYS} THEN {labels[rule.cluster]}"
        for rule in rules
    ]
    return "\n    ".join(["CASE", *lines, *last]) + "\nEND"


class _SqlWriter:
    """Writes columns and numbers of a model in a dialect."""

    def __init__(self, model: Any, dialect: str) -> None:
        if dialect not in DIALECTS:
            raise ValueError(f"dialect is {dialect!r}; those known are {', '.join(DIALECTS)}")
        self.model, self.dialect = model, DIALECTS[dialect]

    def table(self, table: str | Sequence[str]) -> str:
        """A table by its name, which may be qualified."""
        parts = [table] if isinstance(table, str) else table
        return ".".join(map(self.dialect.identifier, parts))

    def no_number(self, names: Iterable[str | Indicator], *, with_null: bool) -> list[str]:
        """A test per numeric column without a finite number; for NULL only if `with_null`."""
        found = []
        for name in (name for name in names if isinstance(name, str)):
            column, test = self.column(name), self.dialect.not_finite
            tests = [f"{column} IS NULL"] if with_null and self.can_be_null(name) else []
            if test is not None and not self.is_date(name):
                tests.append(test.format(column=column))
            found += [" OR ".join(tests)] if tests else []
        return found

    def column(self, name: str | Indicator) -> str:
        """The column that a name or a category refers to, with values replaced."""
        key = column_of(name)
        column, dialect = self.dialect.identifier(key), self.dialect
        spellings: dict[Any, list[str]] = {}
        for value, other in replaced_values(self.model, key):
            if other is None:
                column = f"NULLIF({column}, {self.number(key, value)})"
            else:
                spellings.setdefault(other, []).append(dialect.literal(value))
        if spellings:
            cases = [
                f"WHEN {column} IN ({', '.join(values)}) THEN {dialect.literal(category)}"
                for category, values in spellings.items()
            ]
            column = f"CASE {' '.join(cases)} ELSE {column} END"
        value = self.model.fill_.get(key)
        if value is None:
            return column
        literal = self.number(key, value) if isinstance(name, str) else dialect.literal(value)
        return f"COALESCE({column}, {literal})"

    def can_be_null(self, name: str | Indicator) -> bool:
        """Whether missing values of a column are not replaced."""
        return column_of(name) not in self.model.fill_

    def is_date(self, name: str) -> bool:
        """Whether a numeric column contains dates."""
        return self.model.formats_.get(name, PLAIN).is_date

    def number(self, name: str, value: Any) -> str:
        """A number of a numeric column as a literal."""
        written = self.model.formats_.get(name, PLAIN)
        if written.is_date:
            return self.dialect.date_literal(value, with_time=written.kind == "datetime")
        if written.is_whole and value == int(value) and abs(value) < 2**53:
            return str(int(value))
        return self.dialect.literal(value)

    def double(self, value: float) -> str:
        """A number as a double-precision literal, in brackets if it is negative."""
        text = self.dialect.literal(float(value))
        if "e" not in text and "." not in text:
            text = f"{text}e0" if self.dialect.decimals_are_exact else f"{text}.0"
        return f"({text})" if value < 0 else text

    def tests(self, rule: ExportedRule) -> list[str]:
        """Tests of a rule: the lower end of a column first, and its categories together."""
        parts: dict[Any, list[Any]] = {}
        for name, low, high in rule.tests:
            if isinstance(name, Indicator):
                for hold in [True] * (low >= 0) + [False] * (high < 1):
                    parts.setdefault((name.column, hold), []).append(name)
            else:
                ends = ((">", low), ("<=", high))
                finite = [f"{sign} {self.number(name, v)}" for sign, v in ends if math.isfinite(v)]
                parts[name] = [f"{self.column(name)} {end}" for end in finite]
        found: list[str] = []
        for key, part in parts.items():
            found += part if isinstance(key, str) else self.categories(part, hold=key[1])
        if rule.is_box:
            return found
        for name in rule.names:
            if not isinstance(name, Indicator) and self.is_date(name):
                problem = f"column {name!r} contains dates"
                raise ValueError(f"{problem}; only boxes of dates can be written in SQL")
        return found + rule.inequalities([self.column(name) for name in rule.names], self.double)

    def categories(self, names: list[Indicator], *, hold: bool) -> list[str]:
        """Tests that are true where the categories of one column all hold, or none of them."""
        name = names[0]
        column = self.column(name)
        values = [plain_category(each.column, each.value) for each in names]
        named = [self.dialect.literal(value) for value in values if value is not None]
        if hold:
            is_null = [f"{column} IS NULL"] * (len(values) - len(named))
            return [*(f"{column} = {value}" for value in named), *is_null]
        if not named:
            return [f"{column} IS NOT NULL"]
        test = f"<> {named[0]}" if len(named) == 1 else f"NOT IN ({', '.join(named)})"
        # A comparison with NULL is not true, as required if NULL is excluded too.
        if self.can_be_null(name) and None not in values:
            return [f"({column} {test} OR {column} IS NULL)"]
        return [f"{column} {test}"]
