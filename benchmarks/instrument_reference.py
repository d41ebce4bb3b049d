"""Write results of linearmodels, ivmodels and DoubleML with instruments, for the tests.

    python benchmarks/instrument_reference.py tests/reference/instruments.json

Data and results are stored together, so that the tests need none of the three.
"""

from __future__ import annotations

import json
import sys
from importlib.metadata import version
from pathlib import Path

import doubleml
import numpy as np
import pandas as pd
from ivmodels.confidence_set import ConfidenceSet
from ivmodels.tests import anderson_rubin_test, inverse_anderson_rubin_test
from linearmodels.iv import IV2SLS, IVGMM, IVLIML
from scipy import stats
from sklearn.linear_model import LinearRegression, RidgeCV
from sklearn.model_selection import KFold

N, K = 240, 4
CONTROLS = ["z1", "z2", "z3"]
# treatments that are endogenous, exogenous ones, instruments
CASES = {
    "just": (["d1"], [], ["w1"]),
    "over": (["d1"], [], ["w1", "w2", "w3"]),
    "several": (["d1", "d2"], ["x"], ["w1", "w2", "w3", "w4"]),
}
WEAK = {
    "just": (["d1"], [], ["v1"]),
    "over": (["d1"], [], ["v1", "v2"]),
    "reduced": (["d1"], [], ["v2"]),
}
LEARNERS = {"LinearRegression": LinearRegression(), "RidgeCV": RidgeCV(alphas=(0.1, 1.0, 10.0))}


def make_data() -> pd.DataFrame:
    rng = np.random.default_rng(20261118)
    Z = rng.normal(size=(N, 3))
    W = rng.normal(size=(N, K)) + 0.5 * Z[:, :1]
    V = rng.normal(size=(N, 2))
    u = rng.normal(size=N)
    x = Z[:, 1] + rng.normal(size=N)
    d1 = W @ [0.5, 0.4, 0.1, 0.2] + 0.2 * V[:, 0] + Z[:, 2] + u + rng.normal(size=N)
    d2 = W @ [-0.3, 0.2, 0.6, 0.3] + 0.5 * x + u + rng.normal(size=N)
    # v2 is related to y but not to d1: sets are unions of two unbounded intervals.
    y = (
        d1
        + 2 * d2
        - x
        + 0.6 * V[:, 1]
        + Z.sum(axis=1)
        + (1 + np.abs(Z[:, 0])) * (u + rng.normal(size=N))
    )
    frame = pd.DataFrame(np.column_stack([Z, W, V, x, d1, d2, y]).round(6))
    frame.columns = [*CONTROLS, *(f"w{j + 1}" for j in range(K)), "v1", "v2", "x", "d1", "d2", "y"]
    return frame.assign(
        firm=rng.integers(0, 30, N), year=rng.integers(0, 12, N), weight=rng.uniform(0.5, 2, N)
    )


def linear(frame: pd.DataFrame, case: tuple) -> dict:
    endogenous, exogenous, instruments = case
    names = [*endogenous, *exogenous]
    outside = frame[[*exogenous, *CONTROLS]].assign(const=1.0)
    parts = (frame.y, outside, frame[endogenous], frame[instruments])
    covariances = {
        "iid": {"cov_type": "unadjusted"},
        "HC0": {"cov_type": "robust"},
        "cluster": {"cov_type": "clustered", "clusters": frame[["firm"]]},
        "two-way": {"cov_type": "clustered", "clusters": frame[["firm", "year"]]},
    }
    # Fuller's constant, so that its denominator is rows less instruments, without the controls.
    k = len(instruments) + len(exogenous)
    fuller = (N - k - len(CONTROLS) - 1) / (N - k)
    models = {
        "2sls": IV2SLS(*parts),
        "liml": IVLIML(*parts),
        "fuller": IVLIML(*parts, fuller=fuller),
        "weighted": IV2SLS(*parts, weights=frame.weight),
    }
    found: dict = {}
    for name, model in models.items():
        found[name] = {"coef": model.fit().params[names].tolist(), "cov": {}}
        for kind, options in covariances.items():
            cov = model.fit(debiased=False, **options).cov.loc[names, names]
            found[name]["cov"][kind] = cov.to_numpy().tolist()
    if len(instruments) > len(endogenous):
        # IVGMM takes two steps, the first of them with the inverse of the instruments' products.
        clusters = {"weight_type": "clustered", "clusters": frame.firm}
        gmm = {"HC0": {"weight_type": "robust"}, "cluster": clusters}
        found["sargan"] = float(models["2sls"].fit().sargan.stat)
        found["J"] = {
            kind: float(IVGMM(*parts, center=False, debiased=False, **how).fit().j_stat.stat)
            for kind, how in gmm.items()
        }
    return found


