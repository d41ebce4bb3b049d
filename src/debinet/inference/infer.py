"""Make an `Inference` from solved residual regressions."""

from __future__ import annotations

from collections.abc import Sequence

from debinet.inference.aggregation import spread
from debinet.inference.provenance import Provenance
from debinet.inference.regression import Regression
from debinet.inference.result import Inference
from debinet.inference.trust_evidence import DeferredEvidence
from debinet.protocols import IntArray


def infer(
    regressions: Sequence[Regression],
    names: Sequence[str],
    vcov: str,
    provenance: Provenance | None = None,
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
        provenance=Provenance() if provenance is None else provenance,
        notes=tuple(notes),
        groups=groups,
        evidence=evidence,
    )
