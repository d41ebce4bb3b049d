"""Checks of the desparsified Lasso: sparsity, bias, nodewise regressions, noise, single rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from debinet.inference.regression import ResidualRegression
from debinet.inference.trust_check import Check, graded, number, percent, unknown
from debinet.inference.trust_evidence import LassoEvidence
from debinet.inference.trust_limits import TrustLimits

if TYPE_CHECKING:
    from debinet.inference.result import Inference


def sparsity(result: Inference, evidence: LassoEvidence | None, limits: TrustLimits) -> Check:  # noqa: ARG001
    """Compare the number of columns that matter with that of rows."""
    name, tuned = "sparsity", result.provenance.lasso
    if tuned is None:
        return unknown(name)
    rate = tuned.nonzero * np.log(max(len(result.names), 2)) / np.sqrt(result.n)
    finding = (
        f"the Lasso has {tuned.nonzero} nonzero coefficients of {len(result.names)}, from "
        f"{result.n} rows; s log(p) / sqrt(n) = {rate:.2g}"
    )
    advice = (
        "intervals rest on few columns being enough: name the treatments and use PartiallyLinear, "
        "or collect more rows"
    )
    return graded(name, tuned.nonzero / result.n, limits.lasso_size, finding, advice)


def bias_left(result: Inference, evidence: LassoEvidence | None, limits: TrustLimits) -> Check:  # noqa: ARG001
    """Say how much of the Lasso's shrinkage is left in the coefficients."""
    name = "bias left by the Lasso"
    if evidence is None:
        return unknown(name)
    if not evidence.bias.size:
        return Check(name, "ok", "the Lasso has no nonzero coefficients")
    size = float(np.sqrt((evidence.bias**2).mean()))
    finding = (
        f"estimated for its nonzero coefficients: {size:.2f} standard errors, at most "
        f"{np.abs(evidence.bias).max():.2f}"
    )
    advice = (
        "columns are too correlated for their nodewise penalties: use a smaller penalty, such as "
        "nodewise=0.05, or bootstrap()"
    )
    return graded(name, size, limits.lasso_bias, finding, advice)


def nodewise(result: Inference, evidence: LassoEvidence | None, limits: TrustLimits) -> Check:
    """Say how much of each column the others leave, and whether all regressions converged."""
    name = "nodewise regressions"
    if evidence is None:
        return unknown(name)
    j = int(np.argmin(evidence.left))
    finding = f"least is left of {result.names[j]}: {percent(evidence.left[j])} of its variance"
    if evidence.unsolved:
        finding += f"; {evidence.unsolved} did not converge"
        return Check(name, "look", finding, "use a larger nodewise penalty")
    advice = f"{result.names[j]} is nearly a linear function of other columns: drop one of them"
    return graded(name, float(evidence.left[j]), limits.lasso_left, finding, advice)


def noise_level(result: Inference, evidence: LassoEvidence | None, limits: TrustLimits) -> Check:
    """Compare the noise level of the intervals with that of the Lasso's residuals."""
    name, tuned = "noise level", result.provenance.lasso
    if evidence is None or tuned is None or not (evidence.noise > 0 and tuned.noise > 0):
        return unknown(name)
    factor = max(tuned.noise / evidence.noise, evidence.noise / tuned.noise)
    finding = f"{number(tuned.noise)} in the intervals, {number(evidence.noise)} by the residuals"
    advice = (
        "the noise is hard to tell from the many coefficients: intervals may be too wide or too "
        "narrow by this factor; give noise=... if it is known"
    )
    return graded(name, factor, limits.lasso_noise, finding, advice)


def lasso_leverage(result: Inference, evidence: LassoEvidence | None, limits: TrustLimits) -> Check:  # noqa: ARG001
    """Look for single rows on which a coefficient depends."""
    fit = result.regressions[0]
    if not isinstance(fit, ResidualRegression) or fit.influence is None:
        return unknown("leverage")
    weight = fit.influence**2
    share = weight / weight.sum(axis=0)
    row, j = np.unravel_index(int(np.argmax(share)), share.shape)
    value = float(share[row, j])
    finding = f"row {row} has {percent(value)} of the weight in {result.names[int(j)]}"
    advice = f"inspect row {row}, and compare with a fit without it"
    return graded("leverage", value, limits.leverage, finding, advice)
