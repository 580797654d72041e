"""Bars: at a terminal only, never in the way of lines, and gone in the end."""

from __future__ import annotations

import io
import re
import sys
import time

import numpy as np
import pytest

from pellucid import ExShallow
from pellucid._utils.notices import notice
from pellucid._utils.progress import Progress, listening
from pellucid.cli import output
from pellucid.cli.output import working


class Terminal(io.StringIO):
    """Something that says it is a terminal."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


@pytest.fixture
def open_terminal(monkeypatch):
    """A function, as pytest takes standard error away between fixtures and tests."""
    monkeypatch.setattr(output, "DELAY", 0.0)  # short work shows a bar, too
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.delenv("NO_COLOR", raising=False)

    def replace_stderr(screen=None) -> io.StringIO:
        monkeypatch.setattr(sys, "stderr", Terminal() if screen is None else screen)
        return sys.stderr

    return replace_stderr


def plain(screen: io.StringIO) -> str:
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", screen.getvalue())


def wait_for_bars() -> None:
    """Bars start in a thread of their own."""
    for _ in range(1000):
        if output.live is not None and output.live.live.is_started:
            return
        time.sleep(0.005)
    raise AssertionError("no bar")


def test_parts_are_named_while_they_last(open_terminal):
    terminal = open_terminal()
    with working("methods", 2) as step:
        wait_for_bars()
        for name in ("IMM", "[bold]EMN"):
            step(name)
            output.live.refresh()
    assert "methods: IMM" in plain(terminal)
    assert "methods: [bold]EMN" in plain(terminal)
    assert output.live is None
    assert "\x1b[?25h" in terminal.getvalue()  # the cursor is there again


def test_an_estimator_at_work_says_how_far_it_is(open_terminal):
    terminal = open_terminal()
    X = np.random.default_rng(0).normal(size=(60, 2))
    with working("ExShallow"):
        wait_for_bars()
        ExShallow(3, random_state=0).fit(X)
        output.live.refresh()
    assert "ExShallow: 2 of 2 splits" in plain(terminal)


def test_lines_come_between_the_bars(open_terminal):
    terminal = open_terminal()
    with output.notices(quiet=False), working("reading"):
        wait_for_bars()
        notice("fields are separated by ';'")
        with working("deeper", 1) as step:
            step("part")
            output.live.refresh()
    assert "fields are separated by ';'\n" in plain(terminal)
    assert "deeper: part" in plain(terminal)


@pytest.mark.parametrize("reason", ["quiet", "pipe", "dumb"])
def test_no_bar_where_none_is_wanted(open_terminal, monkeypatch, reason):
    screen = open_terminal(io.StringIO() if reason == "pipe" else None)
    if reason == "dumb":
        monkeypatch.setenv("TERM", "dumb")
    with output.notices(quiet=reason == "quiet"), working("methods", 2) as step:
        step("IMM")
        assert output.live is None
    assert screen.getvalue() == ""


def test_a_bar_is_gone_after_an_error(open_terminal):
    terminal = open_terminal()

    def interrupted() -> None:
        with working("methods", 2):
            wait_for_bars()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert output.live is None
    assert "\x1b[?25h" in terminal.getvalue()  # the cursor is there again


def test_listeners_receive_named_tasks_only(capsys):
    heard = []
    with listening(lambda steps, text: heard.append((steps.task, text))):
        Progress("", 2, 0).step()
        steps = Progress("IMM: cuts", 2, verbose=1)
        steps.step()
        steps.report("so far")
    steps.step()
    assert heard == [("IMM: cuts", "1 of 2"), ("IMM: cuts", "so far")]
    assert capsys.readouterr().err == "IMM: cuts: 1 of 2\nIMM: cuts: so far\nIMM: cuts: 2 of 2\n"
