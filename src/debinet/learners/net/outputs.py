"""The outputs of a network: standardized columns, or the log-odds of 0/1 columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit

from debinet.learners.moments import column_moments
from debinet.protocols import BoolArray, FloatArray


@dataclass(frozen=True)
class Outputs:
    """How targets are encoded for training, and outputs decoded to predictions.

    Attributes
    ----------
    logistic : BoolArray of shape (m,)
        Columns of zeros and ones that are learned as probabilities.
    centre, scale : FloatArray of shape (m,)
        A prediction is `centre + scale * output`, or for logistic columns
        `1 / (1 + exp(-(centre + output)))`.
    """

    logistic: BoolArray
    centre: FloatArray
    scale: FloatArray

    def encode(self, M: FloatArray) -> FloatArray:
        """Return targets (n, m) for the network; logistic ones stay zeros and ones."""
        return np.where(self.logistic, M, (M - self.centre) / self.scale)

    def decode(self, F: FloatArray) -> FloatArray:
        """Return predictions (n, m) from outputs (n, m)."""
        linear = self.centre + self.scale * F
        return np.where(self.logistic, expit(linear), linear)


def zeros_and_ones(M: FloatArray) -> BoolArray:
    """Return which columns (m,) hold both zeros and ones and nothing else."""
    return np.asarray(((M == 0) | (M == 1)).all(axis=0) & (np.ptp(M, axis=0) > 0))


def read_outputs(
    M: FloatArray, weight: FloatArray, logistic: BoolArray, standardize: bool
) -> Outputs:
    """Return the encoding for training rows M (n, m)."""
    m = M.shape[1]
    moments = column_moments(M, weight)
    centre = moments.mean if standardize else np.zeros(m)
    scale = moments.sd if standardize else np.ones(m)
    share = np.clip(moments.mean, 1e-3, 1 - 1e-3)
    return Outputs(
        logistic, np.where(logistic, logit(share), centre), np.where(logistic, 1.0, scale)
    )
