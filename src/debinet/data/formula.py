"""Formulas `y ~ treatments | controls`, read by formulaic into plain matrices."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import pandas as pd
from formulaic import Formula
from formulaic.errors import DataMismatchWarning
from narwhals.exceptions import DuplicateError

from debinet.data.dose import Dose
from debinet.data.dose_terms import read_doses, require_no_dose_terms, require_numbers
from debinet.data.formula_checks import (
    EXTRA,
    require_known,
    require_powers,
    require_small,
    require_sound_structure,
    without_escapes,
)
from debinet.data.formula_parts import SYNTAX, cut_formula
from debinet.data.formula_sides import (
    expressions,
    on_both_sides,
    require_apart,
    require_columns,
    require_instruments_apart,
    used_columns,
    variables,
    with_exact_numbers,
)
from debinet.data.schema import unknown_column
from debinet.exceptions import (
    DebiNetError,
    DuplicateColumnError,
    FormulaError,
    MissingValueError,
)

# The learners fit the intercept, so the models have no column for it.
INTERCEPT = "Intercept"
# Characters of a formula that errors show.
_SHOWN = 200


@dataclass(frozen=True)
class FormulaDesign:
    """A formula applied to data, and how to apply it again.

    Attributes
    ----------
    y : Series of length n
        The outcome.
    X : DataFrame of shape (n, p)
        Columns of the treatments, of the controls, and of the instruments.
    treatments : tuple of str or Dose
        Names of the treatment columns; of doses, with their numbers of columns.
    specs : tuple of formulaic ModelSpec
        For treatments and controls, with categories and transforms remembered.
    source : DataFrame
        The columns of the data that the formula uses.
    endogenous, instruments : tuple of str
        Names of their columns, if the formula has instruments.
    """

    y: pd.Series
    X: pd.DataFrame
    treatments: tuple[str | Dose, ...]
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
    parsed = _parse(formula, [str(c) for c in frame.columns], apart)
    sides = parsed.sides
    _require_sound_sides(sides, frame)
    _require_complete(frame, list(sides))
    exact = with_exact_numbers(frame, sides)
    try:
        y, D, Z, *apart_from = (
            side.get_model_matrix(exact, na_action="ignore", context=EXTRA) for side in sides
        )
    except Exception as error:
        raise _unreadable(formula, error) from error
    require_numbers(parsed.doses, D.columns)
    if y.shape[1] != 1:
        raise FormulaError(
            "one outcome", f"{list(y.columns)}", "Put a single numeric variable left of '~'."
        )
    X = _joined(D, Z)
    endogenous, W = (_without_intercept(part) for part in apart_from or (D[[]], D[[]]))
    require_instruments_apart(
        formula, _without_intercept(D).columns, X.columns, endogenous.columns, W.columns
    )
    return FormulaDesign(
        y=pd.DataFrame(y).iloc[:, 0],
        X=pd.concat([X, W], axis=1),
        treatments=tuple(parsed.doses.get(name, name) for name in D.columns if name != INTERCEPT),
        specs=(D.model_spec, Z.model_spec),
        source=frame[used_columns(frame, sides)],
        endogenous=tuple(endogenous.columns),
        instruments=tuple(W.columns),
    )


def apply_formula(design: FormulaDesign, data: Any) -> pd.DataFrame:
    """Return X for new rows, which need not have the outcome."""
    frame = _as_frame(data)
    sides = [spec.formula for spec in design.specs]
    absent = [name for name in apply_columns(design) if name not in frame.columns]
    if absent:
        raise FormulaError(
            "the variables of the formula in the new data",
            f"data without {', '.join(map(repr, absent[:5]))}",
            "Add these columns, or rename those that have other names.",
        )
    _require_complete(frame, sides)
    exact = with_exact_numbers(frame, sides)
    try:
        with warnings.catch_warnings():
            # A category that is new would be coded as the reference category.
            warnings.simplefilter("error", DataMismatchWarning)
            D, Z = (spec.get_model_matrix(exact, context=EXTRA) for spec in design.specs)
    except Exception as error:
        raise FormulaError(
            "the variables and categories of the formula in the new data",
            f"{type(error).__name__}: {without_escapes(error)}",
            "Check the column names and categories.",
        ) from error
    return _joined(D, Z)


def apply_columns(design: FormulaDesign) -> list[str]:
    """Return the columns that `apply_formula` needs."""
    return used_columns(design.source, [spec.formula for spec in design.specs])


def control_variables(design: FormulaDesign, names: Sequence[str]) -> list[str]:
    """Return names, which must be variables of the controls and not of the treatments."""
    treatments, controls = (used_columns(design.source, [spec.formula]) for spec in design.specs)
    allowed = [name for name in controls if name not in treatments]
    for name in names:
        if name not in allowed:
            raise unknown_column(name, allowed, "variables of the formula's controls")
    return list(names)


def formula_columns(formula: str, data: Any, apart: Sequence[str] = ()) -> list[str]:
    """Return the columns of a data frame that `formula` uses, the outcome included."""
    frame = _as_frame(data)
    return used_columns(frame, _parse(formula, [str(c) for c in frame.columns], apart).sides)


@dataclass(frozen=True)
class _Parsed:
    """A formula without its doses.

    Attributes
    ----------
    sides : tuple of formulaic Formula
        Outcome, treatments with the variables of doses, controls; with instruments also endogenous
        treatments and instruments.
    doses : mapping from str to Dose
        By the column of the treatments.
    """

    sides: tuple[Any, ...]
    doses: Mapping[str, Dose]


def _parse(formula: str, columns: list[str], apart: Sequence[str]) -> _Parsed:
    cut = cut_formula(formula)
    outcome, treatments, _ = _parts(cut.main, columns)
    plain = read_doses(treatments)
    extra = _instrument_sides(cut.endogenous, cut.instruments, len(columns))
    used = {name for side in (outcome, plain.side, *extra) for name in variables(side)}
    free = [column for column in columns if column not in used and column not in apart]
    controls = _parts(cut.main, free)[2]
    require_no_dose_terms({"outcome": outcome, "controls": controls})
    return _Parsed((outcome, plain.side, controls, *extra), plain.doses)


def _instrument_sides(
    endogenous: str | None, instruments: str | None, columns: int
) -> tuple[Any, ...]:
    """Return the sides of the last part of a formula, if it has instruments."""
    if endogenous is None or instruments is None:
        return ()
    try:
        for text in (endogenous, instruments):
            require_sound_structure(text, columns)
        D, W = Formula(endogenous), Formula(instruments)
    except DebiNetError:
        raise
    except Exception as error:
        raise _unreadable(f"{endogenous} ~ {instruments}", error) from error
    require_no_dose_terms({"instruments": W})
    return read_doses(D).side, W


def _parts(formula: str, available: list[str]) -> tuple[Any, Any, Any]:
    try:
        require_sound_structure(formula, len(available))
        parsed = Formula(formula, _context={"__formulaic_variables_available__": available})
        outcome, parts = parsed.lhs, parsed.rhs
    except DebiNetError:
        raise
    except Exception as error:
        raise _unreadable(formula, error) from error
    if not isinstance(parts, tuple) or len(parts) != 2:
        raise _unreadable(formula, ValueError("the right-hand side needs one '|'"))
    return outcome, *parts


def _unreadable(formula: Any, error: Exception) -> FormulaError:
    return FormulaError(
        f"a formula {SYNTAX}",
        f"{_shortened(formula)} ({type(error).__name__}: {without_escapes(error)})",
        "Check the syntax and that every variable is a column of the data.",
    )


def _shortened(formula: Any) -> str:
    shown = repr(formula)
    return shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}..."


def _require_sound_sides(sides: tuple[Any, ...], frame: pd.DataFrame) -> None:
    require_columns(sides, frame.columns)
    texts = expressions(sides)
    require_known(texts, list(frame.columns))
    require_powers(texts)
    require_small(texts, len(frame))
    require_apart(*sides[:3])


def _require_complete(frame: pd.DataFrame, sides: list[Any]) -> None:
    # formulaic codes a missing category as the reference category.
    missing = [name for name in used_columns(frame, sides) if frame[name].isna().any()]
    if missing:
        raise MissingValueError(
            "no missing values in the variables of the formula",
            f"NaN or None in {missing[:5]}",
            "Drop or impute those rows first; nothing is dropped silently.",
        )


def _without_intercept(part: Any) -> pd.DataFrame:
    return pd.DataFrame(part).drop(columns=INTERCEPT, errors="ignore")


def _joined(D: Any, Z: Any) -> pd.DataFrame:
    treatments, controls = (_without_intercept(part) for part in (D, Z))
    both = [name for name in treatments.columns if name in controls.columns]
    if both:
        raise on_both_sides(both)
    return pd.concat([treatments, controls], axis=1)


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
    if len(set(names)) < len(names):
        raise DuplicateColumnError(
            "every column of groups and weights to be named once",
            f"{names}",
            "Drop the repetition.",
        )
    return frame[names[0]] if len(names) == 1 else frame[names]
