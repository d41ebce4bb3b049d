"""Proximal steps and dual norms against cvxpy, an independent solver."""

import numpy as np
import pytest

from debinet.selection.absolute_norm import AbsoluteNorm
from debinet.selection.group_norm import GroupNorm
from debinet.selection.groups import make_groups
from debinet.selection.sorted_norm import SortedNorm

cp = pytest.importorskip("cvxpy")

NAMES = [f"x{j}" for j in range(7)]
LABELS = ["a", "a", "a", "b", "c", "c", "d"]
GROUPS = make_groups(LABELS, NAMES)
WEIGHTS = np.array([3.0, 2.5, 2.5, 1.0, 0.5, 0.2, 0.0])


def members():
    return [np.flatnonzero(GROUPS.codes == g) for g in range(GROUPS.weights.size)]


def group_value(t):
    return cp.sum([np.sqrt(m.size) * cp.norm(t[m], 2) for m in members()])


def sorted_value(t):
    steps = np.append(-np.diff(WEIGHTS), WEIGHTS[-1])
    return cp.sum([s * cp.sum_largest(cp.abs(t), k + 1) for k, s in enumerate(steps)])


NORMS = {
    "absolute": (AbsoluteNorm(), lambda t: cp.norm(t, 1)),
    "group": (GroupNorm(GROUPS), group_value),
    "sparse group": (
        GroupNorm(GROUPS, 0.4),
        lambda t: 0.4 * cp.norm(t, 1) + 0.6 * group_value(t),
    ),
    "sparse group at 1": (GroupNorm(GROUPS, 1.0), lambda t: cp.norm(t, 1)),
    "sorted": (SortedNorm(WEIGHTS), sorted_value),
}
every_norm = pytest.mark.parametrize(("norm", "by_cvxpy"), NORMS.values(), ids=NORMS.keys())


def vectors(count=4):
    return np.random.default_rng(0).normal(size=(count, 7)) * [[3.0]]


@every_norm
def test_prox_is_the_minimizer(norm, by_cvxpy):
    for v in vectors():
        t = cp.Variable(7)
        cp.Problem(cp.Minimize(cp.sum_squares(v - t) / 2 + 0.7 * by_cvxpy(t))).solve(
            solver=cp.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-11
        )
        found = norm.prox(v, 0.7)
        # gaps of 1e-11 of a problem of curvature 1 leave 5e-6 in the minimizer
        np.testing.assert_allclose(found, t.value, atol=1e-5)


@every_norm
def test_value_and_dual_norm(norm, by_cvxpy):
    for z in vectors():
        np.testing.assert_allclose(norm.value(z), by_cvxpy(cp.Constant(z)).value, rtol=1e-10)
        t = cp.Variable(7)
        largest = cp.Problem(cp.Maximize(z @ t), [by_cvxpy(t) <= 1]).solve(solver=cp.CLARABEL)
        np.testing.assert_allclose(norm.dual(z), largest, rtol=1e-6)
