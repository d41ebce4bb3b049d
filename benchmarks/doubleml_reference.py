"""Write DoubleML's results on a small data set, so that the tests need no DoubleML.

    python benchmarks/doubleml_reference.py tests/reference/doubleml_plr.json

Data, folds, coefficients and standard errors are stored together: the test compares with the same
rows, the same folds and the same learners.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import doubleml
import numpy as np
from sklearn.base import clone
from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor
from sklearn.linear_model import LassoCV, LinearRegression, RidgeCV
from sklearn.model_selection import KFold, RepeatedKFold

N, P = 120, 6
LEARNERS = {
    "LinearRegression": LinearRegression(),
    "RidgeCV": RidgeCV(alphas=(0.1, 1.0, 10.0)),
    "LassoCV": LassoCV(n_alphas=20) if "n_alphas" in LassoCV().get_params() else LassoCV(alphas=20),
    "GradientBoosting": GradientBoostingRegressor(n_estimators=20, max_depth=2, random_state=1),
    "RandomForest": RandomForestRegressor(n_estimators=20, min_samples_leaf=5, random_state=1),
}


def make_data() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(20261115)
    Z = rng.normal(size=(N, P)).round(6)
    d = (np.sin(Z[:, 0]) + 0.5 * Z[:, 1] + rng.normal(size=N)).round(6)
    y = (0.7 * d + np.abs(Z[:, 1]) + Z[:, 2] + rng.normal(size=N)).round(6)
    return y, d, Z


def fit(learner, splits, y, d, Z, *, score="partialling out") -> doubleml.DoubleMLPLR:
    data = doubleml.DoubleMLData.from_arrays(Z, y, d)
    model = doubleml.DoubleMLPLR(
        data,
        ml_l=clone(learner),
        ml_m=clone(learner),
        ml_g=clone(learner) if score == "IV-type" else None,
        score=score,
        n_folds=len(splits[0]),
        n_rep=len(splits),
        draw_sample_splitting=False,
    )
    model.set_sample_splitting(splits)
    return model.fit()


def main(target: Path) -> None:
    y, d, Z = make_data()
    folds = list(KFold(4, shuffle=True, random_state=3).split(Z))
    repeated = list(RepeatedKFold(n_splits=4, n_repeats=3, random_state=5).split(Z))
    blocks = [repeated[4 * r : 4 * r + 4] for r in range(3)]
    results, iv_type = {}, {}
    for name, learner in LEARNERS.items():
        for score, found in (("partialling out", results), ("IV-type", iv_type)):
            model = fit(learner, [folds], y, d, Z, score=score)
            found[name] = {"coef": float(model.coef[0]), "se": float(model.se[0])}
    many = fit(LEARNERS["RidgeCV"], blocks, y, d, Z)
    stored = {
        "made_by": f"benchmarks/doubleml_reference.py with DoubleML {doubleml.__version__}",
        "y": y.tolist(),
        "d": d.tolist(),
        "Z": Z.tolist(),
        "test_folds": [test.tolist() for _, test in folds],
        "repeated_test_folds": [[test.tolist() for _, test in block] for block in blocks],
        "results": results,
        "iv_type": iv_type,
        "repeated": {
            "coef": float(many.coef[0]),
            "all_coef": many.all_coef[0].tolist(),
            "all_se": many.all_se[0].tolist(),
        },
    }
    target.write_text(json.dumps(stored))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
