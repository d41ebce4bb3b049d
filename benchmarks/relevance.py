"""Learned relevance: seconds in units of one eigendecomposition of the network's kernel."""

from __future__ import annotations

from statistics import median
from time import perf_counter

import numpy as np

import debinet as dn
from debinet.learners.inputs import column_moments
from debinet.learners.wide.input_map import InputMap
from debinet.learners.wide.kernels import Architecture, kernel_matrix


def learning(n: int = 1000, p: int = 20, repeats: int = 3) -> dict[str, float]:
    """Fit with and without learning, and decompose a matrix, in turn."""
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(n, p))
    M = np.column_stack([np.sin(2 * Z[:, 0]), np.abs(Z[:, 1]), Z[:, 2] * Z[:, 3], Z[:, 4]])
    M += rng.normal(size=M.shape)
    found: dict[str, list[float]] = {"learned": [], "equal": [], "eigh": []}
    encoded = InputMap(column_moments(Z, np.ones(n))).encode(Z)
    K = kernel_matrix(encoded, encoded, Architecture(), 1.0)
    for _ in range(repeats):
        for kind in ("learned", "equal"):
            start = perf_counter()
            dn.WideNet(relevance=kind).fit(Z, M)
            found[kind].append(perf_counter() - start)
        start = perf_counter()
        np.linalg.eigh(K)
        found["eigh"].append(perf_counter() - start)
    ratios = [
        (learned - equal) / eigh
        for learned, equal, eigh in zip(*(found[name] for name in found), strict=True)
    ]
    return {
        "learned_seconds": median(found["learned"]),
        "equal_seconds": median(found["equal"]),
        "eigh_seconds": median(found["eigh"]),
        "learning_over_eigh": median(ratios),
    }


if __name__ == "__main__":
    print(learning())
