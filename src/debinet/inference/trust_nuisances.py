"""Checks of the nuisance functions: how well y and D are predicted, and what that leaves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

from debinet.inference.overlap import Overlap
from debinet.inference.trust_check import Check, graded, number, percent, unknown, worst
from debinet.inference.trust_evidence import TrustEvidence
from debinet.inference.trust_limits import TrustLimits

if TYPE_CHECKING:
    from debinet.inference.result import Inference


def shrinkage(result: Inference, evidence: TrustEvidence | None, limits: TrustLimits) -> Check:
    """Residuals of rows that the learner saw are too small if it fits noise."""
    name = "residual shrinkage"
    ratio = None if evidence is None else evidence.shrunk
    if evidence is None or ratio is None:
        return unknown(name)
    j = int(np.argmin(ratio))
    finding = (
        f"rows that the learner was trained on have residuals {ratio[j]:.2f} times as large as "
        f"others ({_column(result, j)})"
    )
    if not evidence.in_sample:
        return Check(name, "ok", f"{finding}; the result uses the others")
    advice = "the result uses the former: use crossfit='auto', or train less"
    return graded(name, 1 - ratio[j], limits.shrinkage, finding, advice)


def heldout_fit(result: Inference, evidence: TrustEvidence | None, limits: TrustLimits) -> Check:
    """Say how much of y and D the learner explains in rows it has not seen."""
    name = "held-out R2"
    if evidence is None or evidence.heldout is None:
        return unknown(name)
    R2 = 1 - evidence.heldout / evidence.total
    worst = int(np.argmin(R2))
    finding = f"{result.outcome} {R2[0]:.2f}; treatments {R2[1:].min():.2f} to {R2[1:].max():.2f}"
    advice = (
        f"{_column(result, worst)} is predicted worse than by its mean: use a smoother learner, "
        "or another kind"
    )
    return graded(name, -R2[worst], limits.worse_than_mean, finding, advice)


def interpolation(result: Inference, evidence: TrustEvidence | None, limits: TrustLimits) -> Check:
    """Look for treatments that are fitted nearly exactly in rows that were seen, not in others."""
    name = "interpolated treatments"
    if evidence is None or evidence.heldout is None or evidence.trained is None:
        return unknown(name)
    seen = (1 - evidence.trained / evidence.total)[1:]
    other = (1 - evidence.heldout / evidence.total)[1:]
    most, least = limits.interpolated
    bad = (seen > most) & (other < least)
    j = int(np.argmax(np.where(bad, 1 + seen - other, seen - other)))
    finding = f"R2 of {result.names[j]} {seen[j]:.2f} in-sample and {other[j]:.2f} held-out"
    if not bad[j]:
        return Check(name, "ok", finding)
    advice = f"the learner fits the noise of {result.names[j]}: use a smoother learner"
    return Check(name, "look", finding, advice)


def variance_left(result: Inference, evidence: TrustEvidence | None, limits: TrustLimits) -> Check:
    """Say how much of D is not explained by Z: the variation that identifies the coefficients."""
    name = "variance of D left"
    if evidence is None or evidence.heldout is None:
        return unknown(name)
    left = (evidence.heldout / evidence.total)[1:]
    j = int(np.argmin(left))
    finding = f"least for {result.names[j]}: {percent(left[j])}"
    advice = (
        f"{result.names[j]} is nearly a function of the controls: its coefficient depends on how "
        "exactly that function is learned"
    )
    return graded(name, float(left[j]), limits.variance_left, finding, advice)


def overlap(result: Inference, evidence: TrustEvidence | None, limits: TrustLimits) -> Check | None:
    """Say for how many rows a treatment of 0 and 1 varies given the controls."""
    name = "overlap"
    if evidence is None or evidence.overlap is None:
        return unknown(name, "predictions of 0/1 treatments were not kept")
    if not evidence.overlap:
        return None
    weakest_first = sorted(evidence.overlap, key=lambda one: one.effective)
    return worst(_overlap_of(name, result, one, limits) for one in weakest_first)


def _overlap_of(name: str, result: Inference, one: Overlap, limits: TrustLimits) -> Check:
    treatment, rows = result.names[one.column], one.counts.sum(axis=1)
    finding = (
        f"{treatment}: {number(rows[1])} rows of 1 and {number(rows[0])} of 0; predictions beyond "
        f"0.01 or 0.99 for {percent(one.share_extreme)} of the rows, beyond the range of the other "
        f"arm for {number(float(one.unmatched.sum()))}; the coefficient rests on "
        f"{number(one.effective)} rows"
    )
    advice = (
        f"the coefficient is about the rows in which {treatment} can be 0 or 1: describe them, or "
        "leave out rows without a counterpart"
    )
    few = graded(name, one.effective, limits.effective_rows, finding, advice)
    if few.verdict != "ok":
        return few
    return graded(name, one.share_extreme, limits.extreme_share, finding, advice)


def leftover(result: Inference, evidence: TrustEvidence | None, limits: TrustLimits) -> Check:
    """Look for functions of the controls in the residual."""
    name = "left-over dependence"
    if evidence is None or evidence.leftover.size == 0:
        return unknown(name)
    r = evidence.leftover
    j = int(np.argmax(np.abs(r)))
    # Bonferroni over all functions that were tried.
    z = abs(float(r[j])) * np.sqrt(result.n)
    pvalue = min(1.0, r.size * 2 * float(stats.norm.sf(z)))
    finding = f"residual and {evidence.leftover_names[j]}: correlation {r[j]:.2f}, p = {pvalue:.2g}"
    if pvalue > limits.leftover_pvalue:
        return Check(name, "ok", finding)
    advice = (
        f"the learner has missed some of the effect of {evidence.leftover_names[j]}: try another "
        "one, or dn.stack of several"
    )
    strong = abs(r[j]) > limits.leftover_correlation
    return Check(name, "do not trust" if strong else "look", finding, advice)


def confounding(result: Inference, evidence: TrustEvidence | None, limits: TrustLimits) -> Check:
    """Look for functions of the controls in the residuals of both the outcome and a treatment.

    What is left of a function in one of them only does no harm. In both it biases the coefficient
    by about the product of the correlations times `sqrt(n)`, in standard errors. Functions are
    chosen by the residuals of the treatments, which say nothing about the noise of the outcome, so
    that the test with the latter allows for the chosen ones only.
    """
    name = "left-over confounding"
    if evidence is None or evidence.leftover_treatments is None or evidence.leftover.size == 0:
        return unknown(name)
    z, z_D = (np.sqrt(result.n) * r for r in (evidence.leftover, evidence.leftover_treatments))
    chosen = np.abs(z_D) > limits.confounding_treatment
    if not chosen.any():
        return Check(name, "ok", "no function of the controls is left in a treatment")
    size = np.where(chosen, np.abs(z * z_D), 0.0) / np.sqrt(result.n)
    j, k = np.unravel_index(int(size.argmax()), size.shape)
    pvalue = min(1.0, int(chosen.sum()) * 2 * float(stats.norm.sf(abs(z[k]))))
    finding = (
        f"{evidence.leftover_names[k]} is in the residuals of {result.outcome} and of "
        f"{result.names[j]}: a bias of about {size[j, k]:.2f} standard errors, p = {pvalue:.2g}"
    )
    if pvalue > limits.confounding_pvalue:
        return Check(name, "ok", finding)
    advice = (
        f"some of the effect of {evidence.leftover_names[k]} on both was missed: add it to the "
        "controls, or compare with other learners"
    )
    return graded(name, float(size[j, k]), limits.confounding_size, finding, advice)


def rough_functions(
    result: Inference, evidence: TrustEvidence | None, limits: TrustLimits
) -> Check | None:
    """Look for functions of a control, of any shape, in the residuals of both y and D."""
    name = "left-over functions"
    if evidence is None or evidence.rough is None:
        return None
    # of a perfect fit, standard errors may be zero
    rough, se = evidence.rough, np.maximum(result.se.to_numpy(), 1e-300)[:, None]
    if not rough.bias.size:
        return None
    pvalues = rough.pvalues()
    j, k = np.unravel_index(int(pvalues.argmin()), pvalues.shape)
    size, pvalue = float((np.abs(rough.bias) / se)[j, k]), min(1.0, pvalues.size * pvalues[j, k])
    finding = (
        f"what was not learned of {rough.names[k]} changes {result.names[j]} by about "
        f"{size:.2f} standard errors, p = {pvalue:.2g}"
    )
    if pvalue > limits.rough_pvalue:
        return Check(name, "ok", finding)
    advice = (
        f"plot the residuals against {rough.names[k]}; add jumps or other functions of it to the "
        "controls, or compare with another learner"
    )
    return graded(name, size, limits.rough_size, finding, advice)


def _column(result: Inference, j: int) -> str:
    return result.outcome if j == 0 else result.names[j - 1]
