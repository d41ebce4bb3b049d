"""k-class estimates on residuals: two-stage least squares, LIML and Fuller's."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from debinet.exceptions import CollinearError, OptionError
from debinet.protocols import BoolArray, FloatArray

IV_METHODS = ("2sls", "liml", "fuller", "jive")
# Treatments whose canonical correlations with the instruments are smaller are not identified.
_LEAST_CORRELATION = 1e-8
# Fuller's constant: the estimate is then nearly unbiased.
_FULLER = 1.0


@dataclass(frozen=True)
class KClass:
    """A k-class estimate.

    Attributes
    ----------
    coef : FloatArray of shape (q,)
    kappa : float
        1 for two-stage least squares.
    """

    coef: FloatArray
    kappa: float


def project(A: FloatArray, X: FloatArray) -> FloatArray:
    """Return the fitted values of least squares of X (n, c) on A (n, k)."""
    if not A.shape[1]:
        return np.zeros_like(X)
    Q = np.linalg.qr(A)[0]
    return np.asarray(Q @ (Q.T @ X))


def k_class(
    y: FloatArray,
    D: FloatArray,
    W: FloatArray,
    endogenous: BoolArray,
    method: str,
    *,
    lost: int = 0,
) -> KClass:
    """Estimate the coefficients of D.

    Parameters
    ----------
    y : FloatArray of shape (n,)
        Residual of the outcome. All rows are multiplied by the roots of the weights, if any.
    D : FloatArray of shape (n, q)
        Residuals of the treatments.
    W : FloatArray of shape (n, k)
        Residuals of the excluded instruments.
    endogenous : BoolArray of shape (q,)
    method : {"2sls", "liml", "fuller", "jive"}
        The last has fitted instruments, as many as treatments, and is otherwise the first.
    lost : int
        Degrees of freedom that the residuals have lost: 1 for an intercept.
    """
    exogenous = D[:, ~endogenous]
    A = np.hstack([exogenous, W])
    _require_identified(D[:, endogenous], exogenous, W)
    kappa = 1.0
    if method in {"liml", "fuller"}:
        kappa = liml_kappa(y, D[:, endogenous], exogenous, W)
    if method == "fuller":
        kappa -= _FULLER / (len(y) - A.shape[1] - lost)
    # (1 - kappa) D + kappa P D are instruments for D.
    lengths = np.linalg.norm(D, axis=0)
    scaled = D / lengths
    instrument = (1 - kappa) * scaled + kappa * project(A, scaled)
    coef = np.linalg.solve(instrument.T @ scaled, instrument.T @ y)
    return KClass(np.asarray(coef / lengths), kappa)


def liml_kappa(y: FloatArray, D: FloatArray, exogenous: FloatArray, W: FloatArray) -> float:
    """Return the least eigenvalue of `(V' M_A V)^-1 V' M_X V`, V = [y, D] and A = [X, W].

    With as many instruments as treatments it is 1.
    """
    if W.shape[1] == D.shape[1]:
        return 1.0
    V = np.column_stack([y, D])
    V = V / np.linalg.norm(V, axis=0)
    outer = V - project(exogenous, V)
    inner = V - project(np.hstack([exogenous, W]), V)
    return float(linalg.eigh(outer.T @ outer, inner.T @ inner, eigvals_only=True)[0])


def _require_identified(D: FloatArray, exogenous: FloatArray, W: FloatArray) -> None:
    """Require that instruments explain every combination of the endogenous treatments."""
    left, right = (part - project(exogenous, part) for part in (D, W))
    Q_D, Q_W = (np.linalg.qr(part)[0] for part in (left, right))
    correlations = np.linalg.svd(Q_W.T @ Q_D, compute_uv=False)
    if correlations.min() < _LEAST_CORRELATION:
        raise CollinearError(
            "instruments that move every endogenous treatment, also given the others",
            f"a smallest canonical correlation of {correlations.min():.1g}",
            "Add instruments, or name fewer treatments in endogenous=[...].",
        )


def require_iv_method(method: str) -> str:
    """Return the method; "auto" is "2sls"."""
    if method == "auto":
        return IV_METHODS[0]
    if method in IV_METHODS:
        return method
    raise OptionError(
        "method='2sls', 'liml', 'fuller', 'jive' or 'auto' with instruments",
        f"method={method!r}",
        "Use method='auto', or leave instruments out.",
    )
