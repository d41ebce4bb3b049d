"""One column that effects vary with: its groups, its bins, or a curve in it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from debinet.data.arrays import freeze_arrays, require
from debinet.data.options import is_whole, whole_number
from debinet.exceptions import ColumnTypeError, InputError, OptionError
from debinet.inference.natural_spline import natural_spline
from debinet.protocols import FloatArray

# A column of at most so many different numbers has a group for each.
FEW_VALUES = 6
# Functions of a curve beside the constant, unless the user says how many.
DEFAULT_DF = 3
# Knots and the grids of curves lie between these quantiles. With outer knots further inside, where
# curves become straight, joint bands of curves that bend there covered less often.
_INSIDE = (0.01, 0.99)
_POINTS = 50


@dataclass(frozen=True)
class Levels:
    """A group for every value.

    Attributes
    ----------
    name : str
        Of the column.
    values : tuple of str, or of float
        In order.
    """

    name: str
    values: tuple[Any, ...]

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the groups."""
        shown = (value if isinstance(value, str) else f"{value:g}" for value in self.values)
        return tuple(f"{self.name}={value}" for value in shown)

    def evaluate(self, column: Any) -> FloatArray:
        """Return the indicators (n, k) of the groups."""
        found = np.column_stack([column == value for value in self.values]).astype(np.float64)
        known = found.any(axis=1)
        if not known.all():
            raise InputError(
                f"values of {self.name!r} among {list(self.labels)[:6]}",
                f"{column[~known][0]}",
                "Effects are known for the values in the rows of fit.",
            )
        return found


@dataclass(frozen=True)
class Bins:
    """A group for every range of a number.

    Attributes
    ----------
    name : str
        Of the column.
    cuts : FloatArray of shape (k - 1,)
        Where one range ends and the next begins; a value that equals a cut is above it.
    """

    name: str
    cuts: FloatArray

    def __post_init__(self) -> None:
        freeze_arrays(self, cuts="k")
        require(bool((np.diff(self.cuts) > 0).all()) and self.cuts.size > 0, "cuts")

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the groups."""
        cuts = [f"{cut:.6g}" for cut in self.cuts]
        between = [f"{a} <= {self.name} < {b}" for a, b in pairwise(cuts)]
        return (f"{self.name} < {cuts[0]}", *between, f"{self.name} >= {cuts[-1]}")

    def evaluate(self, column: Any) -> FloatArray:
        """Return the indicators (n, k) of the groups."""
        number = np.searchsorted(self.cuts, column, side="right")
        return np.asarray(np.eye(self.cuts.size + 1)[number])


@dataclass(frozen=True)
class Curve:
    """A natural cubic spline of a number; see `natural_spline`.

    Attributes
    ----------
    name : str
        Of the column.
    knots : FloatArray of shape (k,)
    grid : FloatArray of shape (g,)
        Where the curve is shown.
    """

    name: str
    knots: FloatArray
    grid: FloatArray

    def __post_init__(self) -> None:
        freeze_arrays(self, knots="k", grid="g")
        require(bool((np.diff(self.knots) > 0).all()) and self.knots.size > 1, "knots")

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the coefficients: the effect at each knot."""
        return tuple(f"{self.name}={knot:.6g}" for knot in self.knots)

    def evaluate(self, column: Any) -> FloatArray:
        """Return the cardinal functions (n, k)."""
        return natural_spline(np.asarray(column, np.float64), self.knots)


def choose_column(name: str, column: Any, bins: Any, df: Any) -> Levels | Bins | Curve:
    """Return how effects vary with a column: groups of few values, else bins or a curve.

    Parameters
    ----------
    name : str
    column : array of shape (n,)
        Of numbers, or of text.
    bins : int or sequence of float, optional
        Number of bins with about as many rows each, or cuts between them.
    df : int, optional
        Degrees of freedom of the curve beside the constant; 1 is a straight line.
    """
    if column.dtype.kind == "O":
        return Levels(name, tuple(sorted(set(column))))
    values = np.unique(column)
    if bins is None and df is None and values.size <= FEW_VALUES:
        return Levels(name, tuple(values.tolist()))
    if values.size == 2:
        return Levels(name, tuple(values.tolist()))
    if bins is not None:
        return Bins(name, _cuts(name, column, bins))
    return _curve(name, column, values, df)


