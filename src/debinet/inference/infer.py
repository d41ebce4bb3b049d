"""From solved residual regressions to an `Inference`."""

from __future__ import annotations

from collections.abc import Sequence

from debinet.inference.covariance import spread
from debinet.inference.provenance import Provenance
from debinet.inference.regression import Regression
from debinet.inference.result import Inference
from debinet.inference.trust_evidence import DeferredEvidence
from debinet.protocols import IntArray


def infer(
    regressions: Sequence[Regression],
    names: Sequence[str],
    vcov: str,
    provenance: Provenance = Provenance(),  # noqa: B008 - a frozen record
    *,
    notes: Sequence[str] = (),
    groups: IntArray | None = None,
    evidence: DeferredEvidence | None = None,
) -> Inference:
    """Make an `Inference` from solved residual regressions, one per repetition."""
    solved = tuple(regressions)
    return Inference(
        names=tuple(names),
        regressions=solved,
        **vars(spread(solved, vcov, groups)),
        provenance=provenance,
        notes=tuple(notes),
        groups=groups,
        evidence=evidence,
    )
