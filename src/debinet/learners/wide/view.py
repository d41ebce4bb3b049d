"""Rows as an infinitely wide network sees them, with the decompositions of their kernel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from debinet.data.free_memory import require_decompositions, row_chunks
from debinet.learners.spectral.full import FullSpectrum, decompose
from debinet.learners.spectral.heldout import Outside
from debinet.learners.spectral.kernel_choice import needed_kernels
from debinet.learners.spectral.prepared import OutputFit
from debinet.learners.spectral.spectrum import SMALL
from debinet.learners.spectral.tridiagonal import reduce_kernel
from debinet.learners.threads import SINGLE_THREADS, run_together
from debinet.learners.wide.input_map import InputMap
from debinet.learners.wide.kernels import Architecture, kernel_matrices, kernel_matrix
from debinet.protocols import FloatArray

# Up to SMALL rows, kernels are decomposed at the same time: most of the work are products of a
# matrix with a vector, which more threads hardly speed up. Not if it takes no longer than that.
_TINY = 200


@dataclass(frozen=True)
class KernelExpansion:
    """Outputs of a fitted network, `f(z) = K(z, Z) dual + z~ linear`, K without its linear part.

    Attributes
    ----------
    architecture : Architecture
    inputs : InputMap
    encoded : FloatArray of shape (n, r + 1 + k)
        Training rows.
    dual : FloatArray of shape (n, m)
        Coefficients of the kernel functions at the training rows.
    linear : FloatArray of shape (r + 1, m)
        Coefficients of the skip connection; the last row is the intercept.
    """

    architecture: Architecture
    inputs: InputMap
    encoded: FloatArray
    dual: FloatArray
    linear: FloatArray

    def predict(self, Z: FloatArray) -> FloatArray:
        """Return the outputs (r, m) for rows (r, p), a chunk of kernel at a time."""
        encoded = self.inputs.encode(Z)
        out = encoded[:, : len(self.linear)] @ self.linear
        added = self.inputs.added
        for rows in row_chunks(len(Z), len(self.encoded)):
            kernel = kernel_matrix(encoded[rows], self.encoded, self.architecture, added=added)
            out[rows] += kernel @ self.dual
        return out

    def kernel(self, skip: float, Z: FloatArray | None = None) -> FloatArray:
        """Return the kernel (r, n) between rows (r, p) and the n training rows.

        Without rows, that of the training rows with each other.
        """
        encoded = self.encoded if Z is None else self.inputs.encode(Z)
        return kernel_matrix(encoded, self.encoded, self.architecture, skip, self.inputs.added)


@dataclass(frozen=True)
class KernelView:
    """Rows and the spectra of their kernel.

    Attributes
    ----------
    architecture : Architecture
    inputs : InputMap
    encoded : FloatArray of shape (n, r + 1 + k)
        The rows as the network sees them.
    root_weight : FloatArray of shape (n,)
        Square roots of their weights.
    spectra : tuple of FullSpectrum
        One per skip weight that some output needs.
    """

    architecture: Architecture
    inputs: InputMap
    encoded: FloatArray
    root_weight: FloatArray
    spectra: tuple[FullSpectrum, ...]

    def outside(self, spectrum: FullSpectrum, Z: FloatArray) -> Outside:
        """Return further rows (n0, p) in the coordinates of a spectrum."""
        encoded = self.inputs.encode(Z)
        added = self.inputs.added
        kernel = kernel_matrix(self.encoded, encoded, self.architecture, spectrum.skip, added)
        kernel *= self.root_weight[:, None]
        level = np.full((1, len(Z)), 1.0 / np.linalg.norm(self.root_weight))
        kernel -= spectrum.AC @ level
        return Outside(spectrum.V, spectrum.C, spectrum.V.T @ kernel, level)

    def expand(self, fits: Sequence[OutputFit]) -> KernelExpansion:
        """Turn stopping times into coefficients.

        In the metric of the weighted rows they are `a = V diag(t dual(w t)) T`. Residuals are
        orthogonal to the unpenalized columns, so the intercept is the mean less `C'A a`.
        """
        a = np.empty((len(self.encoded), len(fits)))
        for spectrum in self.spectra:
            j = [k for k, fit in enumerate(fits) if fit.spectrum is spectrum]
            if j:
                a[:, j] = spectrum.V @ np.column_stack([_dual(fits[k]) for k in j])
        dual = self.root_weight[:, None] * a
        inputs = self.encoded[:, : self.inputs.width + 1]
        skips = np.array([fit.spectrum.skip for fit in fits])
        linear = np.zeros((inputs.shape[1], len(fits)))
        if skips.any():  # the few columns first: twice as fast as `inputs.T @ dual`
            linear = skips * (dual.T @ inputs).T
        length = np.linalg.norm(self.root_weight)
        linear[-1] = [
            fit.mean - float(fit.spectrum.AC[:, 0] @ a[:, j]) / length for j, fit in enumerate(fits)
        ]
        return KernelExpansion(self.architecture, self.inputs, self.encoded, dual, linear)


def _dual(fit: OutputFit) -> FloatArray:
    """Return the coefficients of an output in the coordinates of its spectrum."""
    share = fit.time * fit.filter_.dual(fit.spectrum.w * fit.time)
    return np.asarray(fit.sd * share * fit.coordinates)


def view_rows(
    Z: FloatArray,
    weight: FloatArray,
    architecture: Architecture,
    skips: tuple[float, ...],
    inputs: InputMap,
    *,
    judged: FloatArray | None = None,
) -> KernelView:
    """Encode, build the kernel, decompose it: once for every skip weight that is needed.

    Parameters
    ----------
    Z : FloatArray of shape (n, p)
    weight : FloatArray of shape (n,)
        Positive.
    architecture : Architecture
    skips : tuple of float
        Weights of the linear part to prepare for.
    inputs : InputMap
    judged : FloatArray of shape (n, m), optional
        Standardized and weighted targets, by whose restricted likelihood skip weights may be left
        out; the outcome first.
    """
    encoded, root = inputs.encode(Z), np.sqrt(weight)
    kernels = kernel_matrices(encoded, encoded, architecture, skips, inputs.added)
    together = len(skips) > 1 and _TINY < len(Z) <= SMALL
    if together and judged is not None:
        spectra = _decompose_needed(kernels, root, skips, judged)
    else:
        pairs = zip(kernels, skips, strict=True)
        tasks = [partial(decompose, kernel, root, skip) for kernel, skip in pairs]
        spectra = run_together(tasks) if together else [task() for task in tasks]
    return KernelView(architecture, inputs, encoded, root, tuple(spectra))


def _decompose_needed(
    kernels: list[FloatArray], root: FloatArray, skips: tuple[float, ...], judged: FloatArray
) -> list[FullSpectrum]:
    """Decompose the kernels that some target needs."""
    pairs = zip(kernels, skips, strict=True)
    reduced = run_together([partial(reduce_kernel, kernel, root, skip) for kernel, skip in pairs])
    with SINGLE_THREADS:
        needed = needed_kernels(reduced, judged)
    return run_together([reduced[k].decompose for k in needed])


def bytes_needed(n: int, decompositions: int) -> int:
    """Return the peak of a fit on `n` rows with that many decompositions kept.

    The last one to be computed needs the matrix, which becomes the eigenvectors, and a work space
    of twice its size; the others are eigenvectors only. Small ones are made at the same time, and
    not in place: input and output are copies.
    """
    return 8 * n * n * (5 * decompositions if n <= SMALL else decompositions + 2)


def require_memory(n: int, decompositions: int) -> None:
    """Raise MemoryLimitError if a fit on `n` rows would not fit."""
    require_decompositions(
        partial(bytes_needed, n),
        decompositions,
        f"for WideNet on {n} rows",
        "fewer rows, or a learner whose memory does not grow with the square of the rows: "
        "debinet.TangentNet(), the same network on landmarks, or any regressor.",
    )
