"""`NadarayaWatson`: averages of neighbours, as in the classical partially linear model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from debinet.learners.smoothers.rows import Neighbourhood, StandardizedRows
from debinet.learners.smoothers.smoother import KernelSmoother
from debinet.learners.smoothers.smoothing import Local
from debinet.protocols import FloatArray, IntArray


class NadarayaWatson(KernelSmoother):
    r"""Predicts the average of the neighbours, weighted by a kernel of their distance.

    .. math:: \hat m(z) = \sum_i K(u_i) m_i / \sum_i K(u_i), \qquad u_i = |z - z_i| / h

    Inputs are standardized, so bandwidths are in standard deviations. Every output has a bandwidth
    h of its own, as y and D may depend on Z in very different ways; it is infinite, and the
    prediction the mean, if Z does not lower the leave-one-out error.

    Parameters
    ----------
    bandwidth : "loo", float or array
        `"loo"` minimizes the exact leave-one-out error over infinity and bandwidths a factor of
        1.19 apart. A number, which may be infinite, is for all outputs; an array of shape (m,) has
        one per output, (p,) one per feature, (m, p) both. Where m = p, use shape (m, 1) or (1, p).
    kernel : {"gaussian", "uniform", "triangle", "epanechnikov", "quadratic", "cosine"}
        K is :math:`e^{-u^2/2}`, or, up to u = 1, :math:`1`, :math:`1 - u`, :math:`1 - u^2`,
        :math:`(1 - u^2)^2`, :math:`\cos(\pi u / 2)`. A point without neighbours within the
        bandwidth takes the nearest row.
    per_feature : bool
        Whether `"loo"` chooses a bandwidth per output and feature, one feature after the other;
        infinite for features of no use. Takes up to 9 p m passes over all pairs of rows.

    Attributes
    ----------
    bandwidth_ : FloatArray of shape (m,) or (m, p)
    n_features_in_ : int

    Notes
    -----
    One pass over the pairs of rows, a chunk at a time, serves all outputs and bandwidths.

    References
    ----------
    Nadaraya (1964), On estimating regression, Theory of Probability and its Applications 9.
    Robinson (1988), Root-N-consistent semiparametric regression, Econometrica 56.

    Examples
    --------
    >>> import numpy as np
    >>> Z = np.linspace(0, 1, 50)[:, None]
    >>> NadarayaWatson().fit(Z, Z**2).predict([[0.5]]).round(2)
    array([[0.25]])
    """

    def _local(self, rows: StandardizedRows) -> Local:
        return local_averages(rows)


@dataclass(frozen=True)
class LocalAverages:
    """Averages of the targets.

    Attributes
    ----------
    rows : StandardizedRows
    weighted : FloatArray of shape (n, 1 + m)
        Ones and the targets, times the rows' weights.
    """

    rows: StandardizedRows
    weighted: FloatArray

    @property
    def needed(self) -> int:
        """Number of neighbours that an average needs."""
        return 1

    def of(self, outputs: IntArray) -> LocalAverages:
        """Return the same for k of the m outputs."""
        return LocalAverages(self.rows, self.weighted[:, np.append(0, 1 + outputs)])

    def at(self, near: Neighbourhood) -> FloatArray:
        """Return the averages (r, m) at r points."""
        sums = near.W @ self.weighted
        return sums[:, 1:] / sums[:, :1]


def local_averages(rows: StandardizedRows) -> LocalAverages:
    """Prepare the sums that averages need."""
    ones = np.ones((rows.M.shape[0], 1))
    return LocalAverages(rows, rows.weight[:, None] * np.hstack([ones, rows.M]))
