"""Formulas from untrusted sources: only column names, known functions, numbers and operators.

formulaic evaluates Python, so whatever is not on this list is refused before it gets there.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from debinet.data.schema import unknown_column
from debinet.exceptions import FormulaError

FUNCTIONS = (
    *("C", "log", "log10", "log2", "exp", "sqrt"),
    *("poly", "bs", "cr", "center", "scale", "dose"),
)
# Names of options that the functions above take.
_OPTIONS = ("df", "degree", "knots", "include_intercept")
_TOKEN = re.compile(
    r"""\s*(?:
        (?P<quoted>`[^`]+`)
      | (?P<name>[^\W\d]\w*)
      | (?P<number>\d+(?:\.\d+)?)
      | (?P<sign>\*\*|[-~|+*:/().,=^])
    )""",
    re.VERBOSE,
)


def require_safe_formula(formula: str, columns: Collection[str]) -> None:
    """Require a formula that does nothing but combine columns of the data."""
    position = 0
    text = formula.rstrip()
    while position < len(text):
        token = _TOKEN.match(text, position)
        if token is None or _is_attribute(token, text) or _is_large_power(token, text):
            raise FormulaError(
                "a formula of column names, numbers, + - * : / ^ ** ( ) and the functions "
                f"{', '.join(FUNCTIONS)}",
                f"{text[position:].strip()[:20]!r} in {formula!r}",
                "Put names with other characters between backticks.",
            )
        _require_known(token, text, columns)
        position = token.end()


def _is_attribute(token: re.Match[str], text: str) -> bool:
    """Return whether a dot is not "all other columns" but part of an expression."""
    if token["sign"] != ".":
        return False
    before, after = text[: token.end() - 1].rstrip()[-1:], text[token.end() :].lstrip()[:1]
    return bool(re.match(r"[\w`).]", before) or re.match(r"[\w`(.]", after))


def _is_large_power(token: re.Match[str], text: str) -> bool:
    """Return whether a power above 3 is asked for: its interactions could take forever."""
    if token["sign"] not in {"**", "^"}:
        return False
    return re.match(r"\s*[123](?![\w.])", text[token.end() :]) is None


def _require_known(token: re.Match[str], text: str, columns: Collection[str]) -> None:
    name, after = token["name"], text[token.end() :].lstrip()[:1]
    if name and after == "(":
        if name not in FUNCTIONS:
            raise FormulaError(
                f"one of the functions {', '.join(FUNCTIONS)}",
                repr(name),
                "Add the column to the data first; in Python, dn.plm takes any function.",
            )
        return
    if name in {"True", "False"} or (after == "=" and name in _OPTIONS):
        return
    column = token["quoted"][1:-1] if token["quoted"] else name
    if column and column not in columns:
        raise unknown_column(column, columns)
