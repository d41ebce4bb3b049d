"""Effects of a fitted model that vary with columns: from names or data to `estimate_effects`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from debinet.data.own_columns import controls_by_name, read_own_columns
from debinet.data.tables import Table
from debinet.exceptions import InputError
from debinet.inference.effect_columns import read_by
from debinet.inference.varying import estimate_effects
from debinet.inference.varying_effects import Effects
from debinet.inference.without_instruments import require_no_instruments
from debinet.models.estimation import Fitted
from debinet.protocols import FloatArray

if TYPE_CHECKING:
    from debinet.data.formula import FormulaDesign


def effects_of(
    fitted: Fitted,
    by: Any,
    given: tuple[FloatArray, FloatArray] | None,
    *,
    bins: Any = None,
    df: Any = None,
) -> Effects:
    """Return effects that vary.

    Parameters
    ----------
    fitted : Fitted
    by, bins, df
        As in `PartiallyLinear.effects`.
    given : (D, Z), optional
        The rows of fit, if the user passed them again.
    """
    result, rows = fitted.result, fitted.rows
    require_no_instruments(result.provenance, "effects that vary")
    n = result.regressions[0].all_rows("effects that vary").R_y.size
    names = read_by(by, fitted.schema.names)
    note = ""
    if given is not None:
        if rows is not None:
            rows.require_same(*given)
        elif len(given[0]) != n:
            raise InputError(f"the {n} rows of fit", f"{len(given[0])}", "Pass the X of fit.")
        else:
            note = "the file is too old to tell whether X has the rows of fit"
    table = _by_name(fitted, names, given) if names else read_own_columns(by, n, "by")
    return estimate_effects(result, _values(table), bins=bins, df=df, note=note)


def variables_of(design: FormulaDesign, by: Any) -> Any:
    """Return variables of a formula's controls that `by` names, as data; `by` itself if it is."""
    from debinet.data.formula import control_variables  # imports formulaic, which takes its time

    names = read_by(by, tuple(map(str, design.source.columns)))
    return design.source[control_variables(design, names)] if names else by


def _by_name(
    fitted: Fitted, names: list[str], given: tuple[FloatArray, FloatArray] | None
) -> Table:
    if given is not None:
        return controls_by_name(fitted.schema, given[1], names)
    if fitted.rows is None or fitted.rows.data is None:
        raise InputError(
            "X, as files of models do not contain the rows of fit",
            "none",
            f"Pass the X that fit was called with: effects(by={names[0]!r}, X=X).",
        )
    return controls_by_name(fitted.schema, fitted.rows.data.Z, names)


def _values(table: Table) -> dict[str, Any]:
    return {
        name: table.text[j] if j in table.text else table.values[:, j]
        for j, name in enumerate(table.names)
    }
