"""`dose(educ, df=5)` among the treatments of a formula."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from inspect import Parameter, Signature
from typing import Any

from formulaic import Formula

from debinet.data.dose import Dose
from debinet.data.formula_checks import read_expression
from debinet.exceptions import DuplicateColumnError, FormulaError

_FUNCTION = "dose"
_CALL = Signature(
    [
        Parameter("variable", Parameter.POSITIONAL_ONLY),
        Parameter("df", Parameter.POSITIONAL_OR_KEYWORD, default=Dose.df),
    ]
)


@dataclass(frozen=True)
class PlainTreatments:
    """The treatments of a formula, doses as the variables that they are doses of.

    Attributes
    ----------
    side : formulaic Formula
    doses : mapping from str to Dose
        By the name of the variable.
    """

    side: Any
    doses: Mapping[str, Dose]


def read_doses(side: Any) -> PlainTreatments:
    """Replace `dose(educ, df=5)` among the terms of a side by `educ`."""
    terms: list[Any] = []
    doses: dict[str, Dose] = {}
    for term in side:
        found = _read_term(term)
        if found is None:
            terms.append(term)
            continue
        name = str(found.dose.column)
        if name in doses or name in map(str, side):
            raise DuplicateColumnError(
                "each treatment to be named once",
                f"a dose of {name!r} and another term of it",
                "Keep one dose(...): its first column is the straight line.",
            )
        doses[name] = found.dose
        terms.extend(Formula([found.variable]))
    return PlainTreatments(Formula(terms) if doses else side, doses)


def require_no_dose_terms(sides: Mapping[str, Any]) -> None:
    """Require that only treatments are doses; sides of a formula by their names."""
    for name, side in sides.items():
        found = [str(term) for term in side if any(_uses_dose(f.expr) for f in term.factors)]
        if found:
            raise FormulaError(
                f"dose(...) among the treatments, between '~' and '|', not in the {name}",
                repr(found[0]),
                "Use bs(x, df=4) for a curve of a control; the learner finds curves without it.",
            )


def require_numbers(doses: Mapping[str, Dose], columns: Any) -> None:
    """Require that the variables of doses became one column each, as numbers do."""
    for name in doses:
        if name not in columns:
            raise FormulaError(
                f"a dose of numbers, in dose({name})",
                "a category",
                f"Name {name} itself among the treatments: categories become one column each.",
            )


@dataclass(frozen=True)
class _DoseTerm:
    """A term that is a dose.

    Attributes
    ----------
    variable : str
        The term of its variable.
    dose : Dose
        Its column is the one that formulaic makes of this term.
    """

    variable: str
    dose: Dose


def _read_term(term: Any) -> _DoseTerm | None:
    """Return the dose that a term of formulaic is, or None."""
    factors = [factor.expr for factor in term.factors]
    if not any(map(_uses_dose, factors)):
        return None
    if len(factors) == 1:
        for tree, quoted in read_expression(factors[0]):
            if _is_dose(tree.body):
                return _read_call(tree.body, quoted)
    raise FormulaError(
        "dose(...) as a term of its own", repr(str(term)), "For example 'y ~ dose(educ) | age'."
    )


def _read_call(call: Any, quoted: Mapping[str, str]) -> _DoseTerm:
    options = {keyword.arg: keyword.value for keyword in call.keywords}
    try:
        given = {"df": ast.Constant(Dose.df), **_CALL.bind(*call.args, **options).arguments}
        df = ast.literal_eval(given["df"])
    except (TypeError, ValueError) as error:
        raise FormulaError(
            "dose(variable) or dose(variable, df=4)",
            repr(_source(call, quoted)),
            "For example 'y ~ dose(educ, df=5) | age'.",
        ) from error
    variable = _source(given["variable"], quoted)
    if isinstance(given["variable"], ast.Name):
        return _DoseTerm(variable, Dose(variable.strip("`"), df))
    # between braces it is Python, in which + adds and * multiplies
    return _DoseTerm(f"{{{variable}}}", Dose(variable, df))


def _source(node: ast.expr, quoted: Mapping[str, str]) -> str:
    """Return the text of a part of an expression, with backticks where it had them."""
    text = ast.unparse(node)
    for stand_in, name in quoted.items():
        text = text.replace(stand_in, f"`{name}`")
    return text


def _uses_dose(text: str) -> bool:
    return any(_is_dose(node) for tree, _ in read_expression(text) for node in ast.walk(tree))


def _is_dose(node: Any) -> bool:
    return isinstance(node, ast.Call) and getattr(node.func, "id", None) == _FUNCTION
