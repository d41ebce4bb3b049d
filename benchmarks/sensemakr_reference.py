"""Write PySensemakr's results on linear regressions, so that the tests do not need PySensemakr.

    python benchmarks/sensemakr_reference.py tests/reference/sensemakr.json

The simulated data are stored with the results. The Darfur survey is read from PySensemakr; the test
reads the same table from the folder DEBINET_DATA.
"""

from __future__ import annotations

import json
import sys
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd
import sensemakr
import statsmodels.api as sm
import statsmodels.formula.api as smf

STRENGTHS = [(0.03, 0.03), (0.3, 0.1), (0.05, 0.6)]
GROUPS = {"z0": ["z0"], "z1 + z2": ["z1", "z2"]}
DARFUR = (
    "peacefactor ~ directlyharmed + age + farmer_dar + herder_dar + pastvoted + hhsize_darfur "
    "+ female + village"
)


def make_data(n: int = 150) -> pd.DataFrame:
    rng = np.random.default_rng(20261118)
    Z = rng.normal(size=(n, 4))
    Z[:, 1] += 0.5 * Z[:, 0]
    D = Z[:, :2] @ [[0.5, 0.2], [-0.3, 0.4]] + rng.normal(size=(n, 2)) @ [[1.0, 0.4], [0.0, 0.9]]
    y = D @ [0.8, -0.3] + Z @ [0.3, -0.2, 0.3, 0.0] + rng.standard_t(5, size=n)
    columns = {"y": y, "d1": D[:, 0], "d2": D[:, 1]} | {f"z{k}": Z[:, k] for k in range(4)}
    return pd.DataFrame(columns).round(6)


def analyse(model, treatment: str, groups: dict[str, list[str]]) -> dict:
    statistics = sensemakr.sensitivity_stats(model, treatment)
    found = {
        "estimate": float(statistics["estimate"]),
        "rv": float(statistics["rv_q"]),
        "xrv": float(statistics["r2yd_x"]),
        "bounds": [
            [
                float(sensemakr.adjusted_estimate(cf_d, cf_y, model, treatment, reduce=reduce))
                for reduce in (True, False)
            ]
            for cf_y, cf_d in STRENGTHS
        ],
        "benchmarks": [],
    }
    for label, columns in groups.items():
        for k_d, k_y in ((1, 1), (1.5, 1.5), (1, 2)):
            one = sensemakr.ovb_bounds(model, treatment, {label: columns}, kd=k_d, ky=k_y).iloc[0]
            found["benchmarks"].append(
                {
                    "label": label,
                    "k_d": k_d,
                    "k_y": k_y,
                    "cf_d": float(one["r2dz_x"]),
                    "cf_y": float(one["r2yz_dx"]),
                    "adjusted": float(one["adjusted_estimate"]),
                }
            )
    return found


def main(target: Path) -> None:
    data = make_data()
    linear = sm.OLS(data["y"], sm.add_constant(data.drop(columns="y"))).fit()
    survey = smf.ols(DARFUR, sensemakr.load_darfur()).fit()
    stored = {
        "made_by": f"benchmarks/sensemakr_reference.py with PySensemakr {version('PySensemakr')}",
        "data": {name: column.tolist() for name, column in data.items()},
        "strengths": STRENGTHS,
        "groups": GROUPS,
        "linear": {name: analyse(linear, name, GROUPS) for name in ("d1", "d2")},
        "darfur": analyse(survey, "directlyharmed", {"female": ["female"]}),
    }
    target.write_text(json.dumps(stored))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
