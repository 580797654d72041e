"""The benchmarks run, write CSV, PNG and a page, and go on where they were interrupted."""

import csv
import json

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris, make_blobs

from benchmarks import child, golden, papers, quality, speed
from benchmarks.__main__ import main
from benchmarks.settings import Settings
from benchmarks.store import read_rows

pytestmark = pytest.mark.slow

TABLE2 = {"npc": 1.04, "waes": 5.0, "wad": 0.5, "nmi": 0.91}
TABLE3 = {"npc": 1.2, "waes": 1.44, "wad": 1.67, "nmi": 0.91}


@pytest.fixture
def few_processes(monkeypatch):
    """The first memory is measured in a process of its own; all else runs here, compiled before."""
    ask = child.ask
    here = {"cluster": child.cluster_file, "explain": child.explain_file}

    def quick(what, *arguments, **environment):
        if what == "memory" and what not in here:
            here[what] = child.peak_memory
            return ask(what, *arguments, **environment)
        if what == "compilation":
            assert set(environment) == {"NUMBA_CACHE_DIR"}
            return child.first_call(*arguments)
        return here[what](*arguments) if what in here else ask(what, *arguments, **environment)

    monkeypatch.setattr(child, "ask", quick)


@pytest.fixture
def targets(tmp_path):
    """Figures in the form of the paper's tables."""
    folder = tmp_path / "targets"
    folder.mkdir()
    methods = ("exshallow", "exgreedy", "imm", "kmc")
    row = {"dataset": "Iris", "k": 3}
    row |= {f"{m}_{method}": value for m, value in TABLE2.items() for method in methods}
    seconds = {"dataset": "Iris", "k": 3, "kmeans": 0.5, **dict.fromkeys(methods, 0.75)}
    seconds["exshallow_star"] = 0.875
    star = {"dataset": "Iris", "k": 3}
    star |= {f"{m}_{which}": value for m, value in TABLE3.items() for which in ("kmc", "star")}
    tables = {"table2": row, "star_table3": star, "table4_seconds": seconds}
    for name, figures in tables.items():
        write_csv(folder / f"exshallow_{name}.csv", [figures])
    return folder


@pytest.fixture
def published(tmp_path):
    """Figures in the form of the published packages': two seeds of iris."""
    folder = tmp_path / "golden"
    folder.mkdir()
    X = load_iris().data
    fits = [KMeans(3, n_init=10, random_state=seed).fit(X) for seed in range(2)]
    np.savez(folder / "iris_centers.npz", centers=[fit.cluster_centers_ for fit in fits])
    figures = {"npc": 1.0365, "waes": 1.2, "wad": 1.667, "nmi": 0.91}
    seconds = {"seconds": 0.001, "kmeans_seconds": 0.01}
    known = [
        {"dataset": "iris", "seed": seed, "method": "imm", **figures, **seconds}
        for seed in range(2)
    ]
    write_csv(folder / "peers.csv", known)
    return folder


def write_csv(path, rows):
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def test_speed_measures_every_part(tmp_path, published, few_processes):
    output = tmp_path / "results"
    arguments = ["speed", "--quick", "--output", str(output), "--golden", str(published)]
    assert main(arguments) == 0
    for part in speed.PARTS.values():
        rows = read_rows(output / part.FILE)
        assert rows
        assert all(float(row[c]) >= 0 for row in rows for c in row if c.endswith("seconds"))
    page = (tmp_path / "RESULTS.md").read_text(encoding="utf-8")
    for heading in (
        "Speed",
        "Growth",
        "Many clusters, and text",
        "Memory",
        "Threads",
        "Prediction",
        "Compilation",
        "Command line",
    ):
        assert f"## {heading}\n" in page
    check_picture(output / "speed_scaling.png", page)
    check_privacy(page, output, tmp_path)
    memory = read_rows(output / "speed_memory.csv")
    assert [row["dtype"] for row in memory] == ["float64", "float32"]
    assert [int(row["input_bytes"]) for row in memory] == [1000 * 5 * 8, 1000 * 5 * 4]


