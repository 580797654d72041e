"""DOT, Mermaid, tables and HTML: every word there, none of it taken for markup."""

import re
import sys
from html import unescape
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.datasets import load_wine

from _support.export_cases import category_model, hostile_model
from pellucid import IMM, ExKMC, Explanation, plot_tree
from pellucid.tables.column_formats import format_number
from pellucid.tree import TreeBuilder


@pytest.fixture(scope="module")
def wine():
    X = load_wine(as_frame=True).data
    return ExKMC(n_leaves=12).fit(X, np.arange(178) % 5), X


def dot_labels(text):
    """Nodes and their labels, and edges, read back."""
    nodes, edges = {}, []
    for line in text.split("\n")[3:-1]:
        number, child, label = re.match(
            r'    (\d+)(?: -> (\d+))? \[label="((?:[^"\\]|\\.)*)"[^"]*(?:"#\w+"[^"]*)*\];$', line
        ).groups()
        label = re.sub(r"\\(.)", lambda m: "\n" if m[1] == "n" else m[1], label)
        if child is None:
            nodes[int(number)] = unescape(label)
        else:
            edges.append((int(number), int(child), label))
    return nodes, edges


def expected_edges(tree, answers=lambda node: ("yes", "no")):
    inner = np.flatnonzero(~tree.is_leaf).tolist()
    return [
        (node, int(child), answer)
        for node in inner
        for child, answer in zip(
            (tree.children_left[node], tree.children_right[node]), answers(node)
        )
    ]


def test_dot_has_every_node_and_edge(wine):
    model, X = wine
    tree = model.tree_
    nodes, edges = dot_labels(model.to_dot())
    assert sorted(edges) == expected_edges(tree)
    for node in range(tree.node_count):
        if tree.is_leaf[node]:
            assert nodes[node].startswith(f"cluster {tree.cluster[node]}\n")
            assert f"{tree.n_node_samples[node]:,} row" in nodes[node]
        else:
            name = X.columns[tree.feature[node]]
            assert nodes[node] == f"{name} ≤ {format_number(tree.threshold[node])}"


def test_dot_quotes_hostile_names():
    model, X = hostile_model()
    nodes, edges = dot_labels(model.to_dot())
    assert sorted(edges) == expected_edges(model.tree_)
    for node in np.flatnonzero(~model.tree_.is_leaf).tolist():
        name = X.columns[model.tree_.feature[node]].replace("\n", " ")
        assert nodes[node].startswith(f"{name} ≤ ")


def test_mermaid_has_every_node_and_edge_and_no_markup_of_others():
    model, X = hostile_model()
    tree, text = model.tree_, model.to_mermaid()
    assert text.startswith("flowchart TD\n")
    nodes = dict(re.findall(r'^    n(\d+)[\[(]"([^"]*)"[\])]$', text, flags=re.M))
    edges = re.findall(r"^    n(\d+) -- (\w+) --> n(\d+)$", text, flags=re.M)
    assert sorted((int(a), int(b), word) for a, word, b in edges) == expected_edges(tree)
    assert len(nodes) == tree.node_count
    assert len(text.split("\n")) == 1 + len(nodes) + len(edges) + tree.n_leaves
    for node, label in nodes.items():
        label = label.replace("<br>", "")
        assert not set(label) & set("<\"`'\n\\{}[]")
        plain = re.sub(r"#(\d+);", lambda m: chr(int(m[1])), label)
        if not tree.is_leaf[int(node)]:
            name = " ".join(X.columns[tree.feature[int(node)]].split())
            assert plain.startswith(name)


def test_mermaid_takes_no_name_for_markdown():
    builder = TreeBuilder(1)
    builder.split(0, feature=0, threshold=0.5)
    for name, written in (
        ("1. income", "1#46; income"),
        ("- a", "#45; a"),
        ("_stress_ on_it", "#95;stress#95; on_it"),
        ("a*b*", "a#42;b#42;"),
        ("v1.5", "v1.5"),
    ):
        text = Explanation(builder.build(), names=[name]).to_mermaid()
        assert text.split("\n")[1] == f'    n0["{written} ≤ 0.5"]'


def test_a_category_is_a_question_with_yes_to_the_right():
    explanation, _, _ = category_model()
    tree, names = explanation.tree_, explanation.tree_columns_

    def answers(node):
        return ("yes", "no") if isinstance(names[tree.feature[node]], str) else ("no", "yes")

    nodes, edges = dot_labels(explanation.to_dot())
    assert sorted(edges) == expected_edges(tree, answers)
    assert "district is Gangnam" in nodes.values()
    assert "district is Gangnam" in explanation.to_mermaid()
    assert "district is Gangnam" in explanation.to_html()


