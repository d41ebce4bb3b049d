"""The limiting kernel of a network, and the rate of convergence that Theorem 1 derives from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from scipy.linalg import eigvalsh

from debinet.data.options import share, whole_number
from debinet.exceptions import InputError
from debinet.learners.wide.kernels import Architecture, kernel_matrix
from debinet.protocols import FloatArray, IntArray
from debinet.theory.inputs import read_rows, require_memory, require_unit_rows

ODD = ("erf", "tanh")
# Closer than this, the kernel cannot tell directions apart: the cosine of an angle of 1e-7 differs
# from 1 by less than its rounding error.
_SAME = 1e-7


def require_distinct_directions(Z: FloatArray, activation: str) -> None:
    """Require unit rows (n, p) whose limiting kernel is not singular by their directions."""
    equal, opposite = parallel_pairs(Z)
    if len(equal):
        _refuse(equal[0], "the same direction")
    if len(opposite) and activation in ODD:
        _refuse(opposite[0], f"opposite directions, which {activation}, an odd function, confuses")
    directions = Z[opposite[:, 0]]
    if np.linalg.matrix_rank(directions, tol=_SAME) < len(opposite):
        raise InputError(
            "opposite rows (z and -z) only in linearly independent directions",
            f"{len(opposite)} opposite pairs, the first of them rows {_named(opposite[0])}, in "
            f"{Z.shape[1]} columns: the least eigenvalue of the kernel is 0",
            "Drop one row of each pair, or add a column of ones before normalize_rows(Z).",
        )


def parallel_pairs(Z: FloatArray) -> tuple[IntArray, IntArray]:
    """Return the pairs i < j of equal and of opposite unit rows, of shapes (., 2)."""
    cosine = np.triu(Z @ Z.T, k=1)
    pairs = []
    for sign in (1.0, -1.0):
        # the cosine is too coarse for the distance, so it only proposes candidates
        near = np.argwhere(sign * cosine > 1.0 - 1e-5)
        gap = np.linalg.norm(Z[near[:, 0]] - sign * Z[near[:, 1]], axis=1)
        pairs.append(near[gap < _SAME])
    return pairs[0], pairs[1]


def closest_pair(Z: FloatArray) -> tuple[IntArray, float]:
    """Return the two rows (n > 1) on the closest lines, and their angle."""
    cosine = np.abs(np.triu(Z @ Z.T, k=1))
    pair = np.array(np.unravel_index(np.argmax(cosine), cosine.shape))
    return pair, float(np.arccos(min(cosine[tuple(pair)], 1.0)))


def _refuse(pair: IntArray, what: str) -> NoReturn:
    raise InputError(
        "no two parallel rows, so that the least eigenvalue of the kernel is above 0",
        f"rows {_named(pair)} with {what}",
        "Drop one of the two rows, or add a column that tells them apart.",
    )


def _named(pair: IntArray) -> str:
    return f"{pair[0]} and {pair[1]}"


@dataclass(frozen=True)
class Rate:
    """What the eigenvalues of the limiting kernel imply for gradient descent.

    Attributes
    ----------
    n : int
        Number of rows.
    lambda_0, lambda_max : float
        Least and largest eigenvalue of the limiting kernel.
    activation, train : str
        Of the network.
    """

    n: int
    lambda_0: float
    lambda_max: float
    activation: str = "relu"
    train: str = "first"

    @property
    def largest_step(self) -> float:
        """Step above which gradient descent on `1/2 |F - M|^2` is unstable: `2 / lambda_max`."""
        return 2.0 / self.lambda_max

    def bound(self, t: float | FloatArray) -> FloatArray:
        """Return `exp(-lambda_0 t)`: Theorem 1's bound on the relative squared error at time t."""
        return np.asarray(np.exp(-self.lambda_0 * np.asarray(t, dtype=np.float64)))

    def width(self, delta: float, q: int) -> float:
        """Return `(1 + q)^5 n^6 / (delta^3 lambda_0^4)`, the width that Theorem 1 needs.

        An order of magnitude, as the theorem does not give the constant. Networks that are smaller
        by many powers of ten do converge; see `check_convergence`.

        Parameters
        ----------
        delta : float
            Probability, over the initial weights, with which the bound may fail.
        q : int
            Number of outputs besides the first.
        """
        share("delta", delta, "Pass, for example, 0.1.")
        outputs = 1 + whole_number("q", q, 0)
        return float(outputs) ** 5 * float(self.n) ** 6 / (delta**3 * self.lambda_0**4)


