"""`explain` of a scan."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from sklearn.datasets import make_blobs

import pellucid
from pellucid._utils.notices import InputError

OPTIONS = {"k": 3, "method": "exshallow", "verbose": False}


@pytest.fixture(scope="module")
def frame():
    X, y = make_blobs(1500, 3, centers=3, cluster_std=2.0, random_state=0)
    names = np.array(["Rome", "Oslo", "Kyiv"])[y]
    table = pl.DataFrame(X.round(2), schema=["a", "b", "c"])
    gaps = pl.when(pl.int_range(1500) % 40 == 3).then(None).otherwise(pl.col("b"))
    return table.with_columns(b=gaps, n=pl.int_range(1500) % 5, city=pl.Series(names))


def scan_of(frame, memory, **arguments):
    parts = [frame[:400], frame[400:]]
    return pellucid.scan(lambda: parts, memory=memory, **arguments)


def test_rows_that_fit_are_explained_as_a_table(frame):
    found = pellucid.explain(scan_of(frame, "1GB"), **OPTIONS)
    expected = pellucid.explain(frame, **OPTIONS)
    assert str(found) == str(expected)
    assert found.decisions == expected.decisions
    assert (found.labels == expected.labels).all()


@pytest.mark.parametrize("missing", ["drop", "median"])
def test_rows_that_do_not_fit_are_read_in_batches(missing, frame):
    options = {**OPTIONS, "missing": missing, "outliers": "keep"}
    found = pellucid.explain(scan_of(frame, "100kB"), **options)
    expected = pellucid.explain(frame.drop("city"), **options)
    assert any("city" in text and "read in batches" in text for text in found.decisions)
    # The sample holds all rows.
    assert found.explanation.to_json() == expected.explanation.to_json()


def test_labels_and_columns_of_the_scan(frame):
    data = scan_of(frame, "100kB", labels="city", columns=["a", "c"])
    found = pellucid.explain(data, effort="fast", verbose=False)
    assert set(found.explanation.cluster_names_) == {"Rome", "Oslo", "Kyiv"}


def test_refusals(frame):
    with pytest.raises(
        InputError, match="explain takes no weights, but the scan has the column 'n'"
    ):
        pellucid.explain(scan_of(frame, "1GB", weight="n"), effort="fast", verbose=False)
    with pytest.raises(InputError, match=r"values missing .* in row 4, column .b."):
        pellucid.explain(scan_of(frame, "100kB"), **OPTIONS, missing="error")
    with pytest.raises(InputError, match="needs all rows in memory"):
        pellucid.explain(scan_of(frame, "100kB"), **OPTIONS, categorical="n")
