"""Whether a program printed what a page says it prints.

The same code on another machine, with another BLAS, gives sums in another order and so numbers that
differ by rounding; a value that lies between two printed ones is then rounded the other way. So
numbers may differ by one unit of their last printed digit. Everything else is compared exactly, and
so are whole numbers below 1,000 that are not percentages: they count rows, folds or columns, as
estimates of that size are printed with decimals.
"""

from __future__ import annotations

import re
from decimal import Decimal

# Not the digits of a name, such as x14, HC3 or R2.
_NUMBER = re.compile(r"(?<![\w.])([-+]?\d+(?:,\d{3})*(?:\.\d+)?(?:e[-+]?\d+)?)(?!\w)(%?)")


def says(page_text: str, printed: str) -> bool:
    """Whether the tokens agree, with anything in the place of a line `...` of the page."""
    found = _tokens(printed)
    first, *others = map(_tokens, re.split(r"^\.\.\.$", page_text, flags=re.MULTILINE))
    if not others:
        return _agree(first, found)
    *middle, last = others
    start, end = len(first), len(found) - len(last)
    if start > end or not (_agree(first, found[:start]) and _agree(last, found[end:])):
        return False
    for part in middle:
        while start + len(part) <= end and not _agree(part, found[start : start + len(part)]):
            start += 1
        start += len(part)
    return start <= end


def _tokens(text: str) -> list[str]:
    return re.sub(r"\s+%", "%", text).split()


def _agree(said: list[str], found: list[str]) -> bool:
    return len(said) == len(found) and all(map(_same, said, found))


def _same(said: str, found: str) -> bool:
    if said == found:
        return True
    around = _NUMBER.sub(r"0\2", said), _NUMBER.sub(r"0\2", found)
    numbers = zip(_NUMBER.findall(said), _NUMBER.findall(found), strict=False)
    return around[0] == around[1] and all(_close(a, b, percent) for (a, percent), (b, _) in numbers)


def _close(said: str, found: str, percent: str) -> bool:
    a, b = Decimal(said.replace(",", "")), Decimal(found.replace(",", ""))
    if not percent and said.isdigit() and a < 1000:
        return a == b
    unit = max(Decimal(1).scaleb(int(value.as_tuple().exponent)) for value in (a, b))
    return abs(a - b) <= unit
