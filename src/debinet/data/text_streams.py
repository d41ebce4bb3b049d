"""Files of text as streams: compressed or not, in any encoding."""

from __future__ import annotations

import bz2
import codecs
import gzip
import lzma
from collections.abc import Callable
from io import TextIOWrapper
from pathlib import Path
from typing import IO, Any

from debinet.exceptions import FileFormatError, OptionError

_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",  # before UTF-16, whose mark it begins with
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
# How files begin that are no text, although their name may say so.
_OTHERS = {
    b"PK\x03\x04": "an .xlsx or .zip file",
    b"\xd0\xcf\x11\xe0": "an .xls file",
    b"PAR1": "a Parquet file",
    b"\x1f\x8b": "a .gz file",
    b"\x28\xb5\x2f\xfd": "a .zst file",
}
_COMPRESSED: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}


def find_encoding(path: Path) -> str:
    """Return the encoding that the first bytes say, or UTF-8; refuse what is no text."""
    with _binary(path) as stream:
        start = stream.read(4)
    for mark, what in _OTHERS.items():
        if start.startswith(mark):
            raise FileFormatError(
                "text, as the ending of the file says",
                f"{path}, which begins as {what}",
                "Give it the right ending, or unpack it and save it as .csv.",
            )
    for mark, encoding in _MARKS.items():
        if start.startswith(mark):
            return encoding
    return "utf-8"


def read_encoding(given: str) -> str:
    """Return an encoding by a name that Python must know."""
    try:
        # with or without a byte order mark
        return "utf-8-sig" if codecs.lookup(given).name == "utf-8" else given
    except LookupError as error:
        raise OptionError(
            "an encoding that Python knows", repr(given), "For example utf-8 or cp1252."
        ) from error


def _binary(path: Path) -> IO[bytes]:
    stream: IO[bytes] = _COMPRESSED.get(path.suffix.lower(), open)(path, "rb")
    return stream


def open_text(path: Path, encoding: str) -> TextIOWrapper:
    """Open a file of text; line ends are left to whoever reads it."""
    return TextIOWrapper(_binary(path), encoding=encoding, newline="")
