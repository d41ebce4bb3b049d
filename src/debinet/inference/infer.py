"""Make an `Inference` from solved residual regressions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from debinet.inference.covariance import Regression
from debinet.inference.evidence import Deferred
from debinet.inference.result import Inference
from debinet.inference.spread import spread
from debinet.protocols import IntArray


def infer(
    regressions: Sequence[Regression],
    names: Sequence[str],
    vcov: str,
    *,
    method: str,
    outcome: str = "y",
    facts: Mapping[str, str] | None = None,
    notes: Sequence[str] = (),
    groups: IntArray | None = None,
    seed: int = 0,
    evidence: Deferred | None = None,
) -> Inference:
    """Make an `Inference` from solved residual regressions, one per repetition."""
    solved = tuple(regressions)
    return Inference(
        names=tuple(names),
        regressions=solved,
        **vars(spread(solved, vcov, groups)),
        method=method,
        outcome=outcome,
        facts=dict(facts or {}),
        notes=tuple(notes),
        groups=groups,
        seed=seed,
        evidence=evidence,
    )
