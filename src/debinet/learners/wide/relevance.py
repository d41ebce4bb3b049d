"""Scales of the inputs that make the targets most likely: which features matter.

Features z_j become `s_j z_j`. The logarithms of the scales, and of the skip weight, minimize the
criterion of `likelihood` plus a weak prior, by L-BFGS from equal scales. Where the search ends,
a pair of features that it missed (`interactions`) is lifted, and the search goes on. Scales are
used if they predict better: the likelihood alone can be fooled by a few rows of heavy tails.
"""

from __future__ import annotations

from contextlib import AbstractContextManager

import numpy as np
from scipy.optimize import minimize
from threadpoolctl import ThreadpoolController

from debinet._random import named_generator
from debinet.learners.wide.inputs import one_hot_blocks
from debinet.learners.wide.interactions import missed_pair
from debinet.learners.wide.kernels import Architecture
from debinet.learners.wide.likelihood import ScalePoint, ScaleProblem, centred, evaluate
from debinet.learners.wide.memory import require_memory_to_learn
from debinet.learners.wide.sensitivity import require_rectifier
from debinet.protocols import FloatArray

# Rows that are looked at first, and at most: a step costs their number to the third power.
_FEW, _MOST = 500, 1000
_STEPS = 28
# If more rows follow, fewer steps on the first ones do, and few on all.
_FIRST_STEPS, _LAST_STEPS = 20, 6
# A search ends when a step gains less than this of twice the log-likelihood.
_ENOUGH = 0.01
# Logarithms of scales are held back by a normal prior of this deviation, and by bounds.
_PRIOR = 2.0
_BOUND = 5.0
# Pairs of features that were missed are lifted to this scale's logarithm, at most so many times.
_LIFTED = 1.0
_LIFTS = 3
# Targets further than this many deviations from their mean count as this far while scales are
# learned; deviations shrink as tails are cut, so it is done a few times.
_FAR, _CUTS = 3.0, 5
# More scales than this share of the rows to learn from are not learned.
_CROWDED = 1 / 3
# What each scale must add to the held-out log-likelihood for the scales to be used at all (AIC).
_WORTH = 1.0


def learn_relevance(
    Z: FloatArray, M: FloatArray, root_weight: FloatArray, architecture: Architecture
) -> FloatArray:
    """Learn one scale per feature, or per block of one-hot columns, for all targets together.

    Parameters
    ----------
    Z : FloatArray of shape (n, p)
        Standardized features.
    M : FloatArray of shape (n, m)
        Standardized targets times `root_weight`.
    root_weight : FloatArray of shape (n,)
        Square roots of positive weights.
    architecture : Architecture

    Returns
    -------
    FloatArray of shape (p,)
        Scales of the features; ones if nothing was worth learning.
    """
    require_rectifier(architecture)
    nothing = np.ones(Z.shape[1])
    root = root_weight[:, None]
    targets = root * without_tails(M / root)
    problem = ScaleProblem(Z, targets, root_weight, one_hot_blocks(Z), architecture)
    most = min(len(Z), _MOST)
    if problem.size - 1 > _CROWDED * most:
        return nothing
    require_memory_to_learn(most, architecture.depth)
    order = named_generator(0, "relevance").permutation(len(Z))
    start = np.zeros(problem.size)
    if len(Z) > _FEW:
        first = _search(problem.of(np.sort(order[:_FEW])), start, _FIRST_STEPS)
        rows = np.sort(order[:most])
        found = _search(problem.of(rows), first.theta, _LAST_STEPS)
    else:
        rows = np.arange(len(Z))
        found = _search(problem.of(rows), start, _STEPS)
    given = centred(M[rows], root_weight[rows])
    errors = found.heldout_errors(given) / evaluate(start, found.problem).heldout_errors(given)
    gain = -0.5 * len(rows) * float(np.log(errors).sum())
    if not gain > _WORTH * problem.size:
        return nothing
    return np.asarray(np.exp(found.theta[:-1])[problem.groups])


def without_tails(M: FloatArray) -> FloatArray:
    """Return targets (n, m) of which no value is far from the others; binary ones stay binary."""
    for _ in range(_CUTS):
        spread = M.std(axis=0)
        M = np.clip((M - M.mean(axis=0)) / np.where(spread > 0, spread, 1.0), -_FAR, _FAR)
    return M


def _search(problem: ScaleProblem, theta: FloatArray, steps: int) -> ScalePoint:
    """Minimize; lift what was missed and minimize again, as long as that helps."""
    best = _minimize(problem, theta, steps)
    for _ in range(_LIFTS):
        faded = (best.theta[:-1] < 0)[problem.groups]
        pair = missed_pair(problem.Z, best.residual, problem.root_weight, faded)
        if pair is None:
            break
        lifted = best.theta.copy()
        groups = problem.groups[list(pair)]
        lifted[groups] = np.maximum(lifted[groups], _LIFTED)
        found = _minimize(problem, lifted, steps)
        if _penalized(found) > _penalized(best) - _ENOUGH:
            break
        best = found
    return best


def _penalized(point: ScalePoint) -> float:
    """Return the criterion with what the prior adds."""
    return point.value + float(point.theta @ point.theta) / (2 * _PRIOR**2)


def _minimize(problem: ScaleProblem, theta: FloatArray, steps: int) -> ScalePoint:
    """Return where a descent of so many steps ends."""
    best: list[ScalePoint] = []

    def objective(theta: FloatArray) -> tuple[float, FloatArray]:
        point = evaluate(theta.copy(), problem)
        value = _penalized(point)
        if not best or value < _penalized(best[0]):
            best[:] = [point]
        return value, point.gradient() + theta / _PRIOR**2

    # values are of the order of m n log(n); scipy asks for shares of them
    enough = _ENOUGH / (problem.M.size * np.log(len(problem.M)))
    with _quiet_scipy():
        minimize(
            objective,
            theta,
            jac=True,
            method="L-BFGS-B",
            bounds=[(-_BOUND, _BOUND)] * theta.size,
            options={"maxiter": steps, "maxfun": steps + 5, "ftol": enough},
        )
    return best[0]


def _quiet_scipy() -> AbstractContextManager[object]:
    """Return a context in which scipy's own BLAS, a second library, has one thread.

    Its threads wait for more work by spinning, for longer than an evaluation takes, on the cores
    that numpy's threads need: evaluations took twice the time.
    """
    libraries = ThreadpoolController()
    paths = [library["filepath"] for library in libraries.info()]
    own = [path for path in paths if "scipy.libs" in path]
    limited: AbstractContextManager[object] = libraries.select(filepath=own).limit(limits=1)
    return limited
