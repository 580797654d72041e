"""Pages of the site that show files of the repository, and links between both.

A line ``<!-- include FILE -->`` is replaced by the file, and ``<!-- include FILE: HEADING -->`` by
one section of it. Links in all Markdown pages are relative to their file, as a code host expects.
Here, links to files that have a page lead to that page; of links to other files, the text stays.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]

PAGES = {
    "CHANGELOG.md": "docs/changelog.md",
    "CONTRIBUTING.md": "docs/contributing.md",
    "README.md": "docs/index.md",
    "SECURITY.md": "docs/security.md",
    "benchmarks/README.md": "docs/benchmarks.md",
    "benchmarks/RESULTS.md": "docs/results.md",
    "examples": "docs/gallery/index.rst",
}
"""Files of the repository, and the pages that show them."""

_EXAMPLE = re.compile(r"^examples/(.+)\.py$")
_INCLUDE = re.compile(r"^<!-- include ([^:\n]+?)(?:: (.+?))? -->$", flags=re.MULTILINE)
_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s#]+)(#[^)\s]*)?\)")


def section(text: str, heading: str) -> str:
    """The text below a heading, without the heading, up to the next one of its level."""
    lines = text.splitlines()
    levels = [len(line) - len(line.lstrip("#")) if line.startswith("#") else 0 for line in lines]
    found = [i for i, line in enumerate(lines) if levels[i] and line.lstrip("# ") == heading]
    if len(found) != 1:
        raise ValueError(f"{len(found)} headings are {heading!r}; one is needed")
    start, level = found[0] + 1, levels[found[0]]
    end = next((i for i in range(start, len(lines)) if 0 < levels[i] <= level), len(lines))
    return "\n".join(lines[start:end]).strip()


def relink(text: str, source: Path, page: Path) -> str:
    """Rewrite the links of a file so that they hold on a page of the site."""

    def rewrite(match: re.Match) -> str:
        is_image, label, target, anchor = match.groups()
        if "://" in target or target.startswith("mailto:"):
            return match[0]
        file = (source.parent / target).resolve().relative_to(ROOT).as_posix()
        file = _EXAMPLE.sub(r"docs/gallery/\1.rst", PAGES.get(file, file))
        if is_image or file.startswith("docs/"):
            there = os.path.relpath(ROOT / file, page.parent)
            return f"{is_image}[{label}]({there}{anchor or ''})"
        return label

    return _LINK.sub(rewrite, text)


def read_page(app, docname: str, source: list[str]) -> None:
    """Put included files into a page, and rewrite its links."""
    page = Path(app.env.doc2path(docname))
    if page.suffix != ".md":
        return
    # Text, then file, heading and text in turn.
    first, *others = _INCLUDE.split(source[0])
    parts = [relink(first, page, page)]
    for name, heading, text in zip(others[::3], others[1::3], others[2::3]):
        file = (page.parent / name).resolve()
        app.env.note_dependency(str(file))
        included = file.read_text(encoding="utf-8")
        included = section(included, heading) if heading else included
        parts += [relink(included, file, page), relink(text, page, page)]
    source[0] = "".join(parts)


def setup(app) -> dict:
    """Connect to Sphinx."""
    app.connect("source-read", read_page)
    return {"version": "1", "parallel_read_safe": True}
