"""Simulated data with unusual controls, treatments or noise; D and y share functions of Z."""

from __future__ import annotations

import numpy as np
from scipy.special import expit, ndtr

from debinet._random import RandomState, named_generator, root_seed
from debinet.data.simulated import (
    Noise,
    Simulated,
    autoregressive,
    make_treatments,
    simulated,
)
from debinet.protocols import FloatArray

_FREEDOM = 2.5  # degrees of freedom: the variance exists, the fourth moment does not


def make_mixed_controls(
    n: int = 500,
    *,
    effects: tuple[float, ...] = (0.5, -0.3),
    random_state: RandomState = None,
) -> Simulated:
    """Make a design with the controls of a survey: skewed, counted, yes or no, in categories.

    Z_1 is lognormal (an income), Z_2 a whole number from 18 to 79 (an age), Z_3 a Poisson count
    with mean 1.5, Z_4 and Z_5 are 0 or 1 with chances 0.5 and 0.3, and Z_6 and Z_7 are dummies of
    the second and third of three levels with shares 0.5, 0.3 and 0.2;
    `log Z_1 = 0.4 Z_6 + 0.8 Z_7 + 0.7 u`. With `a = ((Z_2 - 48) / 18)^2`,
    `D_1 = log Z_1 + a / 2 + v_1`, `D_2 = sqrt(Z_3) + Z_4 Z_7 - a / 2 + v_2` (further treatments
    repeat the pattern) and `y = D effects + log Z_1 + a + sqrt(Z_3) + Z_4 Z_7 - Z_5 / 2 + e`, with
    standard normal u, v and e.

    Parameters
    ----------
    n : int
        Rows.
    effects : tuple of float
        True coefficients.
    random_state : int, numpy random generator, or None
        Seed.
    """
    rng = named_generator(root_seed(random_state), "mixed controls")
    level = rng.choice(3, size=n, p=[0.5, 0.3, 0.2])
    middle, high = level == 1, level == 2
    log_income = 0.4 * middle + 0.8 * high + 0.7 * rng.normal(size=n)
    age, count = rng.integers(18, 80, size=n), rng.poisson(1.5, size=n)
    coin, rare = rng.random(n) < 0.5, rng.random(n) < 0.3
    Z = np.column_stack([np.exp(log_income), age, count, coin, rare, middle, high])
    a, both = ((age - 48) / 18) ** 2, 1.0 * (coin & high)
    v = rng.normal(size=(n, len(effects)))
    D = make_treatments([log_income + a / 2, np.sqrt(count) + both - a / 2], v)
    f = log_income + a + np.sqrt(count) + both - rare / 2
    y = D @ np.asarray(effects) + f + rng.normal(size=n)
    return simulated(D, Z, y, effects, Noise(v))


def make_binary_treatment(
    n: int = 500, p: int = 8, *, effect: float = 0.5, random_state: RandomState = None
) -> Simulated:
    """Make a design with a treatment of 0 or 1 whose chance shares its functions with y.

    `s = sin(2 Z_1) + |Z_2| - 0.8 + Z_3 Z_4 / 2`, the chance of `D = 1` is `expit(1.2 s)`, and
    `y = effect D + 1.5 s + e`, with standard normal Z and e.

    Parameters
    ----------
    n, p : int
        Rows and controls, p >= 4.
    effect : float
        True coefficient.
    random_state
        As in `make_mixed_controls`.
    """
    rng = named_generator(root_seed(random_state), "binary treatment")
    Z = rng.normal(size=(n, p))
    s = _waves(Z) - 0.8
    chance = expit(1.2 * s)
    D = (rng.random(n) < chance).astype(np.float64)[:, None]
    y = effect * D[:, 0] + 1.5 * s + rng.normal(size=n)
    return simulated(D, Z, y, (effect,), Noise(D - chance[:, None]))


