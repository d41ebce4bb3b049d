"""Scales of the inputs that make the targets most likely: which features matter.

Features z_j become `s_j z_j`. The logarithms of the scales, and of the skip weight, minimize the
criterion of `likelihood` plus a weak prior, by L-BFGS from equal scales. Where the search ends,
the scales of a pair of features that it missed are raised, and the search continues. For smooth
networks the axes may then be rotated (`rotation`). Scales are used if they predict better: the
likelihood alone can be misled by a few outliers.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import minimize
from scipy.stats import norm
from threadpoolctl import ThreadpoolController

from debinet._random import named_generator
from debinet.data.free_memory import require_free
from debinet.learners.wide.kernel_gradient import require_gradient
from debinet.learners.wide.kernels import Architecture
from debinet.learners.wide.likelihood import ScalePoint, ScaleProblem, centred, evaluate
from debinet.learners.wide.rotation import rotate_inputs
from debinet.protocols import BoolArray, FloatArray, IntArray

# Logarithms of scales have a normal prior with this standard deviation, and bounds.
_PRIOR = 2.0
_BOUND = 5.0
# How often the scales of missed pairs are raised at most.
_LIFTS = 3
# Targets are cut at this many standard deviations from their mean while scales are learned;
# standard deviations shrink as tails are cut, so this is repeated a few times.
_FAR, _CUTS = 3.0, 5
# Probability of finding a pair where there is none: a false alarm only costs time.
_FALSE_ALARM = 0.05
# More scales than this share of the rows to learn from are not learned.
CROWDED = 1 / 3


@dataclass(frozen=True)
class _Schedule:
    """How long to search.

    Attributes
    ----------
    few, most : int
        Number of rows used first, and last.
    block : int
        Number of rows whose likelihood is taken together: an evaluation costs its third power.
    last : int
        Steps on more than the first rows.
    enough : float
        A search ends when a step raises twice the log-likelihood by less than this.
    lift : float
        Logarithm to which the scales of missed pairs are raised.
    worth : float
        What each scale must add to the held-out log-likelihood for the scales to be used at all.
    steps : int
        At most, on the first rows.
    """

    few: int
    most: int
    block: int
    last: int
    enough: float
    lift: float
    worth: float
    steps: int = 28


# Steps on 250 rows miss products and even functions of smooth networks (docs/decisions/0020).
_RECTIFIED = _Schedule(few=500, most=1000, block=1000, last=6, enough=0.01, lift=1.0, worth=1.0)
_SMOOTH = _Schedule(few=500, most=500, block=500, last=0, enough=0.5, lift=-0.5, worth=0.0)


@dataclass(frozen=True)
class Relevance:
    """What was learned about the inputs.

    Attributes
    ----------
    matrix : FloatArray of shape (p, p), optional
        Standardized features times this are what the network sees; None if nothing was worth
        learning. Diagonal unless the axes were rotated.
    skip : float, optional
        Weight of the linear part, for smooth networks.
    """

    matrix: FloatArray | None = None
    skip: float | None = None


def learn_relevance(
    Z: FloatArray, M: FloatArray, root_weight: FloatArray, architecture: Architecture
) -> Relevance:
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
    """
    require_gradient(architecture)
    root = root_weight[:, None]
    targets = root * without_tails(M / root)
    problem = ScaleProblem(Z, targets, root_weight, one_hot_blocks(Z), architecture)
    smooth = architecture.activation == "erf"
    plan = _SMOOTH if smooth else _RECTIFIED
    most = min(len(Z), plan.most)
    if problem.size - 1 > CROWDED * most:
        return Relevance()
    require_free(
        bytes_to_learn(most, architecture.depth),
        "to learn the relevance of features",
        "Use relevance='equal', or fewer rows.",
    )
    order = named_generator(0, "relevance").permutation(len(Z))
    few, many = (_split(order[:count], plan.block) for count in (plan.few, most))
    found = _search([problem.of(rows) for rows in few], np.zeros(problem.size), plan, plan.steps)
    first = few[0]
    gain = _heldout_gain(found, centred(M[first], root_weight[first]))
    if not gain > plan.worth * problem.size:
        return _common_scale(problem.of(first), plan) if smooth else Relevance()
    if most > plan.few:
        found = _search([problem.of(rows) for rows in many], found.theta, plan, plan.last)
    matrix = np.eye(Z.shape[1])
    if smooth:
        turned = rotate_inputs(found)
        again = _minimize([turned.problem], turned.start, plan.steps, plan.enough)[0]
        if _penalized(again) < _penalized(found) - turned.price:
            matrix, found = turned.matrix, again
    scale, skip = found.scales()
    return Relevance(matrix * scale, skip if smooth else None)


def _heldout_gain(found: ScalePoint, M: FloatArray) -> float:
    """Return how much more likely held-out targets M (n, m) are than with equal scales."""
    start = evaluate(np.zeros_like(found.theta), found.problem)
    errors = found.heldout_errors(M) / start.heldout_errors(M)
    return -0.5 * len(M) * float(np.log(errors).sum())


def _common_scale(problem: ScaleProblem, plan: _Schedule) -> Relevance:
    """Learn one scale for all features, and the weight of the linear part."""
    p = problem.Z.shape[1]
    one = replace(problem, groups=np.zeros(p, dtype=np.int64))
    scale, skip = _minimize([one], np.zeros(2), plan.steps, plan.enough)[0].scales()
    return Relevance(np.diag(scale), skip)


def without_tails(M: FloatArray) -> FloatArray:
    """Return targets (n, m) of which no value is far from the others; binary ones stay binary."""
    for _ in range(_CUTS):
        spread = M.std(axis=0)
        M = np.clip((M - M.mean(axis=0)) / np.where(spread > 0, spread, 1.0), -_FAR, _FAR)
    return M


