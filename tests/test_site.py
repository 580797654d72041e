"""The documentation site, as far as it can be checked without Sphinx; `make docs` builds it."""

import ast
import importlib
import re
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

import pellucid
from _support.sklearn_checks import expected_failures

ROOT = Path(__file__).parent.parent
DOCS, EXAMPLES = ROOT / "docs", ROOT / "examples"
SCRIPTS = sorted(EXAMPLES.glob("*/*.py"))
FAST = ("plot_7_why_not_cart", "plot_1_own_criterion", "plot_2_own_region_shape")
"""Examples that the tests execute; `make docs` executes all."""

PACKAGES = (
    "pellucid",
    "pellucid.baselines",
    "pellucid.cluster",
    "pellucid.datasets",
    "pellucid.eop",
    "pellucid.export",
    "pellucid.metrics",
    "pellucid.plotting",
    "pellucid.report",
    "pellucid.tree",
    "pellucid.xclusters",
)
"""Packages whose `__all__` is public."""

sys.path.insert(0, str(DOCS / "_extensions"))
import repository_pages  # noqa: E402

PAGES = {page.relative_to(DOCS).with_suffix("").as_posix() for page in DOCS.glob("*.md")}
INCLUDES = [
    (page, *found)
    for page in sorted(DOCS.glob("*.md"))
    for found in re.findall(r"<!-- include ([^:\n]+?)(?:: (.+?))? -->", page.read_text("utf-8"))
]


def find(name):
    """The object with a full name; modules on the way are imported."""
    parts = name.split(".")
    found = importlib.import_module(parts[0])
    for i, part in enumerate(parts[1:], 2):
        if not hasattr(found, part):
            importlib.import_module(".".join(parts[:i]))
        found = getattr(found, part)
    return found


def listed_in_api():
    """Objects that the API reference lists, by their full names."""
    module, objects = "", {}
    for line in (DOCS / "api" / "index.rst").read_text("utf-8").splitlines():
        if line.startswith(".. currentmodule:: "):
            module = line.split()[-1]
        elif re.fullmatch(r"   [\w.]+", line):
            objects[f"{module}.{line.strip()}"] = find(f"{module}.{line.strip()}")
    return objects


def test_the_api_reference_lists_every_public_name():
    listed = list(listed_in_api().values())
    for package in PACKAGES:
        for name in importlib.import_module(package).__all__:
            if name not in ("__version__", "LEAF"):
                found = find(f"{package}.{name}")
                assert any(found is each for each in listed), f"{package}.{name}"


def test_every_page_is_in_a_table_of_contents():
    entries = set()
    for page in DOCS.glob("*.md"):
        for body in re.findall(r":::\{toctree\}\n(.*?):::", page.read_text("utf-8"), re.DOTALL):
            lines = [line for line in body.splitlines() if line and not line.startswith(":")]
            entries |= {re.sub(r".*<(.+)>", r"\1", line) for line in lines}
    assert entries == (PAGES - {"index"}) | {"api/index", "gallery/index"}


@pytest.mark.parametrize(
    ("page", "file", "heading"), INCLUDES, ids=lambda part: getattr(part, "stem", part)
)
def test_included_files_have_the_section(page, file, heading):
    text = (page.parent / file).read_text("utf-8")
    assert repository_pages.section(text, heading) if heading else text


def test_a_section_ends_at_the_next_heading_of_its_level():
    text = "# A\n## B\nb\n### C\nc\n## D\nd"
    assert repository_pages.section(text, "B") == "b\n### C\nc"
    with pytest.raises(ValueError, match="0 headings are 'E'"):
        repository_pages.section(text, "E")


def test_links_of_included_files_lead_to_pages():
    page = DOCS / "contributing.md"
    text = (
        "[a](docs/architecture.md#b), [`c`](CHANGELOG.md), [d](src/x.py), ![e](docs/f.png), "
        "[g](examples/data/plot_1_text.py)"
    )
    linked = repository_pages.relink(text, ROOT / "CONTRIBUTING.md", page)
    assert linked == (
        "[a](architecture.md#b), [`c`](changelog.md), d, ![e](f.png), "
        "[g](gallery/data/plot_1_text.rst)"
    )


def anchors(page: Path) -> set[str]:
    """Anchors of the headings of a page, as on code hosts."""
    headings = re.findall(r"^#+ (.+)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in headings}


@pytest.mark.parametrize("page", sorted(PAGES))
def test_anchors_of_links_exist(page):
    text = (DOCS / f"{page}.md").read_text("utf-8")
    for target, anchor in re.findall(r"\]\(([\w/]*(?:\.md)?)#([\w-]+)\)", text):
        assert anchor in anchors(DOCS / (target or f"{page}.md")), f"{target}#{anchor}"


def test_the_gallery_has_examples_of_all_sections():
    assert len(SCRIPTS) >= 20
    assert {script.parent for script in SCRIPTS} == {
        header.parent for header in EXAMPLES.glob("*/GALLERY_HEADER.rst")
    }


def test_the_gallery_has_every_plot():
    text = (EXAMPLES / "start" / "plot_8_every_plot.py").read_text("utf-8")
    assert set(re.findall(r"plotting\.(\w+)\(", text)) == set(pellucid.plotting.__all__)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_examples_use_names_that_exist(script):
    assert script.stem.startswith("plot_")
    tree = ast.parse(script.read_text("utf-8"))
    title, underline = ast.get_docstring(tree).splitlines()[:2]
    assert underline == "=" * len(title)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module.startswith("pellucid"):
            if node.module == "pellucid.spark":
                continue  # needs pyspark
            for alias in node.names:
                find(f"{node.module}.{alias.name}")
        is_name = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
        if is_name and node.value.id == "pellucid":
            assert hasattr(pellucid, node.attr), node.attr


@pytest.mark.slow
@pytest.mark.parametrize("name", FAST)
def test_fast_examples_run(name, capsys):
    script = next(script for script in SCRIPTS if script.stem == name)
    exec(compile(script.read_text("utf-8"), script.name, "exec"), {"__name__": "__main__"})
    assert capsys.readouterr().out
    assert plt.get_fignums()
    plt.close("all")


def test_the_page_of_scikit_learn_lists_the_checks_that_fail():
    page = (DOCS / "scikit_learn.md").read_text("utf-8")
    for estimator in (
        pellucid.EOPClassifier("knn", calibration=0.3),
        pellucid.ATEOPClassifier(),
        pellucid.KMedoids(metric="precomputed"),
    ):
        for check, reason in expected_failures(estimator).items():
            assert f"`{check}`" in page
            assert reason in page
