"""Mutations of a JSON document: by its structure and by its bytes."""

from __future__ import annotations

import copy
import json

import numpy as np

HUGE = "9" * 5000
RAW = "\x02raw:"
"""Start of a string that is written without its quotes, such as ``NaN``."""

VALUES = (
    None, True, False, 0, 1, -1, 2, 7, 10**6, 2**31, 2**53, 2**63, 10**400, 0.5, 1.0, -0.0, 1e308,
    5e-324, "", "a", "\0", "a\0", "\ud800", "x" * 1000, "{0}", "{name}", "%s", "is", [], {}, [[]],
    [None], [0], {"": 0}, {"cluster": 0}, {"column": "age", "is": None}, RAW + "NaN",
    RAW + "Infinity", RAW + "-Infinity", RAW + "1e999", RAW + HUGE, RAW + "-" + HUGE,
    RAW + HUGE + ".5", RAW + "0x1", RAW + "01", RAW + "[" * 100_000, RAW + '{"a":' * 100_000,
    RAW + "[" * 300 + "]" * 300,
)  # fmt: skip
TOKENS = (
    b"{", b"}", b"[", b"]", b",", b":", b"\"", b"\\", b"\\u0000", b"\0", b"\xff", b"1e999", b"NaN",
    b"null", b"-", b"9" * 4400, b"\"nodes\"", b"\"left\"", "é".encode("utf-16"),
)  # fmt: skip


def mutate(document: dict, rng: np.random.Generator) -> bytes:
    """A document with one to three random changes."""
    n_changes = int(rng.integers(1, 4))
    if rng.random() < 0.7:
        changed = copy.deepcopy(document)
        for _ in range(n_changes):
            _change_place(changed, rng)
        return _dump(changed, rng).encode("utf-8", "surrogatepass")
    text = json.dumps(document).encode()
    for _ in range(n_changes):
        text = _change_bytes(text, rng)
    return text


def _places(value, found):
    """All containers of a document."""
    stack = [value]
    while stack:
        part = stack.pop()
        if isinstance(part, (dict, list)) and part:
            found.append(part)
            stack.extend(part.values() if isinstance(part, dict) else part)
    return found


def _change_place(document: dict, rng: np.random.Generator) -> None:
    places = _places(document, [])
    if not places:
        return
    part = places[rng.integers(len(places))] if rng.random() < 0.8 else document
    if not part:
        return
    keys = list(part) if isinstance(part, dict) else list(range(len(part)))
    key = keys[rng.integers(len(keys))]
    value = part[key]
    kind = rng.integers(8)
    if kind == 0:
        del part[key]
    elif kind == 1:
        other = places[rng.integers(len(places))]
        others = list(other.values()) if isinstance(other, dict) else other
        part[key] = copy.deepcopy(others[rng.integers(len(others))]) if others else None
    elif kind == 2 and isinstance(value, (int, float)):
        part[key] = value + int(rng.integers(-3, 4))
    elif kind == 3 and isinstance(part, list):
        part.insert(int(rng.integers(len(part) + 1)), copy.deepcopy(value))
    elif kind == 4 and isinstance(part, list):
        rng.shuffle(part)
    elif kind == 5 and isinstance(part, dict):
        part[f"{key}x"] = part.pop(key)
    elif kind == 6 and isinstance(value, (dict, list)) and value:
        part[key] = [value] if rng.random() < 0.5 else {"x": value}
    else:
        part[key] = copy.deepcopy(VALUES[rng.integers(len(VALUES))])


def _dump(document: dict, rng: np.random.Generator) -> str:
    text = json.dumps(document, ensure_ascii=bool(rng.random() < 0.5))
    escaped = json.dumps(RAW)[:-1]
    while escaped in text:
        begin = text.index(escaped)
        end = begin + len(escaped)
        while text[end] != '"' or text[end - 1] == "\\":
            end += 1
        raw = json.loads(text[begin : end + 1]).removeprefix(RAW)
        text = text[:begin] + raw + text[end + 1 :]
    if rng.random() < 0.1 and '": ' in text:  # a key twice
        at = [i for i in range(len(text)) if text.startswith(', "', i)]
        if at:
            begin = at[rng.integers(len(at))]
            end = text.find(",", begin + 1)
            text = text[:end] + text[begin:end] + text[end:]
    return text


def _change_bytes(text: bytes, rng: np.random.Generator) -> bytes:
    at = int(rng.integers(len(text) + 1))
    length = int(rng.integers(1, 20))
    kind = rng.integers(6)
    if kind == 0:
        return text[:at]
    if kind == 1:
        return text[:at] + text[at + length :]
    if kind == 2:
        return text[:at] + rng.bytes(length) + text[at + length :]
    if kind == 3:
        return text[:at] + TOKENS[rng.integers(len(TOKENS))] + text[at:]
    if kind == 4:
        begin = int(rng.integers(len(text) + 1))
        return text[:at] + text[begin : begin + 5 * length] + text[at:]
    flipped = bytearray(text)
    if flipped:
        flipped[at % len(flipped)] ^= 1 << int(rng.integers(8))
    return bytes(flipped)
