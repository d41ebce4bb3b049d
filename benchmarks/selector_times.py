"""Seconds that each selector takes, n = 1000 and p = 3000, penalties from theory and from folds.

python benchmarks/selector_times.py
"""

from __future__ import annotations

import json
import warnings
from time import perf_counter

import numpy as np

import debinet as dn


def selectors(penalty: str, p: int) -> dict[str, object]:
    fives = np.arange(p) // 5
    tuned = {"penalty": penalty, "random_state": 0}
    return {
        "Lasso": dn.Lasso(**tuned),
        "AdaptiveLasso": dn.AdaptiveLasso(**tuned),
        "ElasticNet": dn.ElasticNet(**tuned),
        "GroupLasso": dn.GroupLasso(fives, **tuned),
        "SparseGroupLasso": dn.SparseGroupLasso(fives, **tuned),
        "Slope": dn.Slope(**tuned),
        "ForwardBackward": dn.ForwardBackward("bic"),
    }


def selector_times(n: int = 1000, p: int = 3000) -> dict[str, float]:
    """Time one fit of each, for 10 columns that act and for 300."""
    found = {}
    for active in (10, 300):
        rng = np.random.default_rng(active)
        X = rng.normal(size=(n, p))
        y = X[:, :active] @ rng.normal(size=active) + rng.normal(size=n)
        for penalty in ("plugin", "cv"):
            for name, selector in selectors(penalty, p).items():
                start = perf_counter()
                with warnings.catch_warnings():
                    # The grid ends before the least error where 300 of 1000 rows' columns act.
                    warnings.simplefilter("ignore")
                    selector.fit(X, y)
                found[f"{name}_{penalty}_{active}_active_seconds"] = perf_counter() - start
    return found


if __name__ == "__main__":
    print(json.dumps(selector_times(), indent=2))
