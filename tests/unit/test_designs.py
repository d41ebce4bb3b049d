"""Simulated data: shapes, names, seeds, the equations and the ideal standard errors."""

import pickle

import numpy as np
import pytest

import debinet as dn
from debinet.data.simulated import Simulated


@pytest.mark.parametrize(
    ("make", "q"),
    [
        (dn.datasets.make_sparse_linear, 2),
        (dn.datasets.make_smooth_nonlinear, 2),
        (dn.datasets.make_survey, 2),
        (dn.datasets.make_ccddhnr2018, 1),
        (dn.datasets.make_table1, 1),
        (dn.datasets.make_shared_functions, 1),
        (dn.datasets.make_single_index, 1),
        (dn.datasets.make_multi, 3),
        (dn.datasets.make_steps, 1),
        (dn.datasets.make_friedman, 1),
        (dn.datasets.make_mixed_controls, 2),
        (dn.datasets.make_binary_treatment, 1),
        (dn.datasets.make_heavy_tails, 1),
        (dn.datasets.make_radial, 1),
        (dn.datasets.make_chirp, 1),
        (dn.datasets.make_brackets, 1),
        (dn.datasets.make_kinks, 2),
        (dn.datasets.make_seasons, 1),
        (dn.datasets.make_clock, 1),
        (dn.datasets.make_labour, 1),
        (dn.datasets.make_clinic, 1),
        (dn.datasets.make_housing, 2),
        (dn.datasets.make_marketing, 3),
        (dn.datasets.make_schools, 1),
        (dn.datasets.make_energy, 2),
        (dn.datasets.make_credit, 1),
        (dn.datasets.make_ecology, 2),
        (dn.datasets.make_hospitals, 1),
        (dn.datasets.make_transport, 2),
    ],
)
def test_designs_are_seeded_and_named(make, q):
    X, y, truth = make(n=50, random_state=1)
    again = make(n=50, random_state=1)
    np.testing.assert_array_equal(X, again.X)
    np.testing.assert_array_equal(y, again.y)
    assert not np.array_equal(y, make(n=50, random_state=2).y)
    assert list(truth.index) == [f"d{j + 1}" for j in range(q)] == list(X.columns[:q])


def test_table1_follows_its_equations():
    X, y, truth = dn.datasets.make_table1(n=4000, random_state=0)
    Z = X.drop(columns="d1").to_numpy()
    noise_D = X["d1"] - 50 * np.sin(Z).sum(axis=1)
    noise_y = y - X["d1"] - np.cosh(Z).sum(axis=1)
    # Standard deviations of 4000 standard normals: 0.011 is one standard error.
    assert noise_D.std() == pytest.approx(1, abs=0.05)
    assert noise_y.std() == pytest.approx(1, abs=0.05)
    assert truth["d1"] == 1


def test_table2_follows_its_equation():
    X, y, truth = dn.datasets.make_table2(n=200, p=20, k=5, random_state=0)
    assert truth.sum() == 5
    assert (y - X.to_numpy() @ truth.to_numpy()).std() == pytest.approx(1, abs=0.2)


# E(D|Z), f(Z) and the standard deviation of e, from the columns of Z.


def shared_functions(z):
    g = 0.8 * (np.sin(2 * z[1]) + abs(z[2]) + z[3] * z[4])
    return [g], 1.5 * g, 1


def single_index(z):
    u = sum(z[j] for j in range(1, 7)) / 6**0.5
    s = np.sin(2 * u) + u**2 / 2
    return [s], 2 * s, 1


def multi(z):
    a, b, c, d = np.sin(2 * z[1]), z[2] * z[3] / 2, abs(z[4]), z[6] ** 2 / 2
    return [a + b, c + np.cos(2 * z[5]), d - np.tanh(2 * z[1])], a + b + c + d, 1


