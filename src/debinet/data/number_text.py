"""Text that reads as numbers, because of decimal commas or separators of thousands."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal, TypeAlias

from debinet.exceptions import ColumnTypeError

Writing: TypeAlias = Literal["decimal commas", "separators of thousands", "commas"]

_IN_WORDS: dict[Writing, str] = {
    "decimal commas": "a number with a decimal comma",
    "separators of thousands": "a number with separators of thousands",
    "commas": "a number whose comma may separate decimals or thousands",
}
_PLAIN = re.compile(r"[+-]?\d+")
_POINT = re.compile(r"[+-]?(\d+\.\d*|\.\d+)([eE][+-]?\d+)?")
_COMMA = re.compile(r"[+-]?(\d+,\d*|,\d+)([eE][+-]?\d+)?")
# Groups of three digits with the same separator, and perhaps decimals after another one.
_THOUSANDS = re.compile(r"[+-]?\d{1,3}(?:([,.' \u00a0\u202f])\d{3})(?:\1\d{3})*(?:(?!\1)[,.]\d+)?")


def number_writing(values: Iterable[str]) -> Writing | None:
    """Return how numbers are written that Python does not read, or None for other text.

    `"commas"` stands for values such as 1,234, which may be either. Whole numbers alone, and
    numbers with a point, are None: as text they are categories.
    """
    found = {value.strip() for value in values}
    special = [v for v in found if not (_PLAIN.fullmatch(v) or _POINT.fullmatch(v))]
    if not special:
        return None
    points = any(_POINT.fullmatch(v) for v in found)
    if not points and all(map(_COMMA.fullmatch, special)):
        return "commas" if all(map(_THOUSANDS.fullmatch, special)) else "decimal commas"
    return "separators of thousands" if all(map(_THOUSANDS.fullmatch, special)) else None


def only_points(values: Iterable[str]) -> bool:
    """Return whether all values are numbers, some of them with a point."""
    found = {value.strip() for value in values}
    numbers = all(_PLAIN.fullmatch(v) or _POINT.fullmatch(v) for v in found)
    return numbers and any("." in v for v in found)


def require_no_number_text(values: Iterable[str], name: str) -> None:
    """Require that the text of a column is not made of numbers that were not read as such.

    Whole numbers, also with a zero behind the point, may be the names of categories.
    """
    values = list(values)
    writing = number_writing(values)
    if writing is not None:
        example = next(v for v in values if not _PLAIN.fullmatch(v.strip()))
        raise ColumnTypeError(
            f"numbers or categories in {name}",
            f"text such as {example!r}, {_IN_WORDS[writing]}",
            "Read decimal commas with decimal=',' (pandas.read_csv) or --decimal ',' (command "
            "line); remove separators of thousands, or read them with thousands=','.",
        )
    if only_points(values):
        broken = next((v for v in values if not float(v).is_integer()), None)
        if broken is not None:
            raise ColumnTypeError(
                f"numbers or categories in {name}",
                f"text such as {broken!r}, a number",
                "Convert the column to numbers, for example with astype(float) (a numpy array has "
                "one type for all columns), or to categories with astype('category').",
            )
