"""What sandwich covariances need of a fit, with instruments or without."""

from __future__ import annotations

from typing import Protocol

from debinet.protocols import FloatArray


class Sandwiched(Protocol):
    """A fit of n rows and q coefficients for which sandwich covariances are defined."""

    @property
    def coef(self) -> FloatArray:
        """Coefficients, of shape (q,)."""

    @property
    def n(self) -> int:
        """Number of rows of positive weight."""

    @property
    def rest(self) -> int:
        """Rows that are left for the noise: n less the coefficients, the intercept included."""

    @property
    def w(self) -> FloatArray:
        """Weights of the rows."""

    @property
    def contributions(self) -> FloatArray:
        """What the residual of every row adds to the coefficients, of shape (n, q)."""

    @property
    def leverage(self) -> FloatArray:
        """Weight of every row in its own fit, of shape (n,)."""

    @property
    def noise_df(self) -> float | None:
        """Degrees of freedom of a noise level of its own."""
