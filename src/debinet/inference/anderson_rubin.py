"""The Anderson-Rubin statistic, which does not need strong instruments.

For any b, `m(b) = A'(y - D b)` has mean zero if b is the truth, however little the instruments A
say about D: `AR(b) = m' Omega^-1 m` is then chi-squared with k degrees of freedom. m is linear and
Omega quadratic in b, so that both are kept as coefficients of `v = (1, -b)`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from debinet.data.arrays import freeze_arrays
from debinet.exceptions import CovarianceError
from debinet.inference.clustered_products import clustered_products
from debinet.inference.instrumented import InstrumentedRegression, solved_rows
from debinet.inference.k_class import project
from debinet.protocols import FloatArray, IntArray


@dataclass(frozen=True)
class InstrumentMoments:
    """`m(b) = G v` and `Omega(b) = sum_st v_s v_t T_st`, with `v = (1, -b)`.

    Attributes
    ----------
    G : FloatArray of shape (k, 1 + q)
        Instruments are orthonormal.
    T : FloatArray of shape (1 + q, 1 + q, k, k)
    outer, inner : FloatArray of shape (1 + q, 1 + q)
        Products of y and D as the instruments fit them, and of what is left of them.
    rest : float
        Rows less instruments and exogenous treatments.
    """

    G: FloatArray
    T: FloatArray
    outer: FloatArray
    inner: FloatArray
    rest: float

    def __post_init__(self) -> None:
        freeze_arrays(self, G="k s", T="s s k k", outer="s s", inner="s s")

    @property
    def k(self) -> int:
        """Number of instruments."""
        return len(self.G)

    def omega(self, v: FloatArray) -> FloatArray:
        """Return the covariance of the moments at `v` (1 + q,)."""
        return np.asarray(np.einsum("s,t,stij->ij", v, v, self.T))

    def statistic(self, b: FloatArray) -> float:
        """Return `AR(b)` for coefficients (q,)."""
        return self.wald(np.concatenate([[1.0], -b]))

    def wald(self, v: FloatArray) -> float:
        """Return `m' Omega^-1 m` at `v` (1 + q,)."""
        m = self.G @ v
        try:
            half = np.linalg.solve(np.linalg.cholesky(self.omega(v)), m)
        except np.linalg.LinAlgError as error:
            raise CovarianceError(
                "moments of the instruments with a positive definite covariance",
                "one that is singular or negative: there are too few clusters for "
                f"{self.k} instruments",
                "Use fewer instruments, one grouping, or with_vcov('HC1').",
            ) from error
        return float(half @ half)

    def rescaled(self, center: FloatArray, scale: FloatArray) -> InstrumentMoments:
        """Return the moments of u, where `b = center + scale u`."""
        C = np.diag(np.concatenate([[1.0], scale]))
        C[1:, 0] = -center
        return self._changed(C)

    def given(self, u: float) -> InstrumentMoments:
        """Return the moments of the other coefficients, the first being u."""
        C = np.delete(np.eye(len(self.outer)), 1, axis=1)
        C[1, 0] = -u
        return self._changed(C)

    def _changed(self, C: FloatArray) -> InstrumentMoments:
        """Return the moments of linear combinations of y and D."""
        return InstrumentMoments(
            self.G @ C,
            np.einsum("sa,tb,stij->abij", C, C, self.T),
            C.T @ self.outer @ C,
            C.T @ self.inner @ C,
            self.rest,
        )


def moments_of(
    fit: InstrumentedRegression, kind: str, groups: IntArray | None, wanted: int | None = None
) -> InstrumentMoments:
    """Return the moments of the endogenous treatments, or of one treatment and nuisances.

    Parameters
    ----------
    fit : InstrumentedRegression
        Of n rows.
    kind : str
        Covariance of the moments: "iid", "HC0", "cluster"; "HC1" for all others.
    groups : IntArray of shape (n, ways), optional
        For "cluster".
    wanted : int, optional
        The treatment that comes first; if it is exogenous it is an instrument, too. The other
        endogenous treatments follow. By default only the endogenous ones, in order.
    """
    y, D, W = solved_rows(fit)
    inside = [int(j) for j in np.flatnonzero(fit.endogenous)]
    if wanted is not None:
        inside = [wanted, *(j for j in inside if j != wanted)]
    own = [] if wanted is None or fit.endogenous[wanted] else [wanted]
    outside = [int(j) for j in np.flatnonzero(~fit.endogenous) if j not in own]
    A = np.hstack([D[:, own], W])
    A = A - project(D[:, outside], A)
    V = np.column_stack([y, D[:, inside]])
    V = V - project(D[:, outside], V)
    Q = np.linalg.qr(A)[0]
    G = Q.T @ V
    left = V - Q @ G
    rest = float(len(V) - A.shape[1] - len(outside) - int(fit.intercept))
    codes = None if groups is None else groups[fit.w > 0]
    return InstrumentMoments(G, _second(Q, left, kind, codes, rest), G.T @ G, left.T @ left, rest)


def _second(
    Q: FloatArray, left: FloatArray, kind: str, groups: IntArray | None, rest: float
) -> FloatArray:
    """Return the coefficients of Omega, (1 + q, 1 + q, k, k)."""
    if kind == "iid":
        return np.multiply.outer(left.T @ left / rest, np.eye(Q.shape[1]))
    n, (s, k) = len(Q), (left.shape[1], Q.shape[1])
    scores = (left[:, :, None] * Q[:, None, :]).reshape(n, s * k)
    if kind != "cluster" or groups is None:
        products = (1.0 if kind == "HC0" else n / rest) * clustered_products(scores, None)
    else:
        products = clustered_products(
            scores, groups, lambda count: count / max(count - 1, 1) * (n - 1) / rest
        )
    return np.asarray(products.reshape(s, k, s, k).transpose(0, 2, 1, 3))
