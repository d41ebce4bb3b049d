"""Formulas `y ~ treatments | controls`, read by formulaic into plain matrices."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import pandas as pd
from formulaic import Formula
from formulaic.errors import DataMismatchWarning
from narwhals.exceptions import DuplicateError

from debinet.data.formula_parts import SYNTAX, cut_formula
from debinet.data.schema import unknown_column
from debinet.exceptions import DuplicateColumnError, FormulaError, MissingValueError

# The learners fit the intercept, so the models have no column for it.
INTERCEPT = "Intercept"


@dataclass(frozen=True)
class FormulaDesign:
    """A formula applied to data, and how to apply it again.

    Attributes
    ----------
    y : Series of length n
        The outcome.
    X : DataFrame of shape (n, p)
        Columns of the treatments, of the controls, and of the instruments.
    treatments : tuple of str
        Names of the treatment columns.
    specs : tuple of formulaic ModelSpec
        For treatments and controls, with categories and transforms remembered.
    source : DataFrame
        The columns of the data that the formula uses.
    endogenous, instruments : tuple of str
        Names of their columns, if the formula has instruments.
    """

    y: pd.Series
    X: pd.DataFrame
    treatments: tuple[str, ...]
    specs: tuple[Any, Any]
    source: pd.DataFrame
    endogenous: tuple[str, ...] = ()
    instruments: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns of treatments and controls, which predictions need."""
        return tuple(name for name in self.X.columns if name not in self.instruments)


def read_formula(formula: str, data: Any, apart: Sequence[str] = ()) -> FormulaDesign:
    """Apply `formula` to a data frame.

    Parameters
    ----------
    formula : str
        `.` stands for all columns that are not used elsewhere in the formula nor in `apart`.
    data : data frame
    apart : sequence of str
        Columns that serve another purpose, such as groups and weights.
    """
    frame = _as_frame(data)
    sides = _parse(formula, [str(c) for c in frame.columns], apart)
    _require_complete(frame, list(sides))
    try:
        y, D, Z, *apart_from = (
            side.get_model_matrix(frame, na_action="ignore", context={}) for side in sides
        )
    except Exception as error:
        raise _unreadable(formula, error) from error
    if y.shape[1] != 1:
        raise FormulaError(
            "one outcome", f"{list(y.columns)}", "Put a single numeric variable left of '~'."
        )
    X = _joined(D, Z)
    endogenous, W = (_without_intercept(part) for part in apart_from or (D[[]], D[[]]))
    _require_roles(formula, D, X, endogenous, W)
    return FormulaDesign(
        y=pd.DataFrame(y).iloc[:, 0],
        X=pd.concat([X, W], axis=1),
        treatments=tuple(column for column in D.columns if column != INTERCEPT),
        specs=(D.model_spec, Z.model_spec),
        source=frame[_used(frame, list(sides))],
        endogenous=tuple(endogenous.columns),
        instruments=tuple(W.columns),
    )


def apply_formula(design: FormulaDesign, data: Any) -> pd.DataFrame:
    """Return X for new rows, which need not have the outcome."""
    frame = _as_frame(data)
    _require_complete(frame, [spec.formula for spec in design.specs])
    try:
        with warnings.catch_warnings():
            # A category that is new would be coded as the reference category.
            warnings.simplefilter("error", DataMismatchWarning)
            D, Z = (spec.get_model_matrix(frame, context={}) for spec in design.specs)
    except Exception as error:
        raise FormulaError(
            "the variables and categories of the formula in the new data",
            f"{type(error).__name__}: {error}",
            "Check the column names and categories.",
        ) from error
    return _joined(D, Z)


def apply_columns(design: FormulaDesign) -> list[str]:
    """Return the columns that `apply_formula` needs."""
    return _used(design.source, [spec.formula for spec in design.specs])


def formula_columns(formula: str, data: Any, apart: Sequence[str] = ()) -> list[str]:
    """Return the columns of a data frame that `formula` uses, the outcome included."""
    frame = _as_frame(data)
    return _used(frame, list(_parse(formula, [str(c) for c in frame.columns], apart)))


def _parse(formula: str, columns: list[str], apart: Sequence[str]) -> tuple[Any, ...]:
    """Return outcome, treatments and controls, and endogenous treatments and instruments if any."""
    cut = cut_formula(formula)
    outcome, treatments, _ = _parts(cut.main, columns)
    texts = () if cut.instruments is None else (cut.endogenous, cut.instruments)
    try:
        extra = tuple(Formula(text) for text in texts)
    except Exception as error:
        raise _unreadable(formula, error) from error
    used = {name for side in (outcome, treatments, *extra) for name in _variables(side)}
    free = [column for column in columns if column not in used and column not in apart]
    return outcome, treatments, _parts(cut.main, free)[2], *extra


