"""Python expressions in formulas, in which names may stand between backticks."""

from __future__ import annotations

import ast
import re


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
