"""Before a release is built: absolute links in the README, and addresses in the metadata.

    python .github/release_metadata.py ADDRESS_OF_THE_REPOSITORY TAG

A package index shows the README without the repository, so that relative links would be broken.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
_LINK = re.compile(r"(?<=\]\()(?!\w+:|#)[^)]+|(?<=src=\")(?!\w+:)[^\"]+")
_PICTURES = (".png", ".svg")


def absolute_links(text: str, address: str, tag: str) -> str:
    """The text of a Markdown page of the root with absolute links to the files of a tag."""

    def link(match: re.Match[str]) -> str:
        kind = "raw" if match[0].endswith(_PICTURES) else "blob"
        return f"{address}/{kind}/{tag}/{match[0]}"

    return _LINK.sub(link, text)


def with_urls(metadata: str, address: str, tag: str) -> str:
    """The text of pyproject.toml with a table of addresses."""
    urls = {
        "Homepage": address,
        "Documentation": f"{address}/blob/{tag}/docs/index.md",
        "Changelog": f"{address}/blob/{tag}/CHANGELOG.md",
        "Issues": f"{address}/issues",
        "Source": address,
    }
    table = "\n".join(["[project.urls]", *(f'{name} = "{url}"' for name, url in urls.items())])
    return metadata.replace("[project.scripts]", f"{table}\n\n[project.scripts]", 1)


def main(address: str, tag: str) -> None:
    """Change README.md and pyproject.toml of this checkout."""
    for name, change in (("README.md", absolute_links), ("pyproject.toml", with_urls)):
        path = ROOT / name
        path.write_text(change(path.read_text(encoding="utf-8"), address, tag), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
