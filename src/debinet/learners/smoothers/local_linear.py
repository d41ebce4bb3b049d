"""`LocalLinear`: a linear regression around every point."""

from __future__ import annotations

from typing import Any

from debinet.learners.smoothers.lines import local_lines
from debinet.learners.smoothers.rows import StandardizedRows
from debinet.learners.smoothers.smoother import KernelSmoother
from debinet.learners.smoothers.smoothing import Local


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
        `"loo"` minimizes the exact leave-one-out error over infinity and bandwidths a factor of
        1.19 apart. A number, which may be infinite, is for all outputs; an array of shape (m,) has
        one per output, (p,) one per feature, (m, p) both. Where m = p, use shape (m, 1) or (1, p).
    kernel : {"gaussian", "uniform", "triangle", "epanechnikov", "quadratic", "cosine"}
        K, as for `NadarayaWatson`.
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
    Two things keep predictions within reason where neighbours are few, and change nothing where
    they are not. A prediction is an average of targets with weights that may be negative; where
    the sum of their squares exceeds 1, so that it varies more than a single observation, its slope
    is reduced until it does not (never at infinite bandwidth). And the covariance S of the
    neighbours gets a ridge of `1e-4 trace(S) / p + 1e-6` with two steps of refinement: slopes in
    directions with a share s of the mean eigenvalue are kept up to `(1e-4 / s)^3`, and are zero in
    directions without spread.

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

    def __init__(
        self, bandwidth: Any = "loo", kernel: str = "gaussian", *, per_feature: bool = False
    ) -> None:
        self.bandwidth = bandwidth
        self.kernel = kernel
        self.per_feature = per_feature

    def _local(self, rows: StandardizedRows) -> Local:
        return local_lines(rows)
