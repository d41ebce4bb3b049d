"""Bias of the coefficients by functions of one or two controls that were left in both residuals.

With the influence A of the rows on a coefficient, and residuals e, what a function h(Z) that was
left in e adds to the coefficient is `sum_i A_i h(Z_i)`. If h is constant in groups of rows, with
means known from the other rows of the group, that is

    U = sum_g sum_{i != k in g} A_i e_k / n_g,

whose noise is only sqrt(number of groups / n) standard errors of the coefficient: the statistic of
Liu, Mukherjee & Robins (2020), with groups instead of a smooth basis. It sees functions of any
shape, however rough.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy import stats

from debinet.data.arrays import freeze_arrays, require
from debinet.data.value_groups import value_groups
from debinet.protocols import FloatArray, IntArray

# Rows in a group on average, and groups of a control.
_ROWS, _FEWEST, _MOST = 30, 8, 1024
# With more controls than this, pairs of them are left out.
_PAIRED = 15


@dataclass(frozen=True)
class RoughBias:
    """What functions of controls add to the coefficients.

    Attributes
    ----------
    bias : FloatArray of shape (q, k)
        U of q coefficients and k controls or pairs of them.
    noise : FloatArray of shape (q, k)
        Its standard deviation if nothing is left.
    groups : FloatArray of shape (k,)
        Number of groups.
    names : tuple of str
        Of the controls and pairs.
    """

    bias: FloatArray
    noise: FloatArray
    groups: FloatArray
    names: tuple[str, ...]

    def __post_init__(self) -> None:
        freeze_arrays(self, bias="q k", noise="q k", groups="k")
        require(self.bias.shape[1] == len(self.names), "names")

    def pvalues(self) -> FloatArray:
        """Return p-values (q, k), each for itself.

        A sum of g products of two normal means has the kurtosis of the t distribution with g + 4
        degrees of freedom.
        """
        z = np.abs(self.bias) / np.maximum(self.noise, np.finfo(np.float64).tiny)
        return np.asarray(2.0 * stats.t.sf(z, self.groups + 4))


def rough_bias(
    Z: FloatArray, influence: FloatArray, residual: FloatArray, names: tuple[str, ...]
) -> RoughBias:
    """Return the bias by functions of single controls, and of pairs if there are few.

    Parameters
    ----------
    Z : FloatArray of shape (n, k)
        Controls.
    influence : FloatArray of shape (n, q)
        Of every row's outcome on the coefficients.
    residual : FloatArray of shape (n,)
        Held out.
    names : tuple of str
        Of the controls.
    """
    groups = dict(_groups(Z, names))
    found = [_by_group(code, influence, residual) for code in groups.values()]
    bias, noise = (np.column_stack(part) for part in zip(*found, strict=True))
    counts = np.array([code.max() + 1.0 for code in groups.values()])
    return RoughBias(bias, noise, counts, tuple(groups))


def _groups(Z: FloatArray, names: tuple[str, ...]) -> Iterator[tuple[str, IntArray]]:
    """Yield groups (n,) by the values of every control, and cells of two controls each."""
    count = int(np.clip(len(Z) // _ROWS, _FEWEST, _MOST))
    for name, column in zip(names, Z.T, strict=True):
        yield name, value_groups(column, count)
    if len(names) > _PAIRED:
        return
    wide, narrow = count // 2, int(np.sqrt(count))
    binary = [np.unique(column).size == 2 for column in Z.T]
    for i, j in combinations(range(len(names)), 2):
        # half of the groups each for both values of the other control
        parts = (wide if binary[j] else narrow, wide if binary[i] else narrow)
        first, second = (value_groups(Z[:, k], part) for k, part in zip((i, j), parts, strict=True))
        cells = first * (second.max() + 1) + second
        yield f"{names[i]} and {names[j]}", np.unique(cells, return_inverse=True)[1]


def _by_group(code: IntArray, A: FloatArray, e: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return U (q,) and its standard deviation (q,) for the groups of the rows."""
    size = np.bincount(code).astype(np.float64)

    def summed(values: FloatArray) -> FloatArray:
        return np.stack([np.bincount(code, column, size.size) for column in values.T])

    own = A * e[:, None]
    e_sum, e_squares = (np.bincount(code, one, size.size) for one in (e, e**2))
    products = summed(A) * e_sum - summed(own)
    variance = summed(A**2) * e_squares + summed(own) ** 2 - 2.0 * summed(own**2)
    bias = (products / size).sum(axis=1)
    return bias, np.sqrt(np.maximum((variance / size**2).sum(axis=1), 0.0))
