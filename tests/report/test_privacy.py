"""A report without rows has no value of a row, checked by secrets in the table."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import pellucid
from _support.extended import EXTENDED
from pellucid import EOPClassifier, ExKMC
from pellucid.cli.app import app
from pellucid.report import write_report

NUMBERS = (73519.4417, 918273.5546, 61.7283945, 5.0918273645, 4417.25)
WORDS = ("Zyxwvut", "Qwertz-Secret", "secret@example.org", "Rumpelstilz")


def secrets_in(text):
    """Secrets that a text shows, in any usual way of writing them."""
    found = [word for word in WORDS if word in text]
    for number in NUMBERS:
        for digits in (10, 8, 7, 6, 5):
            value = float(f"{number:.{digits}g}")
            forms = {repr(value), f"{value:.{digits}g}", f"{value:,}"}
            if value > 10_000:
                forms |= {f"{value:.0f}", f"{value:,.0f}"}
            found += [f for f in forms if re.search(rf"(?<![\d.]){re.escape(f)}(?![\d])", text)]
    return found


def table(n=600, seed=0):
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 3, n)
    found = pd.DataFrame(
        {
            "income": (group * 30_000 + rng.normal(20_000, 2_000, n)).round(-1),
            "age": (group * 15 + rng.normal(30, 3, n)).round(0),
            "city": np.array(["Aa", "Bb", "Cc"], dtype=object)[group],
            "id": [f"ID{i:05d}" for i in range(n)],
            "note": rng.choice(["yes", "no"], n),
            "height": rng.normal(50, 2, n).round(1),
        }
    )
    found["mail"] = [f"user{i}@example.org" for i in range(n)]
    found.loc[3, "mail"] = WORDS[2]
    found.loc[3, "id"] = WORDS[3]
    found.loc[4, "city"] = WORDS[0]
    found.loc[5, "note"] = WORDS[1]
    found.loc[6, "income"] = NUMBERS[0]
    found.loc[7, "income"] = NUMBERS[1]
    found.loc[8, "height"] = NUMBERS[2]
    found.loc[9, "height"] = NUMBERS[3]
    return found


def test_the_check_finds_secrets():
    assert {"Zyxwvut", "73519.4417", "918,274"} <= set(secrets_in("73519.4417 Zyxwvut 918,274"))
    assert secrets_in('{"low": 73519.4, "x": 73520}')
    assert not secrets_in("73500 and 918000 and 4417250")


# Both give the same bytes: see `test_no_rows_keeps_every_row_out`.
OPTIONS = [{"no_rows": True}, {"max_points": 0, "n_typical": 0}]


@pytest.mark.parametrize("options", OPTIONS if EXTENDED else OPTIONS[:1])
def test_estimators(options, tmp_path, open_page):
    data = table()
    numbers = data[["income", "age", "height"]]
    # A cluster of one row, whose statistics are its values.
    labels = np.array(["a", "b", "c"], dtype=object)[
        (numbers["age"] // 15).clip(2, 4).astype(int) - 2
    ]
    labels[6] = labels[9] = "tiny"
    model = ExKMC(n_leaves=6).fit(numbers, labels.astype(str))
    path = write_report(tmp_path / "report.html", model, numbers, **options)
    text = path.read_text()
    assert secrets_in(text) == []
    assert secrets_in(write_report(tmp_path / "rows.html", model, numbers).read_text())
    page = open_page(path)
    assert page.locator(".cluster-label").count() > 0


def test_regions(tmp_path):
    data = table()[["income", "age", "height"]]
    labels = np.where(data["age"] > 52, "old", "young")
    labels[[6, 9]] = "tiny"
    model = EOPClassifier("stump", random_state=0, max_dim=2).fit(data, labels)
    text = write_report(tmp_path / "report.html", model, data, no_rows=True).read_text()
    assert secrets_in(text) == []
    corners = EOPClassifier("stump", regions="polyhedron", random_state=0, max_dim=2).fit(
        data, labels
    )
    with pytest.raises(ValueError, match="corners of the regions are training rows"):
        write_report(tmp_path / "corners.html", corners, data, no_rows=True)


@pytest.mark.slow
@pytest.mark.parametrize("profile", [(), ("--profile", "note,city,height")])
def test_the_command(profile, tmp_path):
    path, report = tmp_path / "rows.csv", tmp_path / "report.html"
    table().to_csv(path, index=False)
    arguments = ["explain", path, "-k", "3", "--report", report, "--no-rows", *profile]
    arguments += ["--effort", "fast"]
    result = CliRunner().invoke(app, [*map(str, arguments)])
    assert result.exit_code == 0, result.stderr
    text = report.read_text()
    assert secrets_in(text) == []
    payload = json.loads(re.search(r'id="payload">(.*?)</script>', text, re.S).group(1))
    assert payload["points"]["rows"] == 0
    assert all(c["typical"] == [] for tree in payload["trees"] for c in tree["clusters"])


@pytest.mark.slow
def test_python(tmp_path):
    found = pellucid.explain(table(), k=3, effort="fast")
    found.report(tmp_path / "report.html", no_rows=True)
    assert secrets_in((tmp_path / "report.html").read_text()) == []


def test_small_clusters_show_only_their_size(tmp_path):
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(200, 2)), [[NUMBERS[0], NUMBERS[1]]] * 3])
    labels = np.r_[np.zeros(200, int), np.ones(3, int)]
    text = write_report(
        tmp_path / "report.html", ExKMC().fit(X, labels), X, no_rows=True
    ).read_text()
    assert secrets_in(text) == []
    payload = json.loads(re.search(r'id="payload">(.*?)</script>', text, re.S).group(1))
    small = payload["trees"][payload["own"]]["clusters"][1]
    assert small["rows"] == 3
    assert small["means"] == [[None, None], [None, None]]
    assert not any(map(any, small["counts"]))