def limiting_kernel(Z: Any, activation: str = "relu", train: str = "first") -> FloatArray:
    """Return the kernel of an infinitely wide two-layer network, H-infinity in the paper.

    `E[z'z* a'(w'z) a'(w'z*)]` over standard normal w, and `E[a(w'z) a(w'z*)]` more if both layers
    are trained. For ReLU the first is `z'z* (pi - angle) / (2 pi)`.

    Parameters
    ----------
    Z : array or data frame of shape (n, p)
        Rows as the network sees them, of any length; no bias is added.
    activation : str
        `"relu"`, `"leaky_relu"`, `"erf"` or `"tanh"`.
    train : str
        `"first"` layer only, as in the paper's theorem, or `"all"`.

    Returns
    -------
    FloatArray of shape (n, n)

    Examples
    --------
    >>> limiting_kernel([[1.0, 0.0], [0.6, 0.8]]).round(3)
    array([[0.5  , 0.211],
           [0.211, 0.5  ]])
    """
    rows = read_rows(Z)
    architecture = Architecture(1, activation, train)
    require_memory(
        len(rows) ** 2, f"the kernel of {len(rows)} rows", "Take a random part of the rows."
    )
    return kernel_matrix(rows, rows, architecture)


def convergence_rate(Z: Any, activation: str = "relu", train: str = "first") -> Rate:
    """Return the rate of convergence of gradient descent by Theorem 1 on these rows.

    Parameters
    ----------
    Z : array or data frame of shape (n, p)
        Rows of unit length (`normalize_rows`), no two of them equal. Opposite rows are refused
        only where they make the kernel singular: for `"erf"` and `"tanh"` always, for the
        rectifiers if the directions of several opposite pairs are linearly dependent.
    activation, train : str
        As in `limiting_kernel`.

    Examples
    --------
    >>> rate = convergence_rate([[1.0, 0.0], [0.6, 0.8]])
    >>> round(rate.lambda_0, 3), round(rate.largest_step, 3)
    (0.289, 2.811)
    """
    return kernel_and_rate(Z, activation, train)[1]


def kernel_and_rate(Z: Any, activation: str, train: str) -> tuple[FloatArray, Rate]:
    """Return the limiting kernel (n, n) and its rate; refuse rows that the theorem excludes."""
    rows = read_rows(Z)
    # the kernel, a copy for the eigenvalues, and the cosines with their upper half
    require_memory(
        4 * len(rows) ** 2, f"the rate of {len(rows)} rows", "Take a random part of the rows."
    )
    H = limiting_kernel(rows, activation, train)
    require_unit_rows(rows)
    require_distinct_directions(rows, activation)
    return H, _rate(rows, H, activation, train)


def _rate(Z: FloatArray, H: FloatArray, activation: str, train: str) -> Rate:
    eigenvalues = eigvalsh(H)
    least, largest = float(eigenvalues[0]), float(eigenvalues[-1])
    if least <= len(H) * np.finfo(np.float64).eps * largest:
        pair, angle = closest_pair(Z)
        raise InputError(
            "rows whose kernel has a smallest eigenvalue clearly above 0",
            f"{least:.2g}, with a largest one of {largest:.2g}; the closest rows are {pair[0]} "
            f"and {pair[1]}, at an angle of {angle:.2g}",
            "Take fewer rows, more columns, or activation='relu', whose kernel is the farthest "
            "from singular.",
        )
    return Rate(len(H), least, largest, activation, train)
