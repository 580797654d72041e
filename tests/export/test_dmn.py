"""DMN decision tables: read as XML and evaluated, they give the clusters of `predict`."""

import re
from datetime import date
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest

from pellucid import IMM, EOPClassifier, RuleSet
from pellucid.export import to_dmn
from pellucid.export.dmn import NAMESPACE

SPACE = {"d": NAMESPACE}


def literal(text):
    if text == "null":
        return None
    if text in ("true", "false"):
        return text == "true"
    if found := re.fullmatch(r'date\("(.*)"\)', text):
        return pd.Timestamp(date.fromisoformat(found[1]))
    return text[1:-1].replace('\\"', '"') if text.startswith('"') else float(text)


def passes(value, test):
    """Whether a value passes a unary test of the kinds that the export writes."""
    if test == "-":
        return True
    if test.startswith("not("):
        return not passes(value, test[4:-1])
    if found := re.fullmatch(r"\((.*)\.\.(.*)\]", test):
        return literal(found[1]) < value <= literal(found[2])
    if test.startswith(("<= ", "> ")):
        sign, end = test.split(" ", 1)
        return value <= literal(end) if sign == "<=" else value > literal(end)
    return value in [literal(part) for part in test.split(", ")]


def evaluate(text, rows):
    """For each row the output of the decision table, and how many of its rules match."""
    table = ElementTree.fromstring(text).find(".//d:decisionTable", SPACE)
    columns = [each.get("label") for each in table.findall("d:input", SPACE)]
    rules = []
    for rule in table.findall("d:rule", SPACE):
        tests = [each.text for each in rule.findall("d:inputEntry/d:text", SPACE)]
        assert len(tests) == len(columns)
        rules.append((tests, literal(rule.find("d:outputEntry/d:text", SPACE).text)))
    found = []
    for row in rows.to_dict("records"):
        matching = [
            output
            for tests, output in rules
            if all(passes(row[column], test) for column, test in zip(columns, tests))
        ]
        found.append(((matching[0] if matching else None), len(matching)))
    return found


@pytest.fixture(scope="module")
def table():
    generator = np.random.default_rng(0)
    return pd.DataFrame({"a b": generator.normal(size=200), "c%": generator.normal(size=200)})


def test_a_tree_has_one_rule_per_row(table):
    model = IMM(4, random_state=0).fit(table)
    text = model.to_dmn()
    assert 'hitPolicy="UNIQUE"' in text
    assert evaluate(text, table) == [(cluster, 1) for cluster in model.predict(table)]
    assert "`c%`" in text


def test_rules_and_regions_are_tried_in_order(table):
    labels = np.where(table["a b"] + table["c%"] > 0, 'hi"gh', "low")
    rules = RuleSet(mistake_cost=1).fit(table, labels)
    regions = EOPClassifier(max_error=0.1, calibration=0).fit(table, labels)
    for model in (rules, regions):
        text = to_dmn(model, column="segment")
        assert 'hitPolicy="FIRST"' in text
        assert 'name="segment"' in text
        expected = [None if c == "unexplained" else c for c in model.predict(table)]
        assert [output for output, _ in evaluate(text, table)] == expected
    ellipses = EOPClassifier(regions="ellipse", max_error=0.1, calibration=0).fit(table, labels)
    with pytest.raises(ValueError, match="have no decision table; use boxes"):
        ellipses.to_dmn()


def test_categories_and_dates():
    generator = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "city": generator.choice(["Bonn", "Kiel", "Ulm", "Trier"], 300),
            "since": pd.Timestamp("2020-01-01") + pd.to_timedelta(np.arange(300), "D"),
        }
    )
    late = table.since >= pd.Timestamp("2020-06-01")
    labels = np.where(table.city.isin(["Kiel", "Ulm"]) & late, 1, 0)
    rules = RuleSet(min_support=1).fit(table, labels)
    text = rules.to_dmn()
    assert 'typeRef="date"' in text
    assert 'date("2020-05-31")' in text
    expected = [None if cluster == -1 else cluster for cluster in rules.predict(table)]
    assert [output for output, _ in evaluate(text, table)] == expected
