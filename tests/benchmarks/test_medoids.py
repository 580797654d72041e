"""The benchmark of k-medoids, on few rows."""

import numpy as np
import pytest

from benchmarks.settings import Settings
from benchmarks.store import read_rows
from benchmarks.xclusters import medoids
from benchmarks.xclusters.medoids import FILE, OURS, PEERS, SETS

pytestmark = pytest.mark.slow


def test_every_method_is_measured_once_and_shown(tmp_path, monkeypatch):
    monkeypatch.setattr(medoids, "_importable", lambda module: False)
    settings = Settings(output=tmp_path, quick=True)
    medoids.measure(settings)
    rows = read_rows(tmp_path / FILE)
    assert len(rows) == len(OURS) * len(SETS)
    medoids.measure(settings)
    assert read_rows(tmp_path / FILE) == rows
    (sheet,) = medoids.sheets(settings)
    assert len(sheet.rows) == len(rows)
    assert min(float(line[-1]) for line in sheet.rows) == 1.0
    assert all(name in sheet.note for name in PEERS)


def test_the_goal_is_judged_at_its_size_only(tmp_path):
    text = "dataset,n,method,seconds,loss\n"
    text += 'a,4000,"ours, BUILD",0.7,1.5\na,300,"ours, BUILD",0.1,1.5\n'
    (tmp_path / FILE).write_text(text)
    (sheet,) = medoids.sheets(Settings(output=tmp_path))
    assert [line[3] for line in sheet.rows] == ["0.700 s (≤ 0.6: misses)", "0.100 s"]


def test_nothing_measured_nothing_shown(tmp_path):
    assert medoids.sheets(Settings(output=tmp_path)) == []


def test_a_peer_is_asked_by_its_own_interface(monkeypatch):
    class Model:
        def __init__(self, n_clusters, **options):
            assert options == {"metric": "precomputed", "method": "pam", "init": "build"}

        def fit(self, D):
            self.inertia_ = D.sum()
            return self

    monkeypatch.setattr(medoids, "import_module", lambda name: type("m", (), {"KMedoids": Model}))
    assert PEERS["PAM (scikit-learn-extra)"](np.eye(3)) == pytest.approx(3.0)
