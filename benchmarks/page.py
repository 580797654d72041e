"""The parts of a result page: sheets of figures and pictures, in Markdown and at a terminal."""

from __future__ import annotations

from dataclasses import dataclass, field

from rich import box
from rich.console import Console
from rich.table import Table


@dataclass(frozen=True)
class Sheet:
    """A table of text.

    Attributes
    ----------
    title : str
    headings : list of str
    rows : list of list of str
    note : str
        What the reader has to know about it.
    """

    title: str
    headings: list[str]
    rows: list[list[str]]
    note: str = ""

    def markdown(self) -> str:
        """As a Markdown table."""
        lines = [self.headings, ["---"] * len(self.headings), *self.rows]
        table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
        return "\n\n".join(part for part in (f"### {self.title}", self.note, table) if part)

    def show(self, console: Console) -> None:
        """At a terminal."""
        table = Table(*self.headings, title=self.title, box=box.SIMPLE, caption=self.note or None)
        for row in self.rows:
            table.add_row(*row)
        console.print(table)


@dataclass(frozen=True)
class Picture:
    """A picture file in the result folder, and what it shows."""

    file: str
    caption: str


@dataclass(frozen=True)
class Section:
    """A part of the page under one heading."""

    title: str
    text: str = ""
    items: list[Sheet | Picture] = field(default_factory=list)

    def markdown(self, folder: str) -> str:
        """With pictures that lie in `folder`."""
        parts = [f"## {self.title}", self.text]
        for item in self.items:
            if isinstance(item, Picture):
                parts.append(f"![{item.caption}]({folder}/{item.file})\n\n*{item.caption}*")
            else:
                parts.append(item.markdown())
        return "\n\n".join(part for part in parts if part)

    def show(self, console: Console) -> None:
        """The sheets, at a terminal."""
        for item in self.items:
            if isinstance(item, Sheet):
                item.show(console)


def holds(value: float, floor: float | None, *, at_least: bool = False) -> str:
    """Whether a figure is at most (or at least) what was asked for."""
    if floor is None or value != value:
        return "–"
    return "holds" if (value >= floor if at_least else value <= floor) else "misses"
