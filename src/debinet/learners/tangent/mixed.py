"""The mixed model `y = D coef + N(0, tau F F') + noise`: generalized least squares for coef.

In the coordinates of the decomposition the contrasts of y have covariance `s^2 diag(1 / r)`, with
`r = 1 / (1 + w t)` and r = 1 for the directions of eigenvalue 0. Of the latter, only the inner
products of y and D matter: a triangular factor of them stands for all, and a restricted
likelihood costs O(k q^2), whatever n is.
"""

from __future__ import annotations

import numpy as np

from debinet.learners.moments import column_moments
from debinet.learners.tangent.factorization import Factorization
from debinet.learners.tangent.lowrank import LowRank
from debinet.learners.tangent.smoother import Smoother
from debinet.learners.tangent.solution import learned_share
from debinet.learners.wide.contrasts import Contrasts
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
    root = factorization.root_weight[:, None]
    scales = column_moments(np.column_stack([y, D]), factorization.root_weight**2)
    standardized = root * scales.standardize(np.column_stack([y, D]))
    fits = []
    for spectrum in factorization.spectra:
        contrasts = _contrasts(spectrum, standardized)
        time, value = contrasts.best_time()
        fits.append((value, time, spectrum, contrasts))
    _, time, spectrum, contrasts = min(fits, key=lambda fit: fit[0])
    share = learned_share(spectrum.w, np.array([time]))
    left = Smoother(spectrum.U, factorization.u, share).residual(standardized[:, 1:])
    solved = np.linalg.solve(standardized[:, 1:].T @ left, left.T).T
    rows = np.asarray(solved * root / scales.sd[1:])
    return Pilot(rows.T @ y, rows, noise=contrasts.noise(time) * float(scales.sd[0]))


def _contrasts(spectrum: LowRank, standardized: FloatArray) -> Contrasts:
    T = spectrum.U.T @ standardized
    n, columns = standardized.shape
    rest = np.zeros((columns, columns))
    if spectrum.w.size < n - 1:
        triangle = np.linalg.qr(standardized - spectrum.U @ T, mode="r")
        rest[: len(triangle)] = triangle
    rows = np.vstack([T, rest])
    w = np.concatenate([spectrum.w, np.zeros(columns)])
    return Contrasts(w, rows[:, 0], rows[:, 1:], n - columns)