def steps(z):
    s = 1.5 * (z[1] > 0) + 1.5 * ((z[2] > 0.5) & (z[3] < 0)) - (z[4] > 1).astype(int)
    return [s], 1.5 * s + (z[5] > 0), 1


def friedman(z):
    part = 10 * np.sin(np.pi * z[1] * z[2]) + 20 * (z[3] - 0.5) ** 2
    return [part / 4], part + 10 * z[4] + 5 * z[5], 2


def mixed_controls(z):
    a, both = ((z[2] - 48) / 18) ** 2, z[4] * z[7]
    first, second = np.log(z[1]) + a / 2, z[3] ** 0.5 + both - a / 2
    return [first, second], np.log(z[1]) + a + z[3] ** 0.5 + both - z[5] / 2, 1


def binary_treatment(z):
    s = np.sin(2 * z[1]) + abs(z[2]) - 0.8 + z[3] * z[4] / 2
    return [1 / (1 + np.exp(-1.2 * s))], 1.5 * s, 1


def heavy_tails(z):
    s = 0.7 * (np.sin(2 * z[1]) + abs(z[2]) + z[3] * z[4] / 2)
    return [s], s, 0.5 + abs(z[1])


def radial(z):
    r = (z[1] ** 2 + z[2] ** 2 + z[3] ** 2) ** 0.5
    return [r], 1.5 * r, 1


def chirp(z):
    s = (1 + z[2]) * np.sin(np.pi * (1 + z[1]) ** 2)
    return [s + z[3]], 1.5 * s - z[3], 1


def brackets(z):
    g = ((z[2] >= 65) | ((z[3] >= 2) & (z[1] < 1.2))).astype(float)
    b = np.digitize(z[1], [0.8, 1.5])
    return [g - b / 2 + np.sin(z[4])], 1.5 * g - b + np.sin(z[4]) + z[5] / 2, 1


def kinks(z):
    a, k, h = z[1] * z[2] / 2, abs(z[3] - z[4]), 2 * np.exp(-(z[5] ** 2))
    return [a + k, h - k / 2], a + k + h + z[6] / 2, 1


def seasons(z):
    s = np.sin(2 * np.pi * z[1]) * (1 + z[2] - z[3])
    return [s + z[1] / 2 + z[4]], 1.5 * s - z[1] / 2 + 2 * z[4] + z[5] * z[6] / 2, 1


def clock(z):
    w = z[2] * ((z[1] >= 8) & (z[1] < 18))
    s = np.cos(4 * np.pi * z[1] / 24) + w
    return [s + z[3] / 2], 1.5 * s + w * z[3] + z[4] / 2, 1


def labour(z):
    x, g = z[2] / 10, z[1] >= 16
    h, r = 4 * x * np.exp(-x), (z[5] - 2 * z[6]) * (x - 1.5)
    return [h + g + r / 2], 1.5 * h + g + z[1] / 10 + r, 1


def clinic(z):
    r = ((z[1] - 25) / 6) ** 2 / 2 + (z[2] - 55) / 25 + np.log(z[3]) / 2 + z[4] + z[4] * z[5] - 1
    return [4 / (1 + np.exp(-1.5 * r))], 1.5 * r, 1


def housing(z):
    def k(a, b, w):
        return np.exp(-((z[1] - a) ** 2 + (z[2] - b) ** 2) / (2 * w**2))

    s = 3 * k(0.4, 0.3, 0.3) + 2 * k(-0.5, 0.4, 0.4) - 2 * k(0.1, -0.6, 0.35)
    size, o = np.log(z[4]) - 4.7, ((z[5] - 40) / 40) ** 2
    return [s + z[3], 2 * size - o - s / 2], 1.5 * s - z[3] + 2 * size + o, 1


