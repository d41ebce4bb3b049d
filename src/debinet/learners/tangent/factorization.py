"""What a fit takes from the inputs alone: features, and their decomposition per skip weight."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from debinet.learners.tangent.features import FeatureMap, Features
from debinet.learners.tangent.lowrank import LowRank, decompose
from debinet.learners.tangent.memory import require_memory
from debinet.protocols import FloatArray, IntArray


@dataclass(frozen=True)
class Factorization:
    """Inputs, decomposed; the targets play no part in it.

    Attributes
    ----------
    key : bytes
        Fingerprint of everything it was made from.
    feature_map : FeatureMap
    centre : FloatArray of shape (m,)
        Weighted means of the features.
    rows : IntArray of shape (n,)
        The rows with positive weight, in ascending order.
    root_weight : FloatArray of shape (n,)
        Square roots of their weights.
    u : FloatArray of shape (n,)
        The intercept's direction, `root_weight` at unit length.
    spectra : tuple of LowRank
        One per skip weight.
    """

    key: bytes
    feature_map: FeatureMap
    centre: FloatArray
    rows: IntArray
    root_weight: FloatArray
    u: FloatArray
    spectra: tuple[LowRank, ...]


def factorize(
    Z: FloatArray, weight: FloatArray, features: Features, skips: tuple[float, ...], key: bytes
) -> Factorization:
    """Standardize, compute the features, decompose them: once for every skip weight.

    Parameters
    ----------
    Z : FloatArray of shape (n, p)
    weight : FloatArray of shape (n,)
        Not negative; rows of weight 0 are left out.
    features : Features
    skips : tuple of float
        Weights of the linear part to prepare for.
    key : bytes
        From `fingerprint`.
    """
    rows = np.flatnonzero(weight > 0)
    require_memory(rows.size, features.count(Z.shape[1]), len(skips))
    inside = Z if rows.size == Z.shape[0] else Z[rows]
    feature_map = features.make(inside, weight[rows])
    F = feature_map(inside)
    root = np.sqrt(weight[rows])
    centre = root**2 @ F / (root @ root)
    F -= centre
    F *= root[:, None]
    size = float((root @ root) * (centre @ centre))
    spectra = decompose(F, feature_map.width, skips, size)
    u = root / np.linalg.norm(root)
    return Factorization(key, feature_map, centre, rows, root, u, spectra)
