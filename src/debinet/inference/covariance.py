"""Covariances of the coefficients of a residual regression.

Every function equals what statsmodels gives for OLS or WLS of `R_y` on `R_D` (HC0 to HC3 and
clusters with its default small-sample corrections).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from debinet.data.options import one_of
from debinet.exceptions import CovarianceError
from debinet.inference.sandwiched import Sandwiched
from debinet.protocols import FloatArray, IntArray

if TYPE_CHECKING:
    from debinet.inference.regression import Regression, ResidualRegression

# A row whose leverage is this close to 1 alone determines a coefficient.
LEVERAGE_LIMIT = 1 - 1e-10


def iid(fit: ResidualRegression) -> FloatArray:
    """`sigma^2 (R_D'WR_D)^-1`, with `sigma^2` over `n - q` (`n - q - 1` with an intercept).

    With instruments `sigma^2 (R_D'WD)^-1 R_D'WR_D (D'WR_D)^-1`, and for a mixed model
    `noise^2 A' W^-1 A` with `coef = A' y`.
    """
    if not fit.least_squares and fit.influence is not None and fit.noise is not None:
        used = fit.w > 0
        half = fit.noise * fit.influence[used] / np.sqrt(fit.w[used])[:, None]
        return np.asarray(half.T @ half)
    sigma2 = (fit.w * fit.residuals**2).sum() / fit.rest
    if fit.regressors is None:
        return np.asarray(sigma2 * fit.bread)
    gram = fit.R_D.T @ (fit.w[:, None] * fit.R_D)
    return np.asarray(sigma2 * fit.bread.T @ gram @ fit.bread)


def hc0(fit: Sandwiched) -> FloatArray:
    """White's sandwich."""
    return _sandwich(fit.contributions)


def hc1(fit: Sandwiched) -> FloatArray:
    """HC0 times `n / (n - q)`, the intercept counted."""
    return fit.n / fit.rest * hc0(fit)


def hc2(fit: Sandwiched) -> FloatArray:
    """Residuals divided by `sqrt(1 - leverage)`."""
    return _sandwich(fit.contributions / np.sqrt(1 - _leverage(fit))[:, None])


def hc3(fit: Sandwiched) -> FloatArray:
    """Residuals divided by `1 - leverage`: those of leave-one-out fits."""
    return _sandwich(fit.contributions / (1 - _leverage(fit))[:, None])


def cluster(fit: Sandwiched, groups: IntArray) -> FloatArray:
    """One-way, or two-way after Cameron, Gelbach and Miller (2011).

    Parameters
    ----------
    fit : Sandwiched
        Of n rows.
    groups : IntArray of shape (n, 1) or (n, 2)
        Codes from 0.
    """
    return clustered(fit.contributions, groups, fit)


def full(fit: ResidualRegression, groups: IntArray | None = None) -> FloatArray:
    """Covariance of the full procedure, the estimation of the nuisance function included.

    With `coef = A y`, it is `A diag(e^2) A'`. The residuals e are held out from the nuisance
    functions, and scaled up for the noise that the coefficients have fitted. It is conservative, as
    held-out residuals contain the error of the nuisance function too. With groups, `A_i e_i` are
    first summed within each, as in `cluster`. The bias that the prior of a mixed model expects is
    added.

    Parameters
    ----------
    fit : ResidualRegression
        Of n rows.
    groups : IntArray of shape (n, 1) or (n, 2), optional
        Codes from 0.
    """
    if fit.influence is None:
        raise CovarianceError(
            "a learner that is linear in y for vcov='full'",
            "one without that form",
            "Use learner='wide' with its ridge filter, or 'HC3' or 'cluster'.",
        )
    terms = fit.influence * _restored(fit, fit.influence)[:, None]
    covariance = terms.T @ terms if groups is None else clustered(terms, groups, fit)
    return covariance if fit.bias is None else np.asarray(covariance + fit.bias)


def _restored(fit: ResidualRegression, influence: FloatArray) -> FloatArray:
    """Return residuals (n,) whose squares have at least the variance of the noise in expectation.

    Row i has the weight `h_i = R_D_i' A_i` in its own fit, so that its residual has lost a share
    `h_i` of the noise's variance (docs/decisions/0011).
    """
    residuals = fit.residuals
    if fit.noise is None or fit.has_own_noise:
        return residuals
    leverage = np.clip((fit.R_D * influence).sum(axis=1), 0.0, 1.0)
    lost = fit.noise**2 * np.divide(leverage, fit.w, out=np.zeros_like(leverage), where=fit.w > 0)
    return np.asarray(np.copysign(np.sqrt(residuals**2 + lost), residuals))