def marketing(z):
    s, t = np.cos(2 * np.pi * (z[2] - 30) / 52) + 2 * (z[2] >= 47), 2 * np.log(1 + z[1] / 26)
    p = z[3] < 0.85
    both, size = p & (z[3] < z[4]), np.log(z[5])
    f = s + t + 2 * p + both - 2 * np.log(z[3]) + size
    return [s, 1.5 * p + t / 2, s / 2 - 1.5 * both + size], f, 1


def schools(z):
    r, w = z[2] % 12 / 12, np.array([0, 0.5, 2, 1.5, 0])[z[4].astype(int) - 1]
    k = 0.5 + 0.5 * z[5] - 1.5 * z[6] - 0.5 * z[7] + z[8]
    i = k * np.log(z[1] / 40) / 0.6
    return [0.7 * (w + i) - r], w + i + r + 20 / z[3] + z[10] / 3, 1


def energy(z):
    h, c = np.maximum(15 - z[3], 0) / 5, np.maximum(z[3] - 20, 0) / 5
    p = 2 * np.exp(2 * np.cos(2 * np.pi * (z[2] - 19) / 24) - 2)
    size, q = np.log(z[4] / 100), h * (z[6] - 0.5)
    f = h + 1.5 * c + p + q + 2 * size + h * size + z[5] ** 0.5
    return [h / 2 + c + p, q + 1.5 * size + p / 2], f, 1


def credit(z):
    a, b = (z[1] - 680) / 70, 4 * z[2] - 1.5
    s = 1 - a**2 + np.tanh(2 * b) - a * b
    f = (np.tanh(2 * b) - a**2 + a - a * b) / 2 + np.log(z[3] / 50)
    return [1 / (1 + np.exp(-2.4 * np.tanh(s)))], f, 0.5 + z[2] + z[6] / 2


def ecology(z):
    a = 3 * np.exp(-2 * ((z[1] + z[2]) / 3.2**0.5 - 0.3) ** 2)
    b = 3 * np.exp(-(((z[2] + z[3]) / 0.8**0.5 + 0.5) ** 2))
    k = 4 * z[4] / (1 + z[4])
    return [a + k / 2, b - k / 2], a + b + k, 1


def hospitals(z):
    a, w = np.maximum(z[1] - 65, 0) / 10, z[3] >= 5
    k = 1 - 1.5 * z[5] - 0.5 * z[6] + 0.5 * z[7] - z[8]
    s, two = k * (z[2] - 3) / 3**0.5, (np.log(z[4]) / 0.5) ** 2 / 2
    return [0.8 * a - w + 0.7 * s + two / 2], a + w / 2 + s + two, 1


def transport(z):
    r = np.exp(-(((z[3] - 8) / 1.5) ** 2)) + np.exp(-(((z[3] - 17.5) / 2) ** 2))
    c, k = np.exp(-3 * ((z[1] - 0.3) ** 2 + (z[2] + 0.2) ** 2)), (z[5] == 0) * r
    return [2 * r + c + np.log(z[4]) / 2, 3 * c - k], 1.5 * r + 3 * c + np.log(z[4]) + k, 1


@pytest.mark.parametrize(
    "equations",
    [
        shared_functions,
        single_index,
        multi,
        steps,
        friedman,
        mixed_controls,
        binary_treatment,
        heavy_tails,
        radial,
        chirp,
        brackets,
        kinks,
        seasons,
        clock,
        labour,
        clinic,
        housing,
        marketing,
        schools,
        energy,
        credit,
        ecology,
        hospitals,
        transport,
    ],
)
def test_designs_follow_their_equations(equations):
    sample = getattr(dn.datasets, f"make_{equations.__name__}")(n=4000, random_state=0)
    X, y, truth = sample
    D = X[list(truth.index)].to_numpy()
    z = {int(name[1:]): X[name].to_numpy() for name in X.columns if name[0] == "z"}
    m_D, f, sd = equations(z)
    v = D - np.column_stack(m_D)
    np.testing.assert_allclose(v, sample.noise.v, atol=1e-12)
    e = (y - D @ truth.to_numpy() - f) / sd
    if equations is labour:  # skewed, and its fourth moment of 8.9 makes one error of sd 0.022
        assert e.mean() == pytest.approx(0, abs=0.08)  # five standard errors
        assert e.std() == pytest.approx(1, abs=0.11)
    else:
        # Half of the values of a symmetric variable lie on each side: one standard error is 0.008.
        assert (e > 0).mean() == pytest.approx(0.5, abs=0.04)
    if equations not in (heavy_tails, labour):  # the first has an infinite fourth moment
        assert e.std() == pytest.approx(1, abs=0.05)
    for column in v.T:
        assert abs(np.corrcoef(column, e)[0, 1]) < 0.08  # five standard errors
        assert abs(column.mean()) < 5 * column.std() / 4000**0.5


