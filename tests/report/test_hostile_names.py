"""Hostile names, categories and labels are shown as text by a browser."""

from _support.export_cases import hostile_case
from _support.hostile import HOSTILE
from pellucid.report import write_report


def test_nothing_is_executed(open_page, tmp_path):
    explanation, table, _ = hostile_case()
    path = tmp_path / "report.html"
    title = "<script>window.harmed=1</script>"
    assert title in HOSTILE
    write_report(path, explanation, table, title=title, trade_off=None)
    page = open_page(path)
    page.evaluate("document.querySelectorAll('details').forEach(part => { part.open = true; })")
    assert page.evaluate("window.harmed === undefined")
    assert page.locator(".report-title").inner_text() == title
    assert page.locator("img[src=x]").count() == 0
    assert "<img src=x onerror=window.harmed=1>" in page.locator("body").inner_text()
