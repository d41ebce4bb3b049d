"""Speed of the kernel smoothers against statsmodels, as ratios measured in one run.

    python benchmarks/kernel_regression.py

statsmodels' `KernelReg` takes one output and has a bandwidth per feature, which `bw="cv_ls"` finds
by a simplex search of the leave-one-out error; with 21 outputs it would be run 21 times. Ours
chooses one bandwidth per output from a grid (`ours`), or one per output and feature (`per_feature`,
what statsmodels does).
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

from debinet.data.folds import leave_one_out
from debinet.learners.smoothers import LocalLinear, NadarayaWatson

REPEATS = 3
SMOOTHERS = {"nadaraya_watson": (NadarayaWatson, "lc"), "local_linear": (LocalLinear, "ll")}


def seconds(work: Callable[[], object]) -> float:
    start = perf_counter()
    work()
    return perf_counter() - start


def sample(n: int, m: int, p: int) -> tuple[np.ndarray, np.ndarray]:
    """M outputs from smooth to rough, each with its own noise."""
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(n, p))
    signal = np.sin(Z[:, :1] * np.linspace(0.5, 3, m)) + Z[:, 1:2] * Z[:, 2:3] / 2
    return Z, signal + 0.5 * rng.normal(size=(n, m))


def over_statsmodels(n: int = 2000, m: int = 21, p: int = 3) -> dict[str, float]:
    """Bandwidths and leave-one-out residuals of m outputs; p = 3, as their search is p-dimensional.

    One fit of statsmodels is measured, which takes minutes, and counted m times.
    """
    from statsmodels.nonparametric.kernel_regression import KernelReg

    Z, M = sample(n, m, p)
    folds = leave_one_out(n)
    found: dict[str, float] = {}
    for name, (smoother, kind) in SMOOTHERS.items():

        def held(make: Any = smoother, **options: Any) -> object:
            return make(**options).prepare(Z, M).hold_out(M, folds)

        ours = median(seconds(held) for _ in range(REPEATS))
        per_feature = seconds(lambda work=held: work(per_feature=True))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # of statsmodels' own code
            one = seconds(
                lambda k=kind: KernelReg(M[:, m // 2], Z, "c" * p, reg_type=k, bw="cv_ls")
            )
        found |= {
            f"{name}_seconds": ours,
            f"{name}_per_feature_seconds": per_feature,
            f"{name}_statsmodels_one_fit_seconds": one,
            f"{name}_ratio": m * one / ours,
            f"{name}_per_feature_ratio": m * one / per_feature,
        }
    return found


def over_rows(n: int = 10_000, m: int = 2, p: int = 10) -> dict[str, float]:
    """Time and memory of many rows: the paper's Table 1 has n = 10,000 and 10 controls."""
    import tracemalloc

    Z, M = sample(n, m, p)
    found = {}
    for name, (smoother, _) in SMOOTHERS.items():
        found[f"{name}_seconds"] = seconds(lambda s=smoother: s().fit(Z, M))
        tracemalloc.start()
        smoother(1.0).prepare(Z, M).hold_out(M, leave_one_out(n))
        found[f"{name}_peak_megabytes"] = tracemalloc.get_traced_memory()[1] / 1e6
        tracemalloc.stop()
    return found


if __name__ == "__main__":
    print(json.dumps({"over_statsmodels": over_statsmodels(), "over_rows": over_rows()}, indent=2))
