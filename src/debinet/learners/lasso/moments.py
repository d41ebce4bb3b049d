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
    (p, m), k = (X.shape[1], T.shape[1]), len(folds)
    train_gram, held_gram = np.empty((k, p, p)), np.empty((k, p, p))
    train_cross, held_cross = np.empty((m, k, p)), np.empty((m, k, p))
    held_square = np.empty((m, k))
    root, total = np.sqrt(weight)[:, None], weight.sum()
    X_root = root * X
    gram, cross = X_root.T @ X_root, (root * T).T @ X_root
    for f, rows in enumerate(folds):
        mass, X_f, T_f = weight[rows].sum(), X[rows], T[rows]
        rest = total - mass
        # The sums over all rows are zero, so those of the training rows are these, negative.
        x, t = -(weight[rows] @ X_f) / rest, -(weight[rows] @ T_f) / rest
        X_f -= x
        X_f *= root[rows]
        T_f = root[rows] * (T_f - t)
        H, h = held_gram[f], held_cross[:, f]
        np.matmul(X_f.T, X_f, out=H)
        h[:] = T_f.T @ X_f
        # Rows about x instead of zero add `total x x'` to the products of all of them.
        np.multiply.outer(total * x, x, out=train_gram[f])
        train_gram[f] += gram
        train_gram[f] -= H
        train_gram[f] /= rest
        train_cross[:, f] = (cross + np.multiply.outer(total * t, x) - h) / rest
        H /= mass
        h /= mass
        held_square[:, f] = (T_f**2).sum(axis=0) / mass
    return FoldMoments(
        gram / total, cross / total, train_gram, train_cross, held_gram, held_cross, held_square
    )
