"""Simulated data like those of applied studies: wages, doses, prices of houses, advertising."""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from debinet._random import RandomState, named_generator, root_seed
from debinet.data.simulated import (
    Noise,
    Simulated,
    autoregressive,
    equicorrelated,
    make_treatments,
    simulated,
)
from debinet.protocols import FloatArray

_SHARES = (0.4, 0.3, 0.2, 0.1)  # of the regions
_SKEWNESS = 0.5  # standard deviation of the logarithm of a lognormal noise
_HOT_SPOTS = ((0.4, 0.3, 0.3, 3.0), (-0.5, 0.4, 0.4, 2.0), (0.1, -0.6, 0.35, -2.0))
_WEEKS = 52


def make_labour(
    n: int = 500, *, effect: float = 0.3, random_state: RandomState = None
) -> Simulated:
    """Make a design like a study of wages: training depends on education, experience and region.

    Z_1 is education, normal with mean 13 and standard deviation 2.5, rounded, and cut at 8 and 20;
    Z_3 is age, a whole number from 22 to 64; Z_2 is experience, `Z_3 - Z_1 - 6` less a Poisson
    count with mean 1.5 (years without work), at least 0. Z_4, Z_5 and Z_6 are dummies of the
    second, third and fourth of four regions with shares 0.4, 0.3, 0.2 and 0.1, Z_7 is a Poisson
    count with mean 2 and Z_8 exponential with mean 1. With `x = Z_2 / 10`, the profile
    `h = 4 x exp(-x)`, a degree `g = 1[Z_1 >= 16]` and `r = (Z_5 - 2 Z_6) (x - 1.5)`,
    `D = h + g + r / 2 + v` and `y = effect D + 1.5 h + g + Z_1 / 10 + r + e`, with standard normal
    v and a lognormal e, shifted and scaled to mean 0 and variance 1.

    Parameters
    ----------
    n : int
        Rows.
    effect : float
        True coefficient.
    random_state : int, numpy random generator, or None
        Seed.
    """
    rng = named_generator(root_seed(random_state), "labour")
    education = np.clip(np.round(13 + 2.5 * rng.normal(size=n)), 8, 20)
    age = rng.integers(22, 65, size=n)
    experience = np.maximum(age - education - 6 - rng.poisson(1.5, size=n), 0)
    regions = np.eye(4)[rng.choice(4, size=n, p=_SHARES)][:, 1:]
    others = np.column_stack([rng.poisson(2.0, size=n), rng.exponential(size=n)])
    x, degree = experience / 10, 1.0 * (education >= 16)
    profile, slope = 4 * x * np.exp(-x), (regions[:, 1] - 2 * regions[:, 2]) * (x - 1.5)
    v = rng.normal(size=(n, 1))
    D = make_treatments([profile + degree + slope / 2], v)
    f = 1.5 * profile + degree + education / 10 + slope
    Z = np.column_stack([education, experience, age, regions, others])
    return simulated(D, Z, effect * D[:, 0] + f + _lognormal(rng, n), (effect,), Noise(v))


def make_clinic(
    n: int = 500, *, effect: float = -0.5, random_state: RandomState = None
) -> Simulated:
    """Make a design like a study of a drug: doctors choose the dose by a risk score.

    u is normal with correlation `0.5^|j-k|`. `Z_1 = 27 + 5 u_1`, cut at 15 and 60 (body mass
    index), `Z_2 = 55 + 15 u_2`, cut at 18 and 95 (age), `Z_3 = exp(0.8 u_3)` (a laboratory value),
    `Z_4 = 1[u_4 > 0.5]` and `Z_5 = 1[u_5 > 1]` (other diseases); `Z_6 = u_6` to `Z_12 = u_12` do
    not act. The risk is
    `r = ((Z_1 - 25) / 6)^2 / 2 + (Z_2 - 55) / 25 + log(Z_3) / 2 + Z_4 + Z_4 Z_5 - 1`, the dose
    saturates, `m = 4 expit(1.5 r)`, and doctors differ more where it is high: `D = m + s v` with
    `s = 0.4 + 0.3 m`. The outcome is `y = effect D + 1.5 r + e`, with standard normal v and e.

    Parameters
    ----------
    n, effect, random_state
        As in `make_labour`.
    """
    rng = named_generator(root_seed(random_state), "clinic")
    u = autoregressive(rng, n, 12, 0.5)
    mass, age = np.clip(27 + 5 * u[:, 0], 15, 60), np.clip(55 + 15 * u[:, 1], 18, 95)
    lab = np.exp(0.8 * u[:, 2])
    first, second = 1.0 * (u[:, 3] > 0.5), 1.0 * (u[:, 4] > 1)
    risk = ((mass - 25) / 6) ** 2 / 2 + (age - 55) / 25 + np.log(lab) / 2
    risk += first + first * second - 1
    dose = 4 * expit(1.5 * risk)
    v = ((0.4 + 0.3 * dose) * rng.normal(size=n))[:, None]
    D = make_treatments([dose], v)
    y = effect * D[:, 0] + 1.5 * risk + rng.normal(size=n)
    Z = np.column_stack([mass, age, lab, first, second, u[:, 5:]])
    return simulated(D, Z, y, (effect,), Noise(v))


