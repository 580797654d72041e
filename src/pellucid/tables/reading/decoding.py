"""Text as UTF-8: byte order marks, encodings and line ends."""

from __future__ import annotations

import codecs
import re

from pellucid._utils.imports import import_optional
from pellucid._utils.notices import InputError, notice, option
from pellucid._utils.texts import Message
from pellucid.tables.reading.source import BOM_ENCODING

UTF_8 = "utf-8"
_SAMPLE = 1 << 16
_HIGH_BYTES = bytes(range(0x80, 0x100))
_BYTE_PAIRS = re.compile(rb"[A-Za-z]*[\x80-\xff][\x40-\x7e\x80-\xff]*")
_HIGH_WORDS = re.compile(rb"[A-Za-z]*[\x80-\xff][A-Za-z\x80-\xff]*")
_NOT_WESTERN = (
    *("cp1251", "koi8_r", "iso8859_5", "cp866", "cp1253", "cp1255", "cp1256", "cp874"),
    *("cp932", "euc_jp", "gb18030", "big5", "cp949", "johab"),
)
"""Encodings in which words consist of bytes above 127."""

_BOMS = (
    (codecs.BOM_UTF8, BOM_ENCODING),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def to_utf8(
    name: str, content: bytes, encoding: str | None, usual: str | None = None
) -> tuple[bytes, str]:
    r"""Text as UTF-8 with ``\n`` or ``\r\n`` at the end of lines, and its former encoding.

    Parameters
    ----------
    name : str
        Name of the file, for errors.
    content : bytes
    encoding : str or None
        The encoding; None detects it.
    usual : str or None
        An encoding to try first if the text is not Unicode.
    """
    found = encoding or _unicode_encoding(content)
    if found is None:
        found = _other_encoding(name, content, usual)
        notice(Message("encoding", encoding=found, option=option("encoding")))
    if found == BOM_ENCODING:
        content = content.removeprefix(codecs.BOM_UTF8)
    if found not in (UTF_8, BOM_ENCODING) or encoding is not None:
        content = _decode(name, content, found).removeprefix("\ufeff").encode()
    if b"\n" not in content:
        content = content.replace(b"\r", b"\n")
    if (at := content.find(b"\0")) >= 0:
        line = content.count(b"\n", 0, at) + 1
        raise InputError(
            f"{name}: line {line} has a NUL character, so the file is damaged or not text",
            hint="remove it, or export the table again",
        )
    return content, found


def _unicode_encoding(content: bytes) -> str | None:
    for mark, encoding in _BOMS:
        if content.startswith(mark):
            return encoding
    sample = content[:_SAMPLE]
    for start, encoding in ((1, "utf-16-le"), (0, "utf-16-be")):
        # Every second byte of ASCII text in UTF-16 is zero.
        if len(sample) > 3 and sample[start::2].count(0) > 0.8 * len(sample[start::2]):
            return encoding
    if content.isascii():
        return UTF_8
    try:
        codecs.utf_8_decode(content, "strict", True)
    except UnicodeDecodeError:
        return None
    return UTF_8


def _other_encoding(name: str, content: bytes, usual: str | None) -> str:
    """The encoding of text that is not Unicode.

    Words of Western text have more ASCII letters than other bytes. They are read as cp1252, of
    which latin-1 is a part. Other text is left to charset-normalizer.
    """
    if 0 in content[:_SAMPLE]:
        raise InputError(
            f"{name} is not a text file, and its format is not known",
            hint="CSV, Excel, Parquet, Feather and JSON can be read",
        )
    if usual is not None and _can_decode(content, usual):
        return usual
    words = b"".join(_HIGH_WORDS.findall(content)[:10_000])
    n_high = len(words) - len(words.translate(None, _HIGH_BYTES))
    if len(words) >= 2 * n_high and _can_decode(content, "cp1252"):
        return "cp1252"
    library = import_optional("charset_normalizer", "text that is not UTF-8", "UTF-8")
    sample = b"\n".join(_BYTE_PAIRS.findall(content)[:10_000])
    best = library.from_bytes(sample, cp_isolation=list(_NOT_WESTERN)).best()
    candidates = ([best.encoding] if best is not None else []) + ["cp1252", "latin-1"]
    return next(each for each in candidates if _can_decode(content, each))


def _can_decode(content: bytes, encoding: str) -> bool:
    try:
        content.decode(encoding)
    except (UnicodeDecodeError, LookupError):
        return False
    return True


def _decode(name: str, content: bytes, encoding: str) -> str:
    try:
        return content.decode(encoding)
    except LookupError as error:
        raise InputError(
            f"unknown encoding {encoding!r}", hint="examples: utf-8, cp1252, latin-1, utf-16"
        ) from error
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"{name}: line {line} is not {encoding} text",
            hint=f"{option('encoding')} sets another encoding",
        ) from error