def make_heavy_tails(
    n: int = 500, p: int = 8, *, effect: float = 0.5, random_state: RandomState = None
) -> Simulated:
    """Make a design whose outcome has noise with heavy tails and a variance that depends on Z.

    `s = 0.7 (sin(2 Z_1) + |Z_2| + Z_3 Z_4 / 2)`, `D = s + v`, `y = effect D + s + sd e` with
    `sd = 0.5 + |Z_1|`, standard normal Z and v, and e from the t distribution with 2.5 degrees of
    freedom, scaled to unit variance.

    Parameters
    ----------
    n, p : int
        Rows and controls, p >= 4.
    effect, random_state
        As in `make_binary_treatment`.
    """
    rng = named_generator(root_seed(random_state), "heavy tails")
    Z, v = rng.normal(size=(n, p)), rng.normal(size=(n, 1))
    s, sd = 0.7 * _waves(Z), 0.5 + np.abs(Z[:, 0])
    D = make_treatments([s], v)
    e = rng.standard_t(_FREEDOM, size=n) / np.sqrt(_FREEDOM / (_FREEDOM - 2))
    y = effect * D[:, 0] + s + sd * e
    return simulated(D, Z, y, (effect,), Noise(v, sd))


def make_radial(
    n: int = 500, p: int = 8, *, effect: float = 0.5, random_state: RandomState = None
) -> Simulated:
    """Make a design in which D, its variance and y depend on the distance from a centre.

    Rows are in two groups of the same size: `c` is 1 in one and -1 in the other. Z_1, Z_2 and Z_3
    are normal with mean c, the other controls with mean 0, all with variance 1. With
    `r = sqrt(Z_1^2 + Z_2^2 + Z_3^2)`, `D = r + (0.5 + r / 4) v` and `y = effect D + 1.5 r + e`,
    with standard normal v and e.

    Parameters
    ----------
    n, p : int
        Rows and controls, p >= 3.
    effect, random_state
        As in `make_binary_treatment`.
    """
    rng = named_generator(root_seed(random_state), "radial")
    Z = rng.normal(size=(n, p))
    Z[:, :3] += rng.choice([-1.0, 1.0], size=(n, 1))
    r = np.linalg.norm(Z[:, :3], axis=1)
    v = ((0.5 + r / 4) * rng.normal(size=n))[:, None]
    D = make_treatments([r], v)
    y = effect * D[:, 0] + 1.5 * r + rng.normal(size=n)
    return simulated(D, Z, y, (effect,), Noise(v))


def make_chirp(
    n: int = 500, p: int = 6, *, effect: float = 0.5, random_state: RandomState = None
) -> Simulated:
    """Make a design in which D and y share a wave that gets faster along one control.

    `s = (1 + Z_2) sin(pi (1 + Z_1)^2)` is smooth in some places and rough in others;
    `D = s + Z_3 + v` and `y = effect D + 1.5 s - Z_3 + e`. The controls are uniform on (-1, 1),
    made from normal variables with correlation `0.5^|j-k|`; v and e are standard normal.

    Parameters
    ----------
    n, p : int
        Rows and controls, p >= 3.
    effect, random_state
        As in `make_binary_treatment`.
    """
    rng = named_generator(root_seed(random_state), "chirp")
    Z = 2 * ndtr(autoregressive(rng, n, p, 0.5)) - 1
    v = rng.normal(size=(n, 1))
    s = (1 + Z[:, 1]) * np.sin(np.pi * (1 + Z[:, 0]) ** 2)
    D = make_treatments([s + Z[:, 2]], v)
    y = effect * D[:, 0] + 1.5 * s - Z[:, 2] + rng.normal(size=n)
    return simulated(D, Z, y, (effect,), Noise(v))


def _waves(Z: FloatArray) -> FloatArray:
    waves: FloatArray = np.sin(2 * Z[:, 0]) + np.abs(Z[:, 1]) + Z[:, 2] * Z[:, 3] / 2
    return waves
