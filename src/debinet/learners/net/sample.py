"""The rows that a network is trained on, those that stop it, and their scaling."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit

from debinet._random import named_generator
from debinet.exceptions import TooFewRowsError
from debinet.learners.inputs import Moments, column_moments
from debinet.protocols import BoolArray, FloatArray, IntArray

LEAST_ROWS = 4


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


@dataclass(frozen=True)
class Inputs:
    """How rows of Z enter the network.

    Attributes
    ----------
    moments : Moments or None
        What columns are standardized by; None leaves them as they are.
    constant : bool
        Whether rows become `(z / sqrt(p), 1)`, as the wide network's do.
    """

    moments: Moments | None
    constant: bool

    def encode(self, Z: FloatArray) -> FloatArray:
        """Return the rows as the network sees them."""
        scaled = Z if self.moments is None else self.moments.standardize(Z)
        if not self.constant:
            return scaled
        return np.column_stack([scaled / np.sqrt(Z.shape[1]), np.ones(len(Z))])


@dataclass(frozen=True)
class EncodedRows:
    """Encoded rows.

    Attributes
    ----------
    Z : FloatArray of shape (n, inputs)
    M : FloatArray of shape (n, m)
    weight : FloatArray of shape (n,)
        With mean 1 over all rows of the sample.
    """

    Z: FloatArray
    M: FloatArray
    weight: FloatArray


@dataclass(frozen=True)
class TrainingSample:
    """What one network is trained on.

    Attributes
    ----------
    train : EncodedRows
    held : EncodedRows or None
        Rows whose loss stops the training.
    inputs : Inputs
    outputs : Outputs
    seed : int
        Decides the weights at the start and the order of the rows.
    """

    train: EncodedRows
    held: EncodedRows | None
    inputs: Inputs
    outputs: Outputs
    seed: int


@dataclass(frozen=True)
class Scaling:
    """The options of a network that a sample depends on.

    Attributes
    ----------
    inputs, outputs : bool
        Whether columns are standardized.
    constant : bool
        As in `Inputs`.
    logistic : BoolArray of shape (m,)
        Columns that are learned as probabilities: known from all rows, the same for all folds.
    """

    inputs: bool
    outputs: bool
    constant: bool
    logistic: BoolArray


def make_sample(
    Z: FloatArray,
    M: FloatArray,
    weight: FloatArray,
    scaling: Scaling,
    *,
    held_share: float,
    seed: int,
    groups: IntArray | None = None,
) -> TrainingSample:
    """Split the rows of positive weight and scale them by the training rows.

    Rows of one group, by codes (n,), are held out together.
    """
    used = np.flatnonzero(weight > 0)
    codes = np.arange(used.size) if groups is None else groups[used]
    train, held = _split(used, codes, held_share, seed)
    weight = weight / weight[used].mean()
    inputs = Inputs(
        column_moments(Z[train], weight[train]) if scaling.inputs else None,
        scaling.constant and scaling.inputs,
    )
    outputs = read_outputs(M[train], weight[train], scaling.logistic, scaling.outputs)

    def encoded(rows: IntArray) -> EncodedRows:
        return EncodedRows(inputs.encode(Z[rows]), outputs.encode(M[rows]), weight[rows])

    return TrainingSample(
        encoded(train), encoded(held) if held.size else None, inputs, outputs, seed
    )


def _split(used: IntArray, codes: IntArray, share: float, seed: int) -> tuple[IntArray, IntArray]:
    """Return rows to train on and rows to hold out, whole groups of them."""
    order = named_generator(seed, "held out").permutation(np.unique(codes))
    sizes = np.bincount(codes, minlength=int(codes.max(initial=0)) + 1)[order]
    chosen = order[np.cumsum(sizes) <= round(share * used.size)] if share > 0 else order[:0]
    held = np.isin(codes, chosen)
    if (share > 0 and not held.any()) or np.count_nonzero(~held) < LEAST_ROWS:
        rows = "1 sample" if used.size == 1 else f"{used.size} rows"
        raise TooFewRowsError(
            f"at least {LEAST_ROWS} rows to train on, and a row or group to stop by",
            f"{rows} of positive weight (n_samples = {used.size}), a share of {share:g} held out",
            "Pass more rows, or validation_share=None to train for all epochs.",
        )
    return used[~held], used[held]