def _parts(formula: str, available: list[str]) -> tuple[Any, Any, Any]:
    try:
        parsed = Formula(formula, _context={"__formulaic_variables_available__": available})
        outcome, parts = parsed.lhs, parsed.rhs
    except Exception as error:
        raise _unreadable(formula, error) from error
    if not isinstance(parts, tuple) or len(parts) != 2:
        raise _unreadable(formula, ValueError("the right-hand side needs one '|'"))
    return outcome, *parts


def _unreadable(formula: Any, error: Exception) -> FormulaError:
    return FormulaError(
        f"a formula {SYNTAX}",
        f"{formula!r} ({type(error).__name__}: {error})",
        "Check the syntax and that every variable is a column of the data.",
    )


def _require_complete(frame: pd.DataFrame, sides: list[Any]) -> None:
    # formulaic codes a missing category as the reference category.
    missing = [name for name in _used(frame, sides) if frame[name].isna().any()]
    if missing:
        raise MissingValueError(
            "no missing values in the variables of the formula",
            f"NaN or None in {missing[:5]}",
            "Drop or impute those rows first; nothing is dropped silently.",
        )


def _used(frame: pd.DataFrame, sides: list[Any]) -> list[str]:
    """Return the columns that the sides of a formula use, in the order of the data."""
    used = {name for side in sides for name in _variables(side)}
    return [name for name in frame.columns if name in used]


def _variables(side: Any) -> set[str]:
    """Return the names that a side of a formula uses.

    formulaic's own `required_variables` finds none in `bs(x, df=4)`.
    """
    found = {str(name) for name in side.required_variables}
    for term in side:
        for factor in term.factors:
            if factor.eval_method.value == "python":
                found |= _names_in(factor.expr)
    return found


def _names_in(expression: str) -> set[str]:
    """Return the names in a Python expression, also between backticks, without functions."""
    quoted: dict[str, str] = {}

    def replaced(match: re.Match[str]) -> str:
        stand_in = f"_quoted_{len(quoted)}"
        quoted[stand_in] = match[1]
        return stand_in

    try:
        tree = ast.parse(re.sub(r"`([^`]+)`", replaced, expression), mode="eval")
    except SyntaxError:
        return set()  # formulaic raises the error when it evaluates it
    functions = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    names = [n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and id(n) not in functions]
    return {quoted.get(name, name) for name in names}


def _require_roles(
    formula: str, D: Any, X: pd.DataFrame, endogenous: pd.DataFrame, W: pd.DataFrame
) -> None:
    """Require endogenous columns that are treatments, and instruments that are nothing else."""
    both = [name for name in W.columns if name in X.columns]
    other = [name for name in endogenous.columns if name not in D.columns]
    if not both and not other:
        return
    treatments = [name for name in D.columns if name != INTERCEPT]
    controls = [name for name in X.columns if name not in treatments]
    raise FormulaError(
        "instruments that are neither treatments nor controls"
        if both
        else "endogenous variables that are written as among the treatments",
        f"{(both or other)[0]!r} in {formula!r}, read as treatments {treatments}, controls "
        f"{controls}, endogenous {list(endogenous.columns)} and instruments {list(W.columns)}",
        "Name every variable in one of these parts; endogenous ones may be among the treatments.",
    )


def _without_intercept(part: Any) -> pd.DataFrame:
    return pd.DataFrame(part).drop(columns=INTERCEPT, errors="ignore")


def _joined(D: Any, Z: Any) -> pd.DataFrame:
    treatments, controls = (_without_intercept(part) for part in (D, Z))
    # A treatment that is also among the controls, as `.` says, is a treatment.
    others = controls.drop(columns=treatments.columns, errors="ignore")
    return pd.concat([treatments, others], axis=1)


def _as_frame(data: Any) -> pd.DataFrame:
    try:
        frame = nw.from_native(data, pass_through=True)
    except DuplicateError as error:
        raise DuplicateColumnError(
            "every column to have its own name", "repeated names", "Rename or drop them."
        ) from error
    if not isinstance(frame, nw.DataFrame):
        raise FormulaError(
            "a data frame (pandas, polars or arrow)",
            type(data).__name__,
            "Formulas need column names.",
        )
    return pd.DataFrame(frame.to_pandas())


def pick_columns(data: Any, names: list[str]) -> Any:
    """Return one column as a Series, or several as a DataFrame, for groups and weights."""
    frame = _as_frame(data)
    for name in names:
        if name not in frame.columns:
            raise unknown_column(
                name, frame.columns, "groups and weights that are columns of the data"
            )
    return frame[names[0]] if len(names) == 1 else frame[names]
