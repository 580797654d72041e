"""The texts of a report: one file per language, and nothing in another language."""

from __future__ import annotations

import ast
import json
import pickle
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import pellucid
from pellucid._utils.texts import LANGUAGES, Message, _texts, say, texts_in
from pellucid.eop import EOPClassifier
from pellucid.report import report_html

SOURCE = Path(pellucid.__file__).parent
PAYLOAD = re.compile(r'id="payload">(.*?)</script>', re.DOTALL)
ENGLISH = re.compile(
    r"\b(the|of|and|or|is|are|with|without|to|by|as|because|rows?|columns?|clusters were|only|"
    r"missing|treated|ignored|dropped|nearest|vertices|where|within|everywhere|level|wrong)\b",
    re.IGNORECASE,
)


def fields(text):
    return sorted(re.findall(r"\{(\w+)", text))


@pytest.mark.parametrize("section", ["rules", "messages"])
def test_all_languages_have_the_same_keys_and_fields(section):
    english = _texts()["en"][section]
    for language in LANGUAGES:
        texts = _texts()[language][section]
        assert texts.keys() == english.keys()
        for key, text in texts.items():
            assert set(fields(text)) <= set(fields(english[key])), key


def keys_in_the_source():
    """Literal keys of `say` and `Message`, and other strings that are keys."""
    messages, found = _texts()["en"]["messages"], set()
    # Most files contain no key: they are not parsed.
    candidate = re.compile(rf"\b(?:say|Message)\(|[\"'](?:{'|'.join(messages)})[\"']")
    for path in SOURCE.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)) if candidate.search(text) else ():
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("say", "Message"):
                first = node.args[0]
                if isinstance(first, ast.Constant):
                    assert first.value in messages, f"{path.name}: {first.value}"
            if isinstance(node, ast.Constant) and node.value in messages:
                found.add(node.value)
    return found


def test_every_text_is_used_and_every_key_has_a_text():
    assert keys_in_the_source() == _texts()["en"]["messages"].keys()


def test_decisions_are_messages():
    for folder in ("tables/reading", "table_explainer"):
        for path in (SOURCE / folder).glob("*.py"):
            if path.name == "prediction.py":  # Its notices are about new rows.
                continue
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "notice":
                    written = node.args[0]
                    name = getattr(getattr(written, "func", written), "id", "")
                    # A line is a message that was held back.
                    assert name in ("Message", "line"), f"{path.name}:{node.lineno}"


def test_messages_are_written_again_in_another_language():
    columns = [Message("columnCount", column="a", n=1200)]
    message = Message("dropped", n=1234, rows=1, columns=columns, option="missing=median")
    assert message == (
        "dropped 1,234 of 1 row with missing numbers (a 1,200); missing=median keeps them"
    )
    with texts_in("de"):
        german = pickle.loads(pickle.dumps(message)).translated()
        score = say("silhouette", score=0.2564, weak=0.25)
    assert score == "Silhouette 0,256 (1 ist ideal, unter 0,25 ist schwach)"
    assert german.startswith("1.234 von 1 Zeile mit fehlenden Zahlen weggelassen (a 1.200); ")
    assert say("isGaps", share=0.351).startswith("35% of")


def payload_of(text):
    return json.loads(PAYLOAD.search(text).group(1))


def test_a_german_report_of_a_table_has_no_english_text(tmp_path):
    random = np.random.default_rng(0)
    n = 120
    table = pd.DataFrame(
        {
            "Kunde": [f"K{i:05d}" for i in range(n)],
            "Umsatz": random.lognormal(3, 1.5, n).round(2),
            "Alter": random.integers(18, 80, n).astype(float),
            "Stadt": random.choice(["Bonn", "Ulm"], n),
            "leer": 1,
        }
    )
    table.loc[:20, "Alter"] = np.nan
    found = pellucid.explain(table, k=3, method="imm", missing="drop", verbose=False)
    path = found.report(tmp_path / "a.html", language="de", title="Kunden")
    payload = payload_of(path.read_text(encoding="utf-8"))
    texts = [*payload["decisions"], *payload["warnings"]]
    assert len(payload["decisions"]) >= 5
    assert payload["warnings"]
    texts += [rule["text"] for rules in payload["trees"][payload["own"]]["rules"] for rule in rules]
    texts += [cluster["suggested"] or "" for cluster in payload["clusters"]]
    # Options are written as in Python.
    plain = [re.sub(r'\w+="?\w*"?', "", text) for text in texts]
    assert [text for text in plain if ENGLISH.search(text)] == []


@pytest.mark.parametrize("shape", ["box", "ellipse", "polyhedron", "nonparametric"])
def test_a_german_report_of_regions_has_no_english_text(shape):
    random = np.random.default_rng(1)
    X = pd.DataFrame(random.normal(size=(60, 2)), columns=["Umsatz", "Alter"])
    y = np.where(X["Umsatz"] + X["Alter"] > 0, "hoch", "tief")
    model = EOPClassifier(regions=shape, random_state=0, max_levels=2).fit(X, y)
    payload = payload_of(report_html(model, X, language="de"))
    texts = [piece["text"] for level in payload["levels"] for piece in level["pieces"]]
    assert texts
    assert [text for text in [*texts, payload["rules"]] if ENGLISH.search(text)] == []
    assert (payload["model"] is None) == (shape == "nonparametric")
    if shape != "nonparametric":
        assert len(payload["sql"]) == 9
        assert payload["model"]["clusters"] == ["hoch", "tief"]


def test_the_style_sheet_has_no_words():
    style = (SOURCE / "report" / "page.css").read_text(encoding="utf-8")
    assert re.findall(r'content:"[^"]*[a-zA-Z]{2}[^"]*"', style) == []
