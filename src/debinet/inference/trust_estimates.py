"""Checks of the coefficients: bias, single rows, collinearity, folds and selection."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

from debinet.inference.instrumented import InstrumentedRegression
from debinet.inference.outliers import RowShares, row_shares
from debinet.inference.regression import Regression, ResidualRegression
from debinet.inference.summary_lines import selection_line
from debinet.inference.trust_check import (
    Check,
    graded,
    number,
    percent,
    shared_limit,
    unknown,
    worst,
)
from debinet.inference.trust_evidence import TrustEvidence
from debinet.inference.trust_limits import TrustLimits

if TYPE_CHECKING:
    from debinet.inference.result import Inference

# More rows than this are not named.
_NAMED = 5


def _second_stage(result: Inference) -> Regression:
    """Return the first regression; with instruments, the one on what they explain of D."""
    first = result.regressions[0]
    return first.all_rows("checks") if isinstance(first, InstrumentedRegression) else first


def bias_along_penalty(
    result: Inference, evidence: TrustEvidence | None, limits: TrustLimits
) -> Check | None:
    """Compare with coefficients at smaller penalties, under which less of f and m is missed.

    The alternative to `agreement`: one of the two applies.
    """
    if evidence is None or evidence.path is None:
        return None
    path = evidence.path
    gap, se = path.coef[-1] - path.coef[0], path.se_difference[-1]
    # A difference of rounding errors is none.
    own = np.maximum(np.sqrt(np.diag(result.covariance)), 1e-300)
    z = np.abs(gap) / np.maximum(se, 1e-9 * own)
    j = int(np.argmax(z))
    size = np.abs(gap) / own
    finding = (
        f"{result.names[j]} is {number(path.coef[0, j])}, and {number(path.coef[-1, j])} with "
        f"{path.factor[-1]:g} times the penalty: {z[j]:.1f} standard errors of the difference, "
        f"{size[j]:.2f} of the coefficient"
    )
    advice = (
        "f or E(D|Z) may not be learned well enough: compare with other learners, or with more "
        "rows or fewer controls"
    )
    beyond = [
        bool(((z > shared_limit(z_limit, z.size)) & (size > least)).any())
        for z_limit, least in zip(limits.bias_z, limits.bias_size, strict=True)
    ]
    return graded("bias along the penalty", float(sum(beyond)), (0.0, 1.0), finding, advice)


def agreement(
    result: Inference, evidence: TrustEvidence | None, limits: TrustLimits
) -> Check | None:
    """Compare with coefficients from the kind of residuals that the result does not use."""
    name = "agreement"
    if evidence is not None and evidence.path is not None:
        return None
    if evidence is None or evidence.other_coef is None or evidence.other_se is None:
        return unknown(name)
    if not evidence.in_sample and evidence.shrunk is not None:
        worst = int(np.argmin(evidence.shrunk[1:]))
        ratio = evidence.shrunk[1 + worst]
        if ratio < limits.agreement_shrunk:
            why = (
                f"in-sample residuals of {result.names[worst]} are {ratio:.2f} times as large as "
                "held-out ones: too small to estimate from"
            )
            return unknown(name, why)
    gap = np.abs(evidence.other_coef - result.estimate)
    se = evidence.other_se
    if not evidence.in_sample:  # shrunken residuals make theirs too small
        se = np.maximum(se, np.sqrt(np.diag(result.covariance)))
    z = gap / np.maximum(se, 1e-300)
    j = int(np.argmax(z))
    kind = "held-out" if evidence.in_sample else "in-sample"
    finding = (
        f"{result.names[j]} is {number(result.estimate[j])} here and "
        f"{number(evidence.other_coef[j])} with {kind} residuals, {z[j]:.1f} standard errors apart"
    )
    if not evidence.in_sample:
        # Residuals of rows that were seen have less of f: if that changes the estimate, the rest
        # of f in the residuals of the others may bias it.
        advice = "f may not be learned well enough: compare with other learners"
        return graded(name, float(z[j]), limits.agreement_heldout, finding, advice)
    # Bonferroni over the coefficients.
    p = [float(stats.norm.isf(chance / 2 / z.size)) for chance in limits.agreement_in_sample]
    advice = "the estimate depends on whether the learner saw the rows: use crossfit='auto'"
    return graded(name, float(z[j]), (p[0], p[1]), finding, advice)


def collinearity(result: Inference, evidence: TrustEvidence | None, limits: TrustLimits) -> Check:  # noqa: ARG001
    """Say how much treatments are correlated with each other."""
    R_D = _second_stage(result).R_D
    scaled = R_D / np.sqrt((R_D**2).mean(axis=0))
    # Not from the Gram matrix, which squares the condition number, nor by a pseudo-inverse, which
    # leaves out the directions that are the problem.
    _, lengths, axes = np.linalg.svd(scaled / np.sqrt(len(scaled)), full_matrices=False)
    lengths = np.maximum(lengths, 1e-150)
    condition = float(lengths[0] / lengths[-1])
    inflation = ((axes / lengths[:, None]) ** 2).sum(axis=0)
    # The first of equals, as those of two treatments are: rounding must not decide.
    j = int(np.argmax(inflation > (1 - 1e-9) * inflation.max()))
    finding = (
        f"largest variance inflation {inflation[j]:.3g} ({result.names[j]}), condition number "
        f"{condition:.3g}"
    )
    advice = (
        f"{result.names[j]} is nearly a linear function of other treatments: leave one of them "
        "out, or test them together with wald_test"
    )
    return graded("collinearity", float(inflation[j]), limits.inflation, finding, advice)


def splits(result: Inference, evidence: TrustEvidence | None, limits: TrustLimits) -> Check:  # noqa: ARG001
    """Compare repetitions of cross-fitting."""
    name = "spread over splits"
    folds = result.provenance.cross_fitting
    if folds is not None and folds.kind != "folds":
        return Check(name, "ok", "no folds were drawn at random")
    if len(result.regressions) < 2:
        return Check(name, "not known", "one repetition", "use crossfit=(5, 5) to compare")
    coef = np.stack([regression.coef for regression in result.regressions])
    share = coef.std(axis=0, ddof=1) / np.sqrt(np.diag(result.covariance))
    j = int(np.argmax(share))
    finding = (
        f"{len(coef)} repetitions: standard deviation of {result.names[j]} {share[j]:.2f} times "
        "its standard error"
    )
    advice = "the estimate depends on the random folds: use more repetitions, as crossfit=(5, 20)"
    return graded(name, float(share[j]), limits.splits, finding, advice)


def selection(result: Inference, evidence: TrustEvidence | None, limits: TrustLimits) -> Check:  # noqa: ARG001
    """Say on which rows features were selected."""
    selected = result.provenance.selection
    if selected is None:
        return Check("selection", "ok", "the treatments were named by the user")
    finding = selection_line(selected)
    if not selected.same_rows:
        return Check("selection", "ok", finding)
    advice = (
        "features that look strong by chance are more likely to be selected, which biases their "
        "coefficients: use selection_share=0.4"
    )
    return Check("selection", "do not trust", finding, advice)


def leverage(result: Inference, evidence: TrustEvidence | None, limits: TrustLimits) -> Check:  # noqa: ARG001
    """Look for single rows on which a coefficient depends."""
    row, j, share = result.regressions[0].largest_row()
    finding = f"row {row} has {percent(share)} of the weight in {result.names[j]}"
    advice = f"inspect row {row}, and compare with a fit without it"
    return graded("leverage", share, limits.leverage, finding, advice)


def outliers(result: Inference, evidence: object, limits: TrustLimits) -> Check:  # noqa: ARG001
    """Look for single rows whose residuals dominate."""
    name = "outliers"
    fit = _second_stage(result)
    if not isinstance(fit, ResidualRegression):
        return unknown(name, "the rows were not kept")
    found = row_shares(fit, _NAMED)
    # With few rows the largest share is large without outliers.
    usual = limits.few_rows / fit.n
    of_residuals = (max(limits.residual_share[0], usual), max(limits.residual_share[1], usual))
    of_variance = (max(limits.variance_share[0], usual), max(limits.variance_share[1], usual))
    finding = (
        f"row {found.rows[0]} has {percent(found.residual[0])} of the residual variance; row "
        f"{found.row} has {percent(found.variance)} of the variance of "
        f"{result.names[found.coefficient]}"
    )
    return worst(
        graded(name, float(share), pair, finding, _inspect(found))
        for share, pair in ((found.residual[0], of_residuals), (found.variance, of_variance))
    )


def _inspect(found: RowShares) -> str:
    """Return advice that names the rows with more than a twentieth of the residual variance."""
    large = [
        f"{row} ({percent(share)})"
        for row, share in zip(found.rows, found.residual, strict=True)
        if share > 0.05
    ] or [str(found.row)]
    return (
        f"inspect row{'s' if len(large) > 1 else ''} {', '.join(large)}, and compare with "
        "result.huber(), which bounds the influence of single residuals"
    )


def crowding(result: Inference, evidence: TrustEvidence | None, limits: TrustLimits) -> Check:  # noqa: ARG001
    """Compare the number of coefficients with that of rows."""
    q = len(result.names)
    share = q / result.n
    finding = f"{q} coefficient{'s' * (q != 1)} from {result.n} rows"
    advice = "if much of f cannot be learned, intervals cover less often than their level"
    return graded("coefficients per row", share, limits.crowding, finding, advice)
