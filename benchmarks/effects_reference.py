"""Write effects that vary as DoubleML and EconML estimate them, so that the tests need neither.

    python benchmarks/effects_reference.py tests/reference/effects_peers.json

Data, folds and estimates are stored together: the test compares with the same rows, the same folds
and the same learners.
"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path

import doubleml
import econml
import numpy as np
import pandas as pd
from econml.dml import LinearDML
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import KFold
from sklearn.neighbors import KNeighborsRegressor

N, P = 150, 4
LEARNERS = {
    "LinearRegression": LinearRegression(),
    "Ridge": Ridge(3.0),
    "neighbours": KNeighborsRegressor(20),
}


def make_data() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(20261118)
    Z = rng.normal(size=(N, P)).round(6)
    d = (np.sin(Z[:, 0]) + 0.5 * Z[:, 1] + rng.normal(size=N)).round(6)
    tau = 1.0 + 0.5 * Z[:, 0]
    y = (tau * d + np.abs(Z[:, 1]) + Z[:, 2] + rng.normal(size=N)).round(6)
    return y, d, Z


def effects(model, columns: pd.DataFrame, *, gate: bool) -> dict[str, list[float]]:
    """Return DoubleML's effects, with its covariance HC0."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = (model.gate if gate else model.cate)(columns, cov_type="HC0")
    return {"coef": found.coef.tolist(), "se": found.se.tolist()}


def doublemls(learner, folds, y, d, Z, *, score: str) -> dict[str, object]:
    data = doubleml.DoubleMLData.from_arrays(Z, y, d)
    own = {"ml_g": learner} if score == "IV-type" else {}
    model = doubleml.DoubleMLPLR(
        data, learner, learner, **own, score=score, n_folds=len(folds), draw_sample_splitting=False
    )
    model.set_sample_splitting([folds])
    model.fit()
    groups = pd.DataFrame({"low": Z[:, 0] < 0, "high": Z[:, 0] >= 0})
    line = pd.DataFrame({"1": np.ones(N), "x": Z[:, 0]})
    return {"gate": effects(model, groups, gate=True), "cate": effects(model, line, gate=False)}


def econmls(learner, folds, y, d, Z) -> list[float]:
    """Return the effects of EconML along two columns, in all rows.

    EconML chooses the penalties of RidgeCV in all rows, so learners have fixed ones.
    """
    model = LinearDML(model_y=learner, model_t=learner, cv=folds, random_state=0)
    model.fit(y, d, X=Z[:, :2], W=Z[:, 2:])
    return model.const_marginal_effect(Z[:, :2]).ravel().tolist()


def averages(folds, y, a, Z) -> dict[str, dict[str, float]]:
    """Return DoubleML's average effects of a 0/1 treatment, probabilities clipped at 0.01."""
    data = doubleml.DoubleMLData.from_arrays(Z, y, a)
    found = {}
    for score in ("ATE", "ATTE"):
        model = doubleml.DoubleMLIRM(
            data,
            LinearRegression(),
            LogisticRegression(),
            score=score,
            n_folds=len(folds),
            draw_sample_splitting=False,
        )
        model.set_sample_splitting([folds])
        model.fit()
        found[score] = {"coef": float(model.coef[0]), "se": float(model.se[0])}
    return found


def main(target: Path) -> None:
    y, d, Z = make_data()
    folds = list(KFold(4, shuffle=True, random_state=3).split(Z))
    stored = {
        "made_by": f"benchmarks/effects_reference.py with DoubleML {doubleml.__version__} and "
        f"EconML {econml.__version__}",
        "y": y.tolist(),
        "d": d.tolist(),
        "Z": Z.tolist(),
        "test_folds": [test.tolist() for _, test in folds],
        "doubleml": {
            name: {
                score: doublemls(learner, folds, y, d, Z, score=score)
                for score in ("partialling out", "IV-type")
            }
            for name, learner in LEARNERS.items()
        },
        "averages": averages(folds, y, (d > 0).astype(float), Z),
        "econml": {name: econmls(learner, folds, y, d, Z) for name, learner in LEARNERS.items()},
    }
    target.write_text(json.dumps(stored))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
