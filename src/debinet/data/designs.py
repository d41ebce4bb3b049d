"""Simulated data with known coefficients."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import pandas as pd
from scipy.special import expit, ndtr, ndtri

from debinet._random import RandomState, named_generator, root_seed
from debinet.data.options import one_of
from debinet.data.simulated import (
    Noise,
    Simulated,
    autoregressive,
    columns_of_noise,
    make_treatments,
    simulated,
)
from debinet.protocols import FloatArray


def make_sparse_linear(
    n: int = 500,
    p: int = 20,
    *,
    effects: tuple[float, ...] = (1.0, -0.5),
    random_state: RandomState = None,
) -> Simulated:
    """Make a linear design in which a few of many correlated controls drive both D and y.

    `Z` is normal with correlation `0.5^|j-k|`; `D_j = Z b_j + v_j`, `y = D effects + Z g + e`, with
    `b_j` and `g` fading like `1/k^2`, shifted by j columns so that treatments differ.

    Parameters
    ----------
    n, p : int
        Rows and controls.
    effects : tuple of float
        True coefficients.
    random_state : int, numpy random generator, or None
        Seed.
    """
    rng = named_generator(root_seed(random_state), "sparse linear")
    Z = autoregressive(rng, n, p, 0.5)
    fading = 1.0 / np.arange(1, p + 1) ** 2
    v = columns_of_noise(rng, n, len(effects))
    D = make_treatments([Z @ np.roll(fading, j) for j in range(len(effects))], v)
    y = D @ np.asarray(effects) + Z @ fading + rng.normal(size=n)
    return simulated(D, Z, y, effects, Noise(v))


def make_smooth_nonlinear(
    n: int = 500,
    p: int = 10,
    *,
    effects: tuple[float, ...] = (1.0, -0.5),
    random_state: RandomState = None,
) -> Simulated:
    """Make a design in which sines, absolute values and products of Z act on both D and y.

    `D_1 = sin(2 Z_1) + Z_2 Z_3 / 2 + v_1`, `D_2 = |Z_2| + cos(Z_3) + v_2` (further treatments
    repeat the pattern), `y = D effects + sin(2 Z_1) + |Z_2| + Z_2 Z_3 / 2 + e`, with Z uniform on
    (-1.7, 1.7) (unit variance) and three of the p controls active.

    Parameters
    ----------
    n, p : int
        Rows and controls, p >= 3.
    effects, random_state
        As in `make_sparse_linear`.
    """
    rng = named_generator(root_seed(random_state), "smooth nonlinear")
    Z = rng.uniform(-np.sqrt(3), np.sqrt(3), size=(n, p))
    wave, product, kink = np.sin(2 * Z[:, 0]), Z[:, 1] * Z[:, 2] / 2, np.abs(Z[:, 1])
    v = columns_of_noise(rng, n, len(effects))
    D = make_treatments([wave + product, kink + np.cos(Z[:, 2])], v)
    y = D @ np.asarray(effects) + wave + kink + product + rng.normal(size=n)
    return simulated(D, Z, y, effects, Noise(v))


def make_waves(
    n: int = 1000, *, effect: float = 0.5, random_state: RandomState = None
) -> Simulated:
    """Make a design in which D and y share a sine, an absolute value and a product of Z.

    `D = sin(2 Z_1) + |Z_2| + Z_3 Z_4 / 2 + v` and
    `y = effect D + sin(2 Z_1) + |Z_2| - Z_3 Z_4 / 2 + e`, with Z uniform on (-1.7, 1.7), so that
    every control has unit variance and acts along its own axis.

    Parameters
    ----------
    n : int
        Rows; there are four controls.
    effect : float
        True coefficient.
    random_state : int, numpy random generator, or None
        Seed.
    """
    rng = named_generator(root_seed(random_state), "waves")
    Z = rng.uniform(-np.sqrt(3), np.sqrt(3), size=(n, 4))
    wave, kink, product = np.sin(2 * Z[:, 0]), np.abs(Z[:, 1]), Z[:, 2] * Z[:, 3] / 2
    v = rng.normal(size=(n, 1))
    D = make_treatments([wave + kink + product], v)
    y = effect * D[:, 0] + wave + kink - product + rng.normal(size=n)
    return simulated(D, Z, y, (effect,), Noise(v))


def make_oblique(
    n: int = 1000, *, effect: float = 0.5, random_state: RandomState = None
) -> Simulated:
    """Make a design in which D and y share functions of sums and differences of controls.

    `D = sin(Z_1 + Z_2) + |Z_3 - Z_4| / 2 + Z_2 Z_5 / 2 + v` and
    `y = effect D + sin(Z_1 + Z_2) + |Z_3 - Z_4| + Z_2 Z_5 / 2 + e`, with normal Z of correlation
    `0.3^|j-k|`.

    Parameters
    ----------
    n : int
        Rows; there are five controls.
    effect, random_state
        As in `make_waves`.
    """
    rng = named_generator(root_seed(random_state), "oblique")
    Z = autoregressive(rng, n, 5, 0.3)
    wave, kink = np.sin(Z[:, 0] + Z[:, 1]), np.abs(Z[:, 2] - Z[:, 3])
    product = Z[:, 1] * Z[:, 4] / 2
    v = rng.normal(size=(n, 1))
    D = make_treatments([wave + kink / 2 + product], v)
    y = effect * D[:, 0] + wave + kink + product + rng.normal(size=n)
    return simulated(D, Z, y, (effect,), Noise(v))


def make_survey(
    n: int = 500,
    *,
    effects: tuple[float, ...] = (0.5, -0.25),
    random_state: RandomState = None,
) -> Simulated:
    """Make a design like a survey: four yes/no answers that shift both D and y.

    The controls are fair coins, `D_j = Z a_j + v_j` and `y = D effects + Z b + e`: easy to learn
    for penalized regressions and for trees.

    Parameters
    ----------
    n : int
        Rows.
    effects, random_state
        As in `make_sparse_linear`.
    """
    rng = named_generator(root_seed(random_state), "survey")
    Z = rng.integers(0, 2, size=(n, 4)).astype(np.float64)
    on_D, on_y = np.array([1.0, -1.0, 0.0, 0.5]), np.array([1.0, 0.0, 1.0, -0.5])
    v = columns_of_noise(rng, n, len(effects))
    D = make_treatments([Z @ np.roll(on_D, j) for j in range(len(effects))], v)
    y = D @ np.asarray(effects) + Z @ on_y + rng.normal(size=n)
    return simulated(D, Z, y, effects, Noise(v))


def make_enrolment(
    n: int = 2000, *, effect: float = 0.5, random_state: RandomState = None
) -> Simulated:
    """Make a design with a binary treatment: people choose whether to take part.

    The five controls are standard normal, the chance of `D = 1` is
    `expit(1.2 Z_1 - |Z_2| + 0.8)`, and `y = effect D + Z_1 + |Z_2| + Z_3 / 2 + e`.

    Parameters
    ----------
    n : int
        Rows.
    effect, random_state
        As in `make_waves`.
    """
    rng = named_generator(root_seed(random_state), "enrolment")
    Z = rng.normal(size=(n, 5))
    chance = expit(1.2 * Z[:, 0] - np.abs(Z[:, 1]) + 0.8)
    D = (rng.random(n) < chance).astype(np.float64)[:, None]
    y = effect * D[:, 0] + Z[:, 0] + np.abs(Z[:, 1]) + Z[:, 2] / 2 + rng.normal(size=n)
    return simulated(D, Z, y, (effect,), Noise(D - chance[:, None]))


def make_ccddhnr2018(
    n: int = 500, p: int = 20, *, effect: float = 0.5, random_state: RandomState = None
) -> Simulated:
    """Make the partially linear design of Chernozhukov et al. (2018), as DoubleML has it.

    `Z` is normal with correlation `0.7^|j-k|`, `D = Z_1 + expit(Z_3) / 4 + v`,
    `y = effect D + expit(Z_1) + Z_3 / 4 + e`.

    Parameters
    ----------
    n, p : int
        Rows and controls, p >= 3.
    effect, random_state
        As in `make_waves`.
    """
    rng = named_generator(root_seed(random_state), "ccddhnr2018")
    Z = autoregressive(rng, n, p, 0.7)
    v = rng.normal(size=(n, 1))
    D = Z[:, [0]] + 0.25 * expit(Z[:, [2]]) + v
    y = effect * D[:, 0] + expit(Z[:, 0]) + 0.25 * Z[:, 2] + rng.normal(size=n)
    return simulated(D, Z, y, (effect,), Noise(v))


def make_table1(n: int = 10_000, *, random_state: RandomState = None) -> Simulated:
    """Make the design of the paper's Table 1: `D = 50 sum sin Z_j + v`, `y = D + sum cosh Z_j + e`.

    Parameters
    ----------
    n : int
        Rows; there are 10 controls.
    random_state : int, numpy random generator, or None
        Seed.
    """
    rng = named_generator(root_seed(random_state), "table 1")
    Z = rng.normal(size=(n, 10))
    v = rng.normal(size=(n, 1))
    D = 50 * np.sin(Z).sum(axis=1, keepdims=True) + v
    y = D[:, 0] + np.cosh(Z).sum(axis=1) + rng.normal(size=n)
    return simulated(D, Z, y, (1.0,), Noise(v))


def make_table2(
    n: int = 1000, p: int = 3000, k: int = 300, *, random_state: RandomState = None
) -> Simulated:
    """Make the design of the paper's Table 2: y is the sum of the first k of p features, and noise.

    All features are independent standard normal. A selector has to find D, so `truth` has all p
    coefficients.

    Parameters
    ----------
    n, p, k : int
        Rows, features, features with coefficient 1.
    random_state : int, numpy random generator, or None
        Seed.
    """
    rng = named_generator(root_seed(random_state), "table 2")
    X = rng.normal(size=(n, p))
    names = [f"x{j}" for j in range(p)]
    truth = pd.Series((np.arange(p) < k).astype(float), index=names, name="truth")
    y = pd.Series(X[:, :k].sum(axis=1) + rng.normal(size=n), name="y")
    return Simulated(pd.DataFrame(X, columns=names), y, truth, Noise(X))


def make_table4(
    n: int = 10_000, *, inputs: str = "folded", random_state: RandomState = None
) -> Simulated:
    """Make the complementary design of the paper's Table 4, five controls T.

    `D = sin T_1 + log(T_2 + 1) + 1 / (1 + T_3) + max(0, T_4) + T_5^2 + v` and
    `y = D + cosh T_1 + T_2 + T_3 T_4 + e`. The paper does not say how T is distributed; for a
    standard normal T, the logarithm does not exist in one of six rows.

    Parameters
    ----------
    n : int
        Rows.
    inputs : {"folded", "dropped", "truncated", "half-normal", "uniform"}
        Standard normal with the absolute values of T_2 and T_3; standard normal without the rows
        whose logarithm does not exist, or with T_2 and T_3 above -1, both of which give D infinite
        variance; absolute values of all five; uniform on (0, 3).
    random_state : int, numpy random generator, or None
        Seed.
    """
    rng = named_generator(root_seed(random_state), "table 4")
    one_of("inputs", inputs, TABLE4_INPUTS, "The default is 'folded'.")
    T = TABLE4_INPUTS[inputs](rng, n)
    D = np.sin(T[:, 0]) + np.log1p(T[:, 1]) + 1 / (1 + T[:, 2]) + np.maximum(0, T[:, 3])
    v = rng.normal(size=(n, 1))
    D = (D + T[:, 4] ** 2)[:, None] + v
    y = D[:, 0] + np.cosh(T[:, 0]) + T[:, 1] + T[:, 2] * T[:, 3] + rng.normal(size=n)
    return simulated(D, T, y, (1.0,), Noise(v))


def _folded(rng: np.random.Generator, n: int) -> FloatArray:
    T = rng.normal(size=(n, 5))
    T[:, 1:3] = np.abs(T[:, 1:3])
    return T


def _above(rng: np.random.Generator, n: int, *, columns: slice) -> FloatArray:
    """Return a standard normal T with the columns above -1."""
    T = rng.normal(size=(n, 5))
    T[:, columns] = ndtri(rng.uniform(ndtr(-1.0), 1.0, size=T[:, columns].shape))
    return T


TABLE4_INPUTS: dict[str, Callable[[np.random.Generator, int], FloatArray]] = {
    "folded": _folded,
    "dropped": partial(_above, columns=slice(1, 2)),
    "truncated": partial(_above, columns=slice(1, 3)),
    "half-normal": lambda rng, n: np.abs(rng.normal(size=(n, 5))),
    "uniform": lambda rng, n: rng.uniform(0, 3, size=(n, 5)),
}