def covariance_of(fit: ResidualRegression, kind: str, groups: IntArray | None) -> FloatArray:
    """Return the covariance named `kind`."""
    if isinstance(kind, str) and kind == "full":
        return full(fit, groups)
    one_of("vcov", kind, [*BY_NAME, "cluster", "full"], "Use 'HC3' if in doubt.")
    if fit.has_own_noise and fit.noise is not None and fit.influence is not None:
        if kind == "iid":
            covariance: FloatArray = fit.influence.T @ fit.influence
            covariance *= fit.noise**2  # in place, as it may fill the memory
            return covariance
        raise CovarianceError(
            "vcov='iid' or 'full' for a desparsified Lasso",
            repr(kind),
            "Use with_vcov('full'), which is robust, with groups for clusters.",
        )
    _require_meaning(fit, kind)
    if kind != "cluster":
        return BY_NAME[kind](fit)
    if groups is None:
        raise CovarianceError(
            "groups for a cluster covariance",
            "none, neither in fit nor here",
            "Pass groups=... to fit or to with_vcov.",
        )
    return cluster(fit, groups)


def covariance_with(
    fit: ResidualRegression, kind: str, groups: IntArray | None, extra: FloatArray, A: FloatArray
) -> FloatArray:
    """Return the covariance of m combinations of the coefficients and of m other sums over rows.

    The first block is `A V A'`, V the covariance named `kind`; clusters and corrections for small
    samples are the same for the others. Under `"iid"` they are uncorrelated with the coefficients.

    Parameters
    ----------
    fit : ResidualRegression
        Of n rows.
    kind : str
    groups : IntArray of shape (n, 1) or (n, 2), optional
        Codes from 0.
    extra : FloatArray of shape (n, m)
        What every row adds to the other sums, zero on average.
    A : FloatArray of shape (m, q)
        One combination per row.

    Returns
    -------
    FloatArray of shape (2 m, 2 m)
    """
    m = len(A)
    if kind == "iid":
        found = np.zeros((2 * m, 2 * m))
        found[:m, :m], found[m:, m:] = A @ fit.covariance(kind, None) @ A.T, _sandwich(extra)
        return found
    terms = np.hstack([_row_terms(fit, kind) @ A.T, extra])
    if kind in {"cluster", "full"} and groups is not None:
        found = clustered(terms, groups, fit)
    else:
        found = _sandwich(terms) * (fit.n / fit.rest if kind == "HC1" else 1.0)
    if kind == "full" and fit.bias is not None:
        found[:m, :m] += A @ fit.bias @ A.T
    return found


def _row_terms(fit: ResidualRegression, kind: str) -> FloatArray:
    """Return what every row adds to the coefficients (n, q), as the covariance counts it."""
    if kind == "full" and fit.influence is not None:
        return np.asarray(fit.influence * _restored(fit, fit.influence)[:, None])
    if kind in {"HC2", "HC3"}:
        left = 1 - _leverage(fit)
        return np.asarray(fit.contributions / (left if kind == "HC3" else np.sqrt(left))[:, None])
    return fit.contributions


def _require_meaning(fit: ResidualRegression, kind: str) -> None:
    """Require a covariance that is defined for the scores of this regression."""
    after = {
        "a correction for measurement error": fit.error is not None,
        "Huber's M-estimator": fit.clip is not None,
    }
    for what, done in after.items():
        if done and kind in {"iid", "HC2", "HC3"}:
            raise CovarianceError(
                f"vcov='HC0', 'HC1' or 'cluster' after {what}", repr(kind), "Use with_vcov('HC1')."
            )
    # Dividing by 1 - leverage is leaving the row out, also with instruments; the root of it is
    # unbiased under equal variances for least squares only.
    if fit.regressors is not None and kind == "HC2":
        raise CovarianceError(
            "vcov='iid', 'HC0', 'HC1', 'HC3' or 'cluster' for method='iv-type'",
            repr(kind),
            "Use with_vcov('HC3').",
        )


def _sandwich(contributions: FloatArray) -> FloatArray:
    return contributions.T @ contributions


def _leverage(fit: Sandwiched) -> FloatArray:
    leverage = fit.leverage
    row = int(leverage.argmax())
    if leverage[row] > LEVERAGE_LIMIT:
        raise CovarianceError(
            "coefficients that each depend on more than one row, for HC2 and HC3",
            f"row {row}, which alone determines one of them (leverage 1)",
            "Drop that row or treatment, or use with_vcov('HC1').",
        )
    return leverage


