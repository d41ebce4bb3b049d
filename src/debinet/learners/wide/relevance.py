"""Scales of the inputs that make the targets most likely: which features matter.

Features z_j become `s_j z_j`. The logarithms of the scales, and of the skip weight, minimize the
criterion of `likelihood` plus a weak prior, by L-BFGS from equal scales. Where the search ends,
the scales of a pair of features that it missed are raised, and the search continues. Scales are
used if they predict better: the likelihood alone can be misled by a few outliers. Smooth networks
may then get functions of single features (`smooths`), and rotated axes (`rotation`), if the
likelihood gains enough.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from debinet._random import named_generator
from debinet.data.free_memory import require_free
from debinet.learners.tails import cut_tails
from debinet.learners.wide.kernel_gradient import require_gradient
from debinet.learners.wide.kernels import Architecture
from debinet.learners.wide.landmark_likelihood import LandmarkPoint
from debinet.learners.wide.likelihood import evaluate
from debinet.learners.wide.one_hot import one_hot_blocks
from debinet.learners.wide.rotation import rotate_inputs
from debinet.learners.wide.scale_problem import ScalePoint, ScaleProblem, centred
from debinet.learners.wide.scale_search import Schedule, descend, descend_and_lift, penalized
from debinet.learners.wide.smooths import KNOTS, Smooths, place_smooths
from debinet.protocols import FloatArray

# Targets are cut at this many standard deviations from their mean while scales are learned.
FAR = 3.0
# More scales than this share of the rows to learn from are not learned.
CROWDED = 1 / 3


# Steps on 250 rows miss products and even functions of smooth networks (docs/decisions/0020).
_RECTIFIED = Schedule(
    few=500, most=1000, last=6, enough=0.01, lift=1.0, rough=-np.inf, worth=1.0, highest=5.0
)
# Rows that the scales of smooth networks are learned from.
ROWS = 500
# Landmarks of a search, which goes on with more of them if functions need more than this share.
_LANDMARKS, _FULL = (100, 250), 0.4
# Knots that are enough to tell which features may have functions.
_ROUGH_KNOTS = 6
# Features of smaller scales hardly matter.
_FADED = 0.1
# Beyond exp(2.5) erf is a step.
_SMOOTH = Schedule(
    few=ROWS, most=ROWS, last=0, enough=0.5, lift=-0.5, rough=2.0, worth=0.0, highest=2.5
)


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
    smooths : Smooths, optional
        Functions of single features, for smooth networks.
    theta : FloatArray, optional
        Where the first search ended, from which another one may start.
    """

    matrix: FloatArray | None = None
    skip: float | None = None
    smooths: Smooths | None = None
    theta: FloatArray | None = None


