"""What every method of the dashboard returns, and how it is stored."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from debinet.data.simulated import Simulated
from debinet.experiments.plan import Values
from debinet.protocols import FloatArray

# Values are numbers: a verdict is stored as its place in this list.
VERDICTS = ("ok", "look", "do not trust")
WORDS = ("coef", "se", "lower", "upper", "truth", "ideal")


@dataclass(frozen=True)
class Estimates:
    """Coefficients of the treatments.

    Attributes
    ----------
    coef, se, lower, upper : FloatArray of shape (q,)
        Coefficients, standard errors and ends of the 95 % intervals.
    verdict : str or None
        Of `trust()`, for methods that have it.
    """

    coef: FloatArray
    se: FloatArray
    lower: FloatArray
    upper: FloatArray
    verdict: str | None = None


@dataclass(frozen=True)
class Recorded:
    """A method of an experiment: the estimates, the truth and the ideal errors as named numbers.

    Attributes
    ----------
    estimate : callable
        `estimate(sample, seed)` returns `Estimates`.
    """

    estimate: Callable[[Simulated, int], Estimates]

    def __call__(self, sample: Simulated, seed: int) -> Values:
        """Return "d1 coef", "d1 se", ... of every treatment, and "trust" if there is a verdict."""
        found = self.estimate(sample, seed)
        known = (sample.truth.to_numpy(), sample.ideal.to_numpy())
        columns = np.vstack([found.coef, found.se, found.lower, found.upper, *known])
        values = {
            f"{name} {word}": float(value)
            for word, column in zip(WORDS, columns, strict=True)
            for name, value in zip(sample.truth.index, column, strict=True)
        }
        if found.verdict is not None:
            values["trust"] = float(VERDICTS.index(found.verdict))
        return values
