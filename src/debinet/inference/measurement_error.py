"""Correction for residuals of D that carry errors: the paper's Theorem 2.

Observed is `R_D = X + E`, E independent of the true residual X and of the noise, with covariance
`error` in each row. Least squares then tends to `(I - R) coef`, `R = S^-1 error` with
`S = R_D'R_D / n` (the theorem has `error = sigma^2 I`). The corrected coefficients solve

    sum_i psi_i = 0,    psi_i = R_D_i (R_y_i - R_D_i' coef) + error coef

which is `(I - R)^-1` times the least squares solution. Their covariance is the sandwich of these
scores. The theorem's own, `(sigma_e^2 + sigma_Y^2) R / sigma_X^2`, leaves out that `E coef` is
noise in y as well, so its intervals are too narrow (docs/decisions/0013).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from debinet.exceptions import InputError, OptionError
from debinet.inference.covariance import spread
from debinet.inference.provenance import CorrectedErrors
from debinet.inference.regression import ResidualRegression
from debinet.inference.without_instruments import require_no_instruments
from debinet.protocols import FloatArray

if TYPE_CHECKING:
    from debinet.inference.result import Inference

ASSUMPTION = (
    "corrected under the assumption that the errors of the predictions of D are independent of its "
    "true residuals and of the noise in y; if they are not, neither estimate is right"
)
# Where the correction leaves less than this share of the variance, it would divide by noise.
_LEAST_LEFT = 0.01


def correct_result(result: Inference, sigma2: Any) -> Inference:
    """Return the result with corrected coefficients and the covariance of the corrected scores."""
    require_no_instruments(result.provenance, "a correction for measurement error")
    _require_learned_apart(result.provenance.method)
    if result.provenance.errors is not None:
        raise OptionError(
            "a result that is not corrected yet",
            "one that is",
            "Correct the result of fit, once, with all of sigma2.",
        )
    if result.provenance.huber is not None:
        raise OptionError(
            "least squares of residuals on residuals",
            "Huber's M-estimator",
            "Correct the result of fit.",
        )
    rows = [one.all_rows("a correction of each residual") for one in result.regressions]
    fits = tuple(correct(fit, sigma2) for fit in rows)
    kind = "cluster" if result.vcov_type == "cluster" else "HC1"
    variances = np.mean([np.diag(fit.error) for fit in fits if fit.error is not None], axis=0)
    errors = CorrectedErrors(tuple(variances.tolist()), given=sigma2 is not None)
    return replace(
        result,
        regressions=fits,
        **vars(spread(fits, kind, result.groups)),
        provenance=replace(result.provenance, errors=errors),
        notes=(*result.notes, ASSUMPTION),
    )


def correct(fit: ResidualRegression, sigma2: Any) -> ResidualRegression:
    """Return the regression with coefficients corrected for errors in `R_D`."""
    error = error_covariance(fit, sigma2)
    S = fit.R_D.T @ (fit.w[:, None] * fit.R_D) / fit.w.sum()
    # In units in which S is the identity, the eigenvalues are the shares that are error.
    root = np.linalg.cholesky(S)
    share = np.linalg.eigvalsh(np.linalg.solve(root, np.linalg.solve(root, error).T))
    if share.max() > 1 - _LEAST_LEFT:
        raise InputError(
            "errors smaller than the residuals of D that carry them",
            f"a share of {share.max():.2f} of the variance in one direction",
            "Pass a smaller sigma2, or use a better learner.",
        )
    coef = np.linalg.solve(S - error, S @ fit.coef)
    return replace(fit, coef=coef, error=error, least_squares=False, influence=None)


def error_covariance(fit: ResidualRegression, sigma2: Any) -> FloatArray:
    """Return the covariance (q, q) of the errors: as given, or as the learner estimates it.

    The error of its predictions is the variance of the held-out residuals less its noise variance.
    """
    q = fit.coef.size
    if sigma2 is None:
        if fit.D_noise is None:
            raise OptionError(
                "sigma2, the mean squared error of the predictions of D",
                "sigma2=None for a learner that does not estimate the noise in D",
                "Pass it, or use learner=WideNet().",
            )
        held = (fit.w[:, None] * fit.R_D**2).sum(axis=0) / fit.w.sum()
        # The noise is that of a row of weight one; in the weighted mean all rows have as much.
        noise = fit.D_noise * fit.n / fit.w.sum()
        return np.diag(np.maximum(held - noise, 0.0))
    try:
        values = np.asarray(sigma2, dtype=np.float64)
    except (TypeError, ValueError):
        values = np.array(np.nan)
    if values.shape in {(), (q,)} and np.isfinite(values).all() and (values >= 0).all():
        return np.diag(np.broadcast_to(values, q)).copy()
    raise OptionError(
        f"sigma2 to be None, a number that is not negative, or {q} of them, one per treatment",
        repr(sigma2),
        "Pass the mean squared error of the predictions of D.",
    )


def _require_learned_apart(method: str | None) -> None:
    """Require residuals of y that do not contain the residuals of D."""
    if method not in {"robinson", "three-step", "dml2"}:
        raise OptionError(
            "residuals of y and D that were learned separately, by method='robinson' or 'dml2'",
            f"method={method!r}, in which errors of the predictions of D cancel to first order",
            "Fit again with method='robinson'; the structured method needs no correction.",
        )
