"""The functions h(Z) of controls whose products with the treatments have coefficients."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from itertools import product
from typing import Any, TypeAlias

import numpy as np

from debinet.data.arrays import freeze_arrays, require
from debinet.exceptions import TooFewRowsError
from debinet.inference.effect_columns import Bins, Curve, Levels, choose_column
from debinet.protocols import FloatArray

Columns: TypeAlias = Mapping[str, Any]

# Groups of fewer rows have no effect that could be told from noise.
LEAST_ROWS = 10


@dataclass(frozen=True)
class EffectBasis:
    """Functions h (n, m) of columns, one coefficient each: the effect in a row is `h b`.

    One column, or several of groups: the functions are those of `columns`, or products of one of
    each, and sum to 1. Several of which at least one is a curve: 1, then the functions of every
    column but its first, less their means; the coefficient of 1 is the average effect.

    Attributes
    ----------
    columns : tuple of Levels, Bins or Curve
    means : FloatArray of shape (m,)
        Means of the functions in the rows of fit: for groups, their shares.
    cells : tuple of int
        Which products of groups have rows; empty if all have.
    rows : tuple of int
        Number of rows in each group; empty if there are curves.
    """

    columns: tuple[Any, ...]
    means: FloatArray
    cells: tuple[int, ...] = ()
    rows: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        freeze_arrays(self, means="m")
        require(all(isinstance(one, (Levels, Bins, Curve)) for one in self.columns), "columns")
        require(not self.rows or len(self.rows) == self.means.size, "rows")

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(column.name for column in self.columns)

    @property
    def grouped(self) -> bool:
        """Whether all columns are groups, so that each coefficient is the effect in one."""
        return not any(isinstance(column, Curve) for column in self.columns)

    @property
    def additive(self) -> bool:
        """Whether the effect is a sum of functions of single columns."""
        return len(self.columns) > 1 and not self.grouped

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the m functions."""
        if self.additive:
            return ("average", *(label for one in self.columns for label in one.labels[1:]))
        every = [", ".join(part) for part in product(*(one.labels for one in self.columns))]
        return tuple(every[k] for k in self.cells) if self.cells else tuple(every)

    @property
    def constant(self) -> FloatArray:
        """The coefficients (m,) of an effect of 1 in every row."""
        constant = np.ones(self.means.size)
        if self.additive:
            constant[1:] = 0.0
        return constant

    def evaluate(self, values: Columns) -> FloatArray:
        """Return the functions (n, m) in rows of the same columns."""
        parts = [one.evaluate(values[one.name]) for one in self.columns]
        if self.additive:
            rest = np.hstack([part[:, 1:] for part in parts]) - self.means[1:]
            return np.hstack([np.ones((len(rest), 1)), rest])
        crossed = reduce(_products, parts)
        return np.asarray(crossed[:, list(self.cells)] if self.cells else crossed)

    def along(self, j: int) -> FloatArray:
        """Return the functions along column j: in its groups, or on the grid of its curve.

        All others are at their means.
        """
        column = self.columns[j]
        curve = isinstance(column, Curve)
        own = column.evaluate(column.grid) if curve else np.eye(len(column.labels))
        if not self.additive:
            return np.asarray(own)
        full = np.zeros((len(own), self.means.size))
        full[:, 0] = 1.0
        own_columns = self.columns_of(j)
        full[:, own_columns] = own[:, 1:] - self.means[own_columns]
        return full

    def columns_of(self, j: int) -> slice:
        """Return which functions are those of column j, if the effect is a sum."""
        sizes = [len(column.labels) - 1 for column in self.columns]
        return slice(1 + sum(sizes[:j]), 1 + sum(sizes[: j + 1]))


def make_basis(values: Columns, w: FloatArray, bins: Any = None, df: Any = None) -> EffectBasis:
    """Choose the functions of some columns.

    Parameters
    ----------
    values : mapping from str to array of shape (n,)
        The columns by name, numbers or text, in the rows of fit.
    w : FloatArray of shape (n,)
        Weights; rows of weight zero do not count.
    bins, df
        As in `choose_column`.
    """
    columns = tuple(choose_column(name, one, bins, df) for name, one in values.items())
    share = w / w.sum()
    parts = [one.evaluate(values[one.name]) for one in columns]
    if len(columns) > 1 and any(isinstance(column, Curve) for column in columns):
        rest = np.hstack([part[:, 1:] for part in parts])
        return EffectBasis(columns, np.append(1.0, share @ rest))
    whole = reduce(_products, parts)
    if isinstance(columns[0], Curve):
        return EffectBasis(columns, share @ whole)
    counts = np.count_nonzero(whole[w > 0], axis=0)
    cells = () if counts.all() else tuple(np.flatnonzero(counts).tolist())
    rows = tuple(int(count) for count in counts if count)
    basis = EffectBasis(columns, (share @ whole)[counts > 0], cells, rows)
    _require_rows(basis)
    return basis


def _require_rows(basis: EffectBasis) -> None:
    small = [k for k, count in enumerate(basis.rows) if count < LEAST_ROWS]
    if small:
        shown = ", ".join(f"{basis.labels[k]!r} ({basis.rows[k]})" for k in small[:5])
        raise TooFewRowsError(
            f"at least {LEAST_ROWS} rows in every group",
            f"fewer in {shown}" + (f" and {len(small) - 5} more" if len(small) > 5 else ""),
            "Merge small groups, use fewer bins, or a curve with df=3.",
        )


def _products(left: FloatArray, right: FloatArray) -> FloatArray:
    """Return the products (n, k l) of each of k columns with each of l."""
    return np.asarray((left[:, :, None] * right[:, None, :]).reshape(len(left), -1))