def learn_relevance(
    Z: FloatArray,
    M: FloatArray,
    root_weight: FloatArray,
    architecture: Architecture,
    fixed: FloatArray | None = None,
    *,
    rough: int | None = None,
    start: FloatArray | None = None,
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
    fixed : FloatArray of shape (n, c), optional
        Columns beside the network whose weights are known.
    rough : int, optional
        A feature of which more rows than are used here show a rough function: the search starts
        with a large scale for it, too.
    start : FloatArray, optional
        Where an earlier search ended: this one starts there, too.
    """
    require_gradient(architecture)
    root = root_weight[:, None]
    blocks = one_hot_blocks(Z)
    # A search makes more of the last digits, which depend on how rows were read: they are left out.
    Z, targets = (_rounded(one) for one in (Z, root * cut_tails(M / root, FAR)))
    smooth = architecture.activation == "erf"
    problem = ScaleProblem(Z, targets, root_weight, blocks, architecture, fixed=fixed)
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
    few, many = (np.sort(order[:count]) for count in (plan.few, most))
    starts = [np.zeros(problem.size)]
    if start is not None:
        starts.append(start)
    if rough is not None:
        starts.append(np.where(np.arange(problem.size) == problem.groups[rough], plan.rough, 0.0))
    search = _search_on_landmarks if smooth else _search
    found = search(problem.of(few), starts, plan)
    first = found.theta
    gain = _heldout_gain(found, centred(M[few], root_weight[few]))
    if not gain > plan.worth * problem.size:
        if not smooth:
            return Relevance()
        found = _common_scale(found.problem, plan)
    elif most > plan.few:
        found = descend_and_lift(problem.of(many), found.theta, plan, plan.last)
    matrix = np.eye(Z.shape[1])
    if smooth:
        found = _add_smooths(found, plan)
        assert isinstance(found, LandmarkPoint)
        turned = rotate_inputs(found)
        again = descend(turned.problem, turned.start, plan, price=turned.price)
        if penalized(again) < penalized(found) - turned.price:
            matrix, found = turned.matrix, again
    scale, skip = found.problem.scales(found.theta)
    smooths = found.problem.weighted_smooths(found.theta)
    return Relevance(matrix * scale, skip if smooth else None, smooths, first)


def _rounded(X: FloatArray) -> FloatArray:
    return X.astype(np.float32).astype(np.float64)


def _search(problem: ScaleProblem, starts: list[FloatArray], plan: Schedule) -> ScalePoint:
    """Return the best end of descents from all starts."""
    ends = [descend_and_lift(problem, theta, plan, plan.steps) for theta in starts]
    return min(ends, key=penalized)


def _search_on_landmarks(
    problem: ScaleProblem, starts: list[FloatArray], plan: Schedule
) -> ScalePoint:
    """Search on few landmarks, and go on with more if the functions need many of them."""
    for count in _LANDMARKS:
        found = _search(problem.on_landmarks(count), starts, plan)
        assert isinstance(found, LandmarkPoint)
        if found.dof < _FULL * count:
            break
        starts = [found.theta]
    return found


def _add_smooths(found: ScalePoint, plan: Schedule) -> ScalePoint:
    """Add functions of single features if the criterion gains twice their number (AIC).

    Features that hardly matter, and of which the criterion would rather have no function, are left
    out of the search.
    """
    problem = found.problem
    alone = np.bincount(problem.groups)[problem.groups] == 1
    smooths, rough = (place_smooths(problem.Z, alone, knots) for knots in (KNOTS, _ROUGH_KNOTS))
    count = smooths.features.size
    if not count or problem.size + count > CROWDED * len(problem.Z):
        return found
    start = np.append(found.theta, np.zeros(count))
    slopes = evaluate(start, problem.with_smooths(rough)).gradient()[found.theta.size :]
    scale = problem.scales(found.theta)[0][smooths.features]
    wanted = (slopes < 0) | (scale > _FADED * min(1.0, scale.max()))
    if not wanted.any():
        return found
    start, price = np.append(found.theta, np.zeros(wanted.sum())), 2.0 * count
    added = descend(problem.with_smooths(smooths.of(wanted)), start, plan, price=price)
    return added if penalized(added) < penalized(found) - price else found


def _heldout_gain(found: ScalePoint, M: FloatArray) -> float:
    """Return how much more likely held-out targets M (n, m) are than with equal scales."""
    start = evaluate(np.zeros_like(found.theta), found.problem)
    errors = found.heldout_errors(M) / start.heldout_errors(M)
    return -0.5 * len(M) * float(np.log(errors).sum())


def _common_scale(problem: ScaleProblem, plan: Schedule) -> ScalePoint:
    """Learn one scale for all features, and the weight of the linear part."""
    one = replace(problem, groups=np.zeros_like(problem.groups))
    scale, skip = descend(one, np.zeros(2), plan).theta
    return evaluate(np.append(np.full(problem.n_scales, scale), skip), problem)


def bytes_to_learn(rows: int, depth: int) -> int:
    """Return the peak of a search for the relevance of features on that many rows.

    Two points of the search, each with its eigenvectors and four matrices for every layer on the
    way to its kernel, and the matrices that a gradient goes through.
    """
    return 8 * rows * rows * (12 + 8 * depth)
