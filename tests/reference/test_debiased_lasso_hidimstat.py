"""The desparsified Lasso against hidimstat, at the same penalties.

`debiased_lasso_hidimstat.json` was written by `benchmarks/debiased_lasso.py --reference`; it names
the version.
"""

import json
from pathlib import Path

import numpy as np
from scipy import stats

from debinet.models.debiased_lasso import DebiasedLasso

STORED = json.loads((Path(__file__).parent / "debiased_lasso_hidimstat.json").read_text())


def test_coefficients_and_intervals_equal_hidimstats():
    """On standardized columns, at its noise level; it uses normal quantiles, we those of t."""
    X, y = np.array(STORED["X"]), np.array(STORED["y"])
    model = DebiasedLasso(
        STORED["penalty"], STORED["nodewise"], projection="exact", noise=STORED["sigma"]
    ).fit(X, y)
    scale = X.std(axis=0)
    np.testing.assert_allclose(model.coef_ * scale, STORED["coef"], atol=1e-6)
    ours = 2 * stats.norm.ppf(0.975) * model.result_.se * scale
    np.testing.assert_allclose(ours, STORED["width"], rtol=1e-5)
