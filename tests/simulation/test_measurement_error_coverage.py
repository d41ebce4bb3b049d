"""Theorem 2 where its assumptions hold: errors of known size added to the true residuals.

With 300 runs of 3 coefficients the Monte Carlo error of a coverage of 0.95 is about 0.007, so the
bounds [0.93, 0.97] give a false alarm about once in 250 choices of seeds; the bias of each of six
coefficients exceeds 3 Monte Carlo errors about once in 60.
"""

import numpy as np
import pytest

import debinet as dn

RUNS, ROWS = 300, 20_000
TRUTH = np.array([1.0, -0.5, 2.0])
MIX = np.array([[1.0, 0.3, 0.0], [0.0, 1.0, 0.3], [0.0, 0.0, 1.0]])


@pytest.mark.sim
@pytest.mark.parametrize("sigma2", [0.25, 0.5])
def test_corrected_estimates_are_consistent_and_cover(sigma2):
    plain, corrected, covered = [], [], []
    for seed in range(RUNS):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(ROWS, 3)) @ MIX
        y = X @ TRUTH + rng.normal(size=ROWS)
        D = X + np.sqrt(sigma2) * rng.normal(size=X.shape)
        model = dn.PartiallyLinear([0, 1, 2], "mean", crossfit=None, method="robinson").fit(D, y)
        result = model.result_.correct_measurement_error(sigma2)
        bounds = result.confint().to_numpy()
        plain.append(model.coef_ - TRUTH)
        corrected.append(result.estimate - TRUTH)
        covered.append((bounds[:, 0] <= TRUTH) & (bounds[:, 1] >= TRUTH))
    error = np.std(corrected, axis=0) / np.sqrt(RUNS)
    bias = np.mean(corrected, axis=0)
    print(f"\nsigma2 {sigma2}: bias {bias}, Monte Carlo error {error}")
    print(f"coverage {np.mean(covered):.3f}, bias without correction {np.mean(plain, axis=0)}")
    assert (np.abs(bias) < 3 * error).all()
    assert (np.abs(np.mean(plain, axis=0)) > 50 * error).all()
    assert 0.93 <= np.mean(covered) <= 0.97
