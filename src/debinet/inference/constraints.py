"""Linear hypotheses as text, such as "bmi = bp, age = 0"; nothing in it is run as code.

Names of coefficients are found as they are, with dots, brackets or spaces: where several fit, the
longest. Backticks set a name apart from what surrounds it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

import numpy as np

from debinet.exceptions import OptionError
from debinet.protocols import FloatArray

_NUMBER = re.compile(r"(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?![\w.])")
_SYMBOL = re.compile(r"==?|[-+*/(),]")
_WORD = re.compile(r"[^\s=+\-*/(),]+|.")
# More brackets or signs within each other than this have no meaning in a hypothesis.
_DEPTH = 20


@dataclass(frozen=True)
class Constraints:
    """Hypotheses `R coef = r`.

    Attributes
    ----------
    R : FloatArray of shape (m, q)
    r : FloatArray of shape (m,)
    equations : bool
        Whether any has a right-hand side.
    """

    R: FloatArray
    r: FloatArray
    equations: bool


@dataclass(frozen=True)
class _Linear:
    """The expression `slope @ coef + constant`."""

    slope: FloatArray
    constant: float

    @property
    def is_number(self) -> bool:
        return not self.slope.any()

    def plus(self, other: _Linear, factor: float = 1.0) -> _Linear:
        constant = self.constant + factor * other.constant
        return _Linear(self.slope + factor * other.slope, constant)

    def times(self, factor: float) -> _Linear:
        return _Linear(factor * self.slope, factor * self.constant)


def read_constraints(texts: Sequence[str], names: Sequence[str]) -> Constraints:
    """Read equations, one or several with commas between in every text.

    Parameters
    ----------
    texts : sequence of str
        `"a = b"`, `"2 * a - b = 1"`, `"a = 0, b = 0"`; `"a"` alone stands for `"a = 0"`.
    names : sequence of str
        Of the coefficients.
    """
    found: list[_Linear] = []
    equations = False
    for text in texts:
        if text in names:  # whatever signs it contains
            found.append(_Linear(np.eye(len(names))[list(names).index(text)], 0.0))
            continue
        reader = _Reader(text, names)
        found += reader.hypotheses()
        equations |= reader.equations
    R = np.array([one.slope for one in found]).reshape(len(found), len(names))
    return Constraints(R, np.array([-one.constant for one in found]), equations)


class _Reader:
    """Reads one text from left to right; a token is a number, a symbol or a coefficient."""

    def __init__(self, text: str, names: Sequence[str]) -> None:
        self.text, self.names = text, list(names)
        self.tokens = [*self._tokens(), ""]
        self.at, self.depth, self.equations = 0, 0, False

    def hypotheses(self) -> list[_Linear]:
        """Return expressions that are zero if the hypotheses hold."""
        found: list[_Linear] = []
        while True:
            sides = [self._sum()]
            while self._take("=") or self._take("=="):
                sides.append(self._sum())
            self.equations |= len(sides) > 1
            zero = _Linear(np.zeros(len(self.names)), 0.0)
            right = sides[1:] or [zero]
            new = [a.plus(b, -1.0) for a, b in zip([sides[0], *right], right, strict=False)]
            if any(one.is_number for one in new):
                raise self._refused("an equation in which every coefficient cancels")
            found += new
            if not self._take(","):
                break
        if self.tokens[self.at]:
            raise self._unexpected()
        return found

    def _sum(self) -> _Linear:
        total = self._product()
        while True:
            if self._take("+"):
                total = total.plus(self._product())
            elif self._take("-"):
                total = total.plus(self._product(), -1.0)
            else:
                return total

    def _product(self) -> _Linear:
        result = self._factor()
        while True:
            if self._take("*"):
                other = self._factor()
                number, rest = (result, other) if result.is_number else (other, result)
                if not number.is_number:
                    raise self._refused("a product of coefficients")
                result = rest.times(number.constant)
            elif self._take("/"):
                other = self._factor()
                if not other.is_number or other.constant == 0:
                    raise self._refused("a division by zero or by a coefficient")
                result = result.times(1 / other.constant)
            else:
                return result

    def _factor(self) -> _Linear:
        if self._take("-"):
            return self._within(self._factor).times(-1.0)
        if self._take("+"):
            return self._within(self._factor)
        if self._take("("):
            inner = self._within(self._sum)
            if not self._take(")"):
                raise self._unexpected()
            return inner
        token = self.tokens[self.at]
        slope = np.zeros(len(self.names))
        if isinstance(token, str):
            raise self._unexpected()
        self.at += 1
        if isinstance(token, float):
            return _Linear(slope, token)
        slope[token] = 1.0
        return _Linear(slope, 0.0)

    def _within(self, read: Callable[[], _Linear]) -> _Linear:
        self.depth += 1
        if self.depth > _DEPTH:
            raise self._refused(f"more than {_DEPTH} brackets or signs within each other")
        inner = read()
        self.depth -= 1
        return inner

    def _take(self, symbol: str) -> bool:
        found = self.tokens[self.at] == symbol
        self.at += found
        return found

    def _tokens(self) -> list[str | int | float]:
        """Return symbols as text, numbers as float, coefficients as their position."""
        # A number is a number, even if a coefficient is called so: that one needs backticks.
        named = [j for j, name in enumerate(self.names) if not _NUMBER.fullmatch(name)]
        by_length = sorted(named, key=lambda j: -len(self.names[j]))
        tokens: list[str | int | float] = []
        at = 0
        while at < len(self.text):
            if self.text[at].isspace():
                at += 1
                continue
            position, end = self._name_at(at, by_length)
            number, symbol = _NUMBER.match(self.text, at), _SYMBOL.match(self.text, at)
            if position is not None:
                tokens.append(position)
            elif number is not None:
                tokens.append(float(number[0]))
                end = number.end()
            elif symbol is not None:
                tokens.append(symbol[0])
                end = symbol.end()
            else:
                raise self._unknown(at)
            at = end
        return tokens

    def _name_at(self, at: int, by_length: Sequence[int]) -> tuple[int | None, int]:
        """Return which coefficient is named at a place of the text, and where its name ends."""
        if self.text[at] == "`":
            end = self.text.find("`", at + 1)
            quoted = self.text[at + 1 : end]
            return (self.names.index(quoted), end + 1) if quoted in self.names else (None, at)
        for j in by_length:
            name, end = self.names[j], at + len(self.names[j])
            if name and self.text.startswith(name, at):
                # Part of a longer name otherwise, which is not known.
                after = self.text[end : end + 1]
                if not (_is_word(name[-1]) and _is_word(after)):
                    return j, end
        return None, at

    def _unknown(self, at: int) -> OptionError:
        found = _WORD.match(self.text, at)
        word = "" if found is None else found[0].strip("`")
        near = get_close_matches(word, self.names, n=1, cutoff=0.5)
        hint = "Check the spelling." + (f" Did you mean {near[0]!r}?" if near else "")
        return OptionError(f"names among {self.names[:8]}", repr(word), hint)

    def _unexpected(self) -> OptionError:
        token = self.tokens[self.at]
        shown = self.names[token] if isinstance(token, int) else token
        return self._refused(
            f"{shown!r} where it has no meaning" if shown else "something missing at the end"
        )

    def _refused(self, what: str) -> OptionError:
        return OptionError(
            "linear equations of the coefficients, such as 'a = b, 2 * c - d = 1'",
            f"{self.text!r:.200} with {what}",
            f"The coefficients are {self.names[:8]}; put backticks around unusual names.",
        )


def _is_word(character: str) -> bool:
    return character.isalnum() or character in {"_", "."}
