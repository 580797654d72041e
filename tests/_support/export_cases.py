"""Models for the tests of exports: odd names, odd labels, categories, any tree at all."""

from __future__ import annotations

import numpy as np
import pandas as pd
from hypothesis import strategies as st

from _support.hostile import HOSTILE
from pellucid import ExKMC, Explanation
from pellucid.tables.column_formats import ColumnFormat
from pellucid.tables.encoding import Encoding, Indicator
from pellucid.tree import TreeBuilder


def hostile_model(labels=("it's", 'say "hi"', "\\n", "<b>", "{0}")):
    """A model of columns and clusters with names that break what does not quote them."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(300, len(HOSTILE))).round(2), columns=HOSTILE)
    reference = np.array(labels)[rng.integers(0, len(labels), 300)]
    return ExKMC(n_leaves=40).fit(X, reference), X


KIND = 'the \'"kind"` of; row'
"""Name of the column of hostile categories."""


def hostile_case(names=HOSTILE):
    """An explanation that uses hostile names, categories and labels, its table and its answers."""
    rng = np.random.default_rng(0)
    n_rows = 40 * len(names)
    table = pd.DataFrame({name: rng.normal(size=n_rows).round(3) for name in names})
    table[KIND] = np.array(names, dtype=object)[np.arange(n_rows) % len(names)]
    encoding = Encoding.fit(table)
    by_kind = np.arange(n_rows) % len(names)
    by_number = (table.to_numpy()[:, :-1] > 0)[np.arange(n_rows), by_kind]
    labels = np.array(names, dtype=object)[(by_kind + by_number) % len(names)]
    model = ExKMC(n_leaves=2 * len(names)).fit(encoding.transform(table), labels.astype(str))
    explanation = Explanation.of(model, feature_names=encoding.names)
    used = {getattr(n, "column", n) for n in explanation.input_columns.encoding.input_names}
    assert len(used) > len(names) / 2
    return explanation, table, explanation.predict(table).tolist()


def category_model(n_rows=200):
    """An explanation of numbers and categories, some missing, and its table."""
    rng = np.random.default_rng(1)
    words = np.array(["Gangnam", "o'Neill", "back\\slash", 'quo"te', None], dtype=object)
    table = pd.DataFrame(
        {
            "age": rng.integers(18, 80, n_rows).astype(float),
            "district": words[rng.integers(0, 5, n_rows)],
            "zip": rng.integers(0, 4, n_rows),
            "unused": rng.normal(size=n_rows),
            "member": rng.integers(0, 2, n_rows).astype(bool),
        }
    )
    encoding = Encoding.fit(table, categorical=["zip"])
    matrix = encoding.transform(table)
    matrix[:, encoding.names.index("unused")] = 0.0
    is_missing, is_gangnam = table["district"].isna(), table["district"] == "Gangnam"
    reference = 1 * is_missing + 2 * is_gangnam + 3 * (table["district"] == "o'Neill")
    reference += 5 * (table["zip"] == 2) + 10 * table["member"] + 20 * (table["age"] > 40)
    model = ExKMC(n_leaves=50).fit(matrix, reference.to_numpy(dtype=int))
    explanation = Explanation.of(model, feature_names=encoding.names)
    return explanation, table, model.predict(matrix)


FORMATS = {
    "signup": ColumnFormat("date", date_format="%d.%m.%Y"),
    "cyl": ColumnFormat("integer", values=(4, 6, 8)),
    "price": ColumnFormat(prefix="$"),
    "seen": ColumnFormat("datetime"),
    "year": ColumnFormat("year"),
}
"""Formats of the columns of `format_model`."""


def format_model(n_rows=200):
    """An explanation of dates, times, small integers and units, and a table in their types."""
    builder = TreeBuilder(len(FORMATS))
    early, late = builder.split(0, feature=0, threshold=18701.0)
    few, more = builder.split(early, feature=1, threshold=5.0)
    six, eight = builder.split(more, feature=1, threshold=6.0)
    cheap, expensive = builder.split(late, feature=2, threshold=15000.0)
    before, after = builder.split(cheap, feature=3, threshold=18779.5)
    old, new = builder.split(expensive, feature=4, threshold=1950.0)
    for cluster, node in enumerate((few, six, eight, before, after, old, new)):
        builder.set_cluster(node, cluster)
    explanation = Explanation(builder.build(), names=list(FORMATS), formats=FORMATS)
    rng = np.random.default_rng(0)
    days = pd.to_timedelta(rng.integers(18650, 18750, n_rows), unit="D")
    hours = pd.to_timedelta(rng.integers(-100, 100, n_rows), unit="h")
    table = pd.DataFrame(
        {
            "signup": (pd.Timestamp(0) + days).date,
            "cyl": rng.choice([4, 6, 8], n_rows),
            "price": rng.choice([10000.0, 15000.0, 15000.5, 20000.0], n_rows),
            "seen": pd.Timestamp("2021-06-01 12:00") + hours,
            "year": rng.choice([1949, 1950, 1951], n_rows),
        }
    )
    return explanation, table


def mixed_case(seed, n_rows=60):
    """A random tree of categories, dates and small integers, and a random table."""
    rng = np.random.default_rng(seed)
    continents = np.array(["Africa", "Asia", "Europe", "o'Neill", None], dtype=object)
    days = rng.integers(18600, 18610, n_rows)
    table = pd.DataFrame(
        {
            "continent": continents[np.append(np.arange(5), rng.integers(0, 5, n_rows - 5))],
            "am": rng.integers(0, 3, n_rows),
            "cyl": rng.choice([4, 6, 8], n_rows),
            "signup": (pd.Timestamp(0) + pd.to_timedelta(days, unit="D")).date,
        }
    )
    numbers = table.assign(signup=days)
    names = Encoding.fit(numbers, categorical=["am"]).names
    formats = {
        "cyl": ColumnFormat("integer", values=(4, 6, 8)),
        "signup": ColumnFormat("date"),
    }
    builder = TreeBuilder(len(names))
    for _ in range(12):
        feature = int(rng.integers(len(names)))
        threshold = 0.5
        if isinstance(names[feature], str):
            threshold = float(rng.choice(numbers[names[feature]]))
        builder.split(int(rng.choice(builder.leaves)), feature=feature, threshold=threshold)
    for node in range(len(builder.nodes)):
        builder.set_cluster(node, int(rng.integers(4)))
    return Explanation(builder.build(), names=names, clusters=range(4), formats=formats), table


@st.composite
def explanations(draw, max_splits=12, plain=False):
    """Any tree with any names, labels, thresholds and counts.

    A plain one has numbers only, no names, and thresholds that SQLite reads right.
    """
    n_features = draw(st.integers(1, 5))
    builder = TreeBuilder(n_features)
    numbers = st.floats(allow_nan=False, allow_infinity=False)
    if plain:
        numbers = st.floats(-1e200, 1e200).filter(lambda x: x == 0 or abs(x) > 1e-200)
    names = (
        None
        if plain
        else draw(
            st.none()
            | st.lists(st.text(min_size=0), min_size=n_features, max_size=n_features, unique=True)
        )
    )
    if names is not None and draw(st.booleans()):
        value = st.text() | st.integers(-5, 5) | st.booleans() | st.none()
        names = [
            Indicator(f"c{i}", draw(value)) if draw(st.booleans()) else name
            for i, name in enumerate(names)
        ]
        names = [n if isinstance(n, Indicator) else f"n{n}" for n in names]
    for _ in range(draw(st.integers(0, max_splits))):
        feature = draw(st.integers(0, n_features - 1))
        is_category = names is not None and isinstance(names[feature], Indicator)
        threshold = draw(st.floats(0, 1, exclude_max=True) if is_category else numbers)
        builder.split(draw(st.sampled_from(builder.leaves)), feature=feature, threshold=threshold)
    kinds = [
        st.integers(-(2**63), 2**63 - 1),
        st.text(alphabet=st.characters(exclude_characters="\0", exclude_categories=["Cs"])),
        numbers,
    ]
    clusters = draw(st.one_of([st.lists(k, min_size=3, max_size=3, unique=True) for k in kinds]))
    purity = {}
    for node in range(len(builder.nodes)):
        builder.set_cluster(node, draw(st.integers(0, 2)))
        builder.set_counts(node, draw(st.integers(0, 10**6)), draw(st.floats(0, 1e6)))
    tree = builder.build()
    for leaf in tree.leaves.tolist():
        if draw(st.booleans()):
            purity[leaf] = draw(st.floats(0, 1))
    return Explanation(tree, names=names, clusters=clusters, purity=purity)
