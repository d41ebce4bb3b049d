"""The sparse group norm: absolute values, and Euclidean norms of groups of columns."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import solve

from debinet.protocols import FloatArray, IntArray
from debinet.selection.groups import Groups
from debinet.selection.plugin import gaussian_level, group_level

# Newton steps from below converge quadratically; this many reach rounding error from anywhere.
NEWTON_STEPS = 100


@dataclass(frozen=True)
class GroupNorm:
    """`l1_ratio |t|_1 + (1 - l1_ratio) sum_g weight_g |t_g|_2`.

    Attributes
    ----------
    groups : Groups
        Which column belongs to which group, and the weights of the groups.
    l1_ratio : float
        From 0, the group Lasso, to 1, the Lasso.
    """

    groups: Groups
    l1_ratio: float = 0.0

    def value(self, coef: FloatArray) -> float:
        """Return P(coef)."""
        grouped = float(self.groups.weights @ self._norms(coef))
        return self.l1_ratio * float(np.abs(coef).sum()) + (1 - self.l1_ratio) * grouped

    def dual(self, z: FloatArray) -> float:
        """Return the largest u that solves `|(|z_g| - u r)_+| = u (1 - r) w` for a group.

        Here r is `l1_ratio`. The left side minus the right is convex and decreasing in u, so Newton
        steps from 0 approach the root from below and never pass it.
        """
        if self.l1_ratio == 1:
            return float(np.abs(z).max())
        slope = (1 - self.l1_ratio) * self.groups.weights
        root = np.zeros(slope.size)
        size = np.abs(z)
        for _ in range(NEWTON_STEPS):
            left = np.maximum(size - self.l1_ratio * root[self.groups.codes], 0)
            norms = self._norms(left)
            sums = np.bincount(self.groups.codes, left, minlength=slope.size)
            steep = self.l1_ratio * np.divide(sums, norms, out=np.zeros_like(sums), where=norms > 0)
            step = (norms - root * slope) / (steep + slope)
            root = root + np.maximum(step, 0)
            if (step <= 1e-14 * root).all():
                break
        return float(root.max())

    def prox(self, v: FloatArray, penalty: float) -> FloatArray:
        """Shrink every coefficient, then every group."""
        shrunk = np.sign(v) * np.maximum(np.abs(v) - penalty * self.l1_ratio, 0)
        norms = self._norms(shrunk)
        bound = penalty * (1 - self.l1_ratio) * self.groups.weights
        factor = np.zeros(norms.size)
        kept = norms > bound
        factor[kept] = 1 - bound[kept] / norms[kept]
        return np.asarray(shrunk * factor[self.groups.codes])

    def working_columns(
        self, coef: FloatArray, z: FloatArray, penalty: float, limit: int
    ) -> IntArray:
        """Return the columns of groups in use and of those that violate optimality most."""
        shrunk = np.maximum(np.abs(z) - penalty * self.l1_ratio, 0)
        bound = penalty * (1 - self.l1_ratio) * self.groups.weights
        excess = self._norms(shrunk) - bound
        used = self._norms(coef) > 0
        entering = np.flatnonzero((excess > 0) & ~used)
        urgency = excess[entering] / self.groups.weights[entering]
        used[entering[np.argsort(-urgency, kind="stable")[:limit]]] = True
        return np.flatnonzero(used[self.groups.codes])

    def restrict(self, columns: IntArray) -> GroupNorm:
        """Return the norm of coefficients that are zero outside of `columns`."""
        return replace(self, groups=self.groups.restrict(columns))

    def newton(self, coef: FloatArray, G: FloatArray, z: FloatArray, penalty: float) -> FloatArray:
        """Take a Newton step in the coefficients that are not zero."""
        used = np.flatnonzero(coef)
        t, codes = coef[used], self.groups.codes[used]
        norms = self._norms(coef)[codes]
        pull = penalty * (1 - self.l1_ratio) * self.groups.weights[codes] / norms
        slope = z[used] - penalty * self.l1_ratio * np.sign(t) - pull * t
        # the second derivative of |t_g| is (I - t t' / |t|^2) / |t|
        unit = t / norms
        bend = np.diag(pull) - (codes[:, None] == codes) * np.outer(pull * unit, unit)
        new = coef.copy()
        new[used] += solve(G[np.ix_(used, used)] + bend, slope, assume_a="pos")
        return new

    def level(self, X: FloatArray) -> float:
        """Return the plug-in penalty for noise of standard deviation 1.

        With `a` the level of the Lasso and `b` that of the group Lasso, noise is inside the dual
        ball if it is inside both of theirs, or inside either of them, scaled: so the smallest of
        `max(a, b)`, `a / l1_ratio` and `b / (1 - l1_ratio)` is enough.
        """
        if self.l1_ratio == 1:
            return gaussian_level(X)
        grouped = group_level(X, self.groups)
        if self.l1_ratio == 0:
            return grouped
        single = gaussian_level(X)
        return min(max(single, grouped), single / self.l1_ratio, grouped / (1 - self.l1_ratio))

    def _norms(self, coef: FloatArray) -> FloatArray:
        count = self.groups.weights.size
        return np.sqrt(np.bincount(self.groups.codes, coef * coef, minlength=count))
