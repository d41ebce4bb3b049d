"""Simulated data: shapes, names, seeds and the equations."""

import numpy as np
import pytest

import debinet as dn


@pytest.mark.parametrize(
    ("make", "q"),
    [
        (dn.datasets.make_sparse_linear, 2),
        (dn.datasets.make_smooth_nonlinear, 2),
        (dn.datasets.make_survey, 2),
        (dn.datasets.make_ccddhnr2018, 1),
        (dn.datasets.make_table1, 1),
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
