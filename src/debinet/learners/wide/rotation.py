"""Axes along which the targets change most: a rotation of the inputs.

Weights of single features cannot describe a function of a sum such as `sin(z_1 + z_2)`, but the
kernel of a network depends on the scaled rows by inner products only, so any rotation of them
leaves it as it is, and weights along other axes describe other functions. The axes are the
eigenvectors of the average outer product of the gradients of the fitted functions (Radhakrishnan,
Beaglehole, Pandit & Belkin 2024), in which a function of one sum has a single axis that matters.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from debinet.learners.wide.landmark_likelihood import LandmarkPoint
from debinet.learners.wide.scale_problem import ScaleProblem
from debinet.protocols import FloatArray

# Features with less than this share of the largest scale stay as they are.
_ACTIVE = 0.05


@dataclass(frozen=True)
class Rotated:
    """Scaled and rotated inputs.

    Attributes
    ----------
    matrix : FloatArray of shape (p, p)
        From the features to the new inputs.
    problem : ScaleProblem
        The same rows with the new inputs, each with a scale of its own.
    start : FloatArray of shape (p + 1,)
        Logarithms of scales and skip weight at which the criterion has not changed.
    price : float
        What the criterion must gain (AIC): twice the number of angles.
    """

    matrix: FloatArray
    problem: ScaleProblem
    start: FloatArray
    price: float


def rotate_inputs(point: LandmarkPoint) -> Rotated:
    """Rotate the features that matter, blocks of one-hot columns apart."""
    problem = point.problem
    p = problem.Z.shape[1]
    scale, skip = problem.scales(point.theta)
    alone = np.bincount(problem.groups)[problem.groups] == 1
    active = np.flatnonzero(alone & (scale > _ACTIVE * scale.max()))
    products = np.zeros((active.size, active.size))
    for j in range(problem.M.shape[1]):
        gradients = point.function_gradients(j)[:, active]
        products += gradients.T @ gradients
    axes = np.linalg.eigh(products)[1]
    matrix = np.diag(scale)
    matrix[np.ix_(active, active)] = scale[active, None] * axes
    turned = replace(problem, Z=problem.Z @ matrix, groups=np.arange(p))
    start = np.concatenate([np.zeros(p), [np.log(skip)], point.theta[problem.n_scales + 1 :]])
    return Rotated(matrix, turned, start, float(active.size * (active.size - 1)))
