"""Simulated data in which D and y share non-linear functions of Z, as confounders do."""

from __future__ import annotations

import numpy as np

from debinet._random import RandomState, named_generator, root_seed
from debinet.data.simulated import (
    Noise,
    Simulated,
    autoregressive,
    equicorrelated,
    make_treatments,
    simulated,
)

_CORRELATED_NOISE = 0.3


def make_shared_functions(
    n: int = 500, p: int = 5, *, effect: float = 1.0, random_state: RandomState = None
) -> Simulated:
    """Make a design in which D and y share everything: E(D|Z) is proportional to f.

    `g = 0.8 (sin(2 Z_1) + |Z_2| + Z_3 Z_4)`, `D = g + v`, `y = effect D + 1.5 g + e`, with
    standard normal Z, v and e; the variance of g is 1.2.

    Parameters
    ----------
    n, p : int
        Rows and controls, p >= 4.
    effect : float
        True coefficient.
    random_state : int, numpy random generator, or None
        Seed.
    """
    rng = named_generator(root_seed(random_state), "shared functions")
    Z, v = rng.normal(size=(n, p)), rng.normal(size=(n, 1))
    g = 0.8 * (np.sin(2 * Z[:, 0]) + np.abs(Z[:, 1]) + Z[:, 2] * Z[:, 3])
    D = make_treatments([g], v)
    y = effect * D[:, 0] + 1.5 * g + rng.normal(size=n)
    return simulated(D, Z, y, (effect,), Noise(v))


def make_single_index(
    n: int = 500, p: int = 12, *, effect: float = 0.5, random_state: RandomState = None
) -> Simulated:
    """Make a design in which D and y share a function of one sum of controls.

    `u = (Z_1 + ... + Z_6) / sqrt(6)`, `s = sin(2 u) + u^2 / 2`, `D = s + v`,
    `y = effect D + 2 s + e`, with standard normal Z, v and e; the variance of s is 1.

    Parameters
    ----------
    n, p : int
        Rows and controls, p >= 6.
    effect, random_state
        As in `make_shared_functions`.
    """
    rng = named_generator(root_seed(random_state), "single index")
    Z, v = rng.normal(size=(n, p)), rng.normal(size=(n, 1))
    u = Z[:, :6].sum(axis=1) / np.sqrt(6)
    s = np.sin(2 * u) + u**2 / 2
    D = make_treatments([s], v)
    y = effect * D[:, 0] + 2 * s + rng.normal(size=n)
    return simulated(D, Z, y, (effect,), Noise(v))


def make_multi(
    n: int = 500,
    p: int = 10,
    *,
    effects: tuple[float, ...] = (1.0, -0.5, 0.25),
    random_state: RandomState = None,
) -> Simulated:
    """Make a design with three treatments, each of which shares other functions of Z with y.

    `D_1 = sin(2 Z_1) + Z_2 Z_3 / 2 + v_1`, `D_2 = |Z_4| + cos(2 Z_5) + v_2`,
    `D_3 = Z_6^2 / 2 - tanh(2 Z_1) + v_3` (further treatments repeat the pattern) and
    `y = D effects + sin(2 Z_1) + Z_2 Z_3 / 2 + |Z_4| + Z_6^2 / 2 + e`. Z is normal with correlation
    `0.3^|j-k|`; every v_j is standard normal, and two of them have correlation 0.3.

    Parameters
    ----------
    n, p : int
        Rows and controls, p >= 6.
    effects : tuple of float
        True coefficients.
    random_state
        As in `make_shared_functions`.
    """
    rng = named_generator(root_seed(random_state), "multi")
    Z, q = autoregressive(rng, n, p, 0.3), len(effects)
    v = equicorrelated(rng, n, q, _CORRELATED_NOISE)
    first = np.sin(2 * Z[:, 0]) + Z[:, 1] * Z[:, 2] / 2
    kink, square = np.abs(Z[:, 3]), Z[:, 5] ** 2 / 2
    D = make_treatments([first, kink + np.cos(2 * Z[:, 4]), square - np.tanh(2 * Z[:, 0])], v)
    y = D @ np.asarray(effects) + first + kink + square + rng.normal(size=n)
    return simulated(D, Z, y, effects, Noise(v))


def make_steps(
    n: int = 500, p: int = 10, *, effect: float = 0.5, random_state: RandomState = None
) -> Simulated:
    """Make a design in which D and y share steps, as rules and thresholds make them.

    `s = 1.5 1[Z_1 > 0] + 1.5 1[Z_2 > 0.5 and Z_3 < 0] - 1[Z_4 > 1]`, `D = s + v`,
    `y = effect D + 1.5 s + 1[Z_5 > 0] + e`, with standard normal Z, v and e.

    Parameters
    ----------
    n, p : int
        Rows and controls, p >= 5.
    effect, random_state
        As in `make_shared_functions`.
    """
    rng = named_generator(root_seed(random_state), "steps")
    Z, v = rng.normal(size=(n, p)), rng.normal(size=(n, 1))
    corner = (Z[:, 1] > 0.5) & (Z[:, 2] < 0)
    s = 1.5 * (Z[:, 0] > 0) + 1.5 * corner - 1.0 * (Z[:, 3] > 1)
    D = make_treatments([s], v)
    y = effect * D[:, 0] + 1.5 * s + (Z[:, 4] > 0) + rng.normal(size=n)
    return simulated(D, Z, y, (effect,), Noise(v))


def make_friedman(
    n: int = 500, p: int = 15, *, effect: float = 1.0, random_state: RandomState = None
) -> Simulated:
    """Make a design in which y depends on Friedman's first function of Z, and D on a part of it.

    `D = (10 sin(pi Z_1 Z_2) + 20 (Z_3 - 0.5)^2) / 4 + v` and
    `y = effect D + 10 sin(pi Z_1 Z_2) + 20 (Z_3 - 0.5)^2 + 10 Z_4 + 5 Z_5 + 2 e`, with Z uniform on
    (0, 1) and standard normal v and e.

    Parameters
    ----------
    n, p : int
        Rows and controls, p >= 5.
    effect, random_state
        As in `make_shared_functions`.

    References
    ----------
    Friedman (1991), Multivariate adaptive regression splines, Annals of Statistics 19.
    """
    rng = named_generator(root_seed(random_state), "friedman")
    Z, v = rng.uniform(size=(n, p)), rng.normal(size=(n, 1))
    shared = 10 * np.sin(np.pi * Z[:, 0] * Z[:, 1]) + 20 * (Z[:, 2] - 0.5) ** 2
    D = make_treatments([shared / 4], v)
    y = effect * D[:, 0] + shared + 10 * Z[:, 3] + 5 * Z[:, 4] + 2 * rng.normal(size=n)
    return simulated(D, Z, y, (effect,), Noise(v, 2.0))
