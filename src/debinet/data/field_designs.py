"""Simulated data like those of four fields: schools, energy, credit and ecology."""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from debinet._random import RandomState, named_generator, root_seed
from debinet.data.simulated import (
    Noise,
    Simulated,
    equicorrelated,
    make_treatments,
    simulated,
)
from debinet.protocols import FloatArray

_PUPILS = 25  # per school, on average
_AMBITION = (0.0, 0.5, 2.0, 1.5, 0.0)  # by the education of the parents
_DISTRICTS = (0.3, 0.25, 0.2, 0.15, 0.1)  # their shares
_SLOPES = (0.5, 1.0, -1.0, 0.0, 1.5)  # of income, by district
_LARGEST_LOGIT = 2.4  # chances from 0.083 to 0.917
_TOGETHER = 0.6  # correlation of the controls of make_ecology


def make_schools(
    n: int = 500, *, effect: float = 0.4, random_state: RandomState = None
) -> Simulated:
    """Make a design like a study of test scores: tutoring depends on parents, age and district.

    `Z_1 = 40 exp(0.6 u_1)` (income), Z_2 is a whole number from 96 to 119 (age in months), Z_3 a
    class size, normal with mean 22 and standard deviation 6, rounded, cut at 8 and 36, and the same
    for all pupils of a school (25 on average), Z_4 the education of the parents, 1 to 5: 1 plus how
    many of -1, -0.3, 0.4 and 1.1 are below `0.5 u_1 + sqrt(0.75) u_2`. Z_5 to Z_8 are dummies of
    the second to fifth of five districts with shares 0.3, 0.25, 0.2, 0.15 and 0.1, Z_9 is a Poisson
    count with mean 1.2 (siblings) and Z_10 is 0 or 1 with even chances. School is entered once a
    year, so `r = (Z_2 mod 12) / 12` is the age within the grade. With `c = 20 / Z_3`, an ambition w
    of 0, 0.5, 2, 1.5 and 0 for the five levels of Z_4, and `i = k log(Z_1 / 40) / 0.6` with k of
    0.5, 1, -1, 0 and 1.5 for the five districts, `D = 0.7 (w + i) - r + v` (hours of tutoring)
    and `y = effect D + w + i + r + c + Z_10 / 3 + e`, with standard normal u, v and e.

    Parameters
    ----------
    n : int
        Rows.
    effect : float
        True coefficient.
    random_state : int, numpy random generator, or None
        Seed.
    """
    rng = named_generator(root_seed(random_state), "schools")
    u, age = rng.normal(size=(n, 2)), rng.integers(96, 120, size=n)
    school = rng.integers(0, -(-n // _PUPILS), size=n)
    sizes = np.clip(np.round(22 + 6 * rng.normal(size=-(-n // _PUPILS))), 8, 36)
    level = np.searchsorted([-1, -0.3, 0.4, 1.1], 0.5 * u[:, 0] + np.sqrt(0.75) * u[:, 1])
    district = rng.choice(5, size=n, p=_DISTRICTS)
    siblings, girl = rng.poisson(1.2, size=n), rng.integers(0, 2, size=n)
    ambition, within = np.asarray(_AMBITION)[level], age % 12 / 12
    income = np.asarray(_SLOPES)[district] * u[:, 0]
    v = rng.normal(size=(n, 1))
    D = make_treatments([0.7 * (ambition + income) - within], v)
    f = ambition + income + within + 20 / sizes[school] + girl / 3
    dummies = np.eye(5)[district][:, 1:]
    Z = np.column_stack(
        [40 * np.exp(0.6 * u[:, 0]), age, sizes[school], level + 1, dummies, siblings, girl]
    )
    return simulated(D, Z, effect * D[:, 0] + f + rng.normal(size=n), (effect,), Noise(v))


def make_energy(
    n: int = 500,
    *,
    effects: tuple[float, ...] = (-0.4, 0.3),
    random_state: RandomState = None,
) -> Simulated:
    """Make a design like a study of households' energy use: weather and the hour drive D and y.

    Z_1 is a month from 1 to 12, Z_2 an hour from 0 to 23, and
    `Z_3 = 14 - 9 cos(2 pi (Z_1 - 1) / 12) + 5 u_1` (temperature). `Z_4 = 100 exp(0.4 u_2)` (floor
    area), Z_5 is 1 plus a Poisson count with mean 1.5 (persons), Z_6 is 1 with chance 0.4 (heating
    by electricity), Z_7 uniform on (0, 80) (years since the house was built), and Z_8 and Z_9 are
    standard normal. With heating `h = max(15 - Z_3, 0) / 5` and cooling `c = max(Z_3 - 20, 0) / 5`,
    the evening `p = 2 exp(2 cos(2 pi (Z_2 - 19) / 24) - 2)`, `l = log(Z_4 / 100)` and
    `q = h (Z_6 - 1 / 2)`, `D_1 = h / 2 + c + p + v_1` (tariff),
    `D_2 = q + 1.5 l + p / 2 + v_2` (hours at home; further treatments repeat the pattern) and
    `y = D effects + h + 1.5 c + p + q + 2 l + h l + sqrt(Z_5) + e`, with standard normal u, v
    and e.

    Parameters
    ----------
    n : int
        Rows.
    effects : tuple of float
        True coefficients.
    random_state
        As in `make_schools`.
    """
    rng = named_generator(root_seed(random_state), "energy")
    month, hour = rng.integers(1, 13, size=n), rng.integers(0, 24, size=n)
    u, persons = rng.normal(size=(n, 2)), 1 + rng.poisson(1.5, size=n)
    temperature = 14 - 9 * np.cos(2 * np.pi * (month - 1) / 12) + 5 * u[:, 0]
    electric, built = 1.0 * (rng.random(n) < 0.4), rng.uniform(0, 80, size=n)
    others, v = rng.normal(size=(n, 2)), rng.normal(size=(n, len(effects)))
    heating, cooling = np.maximum(15 - temperature, 0) / 5, np.maximum(temperature - 20, 0) / 5
    evening = 2 * np.exp(2 * np.cos(2 * np.pi * (hour - 19) / 24) - 2)
    large, by_current = 0.4 * u[:, 1], heating * (electric - 0.5)
    D = make_treatments(
        [heating / 2 + cooling + evening, by_current + 1.5 * large + evening / 2], v
    )
    f = heating + 1.5 * cooling + evening + by_current + (2 + heating) * large + np.sqrt(persons)
    y = D @ np.asarray(effects) + f + rng.normal(size=n)
    area = 100 * np.exp(large)
    Z = np.column_stack([month, hour, temperature, area, persons, electric, built, others])
    return simulated(D, Z, y, effects, Noise(v))


def make_credit(
    n: int = 500, *, effect: float = 0.5, random_state: RandomState = None
) -> Simulated:
    """Make a design like a study of offers of credit: a bank chooses by score and utilization.

    `Z_1 = 680 + 70 u_1`, cut at 450 and 850 (score), `Z_2 = expit(-0.6 - 0.6 u_1 + u_2)`
    (utilization), `Z_3 = 50 exp(0.5 u_3)` (income), Z_4 is exponential with mean 60, cut at 240
    (months as a customer), Z_5 is a Poisson count with mean 3 (accounts), Z_6 is 1 with chance 0.35
    (a mortgage), and Z_7 and Z_8 are standard normal. With `a = (Z_1 - 680) / 70` and
    `b = 4 Z_2 - 1.5`, `s = 1 - a^2 + tanh(2 b) - a b`, and the chance of `D = 1` (an offer) is
    `expit(2.4 tanh(s))`: the bank leaves something to chance everywhere. The outcome is
    `y = effect D + (tanh(2 b) - a^2 + a - a b) / 2 + log(Z_3 / 50) + sd e` with
    `sd = 0.5 + Z_2 + Z_6 / 2` and standard normal u and e.

    Parameters
    ----------
    n, effect, random_state
        As in `make_schools`.
    """
    rng = named_generator(root_seed(random_state), "credit")
    u = rng.normal(size=(n, 3))
    score = np.clip(680 + 70 * u[:, 0], 450, 850)
    used, income = expit(-0.6 - 0.6 * u[:, 0] + u[:, 1]), 50 * np.exp(0.5 * u[:, 2])
    months, accounts = np.minimum(rng.exponential(60, size=n), 240), rng.poisson(3.0, size=n)
    mortgage, others = 1.0 * (rng.random(n) < 0.35), rng.normal(size=(n, 2))
    a, b = (score - 680) / 70, 4 * used - 1.5
    chance = expit(_LARGEST_LOGIT * np.tanh(1 - a**2 + np.tanh(2 * b) - a * b))
    D = (rng.random(n) < chance).astype(np.float64)[:, None]
    f = (np.tanh(2 * b) - a**2 + a - a * b + u[:, 2]) / 2
    sd = 0.5 + used + mortgage / 2
    y = effect * D[:, 0] + f + sd * rng.normal(size=n)
    Z = np.column_stack([score, used, income, months, accounts, mortgage, others])
    return simulated(D, Z, y, (effect,), Noise(D - chance[:, None], sd))


def make_ecology(
    n: int = 500,
    *,
    effects: tuple[float, ...] = (0.5, -0.3),
    random_state: RandomState = None,
) -> Simulated:
    """Make a design like a study of species: they thrive in niches along gradients of the climate.

    There are 15 normal controls, all with correlation 0.6, then Z_3 has its sign changed: Z_1 is
    the elevation, Z_2 rainfall, Z_3 temperature; Z_4 (nutrients) becomes its exponential, and the
    others do not act. The gradients `g = (Z_1 + Z_2) / sqrt(3.2)` and `t = (Z_2 + Z_3) / sqrt(0.8)`
    have variance 1. With the niches `a = 3 exp(-2 (g - 0.3)^2)` and `b = 3 exp(-(t + 0.5)^2)`, and
    `k = 4 Z_4 / (1 + Z_4)`, which saturates, `D_1 = a + k / 2 + v_1` (grazing),
    `D_2 = b - k / 2 + v_2` (cover of trees; further treatments repeat the pattern) and
    `y = D effects + a + b + k + e` (number of species), with standard normal v and e; two columns
    of v have correlation 0.5.

    Parameters
    ----------
    n, effects, random_state
        As in `make_energy`.
    """
    rng = named_generator(root_seed(random_state), "ecology")
    Z = equicorrelated(rng, n, 15, _TOGETHER)
    Z[:, 2] *= -1
    Z[:, 3] = np.exp(Z[:, 3])
    v = equicorrelated(rng, n, len(effects), 0.5)
    first = _niche((Z[:, 0] + Z[:, 1]) / np.sqrt(2 + 2 * _TOGETHER), 0.3, 2.0)
    second = _niche((Z[:, 1] + Z[:, 2]) / np.sqrt(2 - 2 * _TOGETHER), -0.5, 1.0)
    saturating = 4 * Z[:, 3] / (1 + Z[:, 3])
    D = make_treatments([first + saturating / 2, second - saturating / 2], v)
    f = first + second + saturating
    y = D @ np.asarray(effects) + f + rng.normal(size=n)
    return simulated(D, Z, y, effects, Noise(v))


def _niche(gradient: FloatArray, best: float, narrowness: float) -> FloatArray:
    """Return how well a species thrives along a gradient: 3 at its best, 0 far from it."""
    niche: FloatArray = 3 * np.exp(-narrowness * (gradient - best) ** 2)
    return niche
