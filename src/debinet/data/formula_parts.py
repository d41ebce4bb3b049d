"""The parts of a formula between its bars, before formulaic reads them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from debinet.exceptions import FormulaError

SYNTAX = "'outcome ~ treatments | controls', such as 'wage ~ educ | age + C(region)'"
IV_SYNTAX = (
    "'outcome ~ treatments | controls | endogenous ~ instruments', such as "
    "'lwage ~ educ | exper + region | educ ~ nearc4 + nearc2'"
)
_OPENING, _CLOSING = "([{", ")]}"


@dataclass(frozen=True)
class FormulaParts:
    """A formula, cut at its bars.

    Attributes
    ----------
    main : str
        `outcome ~ treatments | controls`; treatments include the endogenous ones.
    endogenous, instruments : str, optional
        The two sides of the last part, if the formula has one with its own `~`.
    """

    main: str
    endogenous: str | None = None
    instruments: str | None = None


def cut_formula(formula: str) -> FormulaParts:
    """Cut a formula into its parts; errors say how each of them was read."""
    bars = split_outside(formula, "|") if isinstance(formula, str) else []
    if len(bars) < 2 or len(split_outside(formula, "~")) < 3:
        return FormulaParts(formula)  # whatever is wrong with it, formulaic will say
    first, *middle, last = (part.strip() for part in bars)
    head, tail = split_outside(first, "~"), split_outside(last, "~")
    misplaced = [part for part in middle if len(split_outside(part, "~")) > 1]
    if misplaced or len(head) != 2 or len(tail) != 2:
        raise FormulaError(
            f"one '~' in the first part of a formula and one in the last, as in {IV_SYNTAX}",
            _reading([first, *middle, last]),
            "Put 'endogenous ~ instruments' after the last '|'.",
        )
    if not middle:
        raise FormulaError(
            f"controls before the instruments, as in {IV_SYNTAX}",
            f"{formula!r}, read as outcome {head[0].strip()!r}, treatments {head[1].strip()!r}, "
            f"endogenous {tail[0].strip()!r}, instruments {tail[1].strip()!r} and no controls",
            "Add the controls; '| 1 |' stands for none, with learner='mean'.",
        )
    if len(middle) > 1:
        raise FormulaError(
            f"one part of controls, as in {IV_SYNTAX}",
            _reading([first, *middle, last]),
            "Join the controls with '+'. Fixed effects are not available: code them as controls, "
            "such as C(firm).",
        )
    endogenous, instruments = (side.strip() for side in tail)
    if "." in split_words(endogenous) + split_words(instruments):
        raise FormulaError(
            "names of endogenous treatments and instruments",
            f"'.' in {last!r}",
            "Name them; '.' may stand for the controls.",
        )
    main = f"{head[0]} ~ {head[1].strip()} + {endogenous} | {middle[0]}"
    return FormulaParts(main, endogenous, instruments)


def split_outside(text: str, mark: str) -> list[str]:
    """Split at a mark outside of brackets, backticks and quotes."""
    cuts = [-1, *(i for i, character in _outside(text) if character == mark), len(text)]
    return [text[start + 1 : end] for start, end in pairwise(cuts)]


def split_words(text: str) -> list[str]:
    """Return the terms of a sum, without spaces."""
    return [part.strip() for part in split_outside(text, "+")]


def _outside(text: str) -> Iterator[tuple[int, str]]:
    depth, quote = 0, ""
    for i, character in enumerate(text):
        if quote:
            quote = "" if character == quote else quote
        elif character in "`'\"":
            quote = character
        else:
            depth += (character in _OPENING) - (character in _CLOSING)
            if not depth:
                yield i, character


def _reading(parts: list[str]) -> str:
    return "these parts: " + ", ".join(repr(part) for part in parts)