def make_housing(
    n: int = 500,
    *,
    effects: tuple[float, ...] = (0.5, -0.25),
    random_state: RandomState = None,
) -> Simulated:
    """Make a design like a study of the prices of houses: location drives D and y alike.

    Z_1 and Z_2 are uniform on (-1, 1) (coordinates) and `Z_3 = sqrt(Z_1^2 + Z_2^2)` (distance to
    the centre). `log(Z_4) = 4.5 + Z_3 / 4 + 0.35 u` (size), Z_5 is exponential with mean
    `50 - 25 Z_3`, cut at 120 (years since it was built), Z_6 is normal. Three hot spots make the
    surface `s = 3 k(0.4, 0.3, 0.3) + 2 k(-0.5, 0.4, 0.4) - 2 k(0.1, -0.6, 0.35)`, with
    `k(a, b, w) = exp(-((Z_1 - a)^2 + (Z_2 - b)^2) / (2 w^2))`. With `l = log(Z_4) - 4.7` and
    `o = ((Z_5 - 40) / 40)^2` (new and old houses), `D_1 = s + Z_3 + v_1` (say, air quality),
    `D_2 = 2 l - o - s / 2 + v_2` (further treatments repeat the pattern) and
    `y = D effects + 1.5 s - Z_3 + 2 l + o + e`, with standard normal u, v and e; two columns of v
    have correlation 0.4.

    Parameters
    ----------
    n : int
        Rows.
    effects : tuple of float
        True coefficients.
    random_state
        As in `make_labour`.
    """
    rng = named_generator(root_seed(random_state), "housing")
    place = rng.uniform(-1, 1, size=(n, 2))
    distance, surface = np.linalg.norm(place, axis=1), _surface(place)
    size = np.exp(4.5 + distance / 4 + 0.35 * rng.normal(size=n))
    built = np.minimum(rng.exponential(50 - 25 * distance), 120)
    other, v = rng.normal(size=n), equicorrelated(rng, n, len(effects), 0.4)
    large, vintage = np.log(size) - 4.7, ((built - 40) / 40) ** 2
    D = make_treatments([surface + distance, 2 * large - vintage - surface / 2], v)
    f = 1.5 * surface - distance + 2 * large + vintage
    y = D @ np.asarray(effects) + f + rng.normal(size=n)
    Z = np.column_stack([place, distance, size, built, other])
    return simulated(D, Z, y, effects, Noise(v))


def make_marketing(
    n: int = 500,
    *,
    effects: tuple[float, ...] = (0.4, 0.2, 0.0),
    random_state: RandomState = None,
) -> Simulated:
    """Make a design like a study of advertising: budgets follow the season, promotions and growth.

    Rows are stores in weeks. Z_1 is a week from 0 to 155, `Z_2 = Z_1 mod 52` (week of the year),
    `Z_3 = exp(0.2 u_1)` (price), `Z_4 = exp(0.1 u_1 + 0.15 u_2)` (price of a competitor),
    `Z_5 = exp(0.5 u_3)` (size of the store) and Z_6 and Z_7 are standard normal. With the season
    `s = cos(2 pi (Z_2 - 30) / 52) + 2 1[Z_2 >= 47]`, the trend `t = 2 log(1 + Z_1 / 26)`, a
    promotion `p = 1[Z_3 < 0.85]` and `c = 1[Z_3 < Z_4]` (cheaper than the competitor),
    `D_1 = s + v_1` (television), `D_2 = 1.5 p + t / 2 + v_2` (search),
    `D_3 = s / 2 - 1.5 p c + log(Z_5) + v_3` (leaflets; further treatments repeat the pattern) and
    `y = D effects + s + t + 2 p + p c - 2 log(Z_3) + log(Z_5) + e`, with standard normal u and e.
    Every v_j is `g / 2 - 2` with g from the gamma distribution of shape 4: budgets are skewed.

    Parameters
    ----------
    n, effects, random_state
        As in `make_housing`.
    """
    rng = named_generator(root_seed(random_state), "marketing")
    week, u = rng.integers(0, 3 * _WEEKS, size=n), rng.normal(size=(n, 3))
    others, v = rng.normal(size=(n, 2)), rng.gamma(4.0, size=(n, len(effects))) / 2 - 2
    of_year, log_price, log_size = week % _WEEKS, 0.2 * u[:, 0], 0.5 * u[:, 2]
    log_rival = 0.1 * u[:, 0] + 0.15 * u[:, 1]
    season = np.cos(2 * np.pi * (of_year - 30) / _WEEKS) + 2 * (of_year >= 47)
    trend, promotion = 2 * np.log1p(week / 26), 1.0 * (log_price < np.log(0.85))
    beats = promotion * (log_price < log_rival)
    D = make_treatments(
        [season, 1.5 * promotion + trend / 2, season / 2 - 1.5 * beats + log_size], v
    )
    f = season + trend + 2 * promotion + beats - 2 * log_price + log_size
    y = D @ np.asarray(effects) + f + rng.normal(size=n)
    Z = np.column_stack([week, of_year, np.exp(log_price), np.exp(log_rival), np.exp(log_size)])
    return simulated(D, np.hstack([Z, others]), y, effects, Noise(v))


def _lognormal(rng: np.random.Generator, n: int) -> FloatArray:
    """Return lognormal noise with mean 0 and variance 1: many values a little below, few far up."""
    square = _SKEWNESS**2
    values = np.exp(_SKEWNESS * rng.normal(size=n)) - np.exp(square / 2)
    noise: FloatArray = values / np.sqrt(np.expm1(square) * np.exp(square))
    return noise


def _surface(place: FloatArray) -> FloatArray:
    """Return the sum of the hot spots at places of shape (n, 2)."""
    surface = np.zeros(len(place))
    for east, north, width, height in _HOT_SPOTS:
        squares = ((place - [east, north]) ** 2).sum(axis=1)
        surface += height * np.exp(-squares / (2 * width**2))
    return surface
