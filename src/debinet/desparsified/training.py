"""Folds for choosing penalties, and Gram matrices without their rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from debinet.protocols import FloatArray, IntArray

FOLDS = 5


@dataclass(frozen=True)
class Fold:
    """Rows held out while a penalty is tried.

    Attributes
    ----------
    held : IntArray of shape (h,)
        Held-out rows.
    trained : IntArray of shape (n - h,)
        All others.
    """

    held: IntArray
    trained: IntArray


def shuffled_folds(n: int, rng: np.random.Generator) -> tuple[Fold, ...]:
    """Return `FOLDS` folds of rows in random order, or one per row if there are fewer."""
    parts = np.array_split(rng.permutation(n), min(FOLDS, n))
    return tuple(
        Fold(np.sort(held), np.setdiff1d(np.arange(n), held, assume_unique=True)) for held in parts
    )


def training_gram(X: FloatArray, gram: FloatArray, fold: Fold) -> tuple[FloatArray, FloatArray]:
    """Return the Gram matrix (p, p) of the training rows, centred, and their mean (p,).

    X (p, n) is centred over all rows and `gram = XX'/n`: the held-out rows are subtracted, which
    costs a fold's share of a Gram matrix.
    """
    held = np.ascontiguousarray(X[:, fold.held])
    n, count = X.shape[1], fold.trained.size
    mean = -held.sum(axis=1) / count
    # |x|^2 over the training rows about their own mean; one array is reused throughout.
    training = np.hstack([held, np.sqrt(count) * mean[:, None]])
    training = training @ training.T
    np.subtract(n * gram, training, out=training)
    training /= count
    return training, mean
