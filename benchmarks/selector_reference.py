"""Write the results of other libraries on a small data set, so that the tests need none of them.

    python benchmarks/selector_reference.py tests/reference/selectors.json

Stored are the data, the settings, and each library's coefficients. Libraries differ in when they
stop, so the tests compare objectives, which every library minimizes.
"""

from __future__ import annotations

import json
import sys
from importlib.metadata import version
from pathlib import Path

import asgl
import cvxpy as cp
import numpy as np
import skglm
import sortedl1
from scipy.stats import norm

N, P = 60, 12
GROUPS = [0, 0, 0, 1, 1, 2, 3, 3, 3, 3, 4, 4]
PENALTIES = (0.5, 0.1, 0.02)
L1_RATIO, Q = 0.3, 0.2


def make_data() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(20261115)
    X = rng.normal(size=(N, P)) + 0.7 * rng.normal(size=(N, 1))
    y = X @ [2, 1, -1, 0, 0, 1.5, 0, 0, 0, 0, 0.5, 0] + rng.normal(size=N)
    return X.round(6), y.round(6)


def by_cvxpy(X, y, penalty, penalize) -> np.ndarray:
    t, intercept = cp.Variable(P), cp.Variable()
    loss = cp.sum_squares(y - X @ t - intercept) / (2 * N)
    problem = cp.Problem(cp.Minimize(loss + penalty * penalize(t)))
    problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-12, tol_gap_rel=1e-12, tol_feas=1e-12)
    return t.value


def group_norms(t):
    members = [np.flatnonzero(np.array(GROUPS) == g) for g in sorted(set(GROUPS))]
    return cp.sum([np.sqrt(len(m)) * cp.norm(t[m], 2) for m in members])


def sorted_norm(weights):
    # sum_i w_i |t|_(i) is a sum of sums of the k largest, weighted by the steps of w
    steps = np.append(-np.diff(weights), weights[-1])
    return lambda t: cp.sum([s * cp.sum_largest(cp.abs(t), k + 1) for k, s in enumerate(steps)])


def by_skglm_lasso(X, y, penalty) -> np.ndarray:
    return skglm.Lasso(penalty, tol=1e-12).fit(X, y).coef_


def by_skglm_groups(X, y, penalty) -> np.ndarray:
    members = [np.flatnonzero(np.array(GROUPS) == g).tolist() for g in sorted(set(GROUPS))]
    weights = np.sqrt([len(m) for m in members])
    model = skglm.GroupLasso(members, penalty, weights=weights, tol=1e-12)
    return model.fit(X, y).coef_


def by_asgl(X, y, penalty) -> np.ndarray:
    # its loss is |y - X t|^2 / n, without the half
    model = asgl.Regressor(
        model="lm", penalization="sgl", lambda1=2 * penalty, alpha=L1_RATIO, solver="CLARABEL"
    )
    return model.fit(X, y, group_index=np.array(GROUPS)).coef_


def by_sortedl1(X, y, penalty) -> np.ndarray:
    weights = norm.isf(np.arange(1, P + 1) * Q / (2 * P))
    coef = sortedl1.Slope(lam=weights, alpha=penalty, tol=1e-12).fit(X, y).coef_
    return np.asarray(coef.todense() if hasattr(coef, "todense") else coef).ravel()


def main(target: Path) -> None:
    X, y = make_data()
    weights = norm.isf(np.arange(1, P + 1) * Q / (2 * P))
    cvx = {
        "Lasso": lambda t: cp.norm(t, 1),
        "ElasticNet": lambda t: L1_RATIO * cp.norm(t, 1) + (1 - L1_RATIO) / 2 * cp.sum_squares(t),
        "GroupLasso": group_norms,
        "SparseGroupLasso": lambda t: L1_RATIO * cp.norm(t, 1) + (1 - L1_RATIO) * group_norms(t),
        "Slope": sorted_norm(weights),
    }
    others = {
        "Lasso": ("skglm", by_skglm_lasso),
        "GroupLasso": ("skglm", by_skglm_groups),
        "SparseGroupLasso": ("asgl", by_asgl),
        "Slope": ("sortedl1", by_sortedl1),
    }
    results = []
    for penalty in PENALTIES:
        for selector, penalize in cvx.items():
            row = {"selector": selector, "penalty": penalty}
            coef = by_cvxpy(X, y, penalty, penalize)
            results.append({**row, "library": "cvxpy", "coef": coef.tolist()})
        for selector, (library, solve) in others.items():
            coef = np.asarray(solve(X, y, penalty), dtype=float).ravel()
            row = {"selector": selector, "penalty": penalty}
            results.append({**row, "library": library, "coef": coef.tolist()})
    libraries = ("cvxpy", "skglm", "asgl", "sortedl1")
    versions = ", ".join(f"{name} {version(name)}" for name in libraries)
    stored = {
        "made_by": f"benchmarks/selector_reference.py with {versions}",
        "X": X.tolist(),
        "y": y.tolist(),
        "groups": GROUPS,
        "l1_ratio": L1_RATIO,
        "q": Q,
        "results": results,
    }
    target.write_text(json.dumps(stored))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
