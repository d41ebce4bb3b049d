"""The mixed model `y = D coef + N(0, tau K) + noise`: generalized least squares for coef.

In the coordinates of the spectrum the contrasts of y have covariance `s^2 diag(1 / r)`,
`r = 1 / (1 + w t)`, so every quantity of the restricted likelihood costs O(n q^2) per time t.
"""

from __future__ import annotations

import numpy as np

from debinet.learners.moments import column_moments
from debinet.learners.wide.contrasts import Contrasts
from debinet.learners.wide.factorization import Factorization
from debinet.learners.wide.spectrum import Spectrum
from debinet.protocols import FloatArray, Pilot


def fit_mixed(factorization: Factorization, y: FloatArray, D: FloatArray) -> Pilot:
    """Estimate the coefficients of D under the skip weight and penalty of greatest likelihood.

    Parameters
    ----------
    factorization : Factorization
        Of Z, for the n rows of positive weight.
    y : FloatArray of shape (n,)
    D : FloatArray of shape (n, q)
        Those rows.

    Returns
    -------
    Pilot
        `coef = rows' y`, with `rows` for the n rows.
    """
    root = factorization.root_weight
    scales = column_moments(np.column_stack([y, D]), root**2)
    standardized = root[:, None] * scales.standardize(np.column_stack([y, D]))
    fits = []
    for spectrum in factorization.spectra:
        T = spectrum.V.T @ standardized
        contrasts = Contrasts(spectrum.w, T[:, 0], T[:, 1:], T.shape[0] - D.shape[1])
        fits.append((*contrasts.best_time(), spectrum, contrasts))
    time, _, spectrum, contrasts = min(fits, key=lambda fit: fit[1])
    rows = _rows(spectrum, contrasts.D, time) * root[:, None] / scales.sd[1:]
    return Pilot(rows.T @ y, rows, noise=contrasts.noise(time) * float(scales.sd[0]))


def _rows(spectrum: Spectrum, T_D: FloatArray, time: float) -> FloatArray:
    """Return `V r T_D (T_D' r T_D)^-1`, of shape (n, q)."""
    weighted = T_D / (1.0 + spectrum.w * time)[:, None]
    solved = np.linalg.solve(T_D.T @ weighted, weighted.T).T
    return np.asarray(spectrum.V @ solved, dtype=np.float64)
