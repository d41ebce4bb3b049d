"""What the trust report needs to know of a desparsified Lasso."""

from __future__ import annotations

import numpy as np

from debinet.desparsified.lasso import LassoFit
from debinet.desparsified.nodewise import Projection
from debinet.inference.trust_evidence import LassoEvidence
from debinet.protocols import FloatArray
from debinet.selection.problem import LinearProblem


def lasso_evidence(
    problem: LinearProblem, lasso: LassoFit, projection: Projection, sigma: float
) -> LassoEvidence:
    """Gather it while the nodewise regressions are at hand."""
    left = np.einsum("ij,ij->i", projection.influence, projection.influence)
    return LassoEvidence(
        bias=_bias(problem, lasso, projection, sigma),
        left=left / projection.precision**2 / problem.n,
        noise=lasso.sigma,
        unsolved=int(np.count_nonzero(~projection.done)),
    )


def _bias(
    problem: LinearProblem, lasso: LassoFit, projection: Projection, sigma: float
) -> FloatArray:
    """Estimate the bias of the Lasso's nonzero coefficients, in standard errors.

    On its support S the Lasso falls short of least squares by
    `shift = penalty (X_S'X_S / n)^-1 sign(coef_S)`. A coefficient that is debiased exactly has
    `z_j'x_k = 0` for all other columns k; as it is, `sum_k z_j'x_k shift_k` is left of it.
    """
    support = np.flatnonzero(lasso.coef)
    columns = problem.X[:, support]
    gram = columns.T @ columns / problem.n
    shift = lasso.penalty * np.linalg.lstsq(gram, np.sign(lasso.coef[support]), rcond=None)[0]
    influence = projection.influence[support]
    inner = influence @ columns
    np.fill_diagonal(inner, 0.0)
    se = sigma * np.linalg.norm(influence, axis=1)
    left = inner @ shift
    return np.asarray(np.divide(left, se, out=np.zeros_like(left), where=se > 0))