def anderson_rubin(frame: pd.DataFrame, case: tuple) -> dict:
    endogenous, exogenous, instruments = case
    C = frame[[*exogenous, *CONTROLS]].to_numpy()
    Z, X, y = frame[instruments].to_numpy(), frame[endogenous].to_numpy(), frame.y.to_numpy()
    k, dof = len(instruments), N - len(instruments) - len(exogenous)
    at = [0.5] * len(endogenous)
    statistic, _ = anderson_rubin_test(Z, X, y, np.array(at), C=C)
    # They subtract the controls from the rows, too: limits are in units without them.
    share = (dof - len(CONTROLS) - 1) / dof
    found = {"at": at, "statistic": float(statistic * k / share), "sets": {}}
    for j, name in enumerate(endogenous):
        others = np.delete(X, j, axis=1)
        for level in (0.3, 0.75, 0.95):
            set_ = set_of(Z, X[:, [j]], y, level=level, share=share, W=others, C=C)
            found["sets"].setdefault(name, {})[str(level)] = set_
    return found


def set_of(Z, X, y, *, level, share, W, C) -> list:
    """Return the boundaries of the set whose limit is chi-squared, after the units are changed."""
    df = Z.shape[1] - W.shape[1]
    alpha = float(stats.chi2.sf(stats.chi2.ppf(level, df) * share, df))
    quadric = inverse_anderson_rubin_test(Z, X, y, alpha=alpha, W=W, C=C)
    boundaries = ConfidenceSet.from_quadric(quadric).boundaries
    return [[float(a), float(b)] for a, b in sorted(boundaries)]


def double_ml(frame: pd.DataFrame) -> dict:
    folds = list(KFold(4, shuffle=True, random_state=3).split(frame))
    found: dict = {"test_folds": [test.tolist() for _, test in folds], "results": {}}
    for name, learner in LEARNERS.items():
        data = doubleml.DoubleMLData(frame, "y", "d1", CONTROLS, z_cols="w1")
        model = doubleml.DoubleMLPLIV(
            data, learner, learner, learner, n_folds=4, draw_sample_splitting=False
        )
        model.set_sample_splitting([folds])
        model.fit()
        found["results"][name] = {"coef": float(model.coef[0]), "se": float(model.se[0])}
    return found


def main(target: Path) -> None:
    frame = make_data()
    packages = ("linearmodels", "ivmodels", "doubleml")
    made = " and ".join(f"{name} {version(name)}" for name in packages)
    stored = {
        "made_by": f"benchmarks/instrument_reference.py with {made}",
        "data": {name: frame[name].tolist() for name in frame},
        "cases": CASES,
        "weak": WEAK,
        "linear": {name: linear(frame, case) for name, case in CASES.items()},
        "anderson_rubin": {name: anderson_rubin(frame, case) for name, case in CASES.items()},
        "weak_sets": {name: anderson_rubin(frame, case) for name, case in WEAK.items()},
        "double_ml": double_ml(frame),
    }
    target.write_text(json.dumps(stored) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
