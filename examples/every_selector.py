"""Every selector inside DebiNet, on a simulated design and on the Barro-Lee growth data.

Run `DEBINET_DATA=folder python examples/every_selector.py --out results`; without the folder only
the simulated design is run. The tables are those of docs/selectors.md.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

import debinet as dn
from debinet.report.tables import markdown_table

SPLITS = 20


def selectors(groups: np.ndarray) -> dict[str, object]:
    return {
        "Lasso": dn.Lasso(random_state=0),
        "AdaptiveLasso": dn.AdaptiveLasso(random_state=0),
        "ElasticNet": dn.ElasticNet(random_state=0),
        "GroupLasso": dn.GroupLasso(groups, random_state=0),
        "SparseGroupLasso": dn.SparseGroupLasso(groups, random_state=0),
        "Slope": dn.Slope(random_state=0),
        "ForwardBackward": dn.ForwardBackward(),
    }


def simulated(n: int = 500, p: int = 200, k: int = 10) -> pd.DataFrame:
    """Ten of 200 features act; groups are runs of five columns, so two groups act."""
    X, y, truth = dn.datasets.make_table2(n, p, k, random_state=0)
    rows = {}
    for name, selector in selectors(np.arange(p) // 5).items():
        result = dn.DebiNet(selector, random_state=0).fit(X, y).result_
        frame, true = result.to_frame(), truth[list(result.names)]
        rows[name] = {
            "selected": len(true),
            "of the 10 true": int(true.sum()),
            "root mean squared error": np.sqrt(((frame["coef"] - true) ** 2).mean()),
            "coverage": ((frame["lower"] <= true) & (true <= frame["upper"])).mean(),
        }
    return pd.DataFrame.from_dict(rows, orient="index")


def growth(path: Path) -> pd.DataFrame:
    """Estimate whether richer countries grow more slowly: 61 features of 90 countries."""
    frame = pd.read_csv(path).drop(columns="intercept")
    y, X = frame["Outcome"], frame.drop(columns="Outcome")
    rows = {}
    for name, selector in selectors(correlated_groups(X)).items():
        model = dn.DebiNet(selector, selection_share=(0.4, SPLITS), random_state=0).fit(X, y)
        several = model.splits_.to_frame()
        top = several["frequency"].drop("gdpsh465", errors="ignore").nlargest(2)
        initial = several.reindex(["gdpsh465"]).iloc[0]
        rows[name] = {
            "selected (first split)": len(model.result_.first.names),
            "gdpsh465: splits": f"{initial['frequency']:.0%}" if initial.notna().any() else "0%",
            "coef": initial["coef"],
            "pvalue": initial["pvalue"],
            "most often beside it": ", ".join(f"{k} {v:.0%}" for k, v in top.items()),
        }
    return pd.DataFrame.from_dict(rows, orient="index")


def correlated_groups(X: pd.DataFrame, count: int = 20) -> np.ndarray:
    """Group correlated columns, such as the schooling of men, women and all."""
    distance = 1 - X.corr().abs().to_numpy()
    np.fill_diagonal(distance, 0.0)
    tree = linkage(squareform(distance, checks=False), "average")
    return fcluster(tree, count, criterion="maxclust")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("results"))
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    tables = {"selectors_simulated.md": simulated()}
    folder = os.environ.get("DEBINET_DATA")
    if folder:
        tables["selectors_growth.md"] = growth(Path(folder) / "growth" / "GrowthData.csv")
    for name, table in tables.items():
        text = markdown_table(table)
        (options.out / name).write_text(text + "\n")
        print(text, end="\n\n")


if __name__ == "__main__":
    main()