def test_papers_stand_beside_the_targets(tmp_path, targets, monkeypatch):
    for grid in ("CUBT_GRID", "CLTREE_GRID"):
        monkeypatch.setattr(papers.curves, grid, getattr(papers.curves, grid)[:2])
    output = tmp_path / "results"
    arguments = ["papers", "--quick", "--seeds", "1", "--only", "iris", "--output", str(output)]
    assert main([*arguments, "--targets", str(targets)]) == 0
    rows = read_rows(output / papers.tables.FILE)
    assert [row["method"] for row in rows] == ["exshallow", "exgreedy", "imm", "kmc", "exshallow*"]
    assert all(float(row["npc"]) == pytest.approx(1.0365, abs=1e-3) for row in rows)
    curves = read_rows(output / papers.curves.FILE)
    assert {row["method"] for row in curves} == {
        *papers.curves.METHODS,
        *papers.curves.UNSUPERVISED,
    }
    assert {row["dataset"] for row in curves} == {"iris"}
    assert all(float(row["ratio"]) >= 1 - 1e-9 for row in curves)
    grown = [row for row in curves if row["method"] in papers.curves.METHODS]
    assert all(3 <= int(row["leaves"]) <= 12 for row in grown)
    page = (tmp_path / "RESULTS.md").read_text(encoding="utf-8")
    assert "1.037 (1.04) =" in page
    assert "(5.00) ▲" in page
    assert "(0.50) ▼" in page
    assert "Petal length and petal width" in page
    assert "Differs; unexplained." in page
    assert "(0.75)" in page
    assert "(0.88)" in page
    assert "### Table 3: ExShallow* against KMC" in page
    assert "1.037 (1.20) ▲" in page
    assert "1.440 (1.44) =" in page
    assert "| 1 of 1 |" in page
    assert (
        "Its goal is another here: KMC has an NPC of 1.04 (1.04) and a WAES of 1.44 (5.00)" in page
    )
    check_picture(output / papers.curves.PICTURE, page)
    check_privacy(page, output, tmp_path)


def test_papers_without_targets_show_ours_alone(tmp_path):
    output = tmp_path / "results"
    arguments = ["papers", "--seeds", "1", "--only", "iris,tables", "--output", str(output)]
    assert main(arguments) == 0
    page = (tmp_path / "RESULTS.md").read_text(encoding="utf-8")
    assert "| Iris | 1 | 1.037 | 1.037 | 1.037 | 1.037 |" in page
    assert "Where tables 2 and 3 differ" not in page
    assert "Table 3" in page


def test_results_from_before_table_3_are_gone_on_with(tmp_path, monkeypatch):
    output = tmp_path / "results"
    arguments = ["papers", "--seeds", "2", "--only", "iris,tables", "--output", str(output)]
    monkeypatch.setattr(papers.tables, "ALL_METHODS", papers.tables.METHODS)
    assert main(arguments) == 0
    before = (output / papers.tables.FILE).read_text(encoding="utf-8")
    assert "### Table 3" not in (tmp_path / "RESULTS.md").read_text(encoding="utf-8")
    monkeypatch.undo()
    assert main(arguments) == 0
    after = (output / papers.tables.FILE).read_text(encoding="utf-8")
    assert after.startswith(before)
    assert [row["method"] for row in read_rows(output / papers.tables.FILE)[8:]] == [
        "exshallow*"
    ] * 2
    assert "2 of 2" in (tmp_path / "RESULTS.md").read_text(encoding="utf-8")


def test_golden_compares_from_the_same_centers(tmp_path, published, capsys):
    output = tmp_path / "results"
    arguments = ["golden", "--only", "iris", "--output", str(output), "--golden", str(published)]
    assert main(arguments) == 0
    rows = read_rows(output / golden.FILE)
    assert len(rows) == 10
    assert {row["centers"] for row in rows} == {"golden"}
    page = (tmp_path / "RESULTS.md").read_text(encoding="utf-8")
    assert "1.0365 (1.0365) | 1.4400 (1.2000) | 1.6667 (1.6670) | worse in WAES" in page
    assert "no peer" in page


def test_golden_works_without_golden_figures(tmp_path):
    output = tmp_path / "results"
    assert main(["golden", "--quick", "--only", "wine", "--output", str(output)]) == 0
    rows = read_rows(output / golden.FILE)
    assert [row["centers"] for row in rows] == ["own"] * 5


