"""Formulas from strangers: only names of columns, known functions, numbers and operators.

formulaic evaluates Python, so whatever is not on this list is refused before it gets there.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from difflib import get_close_matches

from debinet.exceptions import FormulaError, UnknownColumnError

FUNCTIONS = ("C", "log", "log10", "log2", "exp", "sqrt", "poly", "bs", "cr", "center", "scale")
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


def require_harmless(formula: str, columns: Collection[str]) -> None:
    """Require a formula that can do nothing but combine columns.

    Parameters
    ----------
    formula : str
    columns : collection of str
        Names that the data have; others are refused with the nearest one suggested.
    """
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
    """Whether a dot is not "all other columns" but a part of something."""
    if token["sign"] != ".":
        return False
    before, after = text[: token.end() - 1].rstrip()[-1:], text[token.end() :].lstrip()[:1]
    return bool(re.match(r"[\w`).]", before) or re.match(r"[\w`(.]", after))


def _is_large_power(token: re.Match[str], text: str) -> bool:
    """Whether so many interactions are asked for that they would never end."""
    if token["sign"] not in {"**", "^"}:
        return False
    return re.match(r"\s*[123](?![\w.])", text[token.end() :]) is None


def _require_known(token: re.Match[str], text: str, columns: Collection[str]) -> None:
    if token["quoted"]:
        _require_column(token["quoted"][1:-1], columns)
    elif token["name"]:
        after = text[token.end() :].lstrip()[:1]
        if after == "(":
            _require_function(token["name"])
        elif not (after == "=" and token["name"] in _OPTIONS) and token["name"] not in {
            "True",
            "False",
        }:
            _require_column(token["name"], columns)


def _require_function(name: str) -> None:
    if name not in FUNCTIONS:
        raise FormulaError(
            f"one of the functions {', '.join(FUNCTIONS)}",
            repr(name),
            "Add the column to the data first; in Python, dn.plm takes any function.",
        )


def _require_column(name: str, columns: Collection[str]) -> None:
    if name not in columns:
        raise unknown_column(name, columns)


def unknown_column(name: str, columns: Collection[str]) -> UnknownColumnError:
    """Return the error for a name that the data do not have, with the nearest one."""
    names = [str(column) for column in columns]
    near = get_close_matches(name, names, n=1, cutoff=0.5)
    shown = ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")
    return UnknownColumnError(
        "columns of the data",
        repr(name),
        f"Did you mean {near[0]!r}?" if near else f"The columns are {shown}.",
    )
