"""Which estimates of the noise give the right scale of the bias by a confounder.

    python benchmarks/confounder_scale.py

The bounds of `result.sensitivity()` are proportional to `sqrt(sigma2 / S)`, with sigma2 the noise
of the outcome and S that of the treatment. Printed is the ratio to its true value, of which
docs/sensitivity.md has a summary.
"""

from __future__ import annotations

import numpy as np

import debinet as dn

RUNS, ROWS = 6, 500
NETWORKS = {"smooth": "wide", "ReLU": dn.WideNet()}


def sine(Z):
    return np.sin(2 * Z[:, 0]) + 0.5 * Z[:, 1] ** 2, np.cos(Z[:, 0]) + Z[:, 1]


def steps(Z):
    m = 1.0 * (Z[:, 0] > 0.3) - 1.0 * (Z[:, 2] > 0)
    return 2.0 * (Z[:, 0] > 0) + 1.0 * (Z[:, 1] > 0.5), m


def products(Z):
    return Z[:, 0] * Z[:, 1] + np.abs(Z[:, 2]), Z[:, 0] * Z[:, 1] + Z[:, 3]


def binary(Z):
    f = np.sin(2 * Z[:, 0]) + Z[:, 1] * Z[:, 2]
    return f, f


def simulate(design, seed):
    """Return X, y and the variance of the treatment's noise; that of the outcome is 1."""
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(ROWS, 6))
    f, m = design(Z)
    if design is binary:
        p = 1 / (1 + np.exp(-m))
        D, left = 1.0 * (rng.uniform(size=ROWS) < p), float(np.mean(p * (1 - p)))
    else:
        D, left = m + rng.normal(size=ROWS), 1.0
    return np.column_stack([D, Z]), D + f + rng.normal(size=ROWS), left


def main() -> None:
    print("design    network  both by residuals  sigma2 by likelihood, S by residuals")
    for design in (sine, steps, products, binary):
        for name, network in NETWORKS.items():
            scales = []
            for seed in range(RUNS):
                X, y, left = simulate(design, seed)
                found = dn.PartiallyLinear([0], network, random_state=0).fit(X, y)
                rows = found.result_.sensitivity().rows
                sigma2 = np.array([rows.noise.residual, rows.noise.likelihood])
                scales.append(np.sqrt(sigma2 / (rows.S[0, 0] / left)))
            both, mixed = np.mean(scales, axis=0)
            print(f"{design.__name__:<9} {name:<8} {both:.3f} {mixed:.3f}", flush=True)


if __name__ == "__main__":
    main()
