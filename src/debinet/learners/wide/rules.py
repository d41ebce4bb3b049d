"""Rules: 1 in a box of a few features, 0 elsewhere, as thresholds and steps need them.

A smooth network learns a jump slowly, however many rows there are. The leaves of small regression
trees, grown on what the network left, are boxes with the jumps at their sides (Friedman & Popescu
2008). A tree is used if rows that it was not grown on say so.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from debinet.protocols import FloatArray, IntArray

# Bounds of the bounded features of a box.
_Box: TypeAlias = dict[int, tuple[float, float]]
# Leaves of a tree, and its smallest leaf: a share of the rows, and a number of them.
_LEAVES, _SMALLEST_SHARE, _SMALLEST = 4, 0.01, 10
# Trees at most, and how many in succession may fail.
_MOST, _FAILURES = 20, 3
# What a tree must add to the log-likelihood of the rows that it was not grown on.
_WORTH = 6.0
_TINY = np.finfo(np.float64).tiny


@dataclass(frozen=True)
class Rules:
    """Indicators of r boxes, each with at most c bounded features.

    Attributes
    ----------
    features : IntArray of shape (r, c)
        Bounded features of every box.
    low, high : FloatArray of shape (r, c)
        A row is in the box if `low < z <= high` for all of them; infinite where nothing is bounded.
    share : FloatArray of shape (r,)
        Of the rows that are in the box.
    weight : float
        Variance of every indicator's coefficient, times r.
    """

    features: IntArray
    low: FloatArray
    high: FloatArray
    share: FloatArray
    weight: float = 1.0

    @property
    def width(self) -> int:
        """Number of columns."""
        return len(self.share)

    def weighted(self, weight: float) -> Rules:
        """Return the same rules with another weight."""
        return replace(self, weight=weight)

    def __call__(self, Z: FloatArray) -> FloatArray:
        """Return the columns (n, r) of rows (n, p), as they are: not standardized."""
        inside = np.ones((self.width, len(Z)), dtype=bool)
        for k in range(self.width):
            for feature, low, high in zip(self.features[k], self.low[k], self.high[k], strict=True):
                if np.isfinite(low):
                    inside[k] &= Z[:, feature] > low
                if np.isfinite(high):
                    inside[k] &= Z[:, feature] <= high
        return np.asarray(inside.T * np.sqrt(self.weight / self.width))

    def variance(self, p: int) -> FloatArray:
        """Return the variance (p,) of the functions in which each feature takes part."""
        spread = self.weight / self.width * self.share * (1 - self.share)
        total = np.zeros(p)
        for features, low, high, variance in zip(
            self.features, self.low, self.high, spread, strict=True
        ):
            bounded = np.isfinite(low) | np.isfinite(high)
            total[np.unique(features[bounded])] += variance
        return total


def join_rules(first: Rules | None, second: Rules) -> Rules:
    """Return the rules of both, with the weight of the second."""
    if first is None:
        return second
    both, c = (first, second), max(first.features.shape[1], second.features.shape[1])
    return Rules(
        np.concatenate([_padded(one.features, c, 0) for one in both]),
        np.concatenate([_padded(one.low, c, -np.inf) for one in both]),
        np.concatenate([_padded(one.high, c, np.inf) for one in both]),
        np.concatenate([one.share for one in both]),
        second.weight,
    )


def grow_rules(
    Z: FloatArray, residual: FloatArray, weight: FloatArray, rng: np.random.Generator
) -> Rules | None:
    """Grow trees on targets or residuals, each on half of the rows and judged by the others.

    Parameters
    ----------
    Z : FloatArray of shape (n, p)
    residual : FloatArray of shape (n, m)
        m targets, or what a network left of them, held out.
    weight : FloatArray of shape (n,)
        Precisions of the rows.
    rng : Generator

    Returns
    -------
    Rules or None
        None if no tree was worth it.
    """
    left = residual - np.average(residual, axis=0, weights=weight)
    spread = np.sqrt(np.average(left**2, axis=0, weights=weight))
    varied = spread > _TINY  # a rare treatment may not vary among some of the rows
    left = left[:, varied] / spread[varied]
    if not varied.any():
        return None
    found, failures = None, 0
    single = np.ascontiguousarray(Z, dtype=np.float32)  # what trees compare
    for _ in range(_MOST):
        order = rng.permutation(len(Z))
        grown, judges = (np.sort(half) for half in np.array_split(order, 2))
        tree = _grow(single[grown], left[grown], weight[grown])
        step = tree.predict(single, check_input=False).reshape(left.shape)
        rate, gain = _gain(left[judges], step[judges], weight[judges])
        if gain > _WORTH:
            left = left - rate * step
            found, failures = join_rules(found, _leaves(tree.tree_, Z)), 0
            continue
        failures += 1
        if failures == _FAILURES:
            break
    return found


def _grow(Z: npt.NDArray[np.float32], left: FloatArray, weight: FloatArray) -> Any:
    """Return a small tree, grown on rows (n, p)."""
    from sklearn.tree import DecisionTreeRegressor

    smallest = max(_SMALLEST, int(2 * _SMALLEST_SHARE * len(Z)))
    tree = DecisionTreeRegressor(max_leaf_nodes=_LEAVES, min_samples_leaf=smallest, random_state=0)
    # checks of its inputs would take longer than a tree
    return tree.fit(Z, np.ascontiguousarray(left), sample_weight=weight, check_input=False)


def _gain(left: FloatArray, step: FloatArray, weight: FloatArray) -> tuple[FloatArray, float]:
    """Return the best share (m,) of a step, and by how much it raises the log-likelihood."""
    along = weight @ (left * step)
    size = np.maximum(weight @ step**2, _TINY)
    rate = np.clip(along / size, 0.0, 1.0)
    explained = (2 * rate * along - rate**2 * size) / np.maximum(weight @ left**2, _TINY)
    return rate, float(-0.5 * len(left) * np.log1p(-np.minimum(explained, 0.99)).sum())


def _leaves(tree: Any, Z: FloatArray) -> Rules:
    """Return the leaves of a fitted tree, with their shares of the rows (n, p)."""
    boxes: list[_Box] = []
    nodes: list[tuple[int, _Box]] = [(0, {})]
    while nodes:
        node, box = nodes.pop()
        if tree.children_left[node] < 0:
            boxes.append(box)
            continue
        feature, threshold = int(tree.feature[node]), float(tree.threshold[node])
        low, high = box.get(feature, (-np.inf, np.inf))
        nodes.append((tree.children_right[node], {**box, feature: (threshold, high)}))
        nodes.append((tree.children_left[node], {**box, feature: (low, threshold)}))
    c = max(len(box) for box in boxes)
    features = np.zeros((len(boxes), c), dtype=np.int64)
    lows, highs = np.full(features.shape, -np.inf), np.full(features.shape, np.inf)
    for k, box in enumerate(boxes):
        for j, (feature, bounds) in enumerate(box.items()):
            features[k, j], (lows[k, j], highs[k, j]) = feature, bounds
    rules = Rules(features, lows, highs, np.ones(len(boxes)))
    return replace(rules, share=(rules(Z) > 0).mean(axis=0))


def _padded(values: npt.NDArray[Any], c: int, by: float) -> npt.NDArray[Any]:
    return np.pad(values, ((0, 0), (0, c - values.shape[1])), constant_values=by)
