"""Pass 0: means, scales and categories of the columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from debinet.data.categories import require_repeats
from debinet.data.checks import require_enough_rows, require_usable
from debinet.data.number_text import require_no_number_text
from debinet.data.schema import Schema, require_numeric
from debinet.exceptions import ColumnTypeError, EmptyInputError, InputError, TooFewRowsError
from debinet.learners.inputs import Moments
from debinet.protocols import FloatArray
from debinet.streaming.layout import Layout, RawRows

_MOST_LEVELS = 1000
# A spread below this share of a column's size is the rounding of a constant.
_ROUNDING = 1e-14


@dataclass(frozen=True)
class ColumnSums:
    """Sums over the columns of X and, last, of y.

    Attributes
    ----------
    names : tuple of str
        Columns of X.
    n : int
        Rows of positive weight.
    weight : float
        Sum of their weights.
    mean, square : FloatArray of shape (p + 1,)
        Weighted means and sums of squares about them.
    low, high : FloatArray of shape (p + 1,)
    levels : mapping from int to mapping from str to float
        For text columns, the weight of every category.
    """

    names: tuple[str, ...]
    n: int
    weight: float
    mean: FloatArray
    square: FloatArray
    low: FloatArray
    high: FloatArray
    levels: Mapping[int, Mapping[str, float]]

    def __add__(self, other: ColumnSums) -> ColumnSums:
        """Merge as in Chan, Golub and LeVeque (1979), which loses no digits to large means."""
        if self.n == 0 or other.n == 0:
            return other if self.n == 0 else self
        weight = self.weight + other.weight
        gap = other.mean - self.mean
        square = self.square + other.square + gap**2 * (self.weight * other.weight / weight)
        return ColumnSums(
            self.names,
            self.n + other.n,
            weight,
            self.mean + gap * (other.weight / weight),
            square,
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
            _merge(self.levels, other.levels, self.names),
        )


def column_sums(rows: RawRows) -> ColumnSums:
    """Return the sums of a block of rows."""
    values = np.column_stack([rows.table.values, rows.y])
    if not len(values):
        empty = np.zeros(values.shape[1])
        nothing = (0, 0.0, empty, empty, empty + np.inf, empty - np.inf)
        return ColumnSums(rows.table.names, *nothing, {})
    weight = float(rows.weight.sum())
    mean = rows.weight @ values / weight
    with np.errstate(over="ignore"):  # columns of such sizes are refused once all are known
        square = rows.weight @ (values - mean) ** 2
    levels = {}
    for j, column in rows.table.text.items():
        found, position = np.unique(column.astype(str), return_inverse=True)
        mass = np.bincount(position, rows.weight)
        levels[j] = {str(level): float(m) for level, m in zip(found, mass, strict=True)}
        _require_few(levels[j], rows.table.names[j])
    low, high = values.min(axis=0), values.max(axis=0)
    return ColumnSums(rows.table.names, len(values), weight, mean, square, low, high, levels)


def read_schema(sums: ColumnSums, layout: Layout) -> Schema:
    """Return how X becomes D and Z, or raise an error if a column cannot be used."""
    require_enough_rows(sums.n, layout.treatments)
    if sums.n < layout.folds:
        raise TooFewRowsError(
            f"at least one row per fold, so n >= {layout.folds}", f"{sums.n}", "Use fewer folds."
        )
    if layout.treatments == len(layout.features):
        raise EmptyInputError(
            "at least one column beside the treatments", "none", "Name controls as well."
        )
    require_numeric(layout.features, range(layout.treatments), sums.levels)
    levels = {j: tuple(sorted(found)) for j, found in sorted(sums.levels.items())}
    for j, found in levels.items():
        require_no_number_text(found, f"column {layout.features[j]!r}")
        require_repeats(found, sums.n, layout.features[j])
    names = (*layout.features, layout.outcome)
    # A text column with one category is a constant, too.
    chosen = [j for j in range(len(names)) if len(levels.get(j, ())) < 2]
    size = np.maximum(np.abs(sums.low), np.abs(sums.high))
    sd = np.where(sums.high > sums.low, np.sqrt(sums.square / sums.weight), 0.0)
    require_usable(size[chosen], sd[chosen], [names[j] for j in chosen], _ROUNDING)
    return Schema(layout.features, tuple(range(layout.treatments)), levels)


def control_moments(sums: ColumnSums, schema: Schema) -> Moments:
    """Return means and standard deviations of the coded controls (p,)."""
    mean, variance = np.empty((2, len(schema.control_columns)))
    for k, (j, level) in enumerate(schema.control_columns):
        if level is None:
            mean[k], variance[k] = sums.mean[j], sums.square[j] / sums.weight
        else:
            share = sums.levels[j][level] / sums.weight
            mean[k], variance[k] = share, share * (1 - share)
    return Moments(mean, np.sqrt(variance))


def target_moments(sums: ColumnSums, schema: Schema) -> Moments:
    """Return means and standard deviations of the outcome and the treatments (1 + q,)."""
    order = [len(schema.names), *schema.treatments]
    return Moments(sums.mean[order], np.sqrt(sums.square[order] / sums.weight))


def _merge(
    one: Mapping[int, Mapping[str, float]],
    other: Mapping[int, Mapping[str, float]],
    names: Sequence[str],
) -> dict[int, dict[str, float]]:
    if set(one) != set(other):
        mixed = [names[j] for j in sorted(set(one) ^ set(other))]
        raise ColumnTypeError(
            "columns that are text everywhere or nowhere",
            f"text in some rows and numbers in others of {', '.join(map(repr, mixed[:5]))}",
            "Give the column one type in all files.",
        )
    merged = {}
    for j in one:
        both = dict(one[j])
        for level, mass in other[j].items():
            both[level] = both.get(level, 0.0) + mass
        _require_few(both, names[j])
        merged[j] = both
    return merged


def _require_few(levels: Mapping[str, float], name: str) -> None:
    """Require few categories while they are counted: identifiers would fill the memory."""
    if len(levels) > _MOST_LEVELS:
        raise InputError(
            f"at most {_MOST_LEVELS} categories in column {name!r}",
            "more",
            "Merge rare ones, or drop the column if it is an identifier.",
        )
