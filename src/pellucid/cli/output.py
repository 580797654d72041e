"""Output of the commands: rules, measures, notices, warnings, errors, and progress bars."""

from __future__ import annotations

import itertools
import math
import os
import re
import sys
import textwrap
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from threading import Timer
from typing import TYPE_CHECKING, Any

from rich import box
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from pellucid._utils.notices import notices_to, setting
from pellucid._utils.progress import Progress, listening
from pellucid._utils.texts import escape_controls, percent
from pellucid.plotting.style import cluster_color

if TYPE_CHECKING:
    from rich.progress import Progress as ProgressBars

    from pellucid.explanation.rules import ClusterRule

PIPE_WIDTH = 150  # width of the output to a file or another program
# Below this width rules are printed as a list, because a table would be too narrow.
NARROW_WIDTH = 60
# From this width on suggested names are in the table of rules, and otherwise below it.
WIDE_WIDTH = 100
SUGGESTED_WIDTH = 36

LONG_CELL = 20  # characters of a cell of numbers at most; longer cells may be wrapped between words
DELAY = 0.3  # seconds before a bar appears; shorter work shows none


def open_console(*, stderr: bool = False) -> Console:
    """A console on standard output or error, wide enough for rules when it is not a terminal."""
    if stderr and live is not None:
        return live.console  # prints lines above the progress bars
    stream = sys.stderr if stderr else sys.stdout
    if not _is_unicode(stream) and hasattr(stream, "reconfigure"):
        stream.reconfigure(errors="backslashreplace")
    console = Console(file=stream, highlight=False, emoji=False, markup=False)
    # console.is_terminal is also true for a pipe if colors are forced.
    if not stream.isatty():
        console.width = max(console.width, PIPE_WIDTH)
    return console


def show_line(text: str | Text, console: Console | None = None, *, style: str = "") -> None:
    """Print text, wrapped between words at a terminal, and elsewhere never: lines can be copied."""
    console = console or open_console()
    is_terminal = console.file.isatty()
    if isinstance(text, str):
        text = printable(text, console)
        if is_terminal:
            text = "\n".join(_wrapped(line, console.width) for line in text.split("\n"))
        text = Text(text, style=style)
    console.print(text, soft_wrap=not is_terminal)


def _wrapped(line: str, width: int) -> str:
    """A line that is wrapped between words, with the same indentation in all parts."""
    indent = " " * (len(line) - len(line.lstrip()))
    breaks: dict[str, Any] = {"break_long_words": False, "break_on_hyphens": False}
    return textwrap.fill(line, width, subsequent_indent=indent, **breaks)


live: ProgressBars | None = None  # the progress bars on the screen
_NOTICES: list[str] = []
_is_quiet = ContextVar("is_quiet", default=False)  # whether only results and errors are printed


@contextmanager
def notices(quiet: bool) -> Iterator[None]:
    """Collect notices and print them unless `quiet` is set."""
    _NOTICES.clear()
    with setting(_is_quiet, quiet), notices_to(_show_notice):
        yield


def shown_notices() -> list[str]:
    """All notices since the command started."""
    return list(_NOTICES)


def _show_notice(text: str) -> None:
    _NOTICES.append(text)
    if not _is_quiet.get():
        show_line(_one_line(text), open_console(stderr=True), style="dim")


def show_warning(text: str) -> None:
    _show_labelled("warning", text, "bold yellow")