def _cuts(name: str, column: FloatArray, bins: Any) -> FloatArray:
    if is_whole(bins):
        count = whole_number("bins", bins, 2, "Use bins=4 for quarters, or give the cuts.")
        cuts = np.unique(np.quantile(column, np.arange(1, count) / count))
        # Many equal values: a cut at the least value would leave nothing below it.
        return np.asarray(cuts[cuts > column.min()])
    try:
        cuts = np.asarray(bins, np.float64)
    except (TypeError, ValueError):
        cuts = np.zeros((0, 0))
    if cuts.ndim != 1 or not cuts.size or not np.isfinite(cuts).all() or (np.diff(cuts) <= 0).any():
        raise OptionError(
            "bins to be a number of bins, or increasing cuts between them",
            repr(bins)[:80],
            "For example bins=4, or bins=[30, 40, 50].",
        )
    if cuts[0] <= column.min() or cuts[-1] > column.max():
        raise OptionError(
            f"cuts inside the range of {name!r}, {column.min():g} to {column.max():g}",
            repr(bins)[:80],
            "Give the cuts between groups only: bins=[30, 40] makes three groups.",
        )
    return cuts


def _curve(name: str, column: FloatArray, values: FloatArray, df: Any) -> Curve:
    if values.size < 2:
        raise InputError(
            f"a column {name!r} that varies", "one value only", "Choose another column."
        )
    wanted = DEFAULT_DF if df is None else whole_number("df", df, 1, "Use df=1 for a line.")
    knots = np.unique(np.quantile(column, np.linspace(*_INSIDE, wanted + 1)))
    if knots.size <= wanted:  # many equal values
        knots = np.unique(np.quantile(values, np.linspace(0.0, 1.0, min(wanted + 1, values.size))))
    if df is not None and knots.size <= wanted:
        raise OptionError(
            f"df to be at most {values.size - 1}, as {name!r} has {values.size} different values",
            repr(df),
            "Use a smaller df, or leave it out for a group per value.",
        )
    low, high = np.quantile(column, _INSIDE)
    low, high = (low, high) if high > low else (values[0], values[-1])
    return Curve(name, knots, np.linspace(low, high, _POINTS))


def read_by(by: Any, names: tuple[str, ...]) -> list[str] | None:
    """Return the names of columns that `by` consists of; None if it is data itself."""
    wanted = [by] if isinstance(by, str) else by
    if isinstance(wanted, (list, tuple)) and wanted and all(isinstance(v, str) for v in wanted):
        if len(set(wanted)) < len(wanted):
            raise OptionError("each column once in by", repr(by)[:80], "Drop the repetition.")
        return list(wanted)
    if isinstance(wanted, (list, tuple, set, dict)) or np.ndim(wanted) == 0:
        raise ColumnTypeError(
            "by to be the name of a control, a list of names, or a series or data frame",
            repr(by)[:80],
            f"For example by={names[-1]!r}.",
        )
    return None


def read_values(X: Any, names: tuple[str, ...]) -> dict[str, Any]:
    """Return columns of a data frame, or of another mapping, by name: numbers or text."""
    found = {}
    for name in names:
        try:
            column = np.atleast_1d(np.asarray(X[name]))
        except (KeyError, IndexError, TypeError, ValueError) as error:
            raise InputError(
                f"a data frame with the columns {', '.join(names)}",
                f"{type(X).__name__} without {name!r}",
                "Name the values of every column that effects vary with.",
            ) from error
        found[name] = (
            column.astype(np.float64) if column.dtype.kind in "biuf" else column.astype(object)
        )
        if column.dtype.kind in "f" and not np.isfinite(column).all():
            raise InputError(f"finite values of {name!r}", "NaN or infinity", "Drop those rows.")
    return found
