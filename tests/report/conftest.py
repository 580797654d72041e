"""A browser for the report's tests: Debian's Chromium, driven by Playwright."""

from __future__ import annotations

import shutil

import pytest

from _support.browsers import leave_out


@pytest.fixture(scope="session")
def browser():
    executable = shutil.which("chromium") or shutil.which("chromium-browser")
    if executable is None:
        leave_out("there is no Chromium: tests in a browser are left out")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        leave_out("Playwright is not installed: tests in a browser are left out")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        yield chromium
        chromium.close()


class Opened:
    """A page with all that went wrong in it."""

    def __init__(self, page) -> None:
        self.page, self.faults, self.requests = page, [], []
        page.on("console", lambda message: self.faults.append(message.text))
        page.on("pageerror", lambda error: self.faults.append(str(error)))
        page.on("dialog", lambda dialog: (self.faults.append("dialog"), dialog.dismiss()))
        page.on("request", lambda request: self.requests.append(request.url))


@pytest.fixture
def open_page(browser):
    """Open a file as a reader would; at the end nothing must have gone wrong."""
    contexts, opened = [], []

    def open_file(path, *, width=1280, height=900, scheme="light", **options):
        context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=scheme, **options
        )
        contexts.append(context)
        found = Opened(context.new_page())
        opened.append((found, path))
        found.page.goto(f"file://{path}")
        return found.page

    yield open_file
    for found, path in opened:
        assert found.faults == []
        assert {url.partition("#")[0] for url in found.requests} <= {f"file://{path}", "data:,"}
    for context in contexts:
        context.close()
