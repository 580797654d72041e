"""Text from files in messages: one line, of limited length, without control characters."""

from __future__ import annotations

MAX_LENGTH = 400


def escape_controls(text: str, *, keep: str = "") -> str:
    r"""`text` with control characters as in a Python string, such as ``\x1b``.

    Terminals execute control characters, which could hide or imitate output.

    Parameters
    ----------
    text : str
    keep : str
        Control characters to keep.

    Examples
    --------
    >>> from pellucid._utils.printable import escape_controls
    >>> print(escape_controls("red \x1b[31m"))
    red \x1b[31m
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in keep else repr(c)[1:-1] for c in text)


def one_line(text: str) -> str:
    """`text` without control characters and line ends; the middle of a long one is left out."""
    if len(text) > MAX_LENGTH:
        text = f"{text[: MAX_LENGTH // 2]} ... {text[-MAX_LENGTH // 2 :]}"
    return escape_controls(text)
