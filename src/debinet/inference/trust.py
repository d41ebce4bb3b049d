"""Can this interval be trusted? Checks with numbers, verdicts and advice."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import pandas as pd
from scipy import stats

from debinet.inference.summary_lines import selection_line
from debinet.inference.trust_evidence import TrustEvidence

if TYPE_CHECKING:
    from debinet.inference.result import Inference

Verdict = Literal["ok", "look", "do not trust", "not known"]
_ORDER: dict[Verdict, int] = {"ok": 0, "not known": 0, "look": 1, "do not trust": 2}


@dataclass(frozen=True)
class Check:
    """One aspect of a result.

    Attributes
    ----------
    name : str
    verdict : "ok", "look", "do not trust" or "not known"
    finding : str
        The numbers, in words.
    advice : str
        What to do; empty if nothing needs to be done.
    """

    name: str
    verdict: Verdict
    finding: str
    advice: str = ""


@dataclass(frozen=True)
class Trust:
    """All checks of a result.

    Attributes
    ----------
    checks : tuple of Check
    """

    checks: tuple[Check, ...]

    @property
    def verdict(self) -> Verdict:
        """The worst of all."""
        worst = max(self.checks, key=lambda check: _ORDER[check.verdict])
        return "ok" if _ORDER[worst.verdict] == 0 else worst.verdict

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


def assess_trust(result: Inference) -> Trust:
    """Run every check on a result."""
    if not result.names:
        none = Check("coefficients", "not known", "there are none: nothing was selected")
        return Trust((none,))
    evidence = None if result.evidence is None else result.evidence.get()
    return Trust(tuple(check(result, evidence) for check in CHECKS))


def shrinkage(result: Inference, evidence: TrustEvidence | None) -> Check:
    """Residuals of rows that the learner saw are too small if it fits noise."""
    name = "residual shrinkage"
    if evidence is None or evidence.heldout is None or evidence.trained is None:
        return _unknown(name)
    # A column that is predicted without error, seen or not, has not shrunk.
    least = 1e-12 * evidence.total
    ratio = np.sqrt((evidence.trained + least) / (evidence.heldout + least))
    j = int(np.argmin(ratio))
    finding = (
        f"rows that the learner was trained on have residuals {ratio[j]:.2f} times as large as "
        f"others ({_column(result, j)})"
    )
    if not evidence.in_sample:
        return Check(name, "ok", f"{finding}; the result uses the others")
    advice = "the result uses the former: use crossfit='auto', or train less"
    return _graded(name, 1 - ratio[j], (0.15, 0.25), finding, advice)


def heldout_fit(result: Inference, evidence: TrustEvidence | None) -> Check:
    """Say how much of y and D the learner explains in rows it has not seen."""
    name = "held-out R2"
    if evidence is None or evidence.heldout is None:
        return _unknown(name)
    R2 = 1 - evidence.heldout / evidence.total
    worst = int(np.argmin(R2))
    finding = f"{result.outcome} {R2[0]:.2f}; treatments {R2[1:].min():.2f} to {R2[1:].max():.2f}"
    advice = (
        f"{_column(result, worst)} is predicted worse than by its mean: use a smoother learner, "
        "or another kind"
    )
    return _graded(name, -R2[worst], (0.05, 1.0), finding, advice)


def variance_left(result: Inference, evidence: TrustEvidence | None) -> Check:
    """Say how much of D is not explained by Z: the variation that identifies the coefficients."""
    name = "variance of D left"
    if evidence is None or evidence.heldout is None:
        return _unknown(name)
    left = (evidence.heldout / evidence.total)[1:]
    j = int(np.argmin(left))
    finding = f"least for {result.names[j]}: {100 * left[j]:.2g} %"
    advice = (
        f"{result.names[j]} is nearly a function of the controls: its coefficient depends on how "
        "exactly that function is learned"
    )
    return _graded(name, -np.log10(max(left[j], 1e-300)), (1.3, 2.3), finding, advice)


def collinearity(result: Inference, evidence: TrustEvidence | None) -> Check:  # noqa: ARG001
    """Say how much treatments are correlated with each other."""
    R_D = result.regressions[0].R_D
    scaled = R_D / np.sqrt((R_D**2).mean(axis=0))
    gram = scaled.T @ scaled / len(scaled)
    values = np.linalg.eigvalsh(gram)
    condition = float(np.sqrt(values[-1] / max(values[0], 1e-300)))
    inflation = np.diag(np.linalg.pinv(gram))
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
    return _graded("collinearity", float(inflation[j]), (10.0, 1000.0), finding, advice)


def leftover(result: Inference, evidence: TrustEvidence | None) -> Check:
    """Look for functions of the controls in the residual."""
    name = "left-over dependence"
    if evidence is None or evidence.leftover.size == 0:
        return _unknown(name)
    r = evidence.leftover
    j = int(np.argmax(np.abs(r)))
    n = result.n
    # Bonferroni over all functions that were tried.
    z = abs(float(r[j])) * np.sqrt(n)
    pvalue = min(1.0, r.size * 2 * float(stats.norm.sf(z)))
    finding = f"residual and {evidence.leftover_names[j]}: correlation {r[j]:.2f}, p = {pvalue:.2g}"
    if pvalue > 0.01:
        return Check(name, "ok", finding)
    advice = (
        f"the learner has missed some of the effect of {evidence.leftover_names[j]}: try another "
        "one, or dn.stack of several"
    )
    return Check(name, "do not trust" if abs(r[j]) > 0.3 else "look", finding, advice)


def agreement(result: Inference, evidence: TrustEvidence | None) -> Check:
    """Compare with coefficients from the kind of residuals that the result does not use."""
    name = "agreement"
    if evidence is None or evidence.other_coef is None or evidence.other_se is None:
        return _unknown(name)
    gap = np.abs(evidence.other_coef - result.estimate)
    se = evidence.other_se
    if not evidence.in_sample:  # shrunken residuals make theirs too small
        se = np.maximum(se, np.sqrt(np.diag(result.covariance)))
    z = gap / np.maximum(se, 1e-300)
    j = int(np.argmax(z))
    kind = "held-out" if evidence.in_sample else "in-sample"
    finding = (
        f"{result.names[j]} is {result.estimate[j]:.3g} here and {evidence.other_coef[j]:.3g} with "
        f"{kind} residuals of some rows, {z[j]:.1f} standard errors apart"
    )
    if not evidence.in_sample:
        # Residuals of rows that were seen have less of f: if that changes the estimate, the rest
        # of f in the residuals of the others may bias it.
        advice = "f may not be learned well enough: compare with other learners"
        return _graded(name, float(z[j]), (2.0, np.inf), finding, advice)
    # Bonferroni over the coefficients.
    limits = [float(stats.norm.isf(p / 2 / z.size)) for p in (0.01, 0.0001)]
    advice = "the estimate depends on whether the learner saw the rows: use crossfit='auto'"
    return _graded(name, float(z[j]), (limits[0], limits[1]), finding, advice)


def splits(result: Inference, evidence: TrustEvidence | None) -> Check:  # noqa: ARG001
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
    return _graded(name, float(share[j]), (0.5, 1.0), finding, advice)


def selection(result: Inference, evidence: TrustEvidence | None) -> Check:  # noqa: ARG001
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


def leverage(result: Inference, evidence: TrustEvidence | None) -> Check:  # noqa: ARG001
    """Look for single rows on which a coefficient depends."""
    row, j, share = result.regressions[0].largest_row()
    finding = f"row {row} has {100 * share:.2g} % of the weight in {result.names[j]}"
    advice = f"inspect row {row}, and compare with a fit without it"
    return _graded("leverage", share, (0.2, 0.5), finding, advice)


def crowding(result: Inference, evidence: TrustEvidence | None) -> Check:  # noqa: ARG001
    """Compare the number of coefficients with that of rows."""
    share = len(result.names) / result.n
    finding = f"{len(result.names)} coefficients from {result.n} rows"
    advice = "if much of f cannot be learned, intervals cover less often than their level"
    return _graded("coefficients per row", share, (0.25, 0.4), finding, advice)


CHECKS: tuple[Callable[[Inference, TrustEvidence | None], Check], ...] = (
    shrinkage,
    heldout_fit,
    variance_left,
    collinearity,
    leftover,
    agreement,
    splits,
    selection,
    leverage,
    crowding,
)


def _graded(
    name: str, value: float, limits: tuple[float, float], finding: str, advice: str
) -> Check:
    """Return "ok" up to the first limit, "look" up to the second, "do not trust" beyond."""
    if value <= limits[0]:
        return Check(name, "ok", finding)
    return Check(name, "look" if value <= limits[1] else "do not trust", finding, advice)


def _unknown(name: str) -> Check:
    return Check(name, "not known", "the result does not have the numbers for this check")


def _column(result: Inference, j: int) -> str:
    return result.outcome if j == 0 else result.names[j - 1]