def clustered(influence: FloatArray, groups: IntArray, fit: Sandwiched) -> FloatArray:
    """Return the cluster covariance of `sum_i influence_i`, one- or two-way.

    Rows of weight zero do not count, nor do groups that have no other rows.
    """
    counted = fit.w > 0
    rest = fit.rest if fit.noise_df is None else fit.noise_df
    return clustered_sum(influence[counted], groups[counted], rest)


def clustered_sum(influence: FloatArray, groups: IntArray, rest: float) -> FloatArray:
    """Return the cluster covariance of `sum_i influence_i`, one- or two-way.

    Parameters
    ----------
    influence : FloatArray of shape (n, q)
    groups : IntArray of shape (n, 1) or (n, 2)
        Codes from 0.
    rest : float
        Rows less coefficients, for the small-sample correction.
    """
    n = len(influence)
    if groups.shape[1] == 1:
        return _one_way(influence, groups[:, 0], n, rest)
    pairs = np.unique(groups, axis=0, return_inverse=True)[1].ravel()
    first, second, both = (
        _one_way(influence, codes, n, rest) for codes in (groups[:, 0], groups[:, 1], pairs)
    )
    covariance = first + second - both
    if (np.diag(covariance) <= 0).any():
        raise CovarianceError(
            "positive variances",
            "a negative one: the two-way formula subtracts too much with so few groups",
            "Cluster by the one grouping that matters more.",
        )
    return covariance


def _one_way(influence: FloatArray, codes: IntArray, n: int, rest: float) -> FloatArray:
    codes = np.unique(codes, return_inverse=True)[1]
    count = int(codes.max()) + 1
    if count < 2:
        raise CovarianceError(
            "at least two clusters of positive weight", "one", "Use with_vcov('HC3')."
        )
    sums = np.zeros((count, influence.shape[1]))
    np.add.at(sums, codes, influence)
    correction = count / (count - 1) * (n - 1) / rest
    return np.asarray(correction * (sums.T @ sums))


SANDWICHES: dict[str, Callable[[Sandwiched], FloatArray]] = {
    "HC0": hc0,
    "HC1": hc1,
    "HC2": hc2,
    "HC3": hc3,
}
BY_NAME: dict[str, Callable[[ResidualRegression], FloatArray]] = {"iid": iid, **SANDWICHES}


def vcov_name(kind: Any) -> Any:
    """Return the covariance's name as it is written here, in whatever case it came."""
    names = {name.lower(): name for name in (*BY_NAME, "cluster", "full")}
    return names.get(kind.lower(), kind) if isinstance(kind, str) else kind


@dataclass(frozen=True)
class Spread:
    """Coefficients with one covariance of them.

    Attributes
    ----------
    estimate : FloatArray of shape (q,)
    covariance : FloatArray of shape (q, q)
    vcov_type : str
        Name of the covariance.
    df : float
        Degrees of freedom of the t distribution.
    """

    estimate: FloatArray
    covariance: FloatArray
    vcov_type: str
    df: float


def spread(regressions: tuple[Regression, ...], kind: str, groups: IntArray | None) -> Spread:
    """Aggregate repetitions under the covariance named `kind`."""
    coefs = [regression.coef for regression in regressions]
    covariances = [regression.covariance(kind, groups) for regression in regressions]
    covariance = median_covariance(coefs, covariances)
    covariance.flags.writeable = False
    df = regressions[0].degrees_of_freedom(kind, groups)
    return Spread(median_coef(coefs), covariance, kind, df)


def median_coef(coefs: Sequence[FloatArray]) -> FloatArray:
    """Return the coordinate-wise median over repetitions, of shape (q,)."""
    return np.median(np.stack(coefs), axis=0)


def median_covariance(coefs: Sequence[FloatArray], covariances: Sequence[FloatArray]) -> FloatArray:
    """Return the covariance of the median estimate.

    Variances are `median_r(V_r + (coef_r - coef)^2)` (Chernozhukov et al. 2018, section 3.4). An
    entry-wise median of matrices need not be positive semi-definite, so correlations are those of
    the mean of the same matrices, which is.
    """
    if len(coefs) == 1:
        return covariances[0]
    shifts = np.stack(coefs) - median_coef(coefs)
    moments = np.stack(covariances) + shifts[:, :, None] * shifts[:, None, :]
    se = np.sqrt(np.median(np.diagonal(moments, axis1=1, axis2=2), axis=0))
    mean = moments.mean(axis=0)
    scale = se / np.sqrt(np.diag(mean))
    return np.asarray(mean * np.outer(scale, scale))
