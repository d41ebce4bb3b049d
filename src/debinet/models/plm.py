"""`plm`: the formula front end of `PartiallyLinear`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from debinet.data.formula import FormulaDesign, read_formula
from debinet.data.formula_terms import order_levels
from debinet.exceptions import OptionError, StorageError
from debinet.models.formula_columns import FormulaColumns
from debinet.models.partially_linear import PartiallyLinear
from debinet.models.roles import named_column, names_in


def plm(
    formula: str,
    data: Any,
    learner: Any = "wide",
    *,
    ref: Any = None,
    groups: Any = None,
    sample_weight: Any = None,
    **options: Any,
) -> PartiallyLinear:
    """Fit a partially linear model given by a formula.

    Parameters
    ----------
    formula : str
        `"outcome ~ treatments | controls"`. Anything that formulaic supports: `C(region)`,
        `log(x)`, `a:b`, `bs(x, df=4)`; `dose(x, df=4)` among the treatments is a `Dose`; `.` stands
        for all columns not used otherwise. Like R's, formulas may call Python functions: do not run
        untrusted ones. With instruments,
        `"outcome ~ treatments | controls | endogenous ~ instruments"`: endogenous variables are
        treatments, whether or not they are named among them; the others are exogenous.
    data : data frame
        pandas, polars or arrow.
    learner : str or regressor
        As for `PartiallyLinear`.
    ref : mapping from column to category, optional
        The categories that the others are compared with, such as `{"arm": "control"}`. These
        columns are categories in the formula, with or without `C()`.
    groups, sample_weight : column name(s) of data, or arrays, optional
        As for `PartiallyLinear.fit`.
    **options
        Further parameters of `PartiallyLinear`.

    Returns
    -------
    PartiallyLinear
        Fitted. `predict` and `nuisance` take data frames with the variables of the formula, which
        is kept in `formula_`.

    Examples
    --------
    >>> import debinet as dn
    >>> from sklearn.linear_model import LassoCV
    >>> X, y, _ = dn.datasets.make_sparse_linear(n=500, random_state=0)
    >>> fit = dn.plm("y ~ d1 + d2 | z1 + z2 + z3", X.assign(y=y), LassoCV(), random_state=0)
    >>> list(fit.result_.names)
    ['d1', 'd2']
    """
    apart = [*names_in(groups), *names_in(sample_weight)]
    data = order_levels(data, ref)
    design = read_formula(formula, data, apart)
    model = PartiallyLinear(list(design.treatments), learner, **_with_instruments(design, options))
    weights = named_column(data, sample_weight)
    model.fit(design.X, design.y, groups=named_column(data, groups), sample_weight=weights)
    clusters = groups if isinstance(groups, str) else None
    return model._with_formula(FormulaColumns(formula, design), clusters)


def _with_instruments(design: FormulaDesign, options: dict[str, Any]) -> dict[str, Any]:
    """Return the options with the instruments of the formula, if it has any."""
    if not design.instruments:
        return options
    twice = [name for name in ("instruments", "endogenous") if options.get(name) is not None]
    if twice:
        raise OptionError(
            "instruments either in the formula or as an option",
            f"both, {twice[0]}={options[twice[0]]!r}",
            "Leave the option out.",
        )
    own = {"instruments": list(design.instruments), "endogenous": list(design.endogenous)}
    return {**options, **own}


class FormulaFit:
    """How files of version 0.2.0 hold what `plm` returned: read as a `PartiallyLinear`."""

    def to_parts(self) -> Mapping[str, Any]:
        """Raise: nothing is written in this form any more."""
        raise StorageError("a model", "the form of an old file", "Save the model that was read.")

    @classmethod
    def from_parts(cls, parts: dict[str, Any]) -> Any:
        """Return the model with its formula."""
        model: PartiallyLinear = parts["model"]
        return model._with_formula(FormulaColumns.from_parts(parts))
