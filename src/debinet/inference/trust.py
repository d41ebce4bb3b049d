"""Can this interval be trusted? Checks with numbers, verdicts and advice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from debinet.inference import (
    perfect_fit,
    trust_estimates,
    trust_instruments,
    trust_lasso,
    trust_nuisances,
)
from debinet.inference.trust_check import Check, Verdict, worst
from debinet.inference.trust_evidence import LassoEvidence
from debinet.inference.trust_limits import LIMITS, TrustLimits

if TYPE_CHECKING:
    from debinet.inference.result import Inference

# Checks of partially linear models; those that do not apply to a result return None.
CHECKS = (
    perfect_fit.perfect_fit,
    trust_nuisances.shrinkage,
    trust_nuisances.heldout_fit,
    trust_nuisances.interpolation,
    trust_nuisances.variance_left,
    trust_nuisances.overlap,
    trust_estimates.collinearity,
    trust_nuisances.leftover,
    trust_nuisances.confounding,
    trust_nuisances.rough_functions,
    trust_estimates.bias_along_penalty,
    trust_estimates.agreement,
    trust_instruments.strength,
    trust_instruments.identified_set,
    trust_instruments.overidentification,
    trust_estimates.splits,
    trust_estimates.selection,
    trust_estimates.leverage,
    trust_estimates.outliers,
    trust_estimates.crowding,
)
# Those of the desparsified Lasso.
LASSO_CHECKS = (
    trust_lasso.sparsity,
    trust_lasso.bias_left,
    trust_lasso.nodewise,
    trust_lasso.noise_level,
    trust_lasso.lasso_leverage,
    trust_estimates.outliers,
)


@dataclass(frozen=True)
class Trust:
    """All checks of a result.

    Attributes
    ----------
    checks : tuple of Check
    complete : bool
        Whether the fit left the numbers that the checks need. Without them nothing is called "ok".
    """

    checks: tuple[Check, ...]
    complete: bool = True

    @property
    def verdict(self) -> Verdict:
        """The worst of all; "ok" only if the numbers behind it are known."""
        found = worst(self.checks).verdict
        return "not known" if found == "ok" and not self.complete else found

    def to_frame(self) -> pd.DataFrame:
        """Return columns verdict, finding and advice, a row per check."""
        rows = [(c.name, c.verdict, c.finding, c.advice) for c in self.checks]
        frame = pd.DataFrame(rows, columns=["check", "verdict", "finding", "advice"])
        return frame.set_index("check")

    def __str__(self) -> str:
        width = max(len(check.name) for check in self.checks)
        lines = [f"Verdict: {self.verdict}", ""]
        for check in self.checks:
            lines.append(f"{check.name:<{width}}  {check.verdict:<12}  {check.finding}")
            if check.advice:
                lines.append(f"{'':<{width}}  {'':<12}  -> {check.advice}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return self.to_frame().to_html()


def assess_trust(result: Inference, limits: TrustLimits = LIMITS) -> Trust:
    """Run every check on a result.

    Parameters
    ----------
    result : Inference
    limits : TrustLimits
        The thresholds.
    """
    if not result.names:
        none = Check("coefficients", "not known", "there are none: nothing was selected")
        return Trust((none,), complete=False)
    evidence = None if result.evidence is None else result.evidence.get()
    complete = evidence is not None
    if isinstance(evidence, LassoEvidence) or result.provenance.lasso is not None:
        of_lasso = evidence if isinstance(evidence, LassoEvidence) else None
        found = (check(result, of_lasso, limits) for check in LASSO_CHECKS)
        return Trust(tuple(found), complete)
    checks = (check(result, evidence, limits) for check in CHECKS)
    return Trust(tuple(check for check in checks if check is not None), complete)
