"""The XClusters benchmark: tables beside the paper's, figures, verdicts, on small data."""

from __future__ import annotations

import csv
import gzip
import json

import numpy as np
import pytest

from benchmarks.__main__ import main
from benchmarks.settings import Settings
from benchmarks.store import Store, read_rows
from benchmarks.xclusters import appendix, claims, drawings, plane, searches, sets, thirds

pytestmark = pytest.mark.slow

KINDS = ("trends", "search", "small_trees", "tree")
N_SEARCHES = 2 + 1 + len(searches.TOLERANCES)


@pytest.fixture(autouse=True)
def _few_pairs(monkeypatch):
    """A grid of few pairs; the whole one takes minutes."""
    monkeypatch.setattr(searches, "K_RANGE", (3, 5))
    monkeypatch.setattr(searches, "N_PAIRS", 6)
    searches.fit_grid.cache_clear()


@pytest.fixture(scope="module")
def targets(tmp_path_factory):
    """The paper's tables in the form of their files."""
    folder = tmp_path_factory.mktemp("targets")
    with open(folder / searches.TABLE_2, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["dataset", "method", "objective", "D", "N", "runtime_s"])
        writer.writerow(["DS4C", "GS", "0.494", "0.193", "0.301", "1.359"])
    with open(folder / searches.TABLE_3, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["dataset", "method", "epsilon_b", "objective", "runtime_s"])
        writer.writerow(["DS4C", "XClusters", "0.10", "0.547", "0.081"])
    return folder


@pytest.fixture(scope="module")
def seoul(tmp_path_factory):
    """Hourly counts of a few districts for ten days, in the form of the real file."""
    folder = tmp_path_factory.mktemp("data")
    random = np.random.RandomState(0)
    with gzip.open(folder / sets.SEOUL, "wt", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["date", "hour", "birth_year", "sex", "province", "city", "fp_num"])
        for town, city in enumerate(("Jung-gu", "Jongno-gu", "Mapo-gu", "Guro-gu")):
            for age in (20, 30, 40):
                for sex in ("female", "male"):
                    for day in range(1, 11):
                        for hour in (0, 12):
                            count = 100 * town + age * day + random.randint(50)
                            row = [f"2020-01-{day:02d}", hour, age, sex, "Seoul", city, count]
                            writer.writerow(row)
    return folder


def test_a_quick_run_measures_everything_and_goes_on_where_it_was(tmp_path, capsys):
    output = tmp_path / "results"
    arguments = ["xclusters", "--quick", "--output", str(output)]
    assert main(arguments) == 0
    rows = read_rows(output / searches.FILE)
    assert [row["dataset"] for row in rows] == ["small_card"] * N_SEARCHES
    for row in rows:
        assert float(row["objective"]) == pytest.approx(float(row["d"]) + float(row["n"]), abs=1e-4)
        assert 3 <= int(row["k"]) <= 5
        assert int(row["n_nodes"]) % 2 == 1
    grid = next(row for row in rows if row["search"] == "grid")
    assert int(grid["evaluations"]) == 3 * 21
    pairs = read_rows(output / plane.FILE)
    assert len(pairs) == 3 * 21
    best = min(float(pair["d"]) + float(pair["n"]) for pair in pairs)
    assert float(grid["objective"]) == pytest.approx(best, abs=1e-4)
    page = (tmp_path / "RESULTS.md").read_text(encoding="utf-8")
    assert "## XClusters\n" in page
    for title in ("Table 2", "Table 3", "Claims", "Monotonicity", "Small trees"):
        assert f"### {title}" in page
    pictures = [plane.FIGURE_3, plane.FIGURE_4]
    pictures += [f"xclusters_{kind}_small_card.png" for kind in KINDS]
    for picture in pictures:
        assert (output / picture).read_bytes().startswith(b"\x89PNG")
        assert (output / picture).stat().st_size < 150_000
        assert f"(results/{picture})" in page
    small_trees = read_rows(output / "xclusters_small_trees.csv")
    assert [row["dataset"] for row in small_trees] == ["small_card"]
    assert 0.9 <= float(small_trees[0]["accuracy"]) < 1
    assert int(small_trees[0]["n_nodes"]) < min(int(row["n_nodes"]) for row in rows)
    before = (output / searches.FILE).read_bytes()
    assert main(arguments) == 0
    assert (output / searches.FILE).read_bytes() == before
    assert json.loads((output / "machine.json").read_text())[0]["scikit-learn"] in page