def _search(
    problems: Sequence[ScaleProblem], theta: FloatArray, plan: _Schedule, steps: int
) -> ScalePoint:
    """Minimize; raise the scales that were missed and minimize again, as long as that helps.

    Returns the end of the search in the first of the blocks of rows.
    """
    best = _minimize(problems, theta, steps, plan.enough)
    Z = np.vstack([problem.Z for problem in problems])
    root = np.concatenate([problem.root_weight for problem in problems])
    groups = problems[0].groups
    for _ in range(_LIFTS):
        faded = (best[0].theta[:-1] < 0)[groups]
        pair = missed_pair(Z, np.vstack([point.residual for point in best]), root, faded)
        if pair is None:
            break
        lifted = best[0].theta.copy()
        lifted[groups[list(pair)]] = np.maximum(lifted[groups[list(pair)]], plan.lift)
        found = _minimize(problems, lifted, plan.steps, plan.enough)
        if _penalized(*found) > _penalized(*best) - plan.enough:
            break
        best = found
    return best[0]


def _split(order: IntArray, block: int) -> list[IntArray]:
    """Return the rows in ascending parts of nearly the same size, about that of a block."""
    return [np.sort(rows) for rows in np.array_split(order, max(1, round(order.size / block)))]


def _penalized(*points: ScalePoint) -> float:
    """Return the criterion, summed over blocks of rows, with what the prior adds."""
    theta = points[0].theta
    return sum(point.value for point in points) + float(theta @ theta) / (2 * _PRIOR**2)


def _minimize(
    problems: Sequence[ScaleProblem], theta: FloatArray, steps: int, enough: float
) -> list[ScalePoint]:
    """Return where a descent of so many steps ends, for every block of rows."""
    best: list[tuple[float, list[ScalePoint]]] = []

    def objective(theta: FloatArray) -> tuple[float, FloatArray]:
        points = [evaluate(theta.copy(), problem) for problem in problems]
        value = _penalized(*points)
        if not best or value < best[0][0]:
            best[:] = [(value, points)]
        gradient = np.sum([point.gradient() for point in points], axis=0)
        return value, gradient + theta / _PRIOR**2

    # values are of the order of m n log(n); scipy takes tolerances as shares of them
    enough /= sum(problem.M.size for problem in problems) * np.log(len(problems[0].M))
    with _quiet_scipy():
        minimize(
            objective,
            theta,
            jac=True,
            method="L-BFGS-B",
            bounds=[(-_BOUND, _BOUND)] * theta.size,
            options={"maxiter": steps, "maxfun": steps + 5, "ftol": enough},
        )
    return best[0][1]


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


def one_hot_blocks(Z: FloatArray) -> IntArray:
    """Return the block (p,) of every column: consecutive ones of which each row has exactly one.

    Columns are standardized; those of two values count as zeros and ones.
    """
    p = Z.shape[1]
    blocks = np.empty(p, dtype=np.int64)
    high = Z.min(axis=0) < Z
    binary = np.array([np.unique(column).size == 2 for column in Z.T])
    j, block = 0, 0
    while j < p:
        end = _block_end(high, binary, j)
        blocks[j:end] = block
        j, block = end, block + 1
    return blocks


def _block_end(high: BoolArray, binary: BoolArray, start: int) -> int:
    """Return where the block that starts at a column ends."""
    count = np.zeros(len(high), dtype=np.int64)
    for j in range(start, len(binary)):
        if not binary[j]:
            break
        count += high[:, j]
        if count.max() > 1:
            break
        if count.min() == 1:
            return j + 1
    return start + 1


def missed_pair(
    Z: FloatArray, residual: FloatArray, root_weight: FloatArray, faded: BoolArray
) -> tuple[int, int] | None:
    """Return the two features, one of them faded, on whose product residuals depend most.

    If a target has a product `z_j z_k` in it, and both scales are small, raising one of them alone
    does nothing: a search for scales may end there. What such a pair leaves in the residuals r
    shows in `sum_i r_i z_ij z_ik`, which is one matrix product for all pairs.

    Parameters
    ----------
    Z : FloatArray of shape (n, p)
        Standardized features.
    residual : FloatArray of shape (n, m)
        Weighted residuals of m targets.
    root_weight : FloatArray of shape (n,)
    faded : BoolArray of shape (p,)
        Features that the network hardly uses.

    Returns
    -------
    tuple of int, or None
        By a two-sided test of every pair and target, squares included, with variances robust to
        heteroskedasticity; None if none passes Bonferroni's level.
    """
    p, m = Z.shape[1], residual.shape[1]
    statistic = np.zeros((p, p))
    for r in (root_weight[:, None] * residual).T:
        score = Z.T @ (r[:, None] * Z)
        spread = r[:, None] * Z**2
        variance = np.maximum(spread.T @ spread, np.finfo(np.float64).tiny)
        np.maximum(statistic, score**2 / variance, out=statistic)
    # every pair once
    statistic = np.triu(np.where(faded | faded[:, None], statistic, 0.0))
    first, second = np.unravel_index(statistic.argmax(), statistic.shape)
    critical = norm.isf(_FALSE_ALARM / (m * p * (p + 1)))
    return (int(first), int(second)) if statistic[first, second] > critical**2 else None


def bytes_to_learn(rows: int, depth: int) -> int:
    """Return the peak of a search for the relevance of features on that many rows.

    Two points of the search, each with its eigenvectors and four matrices for every layer on the
    way to its kernel, and the matrices that a gradient goes through.
    """
    return 8 * rows * rows * (12 + 8 * depth)