def test_the_page_can_be_made_again_from_the_files(tmp_path):
    output = tmp_path / "results"
    assert main(["golden", "--quick", "--only", "iris", "--output", str(output)]) == 0
    page = tmp_path / "RESULTS.md"
    before = page.read_text(encoding="utf-8")
    page.unlink()
    assert main(["report", "--output", str(output)]) == 0
    assert page.read_text(encoding="utf-8") == before


@pytest.mark.parametrize("stop_at", [1, 4])
def test_an_interrupted_run_goes_on_without_measuring_twice(tmp_path, monkeypatch, stop_at):
    output = tmp_path / "results"
    arguments = ["speed", "--quick", "--only", "threads", "--output", str(output)]
    module, measured = speed.threads, []

    def count_and_stop(repeats, work):
        if len(measured) == stop_at:
            measured.append("the interrupted one")
            raise KeyboardInterrupt
        measured.append(work())
        return 1.0

    monkeypatch.setattr(module, "best_of", count_and_stop)
    assert main(arguments) == 130
    assert len(read_rows(output / module.FILE)) == stop_at
    assert main(arguments) == 0
    assert len(measured) == 6 + 1
    assert len(read_rows(output / module.FILE)) == 6
    assert main(arguments) == 0
    assert len(measured) == 6 + 1
    assert main([*arguments, "--fresh"]) == 0
    assert len(measured) == 2 * 6 + 1
    assert len(read_rows(output / module.FILE)) == 6


def test_a_fresh_run_leaves_other_results_alone(tmp_path):
    output = tmp_path / "results"
    for name in ("iris", "wine"):
        assert main(["golden", "--quick", "--only", name, "--output", str(output)]) == 0
    again = ["golden", "--quick", "--only", "iris", "--fresh", "--output", str(output)]
    assert main(again) == 0
    rows = read_rows(output / golden.FILE)
    assert [row["dataset"] for row in rows] == ["wine"] * 5 + ["iris"] * 5


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["papers", "--only", "nonsense"], "'nonsense' is unknown here; choose from"),
        (["speed", "--only", "iris"], "choose from table, scaling"),
        (["papers", "--data", "nowhere"], "--data: nowhere is not a folder"),
        (["golden", "--golden", "."], "no peers.csv"),
        (["papers", "--targets", "."], "no exshallow_table2.csv"),
        (["papers", "--seeds", "0"], "at least one is needed"),
        (["report"], "nothing has been measured yet"),
    ],
)
def test_what_cannot_be_run_is_refused_with_a_reason(tmp_path, capsys, arguments, message):
    assert main([*arguments, "--output", str(tmp_path / "results")]) == 2
    assert message in capsys.readouterr().err


def test_quick_runs_do_not_touch_the_committed_results():
    from benchmarks.__main__ import _settings

    nothing = dict.fromkeys(("data", "golden", "targets", "only", "seeds", "output"))
    full = _settings({**nothing, "quick": False, "fresh": False})
    quick = _settings({**nothing, "quick": True, "fresh": False})
    assert full.output == Settings().output != quick.output


def check_picture(path, page):
    assert path.read_bytes().startswith(b"\x89PNG")
    assert path.stat().st_size < 150_000
    assert f"(results/{path.name})" in page


def check_privacy(page, output, folder):
    import platform

    known = (output / "machine.json").read_text(encoding="utf-8")
    for private in (platform.node(), str(folder)):
        assert private not in page
        assert private not in known
    assert json.loads(known)[0]["scikit-learn"] in page


def test_quality_by_size_and_beside_the_least_cost(tmp_path, monkeypatch):
    few = make_blobs(40, 3, centers=12, cluster_std=6.0, random_state=0)
    monkeypatch.setattr(quality.sizes, "make_blobs", lambda *args, **options: few)
    output = tmp_path / "results"
    arguments = ["quality", "--quick", "--only", "sizes,least_cost", "--output", str(output)]
    assert main(arguments) == 0
    rows = read_rows(output / "quality_sizes.csv")
    assert len(rows) == 4
    one_leaf = [row for row in rows if row["option"] == "k leaves"]
    assert all(float(row["excess"]) <= float(row["best_excess"]) + 1e-9 for row in one_leaf)
    (row,) = read_rows(output / "quality_least_cost.csv")
    assert float(row["least"]) <= float(row["ours"]) * (1 + 1e-9)
    page = (tmp_path / "RESULTS.md").read_text(encoding="utf-8")
    assert "### From few to many rows" in page
    assert "### Distance to the least cost" in page