def test_the_population_of_seoul_stands_beside_the_paper(tmp_path, seoul, targets):
    output = tmp_path / "results"
    arguments = ["xclusters", "--only", "seoul", "--seeds", "1", "--output", str(output)]
    assert main([*arguments, "--data", str(seoul), "--targets", str(targets)]) == 0
    data = sets.load("seoul", seoul)
    assert data.series.shape == (24, 4)
    assert data.explanation.columns == ["district", "age", "sex"]
    page = (tmp_path / "RESULTS.md").read_text(encoding="utf-8")
    assert "(0.494)" in page
    assert "(0.547)" in page
    assert "| Seoul | below 2-Step |" in page


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--only", "seoul"], "seoul needs ds4c_seoul_floating.csv.gz"),
        (["--only", "tokyo"], "'tokyo' is unknown here; choose from card"),
    ],
)
def test_data_that_are_not_there_are_refused(tmp_path, capsys, arguments, message):
    assert main(["xclusters", *arguments, "--output", str(tmp_path / "results")]) == 2
    assert message in capsys.readouterr().err


def search_row(search, tolerance, objective, evaluations, planted="0.5"):
    values = {"dataset": "card", "search": search, "tolerance": f"{tolerance:g}", "seed": "0"}
    figures = {"objective": str(objective), "evaluations": str(evaluations), "planted": planted}
    return {**dict.fromkeys((*searches.KEY, *searches.VALUES), ""), **values, **figures}


@pytest.mark.parametrize(
    ("usual", "fine", "two_step", "wanted"),
    [
        ((0.54, 63, "0.6"), (0.51, 94), 0.8, "holds holds holds holds holds holds"),
        ((0.56, 64, "0.4"), (0.511, 95), 0.5, "misses misses misses misses misses misses"),
    ],
)
def test_verdicts_say_what_the_figures_say(usual, fine, two_step, wanted):
    rows = [
        search_row("grid", 0.05, 0.5, 189),
        search_row("two-step", 0.05, two_step, 10),
        search_row(searches.OURS, 0.05, *usual),
        search_row(searches.OURS, 0.01, *fine),
    ]
    assert [line[-1] for line in claims._verdicts(rows, "card")] == wanted.split()
    assert claims._verdicts(rows[1:], "card") == []


def test_steps_the_wrong_way_are_counted():
    d = np.array([[0.2, 0.5, 1.0], [0.1, 0.6, 0.5]])
    rows = [
        {"k": str(k), "alpha": str(alpha), "d": str(d[i, j]), "n": "1"}
        for i, k in enumerate((3, 4))
        for j, alpha in enumerate((0.0, 0.5, 1.0))
    ]
    found = plane.to_plane(rows)
    assert plane.share_monotone(found, "d", "k", -1) == pytest.approx(2 / 3)
    assert plane.share_monotone(found, "d", "alpha", 1) == pytest.approx(3 / 4)
    assert plane.share_monotone(found, "n", "alpha", -1) == 1
    assert drawings.best_pair(found, 1.0) == (1, 0)


def test_appendix_and_evaluations_beside_the_grid(tmp_path):
    """Verdicts of tables 4 and 5, figure 6 and the evaluations, from figures that are known."""
    tables = Store(
        tmp_path / appendix.FILE, ("dataset", "table", "search"), ("objective", "d", "n")
    )
    found = [(4, "two-step", 0.8), (4, "grid", 0.5), (4, "bayes", 0.6), (4, searches.OURS, 0.52)]
    found += [(5, "two-step", 0.4), (5, searches.OURS, 0.45)]
    tables.add(
        {"dataset": "seoul", "table": t, "search": s, "objective": o, "d": 0.1, "n": 0.2}
        for t, s, o in found
    )
    planes = Store(tmp_path / appendix.PLANES, ("dataset", "figure"), ("k", "alpha", "d", "n"))
    # N falls with k where α = 1.
    planes.add(
        {"dataset": name, "figure": 6, "k": k, "alpha": a, "d": a / k, "n": n}
        for name in ("seoul", "card")
        for k in (3, 4)
        for a, n in ((0.0, k), (0.5, k / 2), (1.0, k / 9 if name == "seoul" else 9 / (k - 2)))
    )
    four, five, six, picture = appendix.sheets(Settings(output=tmp_path))
    assert four.rows[0][-2:] == ["0.520 (0.547)", "holds"]
    assert [row[-1] for row in five.rows] == ["–", "misses"]
    assert [(row[0], row[-1]) for row in six.rows] == [
        ("Seoul", "holds"),
        ("card", "misses"),
        ("Seoul, α ≤ 0.5", "holds"),
        ("card, α ≤ 0.5", "holds"),
    ]
    assert "card: it is missed where α > 0.5, and holds up to there" in six.note
    assert (tmp_path / picture.file).exists()
    store = Store(tmp_path / thirds.FILE, ("dataset", "settings"), thirds.VALUES)
    for name, evaluations in (("few", 63), ("many", 64)):
        values = {"grid_objective": 0.5, "grid_evaluations": 189, "objective": 0.54}
        key = {"dataset": name, "settings": "paper", "evaluations": evaluations}
        store.add([{**key, **values, "k": 3, "alpha": 0.1}])
    (sheet,) = thirds.sheets(Settings(output=tmp_path))
    assert [row[-1] for row in sheet.rows] == ["holds", "misses"]