@pytest.mark.parametrize(
    "name",
    [
        *("labour", "clinic", "housing", "marketing", "schools", "energy", "credit", "ecology"),
        *("hospitals", "transport"),
    ],
)
def test_applied_designs_are_confounded_and_leave_noise_in_the_treatments(name):
    """E(D|Z) explains 0.3 to 0.7 of D, and linear controls do not remove the confounding."""
    sample = getattr(dn.datasets, f"make_{name}")(n=20_000, random_state=0)
    D = sample.X[list(sample.truth.index)].to_numpy()
    explained = 1 - sample.noise.v.var(axis=0) / D.var(axis=0)
    assert ((explained > 0.3) & (explained < 0.7)).all()
    design = np.column_stack([sample.X, np.ones(len(D))])
    coef = np.linalg.lstsq(design, sample.y, rcond=None)[0][: D.shape[1]]
    assert (abs(coef - sample.truth) > 0.1).all()  # more than ten standard errors


# Ideal standard errors


def test_ideal_errors_are_those_of_least_squares_on_the_noise():
    """With independent noise of variance 1 in y and in D: 1 / sqrt(n)."""
    sample = dn.datasets.make_shared_functions(n=40_000, random_state=0)
    assert sample.ideal["d1"] * 200 == pytest.approx(1, abs=0.02)  # five standard errors
    sample = dn.datasets.make_friedman(n=40_000, random_state=0)
    assert sample.ideal["d1"] * 200 == pytest.approx(2, abs=0.04)


@pytest.mark.parametrize(
    "equations",
    [
        *(heavy_tails, labour, clinic, housing, marketing, schools, energy, credit, ecology),
        *(hospitals, transport),
    ],
)
def test_ideal_errors_are_the_errors_of_the_oracle(equations):
    make = getattr(dn.datasets, f"make_{equations.__name__}")
    ratios = [oracle_error(make(n=50, random_state=k), equations) for k in range(400)]
    covered = np.mean(np.abs(ratios) < 1.96, axis=0)
    np.testing.assert_allclose(covered, 0.95, atol=0.044)  # four standard errors


def oracle_error(sample, equations):
    """Return the errors of least squares on the noise of D, over their ideal standard errors."""
    z = {int(name[1:]): sample.X[name].to_numpy() for name in sample.X.columns if name[0] == "z"}
    D, v = sample.X[list(sample.truth.index)].to_numpy(), sample.noise.v
    e = sample.y.to_numpy() - D @ sample.truth.to_numpy() - equations(z)[1]
    return np.linalg.solve(v.T @ v, v.T @ e) / sample.ideal.to_numpy()


def test_a_sample_unpacks_to_three_and_keeps_its_noise():
    sample = dn.datasets.make_multi(n=30, random_state=0)
    X, y, truth = sample
    copied = pickle.loads(pickle.dumps(sample))
    assert (copied.ideal == sample.ideal).all()
    assert list(sample.ideal.index) == ["d1", "d2", "d3"]
    assert Simulated(X, y, truth).ideal.isna().all()
    assert dn.datasets.make_table2(n=20, p=20, k=3).ideal.isna().all()