def test_a_tree_that_knows_no_rows():
    builder = TreeBuilder(1)
    builder.split(0, feature=0, threshold=0.5)
    tree = builder.build()
    explanation = Explanation(tree)
    assert '1 [label="cluster 0", fill' in explanation.to_dot()
    assert 'n1("cluster 0")' in explanation.to_mermaid()
    assert "1 cluster · 2 leaves · depth 1</div>" in explanation.to_html()


@pytest.mark.parametrize("kind", ["pandas", "polars", "dict", None])
def test_a_table_of_nodes(wine, kind):
    model, X = wine
    tree = model.tree_
    frame = model.to_frame(kind=kind)
    assert type(frame) is {"polars": pl.DataFrame, "dict": dict}.get(kind, pd.DataFrame)
    for column, expected in (
        ("node", np.arange(tree.node_count)),
        ("left", tree.children_left),
        ("right", tree.children_right),
        ("threshold", tree.threshold),
        ("depth", tree.depth),
        ("rows", tree.n_node_samples),
        ("weight", tree.weighted_n_node_samples),
        ("share", tree.weighted_n_node_samples / len(X)),
    ):
        np.testing.assert_array_equal(np.asarray(frame[column]), expected)
    names = [X.columns[f] if f >= 0 else "" for f in tree.feature]
    assert list(frame["column"]) == names
    for node, parent, condition in zip(frame["node"], frame["parent"], frame["condition"]):
        if node:
            sign = "≤" if tree.children_left[parent] == node else ">"
            number = format_number(tree.threshold[parent])
            assert condition == f"{names[parent]} {sign} {number}"
    by_leaf = {rule.leaf: rule for rule in model._leaf_rules}
    rules = [by_leaf[n].text if n in by_leaf else "" for n in range(tree.node_count)]
    assert list(frame["rule"]) == rules
    clusters = [by_leaf[n].cluster if n in by_leaf else None for n in range(tree.node_count)]
    assert list(frame["cluster"]) == clusters


def test_a_table_of_categories():
    explanation, _, _ = category_model()
    frame = explanation.to_frame(kind="dict")
    at = frame["column"] == "district"
    assert {"Gangnam", "missing"} <= set(frame["category"][at])
    assert np.isnan(frame["threshold"][at]).all()
    assert not np.isnan(frame["threshold"][frame["column"] == "age"]).any()
    with pytest.raises(ValueError, match="kind is 'arrow'; it can be 'pandas', 'polars', 'dict'"):
        explanation.to_frame(kind="arrow")


def test_a_table_without_a_kind_is_of_a_library_that_is_installed(wine, monkeypatch):
    model, _ = wine
    monkeypatch.delitem(sys.modules, "pandas")
    assert type(model.to_frame()) is pl.DataFrame
    monkeypatch.delitem(sys.modules, "polars")
    monkeypatch.setattr(sys, "meta_path", [])  # nothing else can be imported
    assert type(model.to_frame()) is dict


class Reader(HTMLParser):
    """Tags that are open, and all text outside the style."""

    def __init__(self):
        super().__init__()
        self.open, self.text, self.seen = [], [], set()

    def handle_starttag(self, tag, attrs):
        self.seen.add(tag)
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open[-1:] != ["style"]:
            self.text.append(data)


def read(html):
    reader = Reader()
    reader.feed(html)
    assert reader.open == []
    return reader


def test_html_is_escaped_and_complete():
    model, _ = hostile_model()
    reader = read(model.to_html())
    text = "".join(reader.text)
    ours = "details|div|pre|span|strong|style|summary|table|tbody|td|th|thead|tr"
    assert reader.seen == set(ours.split("|"))
    for rule in model._leaf_rules:
        assert rule.text in text
    for name in model.cluster_names_:
        assert name in text
    assert "ExKMC · 5 clusters · 40 leaves" in text
    assert f"cost {model.inertia_ / model.reference_inertia_:.3f} ×" in text


def test_notebooks_show_rules_once_there_are_any(wine):
    model, _ = wine
    assert model._repr_html_() == model.to_html() == model._repr_mimebundle_()["text/html"]
    assert "text/plain" in model._repr_mimebundle_()
    unfitted = IMM(3)
    assert "pellucid-head" not in unfitted._repr_html_()
    assert "IMM" in unfitted._repr_mimebundle_()["text/html"]
    with sklearn.config_context(display="text"):
        assert "text/html" not in model._repr_mimebundle_()
        assert not hasattr(model, "_repr_html_")
    assert "ExKMC · 5 clusters" in "".join(read(Explanation.of(model)._repr_html_()).text)


def test_a_light_model_is_drawn_like_the_estimator(wine):
    model, _ = wine
    plain = [text.get_text() for text in plot_tree(model).texts]
    assert [text.get_text() for text in plot_tree(Explanation.of(model)).texts] == plain
