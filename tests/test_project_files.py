"""Files in the root agree with the package: versions, requirements, targets."""

import os
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pellucid import __version__

ROOT = Path(__file__).parent.parent
CONDA_NAMES = {"matplotlib": "matplotlib-base", "fastjsonschema": "python-fastjsonschema"}
"""Packages that have another name in conda-forge."""


def project() -> dict:
    """The table [project] of pyproject.toml."""
    tomllib = pytest.importorskip("tomllib")
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def read_yaml(name: str) -> dict:
    """A YAML file of the repository."""
    yaml = pytest.importorskip("yaml")
    return yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))


def conda_requirement(text: str) -> str:
    """A requirement of pyproject.toml as conda writes it."""
    name, bound = re.fullmatch(r"([\w-]+)(>=[\d.]+)", text).groups()
    return f"{CONDA_NAMES.get(name, name)} {bound}"


def test_the_recipe_has_the_requirements_of_the_package():
    recipe, metadata = read_yaml("recipe/recipe.yaml"), project()
    run = recipe["requirements"]["run"]
    assert run[0] == f"python {metadata['requires-python']}" == recipe["requirements"]["host"][0]
    # A conda package has no extras; it has the command, so that it needs the packages of `cli`.
    needed = metadata["dependencies"] + metadata["optional-dependencies"]["cli"]
    assert run[1:] == [conda_requirement(text) for text in needed]
    assert recipe["context"]["version"] == __version__
    (entry,) = recipe["build"]["python"]["entry_points"]
    assert entry == f"pellucid = {metadata['scripts']['pellucid']}"
    assert recipe["about"]["license"] == metadata["license"]


def test_the_lowest_versions_that_are_tested_are_the_declared_ones():
    metadata = project()
    lines = (ROOT / "tests/lowest.txt").read_text().splitlines()
    pinned = dict(line.split("==") for line in lines if not line.startswith("#"))
    requirements = sum(metadata["optional-dependencies"].values(), metadata["dependencies"])
    declared = [re.fullmatch(r"([\w-]+)(?:\[\w+\])?>=([\d.]+)", each) for each in requirements]
    floors = dict(each.groups() for each in declared if each is not None)
    for name, version in pinned.items():
        assert version == floors[name] or version == f"{floors[name]}.0", name
    assert {re.split(">=", each)[0] for each in metadata["dependencies"]} <= set(pinned)


def test_the_citation_is_of_this_version():
    citation = read_yaml("CITATION.cff")
    assert str(citation["version"]) == __version__
    assert citation["license"] == project()["license"]
    assert citation["authors"] == project()["authors"]


def test_the_workflow_tests_the_declared_versions():
    jobs = read_yaml(".github/workflows/tests.yml")["jobs"]
    prefix = "Programming Language :: Python :: "
    declared = [c.removeprefix(prefix) for c in project()["classifiers"] if c.startswith(prefix)]
    assert jobs["test"]["strategy"]["matrix"]["python"] == [v for v in declared if "." in v]
    commands = [step["run"] for job in jobs.values() for step in job["steps"] if "run" in step]
    targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)
    made = {each.removeprefix("make ") for each in commands if each.startswith("make ")}
    assert made >= {"test", "test-lowest", "lint", "docs", "report-check"}
    assert made | {"coverage"} <= set(targets)
    assert "python -m build" in commands
    systems = {c.split(" :: ")[-1] for c in project()["classifiers"] if "Operating System" in c}
    assert systems == {"Linux", "MacOS"}
    assert {job["runs-on"] for job in jobs.values()} == {"ubuntu-latest", "macos-latest"}


@pytest.mark.parametrize("name", ["bug", "feature"])
def test_issue_templates_have_a_header(name):
    text = (ROOT / ".github" / "ISSUE_TEMPLATE" / f"{name}.md").read_text(encoding="utf-8")
    yaml = pytest.importorskip("yaml")
    header = yaml.safe_load(text.split("---\n")[1])
    assert set(header) == {"name", "about", "labels"}


def test_hooks_run_the_linter_of_the_project():
    (repository,) = read_yaml(".pre-commit-config.yaml")["repos"]
    required = next(r for r in project()["optional-dependencies"]["dev"] if r.startswith("ruff"))
    for hook in repository["hooks"]:
        assert hook["entry"].startswith("ruff ")
        assert hook["additional_dependencies"] == [required]


def test_links_of_files_in_the_root_exist():
    for name in ("CODE_OF_CONDUCT.md", "CONTRIBUTING.md", "SECURITY.md"):
        for target in re.findall(r"\]\(([^)#]+)", (ROOT / name).read_text(encoding="utf-8")):
            assert "://" in target or (ROOT / target).exists(), target


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_targets_write_the_bytecode_of_packages_that_are_installed_without():
    rule = 'shown: ; @echo "[$$PYTHONDONTWRITEBYTECODE] $(PIP)"'
    command = ["make", "--no-print-directory", "--eval", rule, "shown"]
    surroundings = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    printed = subprocess.run(
        command, cwd=ROOT, env=surroundings, text=True, capture_output=True, check=True
    ).stdout
    assert printed.startswith("[] ")
    assert "--no-compile" in printed


HELPERS = sorted((ROOT / "tests" / "_support").glob("*.py"))


@pytest.mark.parametrize("helper", HELPERS, ids=lambda path: path.stem)
def test_helpers_need_no_package_that_only_make_test_installs(helper, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyspark", None)  # its import fails
    runpy.run_path(str(helper))


def test_a_release_has_absolute_links_and_addresses():
    release = runpy.run_path(str(ROOT / ".github" / "release_metadata.py"))
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    text = release["absolute_links"](readme, "https://example.org/pellucid", "v1")
    targets = re.findall(r"\]\(([^)]+)\)|src=\"([^\"]+)\"", text)
    assert len(targets) > 20
    assert all(a.startswith("https://") or b.startswith("https://") for a, b in targets)
    assert "https://example.org/pellucid/raw/v1/docs/images/report.png" in text
    tomllib = pytest.importorskip("tomllib")
    metadata = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    found = tomllib.loads(release["with_urls"](metadata, "https://example.org/pellucid", "v1"))
    assert found["project"]["urls"]["Issues"] == "https://example.org/pellucid/issues"


def test_supported_versions_contain_this_one():
    minor = ".".join(__version__.split(".")[:2])
    assert f"| {minor} | yes |" in (ROOT / "SECURITY.md").read_text(encoding="utf-8")
