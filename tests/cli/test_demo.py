"""``pellucid demo`` prints the rules and the cost of the model and writes its files."""

from __future__ import annotations

import os

import polars as pl
import pytest
from sklearn.datasets import load_wine
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from typer.testing import CliRunner

from pellucid import ExplainableKMeans, explain_pipeline, export_text
from pellucid.cli.app import app


def demo(folder):
    arguments = ["demo", "--output", str(folder)]
    return CliRunner().invoke(app, arguments, env={"FORCE_COLOR": None})


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("demo") / "new" / "deeper"


@pytest.fixture(scope="module")
def result(folder):
    return demo(folder)


@pytest.fixture(scope="module")
def wines():
    wine = load_wine()
    return pl.DataFrame(wine.data, schema=list(wine.feature_names))


@pytest.fixture(scope="module")
def pipeline(wines):
    return make_pipeline(StandardScaler(), ExplainableKMeans(3, random_state=0)).fit(wines)


@pytest.fixture(scope="module")
def model(pipeline, wines):
    return explain_pipeline(pipeline, wines)


@pytest.mark.slow
def test_it_ends_well_with_the_files_where_the_last_lines_say(result, folder):
    assert (result.exit_code, result.stderr) == (0, "")
    picture, report = folder / "wine-tree.png", folder / "wine-report.html"
    assert result.stdout.splitlines()[-2:] == [
        f"The plot of the tree is {picture}",
        f"The report is {report}; open it in a browser",
    ]
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert report.read_bytes().startswith(b"<!doctype html>")
    assert sorted(folder.iterdir()) == sorted([picture, report])


@pytest.mark.slow
def test_it_states_data_and_method(result):
    assert " ".join(result.stdout.split()).startswith(
        "k-means finds 3 clusters in the 178 wines of scikit-learn's wine data, by 13 standardized "
        "measurements. ExplainableKMeans explains them by thresholds in the original units:"
    )


@pytest.mark.slow
def test_the_rules_are_those_of_the_model(result, model):
    lines = [" ".join(line.split()) for line in result.stdout.splitlines()]
    for rule in model.rules_:
        figures = f"{rule.n_samples} {100 * rule.share:.1f}% {100 * rule.purity:.1f}%"
        assert f"{rule.cluster} {rule.text} {figures}" in lines


def test_the_cost_is_that_on_the_standardized_columns(result, pipeline):
    ratio = pipeline[-1].inertia_ / pipeline[-1].reference_inertia_
    printed = " ".join(result.stdout.split())
    assert f"cost compared with k-means {100 * (ratio - 1):+.1f}%" in printed


def test_the_tree_is_shown_as_text(result, model):
    assert export_text(model) in result.stdout


def test_a_folder_that_cannot_be_made_stops_before_any_work(tmp_path, monkeypatch):
    file = tmp_path / "file"
    file.write_text("")
    for target, line in (
        (file, f"error: --output: {file} is not a folder"),
        (file / "below", f"error: --output: {file} is not a folder"),
    ):
        result = demo(target)
        assert (result.exit_code, result.stdout) == (1, "")
        assert result.stderr.splitlines()[0] == line
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    result = demo(tmp_path / "new")
    assert result.stderr == f"error: --output: no permission to write in the folder {tmp_path}\n"
    assert list(tmp_path.iterdir()) == [file]


def test_a_failed_drawing_leaves_no_file(tmp_path, monkeypatch):
    def write_half(self, file, *args, **kwargs):
        file.write(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("matplotlib.figure.Figure.savefig", write_half)
    result = demo(tmp_path)
    assert result.exit_code == 1
    assert result.stderr == f"error: {tmp_path / 'wine-tree.png'}: No space left on device\n"
    assert list(tmp_path.iterdir()) == []
