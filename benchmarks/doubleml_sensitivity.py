"""Write DoubleML's sensitivity analysis on a small data set, so that the tests need no DoubleML.

    python benchmarks/doubleml_sensitivity.py tests/reference/doubleml_sensitivity.json

Data, folds and learners are those of `doubleml_reference.py`, whose file the test reads, too.
DoubleML finds robustness values to about 1e-5; those here are roots of its own bounds.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import doubleml
import numpy as np
from doubleml_reference import LEARNERS, fit, make_data
from scipy.optimize import brentq
from sklearn.model_selection import KFold, RepeatedKFold

SCENARIOS = [
    {"cf_y": 0.03, "cf_d": 0.03, "rho": 1.0, "level": 0.95},
    {"cf_y": 0.2, "cf_d": 0.1, "rho": -0.5, "level": 0.9},
]
NULL = 0.2
DROPPED = {"X2 + X3": ["X2", "X3"], "X1 + X2 + X3": ["X1", "X2", "X3"]}


def bounds(model: doubleml.DoubleMLPLR, scenario: dict[str, float]) -> dict[str, list[float]]:
    model.sensitivity_analysis(**scenario)
    found = model.sensitivity_params
    return {
        what: [float(found[what][side][0]) for side in ("lower", "upper")]
        for what in ("theta", "se", "ci")
    }


def robustness(model: doubleml.DoubleMLPLR, what: str) -> float:
    """Return the root of the distance between the lower bound and the null."""

    def distance(value: float) -> float:
        model.sensitivity_analysis(cf_y=value, cf_d=value, rho=1.0, level=0.95)
        return float(model.sensitivity_params[what]["lower"][0]) - NULL

    return float(brentq(distance, 0.0, 0.999, xtol=1e-14, rtol=1e-14))


def analyse(model: doubleml.DoubleMLPLR) -> dict:
    return {
        "scenarios": [bounds(model, scenario) for scenario in SCENARIOS],
        "rv": robustness(model, "theta"),
        "rv_ci": robustness(model, "ci"),
    }


def main(target: Path) -> None:
    y, d, Z = make_data()
    folds = list(KFold(4, shuffle=True, random_state=3).split(Z))
    repeated = list(RepeatedKFold(n_splits=4, n_repeats=3, random_state=5).split(Z))
    blocks = [repeated[4 * r : 4 * r + 4] for r in range(3)]
    ridge = fit(LEARNERS["RidgeCV"], [folds], y, d, Z)
    gains = {}
    for label, columns in DROPPED.items():
        frame = ridge.sensitivity_benchmark(columns)
        gains[label] = {name: float(frame[name].iloc[0]) for name in frame.columns}
    instrumented = fit(LEARNERS["RidgeCV"], [folds], y, d, Z, score="IV-type")
    stored = {
        "made_by": f"benchmarks/doubleml_sensitivity.py with DoubleML {doubleml.__version__}",
        "scenarios": SCENARIOS,
        "null": NULL,
        "dml2": analyse(ridge),
        "iv-type": analyse(instrumented),
        "repeated": analyse(fit(LEARNERS["RidgeCV"], blocks, y, d, Z)),
        "dropped": DROPPED,
        "gains": gains,
    }
    assert np.isfinite(stored["dml2"]["rv"])
    target.write_text(json.dumps(stored))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
