"""The residual operator of ridge regression on features, and its blocks, inverted.

For weighted targets the residuals are `R m`, `R = I - u u' - U diag(share) U' = I - P P'` with
`P = [u, U diag(share)^1/2]`. Those of a block B, had the model been fitted without it, are exactly
`R_BB^-1 (R m)_B`. A block with more rows than P has columns is inverted by Woodbury's identity,
`R_BB^-1 = I + P_B (I - P_B' P_B)^-1 P_B'`: what fits to all other rows, made by subtracting the
block's Gram matrix from that of all rows, amount to.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from debinet.learners.wide.kernels import row_chunks
from debinet.protocols import FloatArray, IntArray


@dataclass(frozen=True)
class Smoother:
    """Fits at given penalties.

    Attributes
    ----------
    U : FloatArray of shape (n, k)
        Eigenvectors.
    u : FloatArray of shape (n,)
        The intercept's direction.
    share : FloatArray of shape (k, m) or (k, 1)
        Learned share of every direction, for each column that is worked on or for all alike.
    """

    U: FloatArray
    u: FloatArray
    share: FloatArray

    def residual(self, X: FloatArray) -> FloatArray:
        """Return `R X` for columns X (n, m)."""
        fitted = np.outer(self.u, self.u @ X) + self.U @ (self.share * (self.U.T @ X))
        return np.asarray(X - fitted)

    def leverage(self) -> FloatArray:
        """Return the diagonals (n, m) or (n, 1) of `I - R`."""
        out = np.empty((self.u.size, self.share.shape[1]))
        for rows in row_chunks(*self.U.shape):
            out[rows] = self.U[rows] ** 2 @ self.share
        return out + self.u[:, None] ** 2


def solve_blocks(smoother: Smoother, X: FloatArray, blocks: Sequence[IntArray]) -> FloatArray:
    """Return `blockdiag(R_BB^-1) X`, for columns X (n, m) and blocks of rows that partition n."""
    if len(blocks) == X.shape[0]:
        return np.asarray(X / (1.0 - smoother.leverage()))
    out = np.empty_like(X)
    for block in blocks:
        out[block] = _solve_block(smoother, X[block], block)
    return out


def _solve_block(smoother: Smoother, X: FloatArray, block: IntArray) -> FloatArray:
    P = np.column_stack([smoother.u[block], smoother.U[block]])
    shares = np.vstack([np.ones(smoother.share.shape[1]), smoother.share]).T
    wide = P.shape[0] <= P.shape[1]
    gram = None if wide else P.T @ P
    if len(shares) == 1:
        return _solve_alike(P, gram, shares[0], X)
    columns = [_solve_alike(P, gram, share, X[:, j : j + 1]) for j, share in enumerate(shares)]
    return np.hstack(columns)


def _solve_alike(
    P: FloatArray, gram: FloatArray | None, share: FloatArray, X: FloatArray
) -> FloatArray:
    """Solve for columns with the same shares; `gram` is `P'P` where P is tall."""
    if gram is None:
        return np.asarray(np.linalg.solve(np.eye(P.shape[0]) - (P * share) @ P.T, X), np.float64)
    root = np.sqrt(share)
    inner = np.eye(root.size) - root[:, None] * gram * root
    solved = np.linalg.solve(inner, root[:, None] * (P.T @ X))
    return np.asarray(X + P @ (root[:, None] * solved))
