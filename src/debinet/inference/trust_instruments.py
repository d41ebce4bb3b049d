"""Checks of instruments: their strength, their agreement, and what they leave possible."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from debinet.exceptions import CovarianceError
from debinet.inference.first_stage import critical_effective_F
from debinet.inference.trust_check import Check, graded, number, unknown, worst
from debinet.inference.trust_evidence import TrustEvidence
from debinet.inference.trust_limits import TrustLimits

if TYPE_CHECKING:
    from debinet.inference.result import Inference

_LEVEL = 0.95
_SETS = (
    "use result.iv.confidence_set(), which does not rely on the strength of the instruments, in "
    "place of intervals and p-values"
)


def strength(
    result: Inference,
    evidence: TrustEvidence | None,  # noqa: ARG001
    limits: TrustLimits,
) -> Check | None:
    """Compare the first stage with what two-stage least squares needs."""
    found = result.provenance.instrumented
    if found is None:
        return None
    name = "weak instruments"
    frame = result.iv.first_stage()
    if frame["F"].isna().any():
        return unknown(name, "there are too few clusters for so many instruments")
    if len(frame) == 1:
        stage = frame.iloc[0]
        F, critical, kind = stage["effective F"], stage["critical"], "effective F"
        weakest = frame.index[0]
    else:
        weakest = frame["F"].idxmin()
        F, kind = float(frame["F"].min()), "conditional F"
        # As if variances were equal.
        critical = critical_effective_F(np.eye(len(found.instruments) - len(frame) + 1))
    finding = f"{kind} of {weakest} {number(float(F))}, critical value {critical:.3g}"
    return graded(name, float(F / critical), limits.weak_instruments, finding, _SETS)


def identified_set(
    result: Inference,
    evidence: TrustEvidence | None,  # noqa: ARG001
    limits: TrustLimits,
) -> Check | None:
    """Compare intervals with Anderson-Rubin sets."""
    if result.provenance.instrumented is None:
        return None
    name, treatments = "Anderson-Rubin sets", result.provenance.instrumented.endogenous
    try:
        sets = result.iv.confidence_set(_LEVEL, treatments)
    except CovarianceError:
        return unknown(name, "there are too few clusters for so many instruments")
    bounds = result.confint(_LEVEL)
    found = []
    for treatment in treatments:
        one, (low, high) = sets[treatment], bounds.loc[treatment].to_numpy()
        finding = f"{treatment} {one}, interval [{low:.4g}, {high:.4g}]"
        if one.kind == "empty":
            advice = "no value fits all instruments: at least one of them is not valid"
            found.append(Check(name, "do not trust", finding, advice))
        elif not one.bounded:
            found.append(Check(name, "do not trust", finding, _SETS))
        else:
            length = one.intervals[-1][1] - one.intervals[0][0]
            ratio = float(length / (high - low))
            found.append(graded(name, ratio, limits.longer_set, finding, _SETS))
    return worst(found)


def overidentification(
    result: Inference,
    evidence: TrustEvidence | None,  # noqa: ARG001
    limits: TrustLimits,
) -> Check | None:
    """Test whether the instruments say the same."""
    if result.provenance.instrumented is None:
        return None
    name = "instruments agree"
    try:
        test = result.iv.overidentification()
    except np.linalg.LinAlgError:
        return unknown(name, "there are too few clusters for so many instruments")
    if test is None:
        return Check(name, "not known", "as many instruments as treatments: no test is possible")
    finding = f"{test.name} = {number(test.statistic)}, {test.df} df, p = {test.pvalue:.2g}"
    advice = (
        "instruments imply different effects: one of them may act on the outcome directly, or "
        "effects differ between the rows that they move"
    )
    return graded(name, test.pvalue, limits.overidentification, finding, advice)
