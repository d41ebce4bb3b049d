"""Thresholds as inputs of a network: found in what it leaves, kept if the likelihood gains."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from debinet.learners.wide.input_map import NetworkInputs
from debinet.learners.wide.jumps import Jumps, add_jump, find_jump
from debinet.learners.wide.landmark_fit import LandmarkFit, SampledRows

# With fewer rows windows have too few of them.
FEWEST_ROWS = 400
_MOST = 8
# Scales of a new input that are tried: the others only if the likelihood gains by the first. And
# what twice the log-likelihood must gain.
_SCALE, _OTHER_SCALES = 1.0, (0.3, 3.0)
_PRICE = 10.0
# Share of the rows on each side of a threshold among which a better one is looked for.
_NEAR = 0.01


def add_jumps(rows: SampledRows, fit: LandmarkFit, every: SampledRows) -> LandmarkFit:
    """Return the fit of a network with thresholds as inputs, or as it is if there are none.

    Parameters
    ----------
    rows : SampledRows
    fit : LandmarkFit
        Of the network to which they may be added, to these rows.
    every : SampledRows
        All rows, among which every threshold is then placed where it fits best.
    """
    best = fit
    while len(rows.Z) >= FEWEST_ROWS and _count(best) < _MOST:
        where = find_jump(rows.Z, rows.root[:, None] * best.held_out(rows), rows.root)
        if where is None:
            break
        jumps = add_jump(best.network.map_.jumps, *where, rows.Z)
        found = rows.fit(_with_jump(best.network, jumps, _SCALE))
        if found.value < best.value:
            others = [rows.fit(_with_jump(best.network, jumps, scale)) for scale in _OTHER_SCALES]
            found = min(found, *others, key=lambda one: one.value)
        if found.value >= best.value - _PRICE:
            break
        best = found
    return best if best is fit else rows.fit(_refine(best, every))


def _count(fit: LandmarkFit) -> int:
    jumps = fit.network.map_.jumps
    return 0 if jumps is None else jumps.width


def _with_jump(network: NetworkInputs, jumps: Jumps, scale: float) -> NetworkInputs:
    """Return the network with one more input of that scale; the others remain as they were."""
    map_, size = network.map_, network.map_.moments.mean.size + jumps.width
    before = np.eye(size - 1) if map_.matrix is None else map_.matrix
    matrix = np.zeros((size, before.shape[1] + 1))
    matrix[:-1, :-1] = before * np.sqrt(size / (size - 1))
    matrix[-1, -1] = scale * np.sqrt(size)
    return replace(network, map_=replace(map_, matrix=matrix, jumps=jumps))


def _refine(fit: LandmarkFit, rows: SampledRows) -> NetworkInputs:
    """Return the network with every threshold where it fits these rows best."""
    map_ = fit.network.map_
    assert map_.jumps is not None
    moved = [_best_threshold(fit, rows, map_.jumps, k) for k in range(map_.jumps.width)]
    jumps = replace(map_.jumps, thresholds=np.array(moved))
    jumps = replace(jumps, share=jumps.above(rows.Z).mean(axis=0))
    return replace(fit.network, map_=replace(map_, jumps=jumps))


def _best_threshold(fit: LandmarkFit, rows: SampledRows, jumps: Jumps, k: int) -> float:
    """Return the threshold next to the k-th at which both sides are predicted best."""
    feature, threshold = int(jumps.features[k]), float(jumps.thresholds[k])
    values = rows.Z[:, feature]
    order = np.argsort(values, kind="stable")
    centre, reach = int(np.searchsorted(values[order], threshold)), round(_NEAR * len(values))
    near = order[max(centre - reach, 0) : centre + reach]
    below, above = rows.of(near), rows.of(near)
    below.Z[:, feature] = np.minimum(below.Z[:, feature], threshold)
    above.Z[:, feature] = np.maximum(above.Z[:, feature], np.nextafter(threshold, np.inf))
    wrong = [(rows.M[near] - fit.predict(side.Z)) ** 2 / fit.noise for side in (below, above)]
    gain = rows.weight[near] * (wrong[1] - wrong[0]).sum(axis=1)
    # rows up to the threshold gain by being below it
    total = np.concatenate([[0.0], np.cumsum(gain)])
    sorted_values = values[near]
    apart = np.concatenate([[False], sorted_values[1:] > sorted_values[:-1], [False]])
    if not apart.any():
        return threshold
    best = int(np.where(apart, total, -np.inf).argmax())
    return float(sorted_values[best - 1 : best + 1].mean())
