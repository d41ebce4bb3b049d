"""Formulas from untrusted sources: only column names, known functions, numbers and operators.

formulaic evaluates Python, so whatever is not on this list is refused before it gets there.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator

from debinet.data.formula_checks import read_expression, require_few_terms
from debinet.data.schema import unknown_column
from debinet.exceptions import FormulaError

FUNCTIONS = (
    *("I", "C", "log", "log10", "log2", "exp", "sqrt"),
    *("poly", "bs", "cr", "center", "scale", "dose"),
)
# Names of options that the functions above take.
_OPTIONS = ("df", "degree", "knots", "include_intercept")
_LARGEST_POWER = 10
# What arithmetic may consist of.
_SIGNS = (ast.Add, ast.Sub, ast.Mult, ast.Div)
_TREES = (ast.UnaryOp, ast.Expression, ast.Name, ast.Load, ast.Call, ast.keyword)
_PARTS = (*_SIGNS, ast.Pow, ast.USub, ast.UAdd, *_TREES)
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
    require_few_terms(text)
    arithmetic: set[int] = set()
    for span in _arithmetic(text):
        _require_arithmetic(text[span.start : span.stop], formula)
        arithmetic.update(span)
    while position < len(text):
        token = _TOKEN.match(text, position)
        inside = token is not None and token.end() - 1 in arithmetic
        if (
            token is None
            or _is_attribute(token, text)
            or (not inside and _is_large_power(token, text))
        ):
            raise FormulaError(
                "a formula of column names, numbers, + - * : / ^ ** ( ) and the functions "
                f"{', '.join(FUNCTIONS)}",
                f"{text[position:].strip()[:20]!r} in {formula!r}",
                "Put names with other characters between backticks, and products and powers of "
                "numbers in I(...), such as I(x**2).",
            )
        _require_known(token, text, columns)
        position = token.end()


def _arithmetic(text: str) -> Iterator[range]:
    """Yield where the arguments of I(...) are."""
    for match in re.finditer(r"`[^`]*`|\bI\s*\(", text):
        if match[0][0] == "`":
            continue
        depth, end, quoted = 1, match.end(), False
        while end < len(text) and depth:
            quoted ^= text[end] == "`"
            depth += 0 if quoted else (text[end] == "(") - (text[end] == ")")
            end += 1
        yield range(match.end(), end - 1 if depth == 0 else end)


def _require_arithmetic(text: str, formula: str) -> None:
    """Require sums, products and powers of columns: powers of numbers could take forever."""
    trees = read_expression(text)
    if trees and all(_is_harmless(node) for tree, _ in trees for node in ast.walk(tree)):
        return
    raise FormulaError(
        "sums, products and powers of columns inside of I(...), such as I(x**2)",
        f"I({text.strip()[:40]}) in {formula[:200]!r}",
        "Write ** for powers, with a number from -10 to 10 as the exponent.",
    )


def _is_harmless(node: ast.AST) -> bool:
    if isinstance(node, ast.BinOp):
        return (
            _is_small_power(node) if isinstance(node.op, ast.Pow) else isinstance(node.op, _SIGNS)
        )
    if isinstance(node, ast.Constant):
        return isinstance(node.value, int | float)
    return isinstance(node, _PARTS) and (
        not isinstance(node, ast.Call) or isinstance(node.func, ast.Name)
    )


def _is_small_power(node: ast.BinOp) -> bool:
    """Return whether a column is raised to a power that is written out."""
    if not isinstance(node.op, ast.Pow):
        return False
    try:
        exponent = ast.literal_eval(node.right)
    except ValueError:
        return False
    of_column = any(isinstance(part, ast.Name) for part in ast.walk(node.left))
    return of_column and isinstance(exponent, int | float) and abs(exponent) <= _LARGEST_POWER


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
