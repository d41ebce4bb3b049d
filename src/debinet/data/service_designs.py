"""Simulated data like those of two services: hospitals and public transport."""

from __future__ import annotations

import numpy as np

from debinet._random import RandomState, named_generator, root_seed
from debinet.data.simulated import Noise, Simulated, equicorrelated, make_treatments, simulated

_WARDS = (0.3, 0.2, 0.2, 0.15, 0.15)  # their shares
_SLOPES = (1.0, -0.5, 0.5, 1.5, 0.0)  # of severity, by ward
_OLD, _SATURDAY = 65, 5


def make_hospitals(
    n: int = 500, *, effect: float = 0.3, random_state: RandomState = None
) -> Simulated:
    """Make a design like a study of stays in hospital: physiotherapy depends on the patient.

    Z_1 is a whole number from 20 to 94 (age), Z_2 from the gamma distribution of shape 3
    (severity), Z_3 a weekday from 0 to 6, `Z_4 = exp(0.5 u)` (a laboratory value), Z_5 to Z_8 are
    dummies of the second to fifth of five wards with shares 0.3, 0.2, 0.2, 0.15 and 0.15, and Z_9
    to Z_14 are normal with correlation 0.5 and do not act. With `a = max(Z_1 - 65, 0) / 10`,
    `w = 1[Z_3 >= 5]` (weekend), `s = k (Z_2 - 3) / sqrt(3)` with k of 1, -0.5, 0.5, 1.5 and 0 for
    the five wards, and `l = (log(Z_4) / 0.5)^2 / 2`, `D = 0.8 a - w + 0.7 s + l / 2 + v` (hours of
    physiotherapy) and `y = effect D + a + w / 2 + s + l + e` (logarithm of the length of the stay),
    with standard normal u, e and v.

    Parameters
    ----------
    n : int
        Rows.
    effect : float
        True coefficient.
    random_state : int, numpy random generator, or None
        Seed.
    """
    rng = named_generator(root_seed(random_state), "hospitals")
    age, weekday = rng.integers(20, 95, size=n), rng.integers(0, 7, size=n)
    severity, u = rng.gamma(3.0, size=n), rng.normal(size=n)
    ward = rng.choice(len(_WARDS), size=n, p=_WARDS)
    others, v = equicorrelated(rng, n, 6, 0.5), rng.normal(size=(n, 1))
    old, weekend = np.maximum(age - _OLD, 0) / 10, 1.0 * (weekday >= _SATURDAY)
    severe = np.asarray(_SLOPES)[ward] * (severity - 3) / np.sqrt(3)
    D = make_treatments([0.8 * old - weekend + 0.7 * severe + u**2 / 4], v)
    f = old + weekend / 2 + severe + u**2 / 2
    dummies = np.eye(len(_WARDS))[ward][:, 1:]
    Z = np.column_stack([age, severity, weekday, np.exp(0.5 * u), dummies, others])
    return simulated(D, Z, effect * D[:, 0] + f + rng.normal(size=n), (effect,), Noise(v))


def make_transport(
    n: int = 500, *, effects: tuple[float, ...] = (-0.5, 0.2), random_state: RandomState = None
) -> Simulated:
    """Make a design like a study of commuters: fares and service follow the hour and the place.

    Z_1 and Z_2 are uniform on [-1, 1] (coordinates), Z_3 is uniform on [5, 23] (hour of departure),
    `Z_4 = exp(0.7 u)` (distance), Z_5 is a Poisson count with mean 1, at most 3 (cars), Z_6 is 1
    with chance 0.3 (rain), and Z_7 to Z_12 are standard normal and do not act. With the rush
    `r = exp(-((Z_3 - 8) / 1.5)^2) + exp(-((Z_3 - 17.5) / 2)^2)`, the centre
    `c = exp(-3 (Z_1 - 0.3)^2 - 3 (Z_2 + 0.2)^2)` and `k = 1[Z_5 = 0]`,
    `D_1 = 2 r + c + log(Z_4) / 2 + (1 + r) v_1 / 1.3` (fare), `D_2 = 3 c - k r + v_2` (service;
    further treatments repeat the pattern) and `y = D effects + 1.5 r + 3 c + log(Z_4) + k r + e`,
    with standard normal u, e and v.

    Parameters
    ----------
    n : int
        Rows.
    effects : tuple of float
        True coefficients.
    random_state
        As in `make_hospitals`.
    """
    rng = named_generator(root_seed(random_state), "transport")
    place, hour = rng.uniform(-1, 1, size=(n, 2)), rng.uniform(5, 23, size=n)
    u, cars, rain = rng.normal(size=n), np.minimum(rng.poisson(1.0, size=n), 3), rng.random(n) < 0.3
    others, v = rng.normal(size=(n, 6)), rng.normal(size=(n, len(effects)))
    rush = np.exp(-(((hour - 8) / 1.5) ** 2)) + np.exp(-(((hour - 17.5) / 2) ** 2))
    centre = np.exp(-3 * (place[:, 0] - 0.3) ** 2 - 3 * (place[:, 1] + 0.2) ** 2)
    without = rush * (cars == 0)
    v[:, 0::2] *= ((1 + rush) / 1.3)[:, None]
    D = make_treatments([2 * rush + centre + 0.35 * u, 3 * centre - without], v)
    f = 1.5 * rush + 3 * centre + 0.7 * u + without
    y = D @ np.asarray(effects) + f + rng.normal(size=n)
    Z = np.column_stack([place, hour, np.exp(0.7 * u), cars, rain, others])
    return simulated(D, Z, y, effects, Noise(v))
