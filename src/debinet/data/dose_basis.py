"""The columns of a dose: a natural cubic spline."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from debinet.data.arrays import freeze_arrays, require
from debinet.protocols import FloatArray


@dataclass(frozen=True, eq=False)
class DoseBasis:
    """Columns B(D) of a dose: D, and natural cubic splines that are orthogonal to it.

    With `u` the dose in units of the distance of the outer knots, `t` the knots in these units and
    `d_j(u) = ((u - t_j)_+^3 - (u - t_K)_+^3) / (t_K - t_j)`, natural splines are the span of
    `1, u, d_1 - d_{K-1}, ..., d_{K-2} - d_{K-1}`.

    Attributes
    ----------
    name : str
        Of the dose.
    knots : FloatArray of shape (df + 1,)
        In increasing order.
    mixing : FloatArray of shape (df + 1, df - 1)
        The columns but the first, as combinations of these functions. In the data that the basis
        was made for they have mean 0 and variance 1 and are uncorrelated, also with D.
    """

    name: str
    knots: FloatArray
    mixing: FloatArray

    def __post_init__(self) -> None:
        freeze_arrays(self, knots="k", mixing="k m")
        require(self.mixing.shape[1] == self.knots.size - 2 > 0, "number of knots")
        require(bool((np.diff(self.knots) > 0).all()), "order of knots")

    @property
    def terms(self) -> tuple[str, ...]:
        """Names of the columns."""
        others = range(2, self.knots.size)
        return (self.name, *(f"{self.name}[{k}]" for k in others))

    def columns(self, dose: FloatArray) -> FloatArray:
        """Return B(dose) of shape (m, df) for doses (m,)."""
        return np.column_stack([dose, spline_functions(dose, self.knots) @ self.mixing])

    def derivatives(self, dose: FloatArray) -> FloatArray:
        """Return B'(dose) of shape (m, df) for doses (m,)."""
        return np.column_stack([np.ones(dose.size), _slopes(dose, self.knots) @ self.mixing])


def spline_functions(dose: FloatArray, knots: FloatArray) -> FloatArray:
    """Return 1, u and the natural splines at doses (m,), of shape (m, K)."""
    span = knots[-1] - knots[0]
    u, t = (dose - knots[0]) / span, (knots - knots[0]) / span
    inside = np.clip(u, 0.0, 1.0)
    # Beyond the outer knots they are straight; cubes that cancel would lose their digits there.
    outside = (u - inside)[:, None] * _powers(inside, t, 2)
    return np.column_stack([np.ones(u.size), u, _powers(inside, t, 3) + outside])


def _slopes(dose: FloatArray, knots: FloatArray) -> FloatArray:
    """Return the derivatives of `spline_functions`, of shape (m, K)."""
    span = knots[-1] - knots[0]
    u, t = (dose - knots[0]) / span, (knots - knots[0]) / span
    slopes = _powers(np.clip(u, 0.0, 1.0), t, 2)
    return np.asarray(np.column_stack([np.zeros(u.size), np.ones(u.size), slopes]) / span)


def _powers(u: FloatArray, t: FloatArray, degree: int) -> FloatArray:
    """Return `d_j - d_{K-1}` (degree 3) or its derivative (2) for u between 0 and 1, (m, K - 2)."""
    d = np.maximum(u[:, None] - t[:-1], 0.0) ** degree / (1 - t[:-1])
    d *= 1.0 if degree == 3 else 3.0
    return np.asarray(d[:, :-1] - d[:, -1:])
