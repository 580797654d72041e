"""A browser for the report's tests: Debian's Chromium, driven by Playwright."""

from __future__ import annotations

import shutil

import pytest

from _support.browsers import leave_out


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests in a browser are slow: the work is in the processes of the browser."""
    for item in items:
        if "browser" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.slow)


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
        # Without a graphics card, drawing by the emulation of one takes longer.
        options = ["--no-sandbox", "--disable-gpu"]
        chromium = playwright.chromium.launch(executable_path=executable, args=options)
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def shared_page(browser):
    """A page that tests use one after another: a new one takes longer than most tests."""
    return browser.new_context().new_page()


class Opened:
    """A page with all that goes wrong in it until `stop`."""

    def __init__(self, page) -> None:
        self.page, self.faults, self.requests = page, [], []
        self._listeners = {
            "console": lambda message: self.faults.append(message.text),
            "pageerror": lambda error: self.faults.append(str(error)),
            "dialog": lambda dialog: (self.faults.append("dialog"), dialog.dismiss()),
            "request": lambda request: self.requests.append(request.url),
        }
        for event, listener in self._listeners.items():
            page.on(event, listener)

    def stop(self) -> None:
        for event, listener in self._listeners.items():
            self.page.remove_listener(event, listener)
        self._listeners = {}


@pytest.fixture
def open_page(browser, shared_page):
    """Open a file as a reader would; at the end nothing must have gone wrong.

    Each file is opened in the shared page, in the place of the one before, unless there are options
    or the page before is still used.
    """
    contexts, opened = [], []

    def open_file(path, *, width=1280, height=900, scheme="light", keep_open=False, **options):
        viewport = {"width": width, "height": height}
        if keep_open or options:
            context = browser.new_context(viewport=viewport, color_scheme=scheme, **options)
            contexts.append(context)
            page = context.new_page()
        else:
            page = shared_page
            for found, _ in opened:
                if found.page is page:
                    found.stop()
                    page.evaluate("localStorage.clear()")
            page.mouse.move(0, 0)
            page.set_viewport_size(viewport)
            page.emulate_media(media="null", color_scheme=scheme)
        found = Opened(page)
        opened.append((found, path))
        page.goto(f"file://{path}")
        # What needs the width of the page is drawn for its first frame, after it is loaded.
        page.evaluate("new Promise(ready => requestAnimationFrame(() => setTimeout(ready)))")
        return page

    yield open_file
    for found, _ in opened:
        found.stop()
        if found.page is shared_page:
            shared_page.evaluate("localStorage.clear()")
    for context in contexts:
        context.close()
    for found, path in opened:
        assert found.faults == []
        assert {url.partition("#")[0] for url in found.requests} <= {f"file://{path}", "data:,"}
