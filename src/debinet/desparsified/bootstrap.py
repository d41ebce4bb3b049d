"""Bootstrap of the desparsified Lasso, after Dezeure, Buehlmann and Zhang (2017)."""

from __future__ import annotations

from typing import Any

import numpy as np

from debinet._random import named_generator
from debinet.data.options import one_of, whole_number
from debinet.desparsified.bootstrapped import Bootstrapped
from debinet.desparsified.gram import gram_matrix
from debinet.desparsified.lasso import LassoFit
from debinet.desparsified.workers import in_blocks
from debinet.exceptions import CovarianceError
from debinet.learners.progress import Progress
from debinet.protocols import FloatArray
from debinet.selection.problem import LinearProblem

KINDS = ("wild", "residual")
FEWEST = 20
_SILENT = Progress()


def bootstrap(
    problem: LinearProblem,
    influence: FloatArray,
    fit: LassoFit,
    *,
    kind: Any,
    replications: Any,
    seed: int,
    n_jobs: int | None,
    progress: Progress = _SILENT,
) -> Bootstrapped:
    """Draw noise, refit the Lasso at its penalty and debias it; nodewise regressions are kept.

    Parameters
    ----------
    problem : LinearProblem
        n rows, p standardized columns.
    influence : FloatArray of shape (p, n)
        Of the standardized columns.
    fit : LassoFit
        The Lasso that was debiased.
    kind : {"wild", "residual"}
        Residuals with random signs, or drawn with replacement.
    replications : int
        Number of refits.
    seed : int
        Decides the draws.
    n_jobs : int, optional
        Threads for the refits.
    progress : Progress
    """
    one_of("kind", kind, KINDS, "Use 'wild', which is robust.")
    remedy = "Use 500 for 95 % intervals, more for higher levels."
    replications = whole_number("replications", replications, FEWEST, remedy)
    centred = fit.residuals - fit.residuals.mean()
    if np.abs(centred).max() <= 1e-12 * np.abs(problem.y).max():
        raise CovarianceError(
            "residuals to draw from", "a perfect fit", "Use a larger penalty for the Lasso."
        )
    rng = named_generator(seed, "bootstrap", kind)
    noise = _draw_noise(rng, centred, kind, replications)
    coefs = _refit(problem, fit, noise, n_jobs, progress)
    residuals = noise - noise.mean(axis=1, keepdims=True) + (fit.coef - coefs) @ problem.X.T
    shifts = residuals @ influence.T
    error = _errors(residuals, shifts, influence, np.count_nonzero(coefs, axis=1), kind)
    own = centred[None, :]
    own_shift = own @ influence.T
    own_error = _errors(own, own_shift, influence, np.array([fit.size]), kind)[0]
    return Bootstrapped(
        names=problem.names,
        estimate=(fit.coef + own_shift[0]) / problem.scale,
        error=own_error / problem.scale,
        pivots=(coefs + shifts - fit.coef) / error,
        kind=kind,
        seed=seed,
    )


def _draw_noise(
    rng: np.random.Generator, residuals: FloatArray, kind: str, replications: int
) -> FloatArray:
    """Return noise of shape (replications, n)."""
    shape = (replications, residuals.size)
    if kind == "residual":
        return np.asarray(residuals[rng.integers(residuals.size, size=shape)])
    return np.asarray(residuals * rng.choice([-1.0, 1.0], size=shape))


def _refit(
    problem: LinearProblem,
    fit: LassoFit,
    noise: FloatArray,
    n_jobs: int | None,
    progress: Progress,
) -> FloatArray:
    """Return the Lasso coefficients (replications, p) of `y* = X coef + noise`."""
    from debinet.desparsified.kernels import solve_many

    gram = gram_matrix(problem)
    targets = gram @ fit.coef + noise @ problem.X / problem.n
    coefs, done = np.empty_like(targets), np.zeros(len(targets), np.bool_)

    def work(block: slice) -> None:
        solve_many(gram, targets[block], fit.penalty, fit.coef, coefs[block], done[block])

    with progress.count("Bootstrap", len(targets), "refit") as counter:
        in_blocks(work, len(targets), n_jobs, counter)
    if not done.all():
        raise CovarianceError(
            "Lasso refits that converge",
            f"{np.count_nonzero(~done)} of {done.size} that do not",
            "Use a larger penalty for the Lasso.",
        )
    return coefs


def _errors(
    residuals: FloatArray, shifts: FloatArray, influence: FloatArray, sizes: Any, kind: str
) -> FloatArray:
    """Return standard errors (replications, p) from residuals (replications, n).

    For "residual" the noise level, with the Lasso's degrees of freedom, times `|A_j|`; for "wild"
    the robust `sum_i (A_ij u_i)^2`, centred.
    """
    n = residuals.shape[1]
    if kind == "residual":
        df = np.maximum(1, n - 1 - sizes)
        sigma = np.sqrt((residuals**2).sum(axis=1) / df)
        return np.asarray(sigma[:, None] * np.sqrt((influence**2).sum(axis=1)))
    squares = residuals**2 @ (influence**2).T
    return np.asarray(np.sqrt(squares - shifts**2 / n))
