"""Write files of this version, which every later version must read.

    python tests/released/write.py

Run it when a version is released, and commit the files; never change those of older versions.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

import debinet as dn

N = 60


def main() -> None:
    folder = Path(__file__).parent / dn.__version__
    folder.mkdir(exist_ok=True)
    X, y, _ = dn.datasets.make_sparse_linear(N, 4, random_state=0)
    X["region"] = np.random.default_rng(0).choice(["north", "south", "west"], N)
    rows = X.assign(y=y).round(6)
    rows.to_csv(folder / "rows.csv", index=False)
    numbers = rows.drop(columns=["y", "region"])
    y = rows.pop("y")

    def model(learner):
        return dn.PartiallyLinear(["d1", "d2"], learner, random_state=0).fit(rows, y)

    fits = {
        "wide": model("wide"),
        "tangent": model(dn.TangentNet(width=20)),
        "splines": model(dn.SplineSmoother()),
        "averages": model(dn.NadarayaWatson()),
        "lines": model(dn.LocalLinear()),
        "stack": model(dn.stack(["mean", "wide"])),
        "net-model": model(dn.Net(hidden=(6,), epochs=2)),
        "debinet": dn.DebiNet(random_state=0).fit(rows, y),
        "debiased-lasso": dn.DebiasedLasso(random_state=0).fit(numbers, y),
        "formula": dn.plm(
            "y ~ d1 | bs(z1, df=4) + C(region) + z2", rows.assign(y=y), random_state=0
        ),
        "result": model("wide").result_,
        "net": dn.Net(hidden=(6,), epochs=2, random_state=0).fit(numbers, y),
    }
    expected = {}
    for name, fit in fits.items():
        fit.save(folder / f"{name}.npz")
        known = expected[name] = {}
        if name != "net":
            result = getattr(fit, "result_", fit)
            known["coef"], known["se"] = result.coef.tolist(), result.se.tolist()
            known["trust"] = result.trust().verdict
        if hasattr(fit, "predict"):
            data = numbers if name in {"net", "debiased-lasso"} else rows
            known["columns"] = list(data.columns)
            known["predictions"] = fit.predict(data).tolist()
    (folder / "expected.json").write_text(json.dumps(expected, indent=1) + "\n")


if __name__ == "__main__":
    main()
