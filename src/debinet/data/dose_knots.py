"""The knots of a dose, and the columns that are made with them."""

from __future__ import annotations

import numpy as np

from debinet.data.dose import LEAST_DF, SUPPORTED, Dose
from debinet.data.dose_basis import DoseBasis, spline_functions
from debinet.data.tables import Table
from debinet.exceptions import ColumnTypeError, InputError
from debinet.protocols import FloatArray


def make_basis(table: Table, j: int, dose: Dose, weights: FloatArray | None) -> DoseBasis:
    """Return the columns of a dose for the rows of a table that have weight."""
    name = table.names[j]
    if j in table.text:
        raise ColumnTypeError(
            f"a dose of numbers in {name!r}",
            f"text such as {table.text[j][0]!r}",
            f"Name {name!r} itself among the treatments: categories become one column each.",
        )
    values, place = np.unique(table.values[:, j], return_inverse=True)
    mass = np.bincount(place, weights, minlength=values.size).astype(np.float64)
    values, mass = values[mass > 0], mass[mass > 0]
    count = dose.df + 1
    if values.size < count:
        raise InputError(
            f"at least {count} different values of the dose {name!r}, for df={dose.df}",
            f"{values.size}",
            (f"Use df={values.size - 1} or less. " if values.size > LEAST_DF else "")
            + f"For a straight line, or a 0/1 treatment, name {name!r} itself.",
        )
    knots = choose_knots(values, mass, count)
    # orthogonal where rows are: the triangle that makes them so is the same for all doses
    root = np.sqrt(mass / mass.sum())[:, None]
    triangle = np.linalg.qr(root * spline_functions(values, knots), mode="r")
    mixing = np.linalg.solve(triangle, np.eye(count)) * np.sign(np.diag(triangle))
    return DoseBasis(name, knots, mixing[:, 2:])


def choose_knots(values: FloatArray, mass: FloatArray, count: int) -> FloatArray:
    """Return knots at evenly spaced quantiles from 1 to 99 %, all of them different.

    Parameters
    ----------
    values, mass : FloatArray of shape (m,)
        Different values in increasing order, and the weight of the rows that have them.
    count : int
        Number of knots, at most m.
    """
    levels = np.linspace(*SUPPORTED, count)
    # a value that more rows have than lie between two knots would take several
    mass = _limited(mass, float(levels[1] - levels[0]))
    place = np.searchsorted(np.cumsum(mass) / mass.sum(), levels)
    order = np.arange(count)
    place = np.maximum.accumulate(place - order) + order
    return np.asarray(values[np.minimum(place, values.size - count + order)])


def _limited(mass: FloatArray, share: float) -> FloatArray:
    """Return masses cut so that none is more than this share of what is left of all."""
    ordered = -np.sort(-mass)
    cut = np.arange(min(mass.size, int(np.ceil(1 / share))))
    rest = ordered[::-1].cumsum()[::-1][cut]
    limit = share * rest / (1 - share * cut)
    found = np.flatnonzero(ordered[cut] <= limit)
    return np.minimum(mass, limit[found[0]]) if found.size else np.ones(mass.size)
