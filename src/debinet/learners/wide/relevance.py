"""Scales of the inputs that make the targets most likely: which features matter.

Features z_j become `s_j z_j`. The scales minimize the sum, over all targets, of the criterion that
also sets their penalties: twice the negative restricted log-likelihood, each at its own best
penalty, so that targets of pure noise have no say. What a small change of the kernel K does to it
is the matrix `B = sum_j Q_j - (n - 1) a_j a_j' / (m_j' a_j)`, with `a_j = Q_j m_j`; from there
`sensitivity` leads to the scales.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from debinet._random import named_generator
from debinet.learners.wide.filters import FILTERS
from debinet.learners.wide.kernels import Architecture, kernel_matrix
from debinet.learners.wide.sensitivity import pull_back, require_rectifier
from debinet.learners.wide.spectrum import decompose
from debinet.learners.wide.tuning import reml, time_grid, tune
from debinet.protocols import BoolArray, FloatArray, IntArray

# Rows that are looked at first, and at most: a step costs their number to the third power.
_FEW, _MOST = 500, 1000
_FIRST_STEPS, _LAST_STEPS = 20, 8
# Logarithms of scales are held back by a normal prior of this deviation, and by bounds.
_PRIOR = 2.0
_BOUND = 5.0
# More scales than this share of the rows are not learned.
_CROWDED = 1 / 3
# What a scale must add to the log-likelihood on average for the scales to be used at all (AIC).
_WORTH = 1.0


@dataclass(frozen=True)
class Relevance:
    """What was learned of the features.

    Attributes
    ----------
    scale : FloatArray of shape (p,)
        By which standardized features are multiplied; ones if nothing was worth learning.
    gain : float
        What the scales add to the log-likelihood.
    """

    scale: FloatArray
    gain: float


@dataclass(frozen=True)
class _Problem:
    """Rows to learn from: standardized inputs (n, p), weighted targets (n, m)."""

    Z: FloatArray
    M: FloatArray
    root_weight: FloatArray
    groups: IntArray
    architecture: Architecture

    def of(self, rows: IntArray) -> _Problem:
        M = self.M[rows]
        root = self.root_weight[rows]
        u = root / np.linalg.norm(root)
        M = M - np.outer(u, u @ M)
        M = M * np.sqrt(len(rows)) / np.linalg.norm(M, axis=0)
        return _Problem(self.Z[rows], M, root, self.groups, self.architecture)


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
    require_rectifier(architecture)
    order = named_generator(0, "relevance").permutation(len(Z))
    groups = one_hot_blocks(Z)
    if groups.max() + 1 > _CROWDED * len(Z):
        return Relevance(np.ones(Z.shape[1]), 0.0)
    problem = _Problem(Z, M, root_weight, groups, architecture)
    theta = np.zeros(groups.max() + 2)  # the last is the skip weight's logarithm
    last = problem.of(np.sort(order[:_MOST]))
    if len(Z) > _FEW:
        theta = _minimize(problem.of(np.sort(order[:_FEW])), theta, _FIRST_STEPS)
        theta = _minimize(last, theta, _LAST_STEPS)
    else:
        theta = _minimize(last, theta, _FIRST_STEPS + _LAST_STEPS)
    equal = _objective(np.zeros_like(theta), last, prior=False)[0]
    gain = (equal - _objective(theta, last, prior=False)[0]) / 2
    scale = np.exp(theta[:-1])[groups]
    if gain < _WORTH * theta.size:
        return Relevance(np.ones(Z.shape[1]), 0.0)
    return Relevance(scale, float(gain))


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


def _minimize(problem: _Problem, theta: FloatArray, steps: int) -> FloatArray:
    found = minimize(
        _objective,
        theta,
        args=(problem,),
        jac=True,
        method="L-BFGS-B",
        bounds=[(-_BOUND, _BOUND)] * theta.size,
        options={"maxiter": steps, "maxfun": steps + 5},
    )
    return np.asarray(found.x, dtype=np.float64)


def _objective(
    theta: FloatArray, problem: _Problem, prior: bool = True
) -> tuple[float, FloatArray]:
    """Return the criterion and its gradient by the logarithms of scales and skip weight."""
    n, p = problem.Z.shape
    scale, skip = np.exp(theta[:-1])[problem.groups], float(np.exp(theta[-1]))
    X = np.column_stack([problem.Z * (scale / np.sqrt(p)), np.ones(n)])
    kernel = kernel_matrix(X, X, problem.architecture, skip)
    spectrum = decompose(kernel, problem.root_weight, skip)
    T = spectrum.V.T @ problem.M
    tuned = tune(reml(spectrum, T, FILTERS["ridge"]), time_grid(spectrum.w))
    left = 1.0 / (1.0 + np.multiply.outer(spectrum.w, tuned.time))
    energy = np.maximum((T**2 * left).sum(axis=0), np.finfo(np.float64).tiny)
    a = spectrum.V @ (np.sqrt(tuned.time * (n - 1) / energy) * left * T)
    B = (spectrum.V * (left @ tuned.time)) @ spectrum.V.T - a @ a.T
    B *= np.multiply.outer(problem.root_weight, problem.root_weight)
    d_X, d_skip = pull_back(X, B, problem.architecture, skip)
    by_feature = (X[:, :p] * d_X[:, :p]).sum(axis=0)
    gradient = np.append(np.bincount(problem.groups, by_feature), skip * d_skip)
    value = float(tuned.value.sum())
    if prior:
        value += float(theta @ theta) / (2 * _PRIOR**2)
        gradient = gradient + theta / _PRIOR**2
    return value, gradient
