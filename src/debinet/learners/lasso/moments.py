"""Second moments of training and held-out rows: all that a cross-validated Lasso needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from debinet.protocols import FloatArray, IntArray


@dataclass(frozen=True)
class FoldMoments:
    """Moments of p columns and m targets, about the training means of each of k folds.

    Attributes
    ----------
    gram : FloatArray of shape (p, p)
        Of all rows, divided by their weight, as are all others.
    cross : FloatArray of shape (m, p)
        Of the targets with the columns, all rows.
    train_gram : FloatArray of shape (k, p, p)
        Without the rows of each fold.
    train_cross : FloatArray of shape (m, k, p)
    held_gram : FloatArray of shape (k, p, p)
        Of the rows of each fold.
    held_cross : FloatArray of shape (m, k, p)
    held_square : FloatArray of shape (m, k)
        Of the targets with themselves.
    """

    gram: FloatArray
    cross: FloatArray
    train_gram: FloatArray
    train_cross: FloatArray
    held_gram: FloatArray
    held_cross: FloatArray
    held_square: FloatArray


def fold_moments(
    X: FloatArray, T: FloatArray, weight: FloatArray, folds: Sequence[IntArray]
) -> FoldMoments:
    """Compute the products of each fold once; those of its training rows are the total less them.

    Parameters
    ----------
    X : FloatArray of shape (n, p)
        Columns of weighted mean zero.
    T : FloatArray of shape (n, m)
        Targets of weighted mean zero.
    weight : FloatArray of shape (n,)
        Positive.
    folds : sequence of IntArray
        A partition of the rows.
    """
    p, k = X.shape[1], len(folds)
    both = np.hstack([X, T])
    root = np.sqrt(weight)[:, None]
    size = both.shape[1]
    products, sums = np.empty((k, size, size)), np.empty((k, size))
    for f, rows in enumerate(folds):
        part = root[rows] * both[rows]
        np.matmul(part.T, part, out=products[f])
        sums[f] = root[rows, 0] @ part
    mass = np.array([weight[rows].sum() for rows in folds])[:, None, None]
    total, all_mass = products.sum(axis=0), mass.sum()
    mean = -sums / (all_mass - mass[:, 0])
    square = mean[:, :, None] * mean[:, None, :]
    train = (total - products) / (all_mass - mass) - square
    shift = sums[:, :, None] * mean[:, None, :]
    held = (products - shift - shift.transpose(0, 2, 1)) / mass + square
    return FoldMoments(
        gram=np.ascontiguousarray(total[:p, :p]) / all_mass,
        cross=np.ascontiguousarray(total[p:, :p]) / all_mass,
        train_gram=np.ascontiguousarray(train[:, :p, :p]),
        train_cross=np.ascontiguousarray(train[:, p:, :p].swapaxes(0, 1)),
        held_gram=np.ascontiguousarray(held[:, :p, :p]),
        held_cross=np.ascontiguousarray(held[:, p:, :p].swapaxes(0, 1)),
        held_square=np.ascontiguousarray(np.diagonal(held[:, p:, p:], axis1=1, axis2=2).T),
    )
