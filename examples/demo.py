"""The main job, offline: progression of diabetes, then a design whose truth is known.

Run `python examples/demo.py --out demo`.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib as mpl
import pandas as pd
from sklearn.datasets import load_diabetes

import debinet as dn
from debinet.report.page import Section, write_page

mpl.use("Agg")

TREATMENTS = ["bmi", "bp", "s5"]


def diabetes() -> dn.Inference:
    data = load_diabetes(as_frame=True, scaled=False)
    X, y = data.data, data.target.rename("progression")
    X["sex"] = X["sex"].map({1.0: "one", 2.0: "two"})
    return dn.PartiallyLinear(TREATMENTS, random_state=0).fit(X, y).result_


def known_truth() -> tuple[dn.Inference, pd.Series]:
    X, y, truth = dn.datasets.make_sparse_linear(
        n=500, effects=(1.0, -0.5, 0.0, 0.5), random_state=0
    )
    model = dn.PartiallyLinear(list(truth.index), random_state=0).fit(X, y)
    return model.result_, truth


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    result = diabetes()
    print(result.summary())
    simulated, truth = known_truth()
    covered = simulated.confint().assign(truth=truth)
    print("\nA design with known truth: intervals beside the true coefficients\n")
    print(covered.round(3))
    report = folder / "report.html"
    write_page(
        report,
        "Diabetes: what is associated with its progression?",
        [
            Section(
                "Coefficients",
                text=result.summary(),
                figure=result.plot(),
                caption="Forest plot of the coefficients with 95 % intervals",
            ),
            Section(
                "A design with known truth",
                table=simulated.to_html(joint=True),
                figure=simulated.plot(joint=True, truth=truth),
                caption="Forest plot with the true coefficients as diamonds",
            ),
        ],
    )
    (folder / "coefficients.md").write_text(result.to_markdown() + "\n")
    (folder / "coefficients.tex").write_text(result.to_latex() + "\n")
    result.save(folder / "result.npz")
    print(f"\nReport: {report}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("demo"))
    main(parser.parse_args().out)
