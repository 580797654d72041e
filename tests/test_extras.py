"""What needs an extra says so, in one line with the pip command; everything else works without."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from pellucid._utils.imports import _EXTRAS, _PACKAGES

PLAIN_INSTALL = """
import sys
class Refusal:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {modules}:
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Refusal())
"""


def run_plain(code: str) -> subprocess.CompletedProcess:
    """Run code in an interpreter without the packages of the extras."""
    modules = [*_EXTRAS, "pandas"]
    code = PLAIN_INSTALL.format(modules=modules) + code
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)


@pytest.mark.slow
def test_fit_explain_sql_and_report_need_no_extra(tmp_path):
    found = run_plain(f"""
from sklearn.datasets import load_iris
import pellucid
from pellucid import *
X = load_iris().data
model = IMM(3, random_state=0).fit(X)
assert "≤" in str(model.explain()) and "CASE" in model.to_sql()
assert str(from_json(model.to_json())) and model.to_frame()["node"][0] == 0
model.report(r"{tmp_path / "report.html"}", X=X)
assert KMedoids(2, metric="dtw").fit([[0.0, 1.0], [0.0, 1.1], [9.0, 8.0]]).labels_.max() == 1
rows = scan(lambda: iter([X]))
assert ExplainableKMeans(3, random_state=0, effort="fast").fit(rows).tree_.n_leaves == 3
def spark():
    import pellucid.spark
calls = (lambda: explain(X), lambda: model.plot(), lambda: plot_tree(model), model.to_onnx, spark)
for call in calls:
    try:
        call()
    except ImportError as error:
        print(error)
""")
    assert found.returncode == 0, found.stderr
    assert found.stdout.splitlines() == [
        "pellucid.explain requires the package polars; pip install 'pellucid[cli]'",
        *["pellucid.plotting.plot_tree requires the package matplotlib; "
          "pip install 'pellucid[plot]'"] * 2,
        "to_onnx requires the package onnx; pip install 'pellucid[onnx]'",
        "pellucid.spark requires the package pyspark; pip install 'pellucid[spark]'",
    ]  # fmt: skip
    assert (tmp_path / "report.html").stat().st_size > 50_000


def test_the_command_without_its_packages_is_one_line_and_a_hint():
    found = run_plain("from pellucid.__main__ import main; main()")
    assert found.returncode == 1
    assert found.stderr.splitlines() == [
        "error: the command line requires the package typer",
        "hint: pip install 'pellucid[cli]'",
    ]


@pytest.mark.parametrize("option", ["--tree", "--output"])
def test_files_that_need_an_extra_are_refused_before_the_work(option, monkeypatch, tmp_path):
    from typer.testing import CliRunner

    from pellucid.cli.app import app

    module, name, extra = {
        "--tree": ("matplotlib", "tree.png", "plot"),
        "--output": ("xlsxwriter", "rows.xlsx", "excel"),
    }[option]
    monkeypatch.setitem(sys.modules, module, None)
    (tmp_path / "table.csv").write_text("a,b\n1,2\n3,4\n")
    command = ["explain", str(tmp_path / "table.csv"), option, str(tmp_path / name)]
    found = CliRunner().invoke(app, command)
    assert found.exit_code == 1
    assert f"requires the package {module}" in found.stderr
    assert f"pip install 'pellucid[{extra}]'" in found.stderr


def test_every_optional_module_is_in_its_extra():
    project = tomllib.loads(Path(__file__).parents[1].joinpath("pyproject.toml").read_text())
    extras = project["project"]["optional-dependencies"]
    for module, extra in _EXTRAS.items():
        names = [re.split(r"[\[<>=]", each)[0] for each in extras[extra]]
        assert _PACKAGES.get(module, module) in names, module
    core = [re.split(r"[<>=]", each)[0] for each in project["project"]["dependencies"]]
    assert core == [
        "numpy", "scipy", "scikit-learn", "threadpoolctl", "numba", "narwhals", "fastjsonschema"
    ]  # fmt: skip
