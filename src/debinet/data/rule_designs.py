"""Simulated data in which administrative rules, seasons or kinks act on D and on y alike."""

from __future__ import annotations

import numpy as np

from debinet._random import RandomState, named_generator, root_seed
from debinet.data.simulated import (
    Noise,
    Simulated,
    autoregressive,
    make_treatments,
    simulated,
)

_WIDEST = 4.0


def make_brackets(
    n: int = 500, *, effect: float = 0.5, random_state: RandomState = None
) -> Simulated:
    """Make a design in which a benefit depends on brackets of income, and on eligibility.

    Z_1 is lognormal with `log Z_1 = u / 2` (an income), Z_2 uniform on (20, 80) (an age), Z_3 a
    Poisson count with mean 1 (children), Z_4, Z_5 and Z_6 are standard normal. A person is
    eligible, `g = 1`, if `Z_2 >= 65`, or if `Z_3 >= 2` and `Z_1 < 1.2`; the bracket b is 0 below
    an income of 0.8, 1 up to 1.5, and 2 above. `D = g - b / 2 + sin(Z_4) + v` and
    `y = effect D + 1.5 g - b + sin(Z_4) + Z_5 / 2 + e`, with standard normal u, v and e.

    Parameters
    ----------
    n : int
        Rows.
    effect : float
        True coefficient.
    random_state : int, numpy random generator, or None
        Seed.
    """
    rng = named_generator(root_seed(random_state), "brackets")
    income = np.exp(rng.normal(size=n) / 2)
    age, children = rng.uniform(20, 80, size=n), rng.poisson(1.0, size=n)
    others, v = rng.normal(size=(n, 3)), rng.normal(size=(n, 1))
    eligible = 1.0 * ((age >= 65) | ((children >= 2) & (income < 1.2)))
    bracket = 1.0 * (income >= 0.8) + (income >= 1.5)
    wave = np.sin(others[:, 0])
    D = make_treatments([eligible - bracket / 2 + wave], v)
    y = effect * D[:, 0] + 1.5 * eligible - bracket + wave + others[:, 1] / 2 + rng.normal(size=n)
    return simulated(D, np.column_stack([income, age, children, others]), y, (effect,), Noise(v))


def make_kinks(
    n: int = 500,
    p: int = 9,
    *,
    effects: tuple[float, ...] = (0.5, -0.5),
    random_state: RandomState = None,
) -> Simulated:
    """Make a design with heavy-tailed controls whose products, differences and bumps are shared.

    Z has the t distribution with 5 degrees of freedom, cut at -4 and 4, and correlation of about
    `0.5^|j-k|`. With `a = Z_1 Z_2 / 2`, `k = |Z_3 - Z_4|` and `h = 2 exp(-Z_5^2)`,
    `D_1 = a + k + v_1`, `D_2 = h - k / 2 + v_2` (further treatments repeat the pattern) and
    `y = D effects + a + k + h + Z_6 / 2 + e`, with standard normal v and e.

    Parameters
    ----------
    n, p : int
        Rows and controls, p >= 6.
    effects : tuple of float
        True coefficients.
    random_state
        As in `make_brackets`.
    """
    rng = named_generator(root_seed(random_state), "kinks")
    scale = np.sqrt(5 / rng.chisquare(5, size=(n, 1)))
    Z = np.clip(autoregressive(rng, n, p, 0.5) * scale, -_WIDEST, _WIDEST)
    v = rng.normal(size=(n, len(effects)))
    product, kink = Z[:, 0] * Z[:, 1] / 2, np.abs(Z[:, 2] - Z[:, 3])
    bump = 2 * np.exp(-(Z[:, 4] ** 2))
    D = make_treatments([product + kink, bump - kink / 2], v)
    f = product + kink + bump + Z[:, 5] / 2
    return simulated(D, Z, D @ np.asarray(effects) + f + rng.normal(size=n), effects, Noise(v))


def make_seasons(
    n: int = 500, *, effect: float = 0.5, random_state: RandomState = None
) -> Simulated:
    """Make a design with a trend, a season that differs between regions, and a holiday.

    Z_1 is uniform on (0, 4) (years), Z_2 and Z_3 are dummies of the second and third of three
    regions of the same size, Z_4 is 1 with chance 0.1 (a holiday), and Z_5 to Z_8 are standard
    normal. With `s = sin(2 pi Z_1) (1 + Z_2 - Z_3)` and `t = Z_1 / 2`,
    `D = s + t + Z_4 + v` and `y = effect D + 1.5 s - t + 2 Z_4 + Z_5 Z_6 / 2 + e`, with standard
    normal v and e.

    Parameters
    ----------
    n, effect, random_state
        As in `make_brackets`.
    """
    rng = named_generator(root_seed(random_state), "seasons")
    year, region = rng.uniform(0, 4, size=n), rng.integers(0, 3, size=n)
    holiday = 1.0 * (rng.random(n) < 0.1)
    others, v = rng.normal(size=(n, 4)), rng.normal(size=(n, 1))
    second, third = 1.0 * (region == 1), 1.0 * (region == 2)
    season = np.sin(2 * np.pi * year) * (1 + second - third)
    D = make_treatments([season + year / 2 + holiday], v)
    f = 1.5 * season - year / 2 + 2 * holiday + others[:, 0] * others[:, 1] / 2
    y = effect * D[:, 0] + f + rng.normal(size=n)
    Z = np.column_stack([year, second, third, holiday, others])
    return simulated(D, Z, y, (effect,), Noise(v))


def make_clock(n: int = 500, *, effect: float = 0.5, random_state: RandomState = None) -> Simulated:
    """Make a design with a daily rhythm, working hours, and a temperature that matters in them.

    Z_1 is uniform on (0, 24) (hours), Z_2 is 1 with chance 5/7 (a weekday), Z_3 is normal with mean
    `-cos(2 pi Z_1 / 24)` and variance 1 (a temperature), and Z_4 to Z_7 are standard normal. With
    `w = Z_2 1[8 <= Z_1 < 18]` (at work) and `s = cos(4 pi Z_1 / 24) + w`, `D = s + Z_3 / 2 + v` and
    `y = effect D + 1.5 s + w Z_3 + Z_4 / 2 + e`, with standard normal v and e.

    Parameters
    ----------
    n, effect, random_state
        As in `make_brackets`.
    """
    rng = named_generator(root_seed(random_state), "clock")
    hour, weekday = rng.uniform(0, 24, size=n), 1.0 * (rng.random(n) < 5 / 7)
    warmth = rng.normal(size=n) - np.cos(2 * np.pi * hour / 24)
    others, v = rng.normal(size=(n, 4)), rng.normal(size=(n, 1))
    work = weekday * ((hour >= 8) & (hour < 18))
    rhythm = np.cos(4 * np.pi * hour / 24) + work
    D = make_treatments([rhythm + warmth / 2], v)
    y = effect * D[:, 0] + 1.5 * rhythm + work * warmth + others[:, 0] / 2 + rng.normal(size=n)
    return simulated(D, np.column_stack([hour, weekday, warmth, others]), y, (effect,), Noise(v))
