"""A record of every pass over a scan, and a fit that goes on after a crash."""

from __future__ import annotations

import logging

import numpy as np
import pytest

import pellucid
from _support.fitting import assert_same_tree
from pellucid.scale import KMeans


def rows(shift=0.0):
    random = np.random.default_rng(0)
    X = random.normal(size=(900, 4)) + 6 * random.integers(4, size=(900, 1)) + shift
    return [X[:400], X[400:]]


CENTERS = np.outer([0, 6, 12, 18], np.ones(4))


class Crash(Exception):
    pass


@pytest.mark.parametrize(
    "estimator",
    [
        pellucid.IMM(reference=CENTERS),
        pellucid.ExShallow(reference=CENTERS),
        pellucid.ExKMC(reference=CENTERS, n_leaves=6),
        pellucid.IMM(4, random_state=0),
    ],
)
def test_a_fit_goes_on_after_a_crash(estimator, tmp_path, caplog):
    seen = []

    def crash(record):
        seen.append(record)
        if record.number == 5:
            raise Crash

    with pytest.raises(Crash):
        estimator.fit(pellucid.scan(rows, checkpoint=tmp_path, on_pass=crash))
    assert len(list(tmp_path.iterdir())) == len(seen) == 5
    records = []
    with caplog.at_level(logging.INFO, "pellucid.scale"):
        data = pellucid.scan(rows, checkpoint=tmp_path, on_pass=records.append)
        estimator.fit(data)
    assert len(caplog.records) == len(records) > 5
    assert [record.number for record in records] == list(range(1, len(records) + 1))
    assert [record.is_replayed for record in records] == [n < 5 for n in range(len(records))]
    for before, record in zip(seen, records):
        assert before[3:-1] == record[3:-1]
        assert before.n_rows == 900
        assert 0 < before.task_bytes <= before.total_bytes
    assert list(tmp_path.iterdir()) == []
    tree = estimator.tree_
    assert estimator.fit(pellucid.scan(rows)).tree_ == tree


@pytest.mark.parametrize("change", ["data", "centers", "columns", "exact"])
def test_results_of_another_fit_are_not_taken(change, tmp_path):
    def crash(record):
        if record.number == 5:
            raise Crash

    data = pellucid.scan(rows, checkpoint=tmp_path, on_pass=crash)
    with pytest.raises(Crash):
        pellucid.IMM(reference=CENTERS).fit(data)
    shift = 0.5 if change == "data" else 0.0
    centers = CENTERS + (change == "centers")
    columns = ["x1", "x0", "x2", "x3"] if change == "columns" else None
    records, exact = [], change != "exact"
    found, expected = (
        pellucid.IMM(reference=centers).fit(
            pellucid.scan(lambda: rows(shift), columns, exact=exact, **options)
        )
        for options in ({"checkpoint": tmp_path, "on_pass": records.append}, {})
    )
    assert_same_tree(found, expected)
    assert not any(record.is_replayed for record in records)


def test_files_that_changed_are_read_again(tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path, n_replayed = tmp_path / "rows.parquet", []
    for _ in range(2):
        X = np.concatenate(rows())
        pq.write_table(pa.table({f"x{j}": X[:, j] for j in range(4)}), path)

        def count(record):
            n_replayed[-1] += record.is_replayed
            if record.number == 5:
                raise Crash

        for _ in range(2):
            n_replayed.append(0)
            data = pellucid.scan(path, checkpoint=tmp_path / "done", on_pass=count)
            with pytest.raises(Crash):
                pellucid.IMM(reference=CENTERS).fit(data)
    assert n_replayed == [0, 5, 0, 5]


def test_records_of_kmeans():
    records = []
    model = KMeans(4, random_state=0).fit(pellucid.scan(rows, on_pass=records.append))
    assert len(records) == model.n_iter_ + 1


def test_a_reference_that_cannot_be_stored(tmp_path):
    kmeans = KMeans(4, random_state=0).fit(pellucid.scan(rows))
    kmeans.rows = (row for row in [])
    data = pellucid.scan(rows, checkpoint=tmp_path)
    with pytest.raises(ValueError, match="checkpoint= needs a reference that can be pickled"):
        pellucid.IMM(reference=kmeans).fit(data)


@pytest.mark.parametrize("name", ["IMM", "EMN", "BSIMM", "ExGreedy", "ExShallow", "ExKMC", "SpEx"])
def test_estimate_of_a_fit(name, capsys):
    records = []
    data = pellucid.scan(rows, on_pass=records.append)
    model = getattr(pellucid, name)(reference=CENTERS)
    found = data.estimate(model)
    printed = capsys.readouterr().out
    assert printed.startswith("900 rows\npasses: ")
    assert found.n_rows == 900
    model.fit(data)
    assert found.passes[0] <= len(records) <= found.passes[1]
    assert found.read_bytes[0] <= found.read_bytes[1]


def test_estimate_counts_the_passes_of_kmeans_and_labels():
    data = pellucid.scan(rows)
    assert data.estimate(pellucid.IMM(4)).source_passes == 7
    with pytest.raises(ValueError, match="no estimate for OptimalTree; there is for"):
        data.estimate(pellucid.OptimalTree())
