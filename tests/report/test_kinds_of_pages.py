"""Pages of many clusters, many columns, categories alone, outliers and streamed rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import pellucid
from _support.browsers import serious_faults
from _support.extended import EXTENDED
from pellucid import IMM
from pellucid.report import write_report

pytestmark = pytest.mark.slow


def blobs(n_rows, n_clusters, n_columns):
    random = np.random.default_rng(0)
    centers = random.normal(scale=10, size=(n_clusters, n_columns))
    X = centers[random.integers(n_clusters, size=n_rows)] + random.normal(size=(n_rows, n_columns))
    names = [f"transactions_per_household_{j}" for j in range(n_columns)]
    return pd.DataFrame(X, columns=names)


def twelve_clusters(path):
    X = blobs(400, 12, 2)
    return write_report(path, IMM(12, random_state=0).fit(X), X)


def two_hundred_columns(path):
    X = blobs(120, 3, 200)
    return write_report(path, IMM(3, random_state=0).fit(X), X, trade_off=None)


def categories_alone(path):
    random = np.random.default_rng(0)
    lengthy = ["merchant and shop keeper", "agricultural labourer", "no occupation given"]
    table = pd.DataFrame(
        {
            "survived": random.choice(["yes", "no"], 300),
            "port": random.choice(["Southampton", "Cherbourg", "Queenstown"], 300),
            "occupation before departure": random.choice(lengthy, 300),
        }
    )
    return pellucid.explain(table, k=4, effort="fast", verbose=False).report(path)


def outliers(path):
    X = blobs(300, 3, 3).abs()
    X.iloc[:3, 0] = 1e6
    return pellucid.explain(X, k=3, outliers="keep", effort="fast", verbose=False).report(path)


def streamed(path):
    X = blobs(400, 4, 3).to_numpy(np.float32)
    model = IMM(reference=X[:4]).fit(pellucid.scan(lambda: [X[:200], X[200:]]))
    return write_report(path, model, pd.DataFrame(X[:100], columns=["x0", "x1", "x2"]))


KINDS = (twelve_clusters, two_hundred_columns, categories_alone, outliers, streamed)
OTHER_COLOURS = KINDS if EXTENDED else (twelve_clusters, categories_alone, outliers)
"""The others have few clusters and columns of numbers, as the page of `test_in_browser.py`."""


@pytest.mark.parametrize("make", KINDS)
def test_the_page_is_sound(make, open_page, tmp_path):
    path = make(tmp_path / "report.html")
    for width, scheme in ((1280, "dark"), (390, "light")):
        page = open_page(path, width=width, scheme=scheme)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        # No name is broken into a column of letters.
        sizes = page.locator("table.overview th[scope=row]").evaluate_all(
            "all => all.map(e => { const b = e.getBoundingClientRect();"
            " return [b.width, b.height]; })"
        )
        assert sizes
        assert all(across > upright > 0 for across, upright in sizes)
    assert serious_faults(page, contrast=make in OTHER_COLOURS) == []
