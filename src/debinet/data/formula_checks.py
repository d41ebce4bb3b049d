"""What formulas are refused for before they are evaluated: lost powers, typos, sizes."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Collection, Iterable, Iterator
from difflib import get_close_matches
from math import comb, inf
from typing import Any

from formulaic.parser import DefaultFormulaParser
from formulaic.transforms import TRANSFORMS

from debinet.data.schema import unknown_column
from debinet.exceptions import FormulaError

# Reading a formula takes a time that grows with the square of its terms: with so many, 4 seconds.
MOST_TERMS = 5_000
# A curve of more columns, or a polynomial of a higher degree, is a mistake or an attack.
MOST_COLUMNS, HIGHEST_DEGREE = 1_000, 100
_SIZES = {"bs": MOST_COLUMNS, "cr": MOST_COLUMNS, "cs": MOST_COLUMNS, "cc": MOST_COLUMNS}
_SIZES |= {"poly": HIGHEST_DEGREE, "hashed": MOST_COLUMNS}
_POWERS = {"**", "^"}
_ESCAPES = re.compile(r"\x1b\[[0-9;]*m|[⧛⧚]")


def without_escapes(error: BaseException) -> str:
    """Return the text of an error on one line, without the colours of a terminal."""
    return " ".join(_ESCAPES.sub("", str(error)).split())


def require_sound_structure(formula: str, columns: int) -> None:
    """Require a formula of not too many terms that raises no single term to a power.

    Parameters
    ----------
    formula : str
    columns : int
        Of the data: how many terms a dot stands for.
    """
    require_few_terms(formula)
    tree = DefaultFormulaParser().get_ast(formula)
    for node in _nodes(tree):
        _require_several(node, columns)
    _require_few(_count(tree, columns))


def require_few_terms(formula: str) -> None:
    """Require a text that is not too long to be parsed."""
    if isinstance(formula, str):
        _require_few(formula.count("+") + formula.count("-"))


def _require_few(count: float) -> None:
    if count > MOST_TERMS:
        raise FormulaError(
            f"a formula of at most {MOST_TERMS:,} terms",
            "one of more" if count == inf else f"one of {count:,}",
            "Give the columns themselves to PartiallyLinear: it has no such limit.",
        )


def _symbol(node: Any) -> str:
    return str(node.operator.symbol) if hasattr(node, "operator") else ""


def _nodes(node: Any) -> Iterator[Any]:
    """Yield the operators of a formula."""
    waiting = [node]
    while waiting:
        one = waiting.pop()
        if hasattr(one, "operator"):
            yield one
            waiting.extend(one.args)


def _require_several(node: Any, columns: int) -> None:
    """Require that a power is one of several terms: it means their interactions, not products."""
    if _symbol(node) not in _POWERS or str(node.args[1]) == "1":
        return
    if _count(node.args[0], columns) == 1 and _symbol(node.args[0]) != ".":
        term = str(node.args[0]) if not _symbol(node.args[0]) else "..."
        raise FormulaError(
            "powers of sums in parentheses, which stand for interactions",
            f"{term}{_symbol(node)}{node.args[1]}, which is {term} itself in a formula",
            f"Write I({term}**{node.args[1]}) for the power, or poly({term}, {node.args[1]}) for "
            "a polynomial.",
        )


def _count(node: Any, columns: int) -> float:
    """Return how many terms a formula has, or more."""
    symbol = _symbol(node)
    if symbol in {"", "."}:
        return columns if symbol else 1
    parts = [_count(one, columns) for one in node.args]
    if symbol in _POWERS:
        return _count_power(parts[0], str(node.args[1]))
    products = parts[0] * parts[1] if len(parts) == 2 else inf
    if symbol == ":":
        return products
    return sum(parts) + (products if symbol in {"*", "/", "in", "%in%"} else 0)


def _count_power(terms: float, power: str) -> float:
    """Return how many interactions there are; infinitely many if they would take long to list."""
    highest = int(power) if power.isdigit() and len(power) < 3 else 99
    if terms ** min(highest, 20) > 20 * MOST_TERMS:
        return inf
    return sum(comb(int(terms), k) for k in range(1, highest + 1))


def require_known(expressions: Iterable[str], columns: Collection[str]) -> None:
    """Require names of columns and functions in the Python expressions of a formula."""
    for expression in expressions:
        for tree, names in read_expression(expression):
            functions = {id(call.func) for call in _calls(tree)}
            called = {id(part) for call in _calls(tree) for part in ast.walk(call.func)}
            for node in ast.walk(tree):
                if not isinstance(node, ast.Name):
                    continue
                name = names.get(node.id, node.id)
                if name in columns and id(node) in functions:
                    raise FormulaError(
                        "functions in front of parentheses",
                        f"{name!r}, which is a column of the data",
                        "Rename the column if you mean the function, or write * for products.",
                    )
                known = name in columns or name in TRANSFORMS or name in EXTRA
                if known or hasattr(builtins, name):
                    continue
                if id(node) in called:
                    raise _unknown_function(name)
                raise unknown_column(name, columns, "columns of the data in the formula")


# Functions that formulaic does not have.
EXTRA: dict[str, Any] = {"sqrt": TRANSFORMS["np"].sqrt}


def _unknown_function(name: str) -> FormulaError:
    known = sorted(name for name in {*TRANSFORMS, *EXTRA} if name != "np")
    near = get_close_matches(name, known, n=1, cutoff=0.5)
    hint = f"Did you mean {near[0]!r}?" if near else f"There are {', '.join(known)}."
    return FormulaError("a function that formulas have", repr(name), hint)


def require_powers(expressions: Iterable[str]) -> None:
    """Require that powers in Python expressions are written as Python writes them."""
    for expression in expressions:
        for tree, _ in read_expression(expression):
            if any(isinstance(node, ast.BitXor) for node in ast.walk(tree)):
                raise FormulaError(
                    "** for powers inside of I(...) and of functions",
                    f"^ in {expression!r}",
                    "Write it with **, such as I(x**2).",
                )


def require_small(expressions: Iterable[str], rows: int) -> None:
    """Require bases, such as `bs(x, df=5)`, that are not larger than the data."""
    for expression in expressions:
        for tree, _ in read_expression(expression):
            for call in _calls(tree):
                name = call.func.id if isinstance(call.func, ast.Name) else ""
                if name in _SIZES:
                    most = min(_SIZES[name], rows)
                    for value in [*call.args[1:], *(word.value for word in call.keywords)]:
                        _require_small_number(name, value, most)


def _require_small_number(name: str, value: ast.expr, most: int) -> None:
    try:
        found = ast.literal_eval(value)
    except ValueError:
        found = None if isinstance(value, ast.Name) else inf
    numbers = found if isinstance(found, (list, tuple)) else [found]
    sizes = [one for one in numbers if isinstance(one, (int, float))]
    if isinstance(found, (list, tuple)):  # knots may have any values
        sizes = [len(found)]
    if sizes and max(sizes) > most:
        came = "a computed one" if found == inf else f"{name}(..., {ast.unparse(value)[:20]})"
        raise FormulaError(
            f"a number of at most {most} in {name}(...): that many rows there are, or columns make "
            "sense",
            came,
            "Use a small number, such as 5, written out.",
        )


def summed_columns(expressions: Iterable[str]) -> set[str]:
    """Return the names that arithmetic is done with: whole numbers could overflow there."""
    found: set[str] = set()
    for expression in expressions:
        for tree, names in read_expression(expression):
            labels = {
                id(part)
                for call in _calls(tree)
                if isinstance(call.func, ast.Name) and call.func.id == "C"
                for part in ast.walk(call)
            }
            for node in ast.walk(tree):
                if isinstance(node, ast.BinOp):
                    found |= {
                        names.get(part.id, part.id)
                        for part in ast.walk(node)
                        if isinstance(part, ast.Name) and id(part) not in labels
                    }
    return found


def names_in(expression: str) -> set[str]:
    """Return the names in a Python expression, also between backticks, without functions."""
    found = set()
    for tree, names in read_expression(expression):
        functions = {id(call.func) for call in _calls(tree)}
        found = {
            names.get(node.id, node.id)
            for node in ast.walk(tree)
            if isinstance(node, ast.Name) and id(node) not in functions
        }
    return found


def _calls(tree: ast.AST) -> list[ast.Call]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.Call)]


def read_expression(expression: str) -> list[tuple[ast.Expression, dict[str, str]]]:
    """Return the syntax tree of an expression, and what stands for names between backticks.

    Nothing if it cannot be read: formulaic raises the error when it evaluates it.
    """
    quoted: dict[str, str] = {}

    def replaced(match: re.Match[str]) -> str:
        stand_in = f"_quoted_{len(quoted)}"
        quoted[stand_in] = match[1]
        return stand_in

    try:
        return [(ast.parse(re.sub(r"`([^`]+)`", replaced, expression), mode="eval"), quoted)]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
