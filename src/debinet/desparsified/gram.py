"""Gram matrices of standardized columns, of all rows and without the rows of a fold."""

from __future__ import annotations

import numpy as np

from debinet.data.folds import Fold
from debinet.data.free_memory import require_free
from debinet.exceptions import CollinearError
from debinet.protocols import FloatArray
from debinet.selection.problem import LinearProblem

# Two columns whose correlation is this close to 1 or -1 are one column in two units.
SAME = 1 - 1e-10
FOLDS = 5


def bytes_needed(n: int, p: int) -> int:
    """Return the peak of a fit on n rows and p columns: two p x p and six n x p matrices.

    The Gram matrix is one p x p matrix, shared by all regressions and freed before the covariance
    is computed; the second is its inverse, where penalties are small, or, with a penalty chosen by
    cross-validation, the Gram matrix of the training rows. The n x p matrices are the data as read,
    standardized, what is left of each column, and three that the result keeps.
    """
    return 8 * (2 * p * p + 6 * n * p)


def gram_matrix(problem: LinearProblem) -> FloatArray:
    """Return `X'X / n`, the correlations of the columns, of shape (p, p)."""
    from debinet.desparsified.kernels import largest_correlation

    require_free(
        bytes_needed(problem.n, problem.p),
        f"for DebiasedLasso on {problem.n} rows and {problem.p} columns",
        "Use fewer columns, for example those that vary most: memory grows with the square of "
        "their number.",
    )
    gram: FloatArray = problem.X.T @ problem.X
    gram /= problem.n
    first, second, found = largest_correlation(gram)
    if found > SAME:
        raise CollinearError(
            "columns that differ in more than their units",
            f"{problem.names[first]!r} and {problem.names[second]!r} with correlation "
            f"{np.sign(gram[first, second]):+g}",
            "Drop one of them.",
        )
    return gram


def shuffled_folds(n: int, rng: np.random.Generator) -> tuple[Fold, ...]:
    """Return `FOLDS` random folds of n rows, or one per row if there are fewer."""
    parts = map(np.sort, np.array_split(rng.permutation(n), min(FOLDS, n)))
    return tuple(Fold(part, part) for part in parts)


def training_gram(X: FloatArray, gram: FloatArray, fold: Fold) -> tuple[FloatArray, FloatArray]:
    """Return the Gram matrix (p, p) of the training rows, centred, and their mean (p,).

    X (n, p) is centred over all rows and `gram = X'X / n`: subtracting the held-out rows costs only
    a fold's share of a Gram matrix.
    """
    held = np.ascontiguousarray(X.T[:, fold.test])
    n = len(X)
    count = n - fold.test.size
    mean = -held.sum(axis=1) / count
    # |x|^2 over the training rows about their own mean; one array is reused throughout.
    training = np.hstack([held, np.sqrt(count) * mean[:, None]])
    training = training @ training.T
    np.subtract(n * gram, training, out=training)
    training /= count
    return training, mean
