"""A simulated data set: what all designs return."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
import pandas as pd

from debinet.protocols import FloatArray


@dataclass(frozen=True)
class Noise:
    """What D and y are made of beyond their conditional means.

    Attributes
    ----------
    v : FloatArray of shape (n, q)
        D less E(D|Z).
    sd : FloatArray of shape (n,), or float
        Standard deviation of e in each row.
    """

    v: FloatArray
    sd: FloatArray | float = 1.0


class _Columns(NamedTuple):
    X: pd.DataFrame
    y: pd.Series
    truth: pd.Series


class Simulated(_Columns):
    """A data set with known coefficients; unpacks as `X, y, truth`.

    Attributes
    ----------
    X : DataFrame of shape (n, p)
        Features; the treatments come first.
    y : Series of length n
        Outcome.
    truth : Series
        True coefficients by the names of the treatments.
    ideal : Series
        Standard errors of the coefficients if `f(Z)` and `E(D|Z)` were known.
    """

    noise: Noise | None = None

    def __new__(
        cls, X: pd.DataFrame, y: pd.Series, truth: pd.Series, noise: Noise | None = None
    ) -> Self:
        """Return the three as a tuple; the noise is an attribute."""
        sample = super().__new__(cls, X, y, truth)
        sample.noise = noise
        return sample

    @property
    def ideal(self) -> pd.Series:
        """Standard errors of the coefficients if `f(Z)` and `E(D|Z)` were known, by treatment.

        Exact, given D and Z of this sample: those of least squares of `y - E(y|Z)` on
        `D - E(D|Z)`. NaN without more rows than treatments, or where the noise is not known.
        """
        errors = np.full(len(self.truth), np.nan)
        if self.noise is not None and len(self.noise.v) > len(errors):
            v, sd = self.noise.v, self.noise.sd
            rows = np.linalg.solve(v.T @ v, v.T)
            errors = np.sqrt((rows**2 * np.square(sd)).sum(axis=1))
        return pd.Series(errors, index=self.truth.index, name="ideal")


def simulated(
    D: FloatArray, Z: FloatArray, y: FloatArray, effects: tuple[float, ...], noise: Noise
) -> Simulated:
    """Return a data set with treatments d1, d2, ... and controls z1, z2, ..."""
    treatments = [f"d{j + 1}" for j in range(D.shape[1])]
    controls = [f"z{j + 1}" for j in range(Z.shape[1])]
    X = pd.DataFrame(np.hstack([D, Z]), columns=treatments + controls)
    truth = pd.Series(effects, index=treatments, name="truth")
    return Simulated(X, pd.Series(y, name="y"), truth, noise)


def make_treatments(shapes: Sequence[FloatArray], v: FloatArray) -> FloatArray:
    """Return D: column j is shape j plus column j of v, the shapes repeated if they are fewer.

    Parameters
    ----------
    shapes : sequence of FloatArray of shape (n,)
        E(D|Z) of the first treatments; `shapes[j]` is that of the treatments j, j + k, j + 2k, ...
        if there are k shapes.
    v : FloatArray of shape (n, q)
        Noise; its columns decide how many treatments there are.
    """
    means = np.column_stack([shapes[j % len(shapes)] for j in range(v.shape[1])])
    return means + v


def columns_of_noise(rng: np.random.Generator, n: int, q: int) -> FloatArray:
    """Return q standard normal columns, drawn one after the other."""
    return np.column_stack([rng.normal(size=n) for _ in range(q)])


def autoregressive(rng: np.random.Generator, n: int, p: int, correlation: float) -> FloatArray:
    """Return standard normal columns with correlation `correlation^|j-k|`."""
    lags = np.abs(np.subtract.outer(np.arange(p), np.arange(p)))
    return rng.normal(size=(n, p)) @ np.linalg.cholesky(correlation**lags).T


def equicorrelated(rng: np.random.Generator, n: int, q: int, correlation: float) -> FloatArray:
    """Return standard normal columns, any two of which have the same correlation."""
    common = np.full((q, q), correlation) + (1 - correlation) * np.eye(q)
    return rng.normal(size=(n, q)) @ np.linalg.cholesky(common).T
