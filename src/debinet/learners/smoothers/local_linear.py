"""`LocalLinear`: a linear regression around every point."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from debinet.data.free_memory import require_free
from debinet.learners.smoothers.rows import Neighbourhood, StandardizedRows
from debinet.learners.smoothers.smoother import KernelSmoother
from debinet.learners.smoothers.smoothing import Local
from debinet.protocols import FloatArray, IntArray

# Ridge of S: a share of its mean eigenvalue, plus a variance that counts as zero for standardized
# inputs: moments around the origin cancel to 1e-16, and slopes must not magnify that error. The
# solution is refined, so that the effect of the ridge is of third order: a direction whose share of
# the mean eigenvalue is s keeps its slope up to (_RIDGE / s)^3.
_RIDGE = 1e-4
_SPREAD = 1e-6
_STEPS = 3
# Neighbours this close count as one point; their covariance is a rounding error.
_ONE_POINT = 1e-12


class LocalLinear(KernelSmoother):
    r"""Predicts by the linear regression of the neighbours, weighted by a kernel of their distance.

    .. math:: \hat m(z) = a, \qquad
        (a, b) = \arg\min \sum_i K(u_i) (m_i - a - b'(z_i - z))^2, \qquad u_i = |z - z_i| / h

    Inputs are standardized, so bandwidths are in standard deviations. Unlike averages, it follows a
    slope up to the edge of the data. Every output has a bandwidth h of its own; it is infinite, and
    the prediction that of the linear regression, where leave-one-out finds nothing more in Z.

    Parameters
    ----------
    bandwidth : "loo", float or array
        As in `NadarayaWatson`.
    kernel : {"gaussian", "uniform", "triangle", "epanechnikov", "quadratic", "cosine"}
        K, as in `NadarayaWatson`.
    per_feature : bool
        Whether `"loo"` chooses a bandwidth per output and feature, one feature after the other; a
        feature of infinite bandwidth acts linearly. Takes up to 9 p m passes over all pairs of
        rows.

    Attributes
    ----------
    bandwidth_ : FloatArray of shape (m,) or (m, p)
    n_features_in_ : int

    Notes
    -----
    Two safeguards keep predictions reasonable where neighbours are few, and change nothing
    elsewhere. A prediction is an average of targets with weights that may be negative; where the
    sum of their squares exceeds 1, so that it varies more than a single observation, its slope is
    reduced until it does not (never at infinite bandwidth). And the covariance S of the neighbours
    gets a ridge of `1e-4 trace(S) / p + 1e-6` with two steps of refinement: slopes in directions
    with a share s of the mean eigenvalue are kept up to `(1e-4 / s)^3`, and are zero in directions
    without spread.

    A pass over the pairs of rows takes about `n^2 p^2` operations for each bandwidth, and the
    products of features `n p^2 / 2` numbers.

    References
    ----------
    Fan (1992), Design-adaptive nonparametric regression, JASA 87.

    Examples
    --------
    >>> import numpy as np
    >>> Z = np.linspace(0, 1, 50)[:, None]
    >>> LocalLinear().fit(Z, Z**2).predict([[1.0]]).round(2)
    array([[1.]])
    """

    def _local(self, rows: StandardizedRows) -> Local:
        return local_lines(rows)


@dataclass(frozen=True)
class LocalLines:
    """Linear regressions around each point.

    Attributes
    ----------
    rows : StandardizedRows
    targets : FloatArray of shape (n, m)
        Those of the rows, or some of them.
    products : FloatArray of shape (n, 1 + p + p (p + 1) / 2)
        Ones, features and products of two features.
    """

    rows: StandardizedRows
    targets: FloatArray
    products: FloatArray

    @property
    def needed(self) -> int:
        """Number of neighbours that a regression needs: one per coefficient."""
        return int(self.rows.Z.shape[1]) + 1

    def of(self, outputs: IntArray) -> LocalLines:
        """Return the same for k of the m outputs."""
        return replace(self, targets=self.targets[:, outputs])

    def at(self, near: Neighbourhood) -> FloatArray:
        """Return the regressions' values (r, m) at r points."""
        p = self.rows.Z.shape[1]
        averages = near.W * self.rows.weight
        sums = averages @ self.products
        size, sums = sums[:, :1], sums / sums[:, :1]
        centre = sums[:, 1 : p + 1]
        tilt = _tilt(_covariance(sums, centre), near.Z - centre)
        lines = tilt @ self.rows.Z.T
        lines += 1.0 - (tilt * centre).sum(axis=1, keepdims=True)
        lines *= averages
        lines /= size
        predictions = np.asarray(lines @ self.targets)
        over = np.flatnonzero(np.vecdot(lines, lines) > 1.0)
        if near.whole or over.size == 0:
            return predictions
        flat = averages[over] / size[over]
        kept = _kept(flat, lines[over])
        predictions[over] = kept * predictions[over] + (1.0 - kept) * (flat @ self.targets)
        return predictions


def local_lines(rows: StandardizedRows) -> LocalLines:
    """Prepare the products that moments need."""
    n, p = rows.Z.shape
    require_free(
        8 * n * (2 + p + p * (p + 1) // 2),
        f"for LocalLinear on {n} rows and {p} features",
        "Use NadarayaWatson, or fewer features: memory and time grow with their square.",
    )
    products = np.empty((n, 1 + p + p * (p + 1) // 2))
    products[:, 0] = 1.0
    products[:, 1 : p + 1] = rows.Z
    at = p + 1
    for j in range(p):
        np.multiply(rows.Z[:, j, None], rows.Z[:, j:], out=products[:, at : at + p - j])
        at += p - j
    return LocalLines(rows, rows.M, products)


def _covariance(sums: FloatArray, centre: FloatArray) -> FloatArray:
    """Return the covariances (r, p, p) of the neighbours."""
    r, p = centre.shape
    second = np.empty((r, p, p))
    i, j = np.triu_indices(p)
    second[:, i, j] = second[:, j, i] = sums[:, p + 1 :]
    second -= centre[:, :, None] * centre[:, None, :]
    return second


def _tilt(S: FloatArray, away: FloatArray) -> FloatArray:
    """Return `S^-1 (z - c)`, shape (r, p), by ridge regression, refined."""
    p = away.shape[1]
    spread = S.trace(axis1=1, axis2=2)
    ridge = _RIDGE * np.maximum(spread, 0.0) / p + _SPREAD
    diagonal = np.arange(p)
    S[:, diagonal, diagonal] += ridge[:, None]
    tilt, left = np.zeros_like(away), away
    for _ in range(_STEPS):
        step = np.linalg.solve(S, left[:, :, None])[:, :, 0]
        tilt += step
        # what this step left of `left`, as (S + ridge) step = left
        left = ridge[:, None] * step
    tilt[spread <= _ONE_POINT] = 0.0
    return tilt


def _kept(averages: FloatArray, lines: FloatArray) -> FloatArray:
    """Return the share (r, 1) of the slope at which a prediction varies as much as one observation.

    Both arguments are the weights (r, n) that predictions give to the targets; of the difference
    between them, t is kept, with `|averages + t (lines - averages)|^2 = 1`. As averages have
    `|averages| <= 1` and these lines `|lines| > 1`, there is such a t from 0 to 1.
    """
    aa, al, ll = np.vecdot(averages, averages), np.vecdot(averages, lines), np.vecdot(lines, lines)
    ab, bb = al - aa, ll - 2.0 * al + aa
    room = np.maximum(1.0 - aa, 0.0)
    root = np.sqrt(ab**2 + bb * room)
    # two forms of the same root, each without a difference of nearly equal numbers
    t = np.where(ab > 0, room / np.where(ab > 0, ab + root, 1.0), (root - ab) / bb)
    return np.asarray(np.clip(t, 0.0, 1.0)[:, None])
