"""Features whose inner products are the network's kernel, exact on some of the rows.

With landmarks `P` and `K(P, P) = E diag(l) E'`, the features of a row are
`K(z, P) E diag(l)^-1/2`: their kernel is the best approximation of K by functions `K(., P)`
(Nystroem). The kernels of smooth networks have rapidly falling eigenvalues, so that a few hundred
landmarks lose next to nothing where random hidden units would lose an error of order
`1 / sqrt(width)` (docs/decisions/0023).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg.lapack import dtrtri

from debinet._random import named_generator
from debinet.data.free_memory import row_chunks
from debinet.learners.wide.input_map import InputMap
from debinet.learners.wide.kernels import Architecture, kernel_matrix
from debinet.protocols import FloatArray

# Eigenvalues below this share of the largest are rounding.
_ROUNDING = 1e-10
# Added to the diagonal before a Cholesky factor, in units of it: rounding, and repeated rows.
_JITTER = 1e-9


@dataclass(frozen=True)
class Landmarks:
    """Rows z as features: the kernel with the landmarks, added columns, then linear ones.

    Attributes
    ----------
    inputs : InputMap
        From p features to r inputs.
    architecture : Architecture
    points : FloatArray of shape (m, r + 1)
        Encoded landmarks.
    root : FloatArray of shape (m, k)
        `E diag(l)^-1/2`.
    """

    inputs: InputMap
    architecture: Architecture
    points: FloatArray
    root: FloatArray

    @property
    def width(self) -> int:
        """Number of features before the linear ones."""
        return int(self.root.shape[1]) + self.inputs.added

    @property
    def count(self) -> int:
        """Number of features."""
        return self.width + self.inputs.width

    def __call__(self, Z: FloatArray) -> FloatArray:
        """Return the features (n, count) of rows (n, p)."""
        encoded, r, k = self.inputs.encode(Z), self.inputs.width, self.root.shape[1]
        network = np.ascontiguousarray(encoded[:, : r + 1])
        features = np.empty((len(Z), self.count))
        for rows in row_chunks(len(Z), len(self.points)):
            kernel = kernel_matrix(network[rows], self.points, self.architecture)
            np.matmul(kernel, self.root, out=features[rows, :k])
        features[:, k : self.width] = encoded[:, r + 1 :]
        features[:, self.width :] = encoded[:, :r]
        return features


def choose_landmarks(
    Z: FloatArray,
    inputs: InputMap,
    architecture: Architecture,
    count: int,
    seed: int,
    *,
    quick: bool = False,
) -> Landmarks:
    """Choose landmarks at random among rows (n, p).

    If it has to be quick, a Cholesky factor takes the place of the eigenvectors: the same kernel up
    to a small term on its diagonal.
    """
    order = named_generator(seed, "landmarks").permutation(len(Z))
    points = np.ascontiguousarray(inputs.encode(Z[np.sort(order[:count])])[:, : inputs.width + 1])
    kernel = kernel_matrix(points, points, architecture)
    root = inverse_root(kernel) if quick else _eigen_root(kernel)
    return Landmarks(inputs, architecture, points, root)


def _eigen_root(kernel: FloatArray) -> FloatArray:
    w, E = np.linalg.eigh(kernel)
    kept = w > _ROUNDING * w[-1]
    return np.asarray(E[:, kept] / np.sqrt(w[kept]))


def inverse_root(kernel: FloatArray) -> FloatArray:
    """Return a matrix (m, m) with `root root' = kernel^-1`, by Cholesky's factor."""
    jittered = kernel.copy()
    np.einsum("ii->i", jittered)[:] *= 1.0 + _JITTER
    return np.asarray(dtrtri(np.linalg.cholesky(jittered), lower=1)[0].T)