def show_table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table; a narrow terminal wraps heads and long cells, or has a line per cell."""
    console, rows = open_console(), list(rows)
    widths, least = [], []
    for head, *cells in zip(heads, *rows):
        width = max(map(cell_len, cells))
        words = head.split() if width <= LONG_CELL else " ".join([head, *cells]).split()
        widths.append(max(width, cell_len(head)))
        least.append(max(width if width <= LONG_CELL else 0, *map(cell_len, words)))
    space = console.width - 3 * len(heads)  # rules and padding
    if sum(least) > space:
        for row in rows:
            show_line("\n".join([*map(": ".join, zip(heads, row)), ""]), console)
        return
    while sum(widths) > space:
        widest = max(range(len(heads)), key=lambda i: widths[i] - least[i])
        widths[widest] -= 1
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1), pad_edge=False)
    for position, (head, width) in enumerate(zip(heads, widths)):
        table.add_column(head, justify="right" if position else "left", width=width)
    for row in rows:
        table.add_row(*row)
    console.print(table)


def show_error(message: str, hint: str | None = None) -> None:
    """Print an error on standard error, and a hint on the next line."""
    _show_labelled("error", message, "bold red")
    if hint:
        _show_labelled("hint", hint, "bold")


@contextmanager
def warnings_in_one_line() -> Iterator[None]:
    """Print each warning once, as one line on standard error."""
    shown: set[str] = set()

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        text = str(message)
        if text not in shown:
            shown.add(text)
            show_warning(text)

    with warnings.catch_warnings():
        warnings.showwarning = show
        yield


def show_rules(
    rules: Sequence[ClusterRule], names: Sequence[str] = (), *, unit: str = "rows"
) -> None:
    """Print the rule of each cluster with its size in `unit`, its purity and a suggested name."""
    console = open_console()
    if console.width < NARROW_WIDTH:
        show_line("\n".join(map(str, rules)), console)
        _show_names(rules, names, console)
        return
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1), pad_edge=False, leading=0)
    table.add_column("cluster", no_wrap=True)
    table.add_column("rule", overflow="fold")
    has_noise = any(rule.n_noise for rule in rules)
    for name in (unit, "share", "purity", *(("noise", "with noise") if has_noise else ())):
        table.add_column(name, justify="right", no_wrap=True)
    has_names = bool(names) and console.width >= WIDE_WIDTH
    if has_names:
        table.add_column("suggested name", overflow="fold", max_width=SUGGESTED_WIDTH)
    for position, rule in enumerate(rules):
        ways = [f"({alternative.text})" for alternative in rule.alternatives]
        text = "\nor ".join(ways) if len(ways) > 1 else rule.text
        table.add_row(
            _cluster_label(rule, position, console),
            _RuleText(printable(text, console)),
            f"{rule.n_samples:,}",
            percent(rule.share),
            percent(rule.purity),
            *([f"{rule.n_noise:,}", percent(rule.precision)] if has_noise else []),
            *([printable(names[position], console)] if has_names else []),
        )
    console.print(table)
    if not has_names:
        _show_names(rules, names, console)


def _show_names(rules: Sequence[ClusterRule], names: Sequence[str], console: Console) -> None:
    if not names:
        return
    show_line("suggested names", console)
    for position, (rule, name) in enumerate(zip(rules, names)):
        label = _cluster_label(rule, position, console)
        show_line(label.append(f"  {printable(name, console)}", "not bold"), console)
    show_line("", console)


def show_measures(measures: Iterable[tuple[str, str]]) -> None:
    console = open_console()
    table = Table.grid(padding=(0, 2))
    for name, value in measures:
        table.add_row(Text(name), Text(printable(value, console), style="bold"))
    console.print(table)


def cost_change(ratio: float) -> str:
    """A ratio of costs as a change in percent."""
    if math.isinf(ratio):
        return "infinite (the cost of k-means is 0)"
    # Adding zero turns -0.0 into 0.0.
    return f"{round(100 * (ratio - 1), 1) + 0.0:+,.1f}%"


def printable(text: str, console: Console) -> str:
    """`text` without control characters, in characters that the terminal can show."""
    if not _is_unicode(console.file):
        text = text.replace("≤", "<=")
    return escape_controls(text, keep="\n")


class _RuleText:
    """A rule in a table cell, wrapped before ``and`` where possible."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement.get(console, options, Text(self.text))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        lines: list[str] = []
        for line in self.text.split("\n"):
            first, *others = line.split(" and ")
            lines.append(first)
            for condition in others:
                if cell_len(f"{lines[-1]} and {condition}") <= options.max_width:
                    lines[-1] += f" and {condition}"
                else:
                    lines.append(f"and {condition}")
        yield Text("\n".join(lines))


def _cluster_label(rule: ClusterRule, position: int, console: Console) -> Text:
    label = Text()
    if console.color_system is not None and not console.no_color:
        label.append("■ ", style=cluster_color(position))
    return label.append(printable(str(rule.cluster), console), style="bold")


def _show_labelled(label: str, message: str, style: str) -> None:
    console = open_console(stderr=True)
    text = Text(f"{label}:", style=style)
    text.append(f" {printable(_one_line(message), console)}", style="default")
    show_line(text, console)


def _one_line(text: str) -> str:
    return re.sub(r"\s*\n\s*", " ", text.strip())


def _is_unicode(stream: Any) -> bool:
    return (getattr(stream, "encoding", None) or "utf-8").lower().startswith("utf")


@contextmanager
def working(what: str, total: int | None = None) -> Iterator[Callable[[str], None]]:
    """Show a progress bar on standard error, at a terminal, while the block runs.

    It yields a function that is to be called with a name at the start of each of `total` parts.
    Without a total, the bar is indeterminate until an estimator reports its progress.
    """
    is_terminal = sys.stderr.isatty() and os.environ.get("TERM") not in ("dumb", "unknown")
    if _is_quiet.get() or not is_terminal:
        yield lambda name: None
        return
    with _bars() as bars:
        task, begun = bars.add_task(what, total=total), itertools.count()

        def step(name: str) -> None:
            bars.update(task, description=f"{what}: {name}", completed=next(begun))

        def watch(steps: Progress, text: str) -> None:
            name, _, unit = steps.task.partition(": ")
            if steps.done:  # a count: "3 of 4 cuts", or "distances (dtw) 3 of 20"
                text = f"{text} {unit}" if unit else f"{name} {text}"
            n_steps = steps.total if steps.done else None
            bars.update(task, description=f"{what}: {text}", total=n_steps, completed=steps.done)

        try:
            with listening(watch) if total is None else nullcontext():
                yield step
        finally:
            bars.remove_task(task)


@contextmanager
def _bars() -> Iterator[ProgressBars]:
    """The existing progress bars, or new ones that appear after a delay."""
    global live
    if live is not None:
        yield live
        return
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as NewBars

    text = TextColumn("{task.description}", markup=False)
    options: Any = {"transient": True, "redirect_stdout": False, "redirect_stderr": False}
    console = open_console(stderr=True)
    live = NewBars(text, BarColumn(30), TimeElapsedColumn(), console=console, **options)
    bars, timer = live, Timer(DELAY, live.start)
    timer.daemon = True
    timer.start()
    try:
        yield bars
    finally:
        live = None
        timer.cancel()
        timer.join()
        bars.stop()
