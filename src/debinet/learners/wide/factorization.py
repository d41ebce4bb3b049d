"""What a fit takes from the inputs alone: rows, standardized, and a spectrum per skip weight."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256

import numpy as np

from debinet.learners.moments import Moments, column_moments
from debinet.learners.wide.inputs import encode
from debinet.learners.wide.kernels import Architecture, kernel_matrices
from debinet.learners.wide.memory import require_memory
from debinet.learners.wide.spectrum import Spectrum, decompose
from debinet.protocols import FloatArray, IntArray


@dataclass(frozen=True)
class Factorization:
    """Inputs, decomposed; the targets play no part in it.

    Attributes
    ----------
    key : bytes
        Fingerprint of everything it was made from.
    architecture : Architecture
    moments : Moments
        Means and standard deviations of the columns of `Z`.
    rows : IntArray of shape (n,)
        The rows with positive weight, in ascending order.
    root_weight : FloatArray of shape (n,)
        Square roots of their weights.
    encoded : FloatArray of shape (n, p + 1)
        Those rows as the network sees them.
    spectra : tuple of Spectrum
        One per skip weight.
    """

    key: bytes
    architecture: Architecture
    moments: Moments
    rows: IntArray
    root_weight: FloatArray
    encoded: FloatArray
    spectra: tuple[Spectrum, ...]


def fingerprint(
    Z: FloatArray, weight: FloatArray, network: object, skips: tuple[float, ...]
) -> bytes:
    """Return a digest that is the same for the same factorization.

    Contents, not identity: an array that was changed in place is another array. It costs n p
    against the n^3 that it saves.
    """
    # processors have instructions for SHA-256, and none for hashes that are faster in software
    digest = sha256(repr((Z.shape, network, skips)).encode())
    digest.update(np.ascontiguousarray(Z).data)
    digest.update(np.ascontiguousarray(weight).data)
    return digest.digest()


def factorize(
    Z: FloatArray,
    weight: FloatArray,
    architecture: Architecture,
    skips: tuple[float, ...],
    key: bytes,
    *,
    scale: FloatArray | None = None,
) -> Factorization:
    """Standardize, build the kernel, decompose it: once for every skip weight.

    Parameters
    ----------
    Z : FloatArray of shape (n, p)
    weight : FloatArray of shape (n,)
        Not negative; rows of weight 0 are left out.
    architecture : Architecture
    skips : tuple of float
        Weights of the linear part to prepare for.
    key : bytes
        From `fingerprint`.
    scale : FloatArray of shape (p,), optional
        Relevance of the features, by which standardized ones are multiplied.
    """
    rows = np.flatnonzero(weight > 0)
    require_memory(rows.size, len(skips))
    moments = column_moments(Z[rows], weight[rows])
    if scale is not None:
        moments = Moments(moments.mean, moments.sd / scale)
    encoded = encode(Z[rows], moments)
    root_weight = np.sqrt(weight[rows])
    kernels = kernel_matrices(encoded, encoded, architecture, skips)
    spectra = tuple(
        decompose(kernel, root_weight, skip) for kernel, skip in zip(kernels, skips, strict=True)
    )
    return Factorization(key, architecture, moments, rows, root_weight, encoded, spectra)
