"""Everything that the papers show is on the page of results, in a file, or absent with a reason."""

import re
from pathlib import Path

import pytest

from benchmarks.papers.contents import CONTENTS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "benchmarks" / "RESULTS.md").read_text(encoding="utf-8")
PARTS = dict(re.findall(r"^#{2,3} (.+)\n((?:(?!#{2,3} ).*\n)*)", PAGE, re.MULTILINE))
ITEMS = [(paper, item) for paper, items in CONTENTS.items() for item in items]


@pytest.mark.parametrize(("paper", "item"), ITEMS, ids=[f"{p}-{i.name}" for p, i in ITEMS])
def test_each_item_is_shown_or_absent_with_a_reason(paper, item):
    if not item.where:
        assert item.note.startswith("absent"), item
    elif "/" in item.where and (ROOT / item.where).suffix:
        assert (ROOT / item.where).is_file()
    else:
        assert item.where in PARTS
        if item.name.startswith("data: ") and not item.note:
            assert item.name.removeprefix("data: ") in PARTS[item.where]


def test_each_table_and_figure_of_the_page_is_in_the_list():
    listed = {item.where for _, item in ITEMS}
    shown = {title for title in PARTS if re.match(r"(Table|Tables|Figure|Figures) \d", title)}
    assert shown <= listed


def test_no_paper_is_forgotten():
    assert len(CONTENTS) == 5
    assert all(len({item.name for item in items}) == len(items) for items in CONTENTS.values())
