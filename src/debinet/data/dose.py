"""`Dose`: a treatment whose effect is a curve, and how it stands among the treatments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from debinet.data.options import is_whole
from debinet.exceptions import OptionError

LEAST_DF, MOST_DF = 2, 10
# Quantiles of the dose beyond which there are too few rows for a curve: it is straight there.
SUPPORTED = (0.01, 0.99)


@dataclass(frozen=True)
class Dose:
    """A treatment whose effect is a curve: a natural cubic spline, linear beyond its outer knots.

    It becomes `df` columns B(D), the first of which is the dose D itself. The others are orthogonal
    to it in the data, so that its coefficient is the slope of the best straight line, and that
    there is no curve is the hypothesis that the other coefficients are zero. `result.dose(column)`
    is the curve.

    Parameters
    ----------
    column : str or int
        The column of X, by name or position.
    df : int
        Number of columns, 2 to 10. The spline has df + 1 knots at evenly spaced quantiles of the
        dose, from 1 to 99 %. Values that many rows share take one knot at most.

    References
    ----------
    Hastie, Tibshirani, Friedman (2009), The Elements of Statistical Learning, section 5.2.1.

    Examples
    --------
    >>> import debinet as dn
    >>> X, y, _ = dn.datasets.make_sparse_linear(n=200, random_state=0)
    >>> model = dn.PartiallyLinear([dn.Dose("d1", df=3), "d2"], "linear", random_state=0).fit(X, y)
    >>> model.result_.names
    ('d1', 'd1[2]', 'd1[3]', 'd2')
    """

    column: str | int
    df: int = 4

    def __post_init__(self) -> None:
        if not (isinstance(self.column, str) or is_whole(self.column)):
            raise OptionError(
                "a dose to be a column, by name or position",
                repr(self.column),
                "For example dn.Dose('educ', df=4).",
            )
        if not (is_whole(self.df) and LEAST_DF <= self.df <= MOST_DF):
            raise OptionError(
                f"df of a dose to be a whole number from {LEAST_DF} to {MOST_DF}",
                repr(self.df),
                "Use df=4 if in doubt; for a straight line, name the column itself.",
            )


@dataclass(frozen=True)
class NamedTreatments:
    """Treatments as columns, and which of them are doses.

    Attributes
    ----------
    columns : object
        What was given, with the columns of doses in their place.
    doses : mapping from int to Dose
        By place among the treatments.
    """

    columns: Any
    doses: Mapping[int, Dose]


def name_treatments(treatments: Any) -> NamedTreatments:
    """Separate the doses from the columns; whatever holds no dose is left as it is."""
    given = [treatments] if isinstance(treatments, Dose) else treatments
    if isinstance(given, np.ndarray):
        given = given.tolist() if given.dtype == object else given
    if not isinstance(given, (list, tuple)):
        return NamedTreatments(treatments, {})
    doses = {k: one for k, one in enumerate(given) if isinstance(one, Dose)}
    if not doses:
        return NamedTreatments(treatments, {})
    columns = [one.column if isinstance(one, Dose) else one for one in given]
    return NamedTreatments(columns, doses)


def require_no_doses(treatments: Any) -> None:
    """Require that no treatment is a dose, where rows are streamed."""
    if name_treatments(treatments).doses:
        raise OptionError(
            "treatments of one column each, for streamed data",
            "a dose, whose knots are quantiles of all rows",
            "Name the column itself for a straight line, or use fit.",
        )
