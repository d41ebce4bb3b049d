"""Do several models estimate the same? Wald tests of the differences between their coefficients.

All models see the same rows, so what they share cancels. The difference of two estimates is the sum
over rows of the differences of what each row contributes to them, as in Hausman's test, but with
the joint covariance estimated rather than derived from the efficiency of one of them.

Models that learn E(y|Z) and E(D|Z) well have the same contributions in the limit, and what is left
of the difference are products of their errors. The error in a row of E(y|Z) and that in a row of
E(D|Z) come from the same noise, so the variance of the sum of such products is up to twice the sum
of their squares: `Var(sum_ij (w_ij + w_ji) v_i e_j) <= 2 sum_ij (w_ij^2 + w_ji^2)` with independent
v, e of variance 1. Rows that several models use are therefore counted twice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass

import numpy as np
import pandas as pd
from scipy.linalg import block_diag

from debinet.exceptions import CovarianceError
from debinet.inference.hypotheses import WaldTest, wald_test
from debinet.inference.regression import ResidualRegression
from debinet.inference.result import Inference
from debinet.protocols import FloatArray, IntArray

# Contributions that are equal up to rounding are those of the same model.
_SAME = 1e-10
# Estimates differ if chance explains so much with less than this probability.
_ERROR = 0.05
_COLUMNS = (
    "difference",
    "between",
    "in se",
    "statistic",
    "df_num",
    "df_denom",
    "pvalue",
    "verdict",
)


@dataclass(frozen=True)
class Placed:
    """A result, and which rows of the data it was estimated on.

    Attributes
    ----------
    result : Inference
    rows : IntArray of shape (r,), optional
        None stands for all.
    """

    result: Inference
    rows: IntArray | None = None


@dataclass(frozen=True)
class _Estimate:
    """One coefficient by one model.

    Attributes
    ----------
    name : str
        Of the model.
    coef, se, df : float
    effects : FloatArray of shape (n,)
        What every row of the data contributes to the coefficient.
    used : FloatArray of shape (n,)
        1 for rows that the model used, else 0.
    bias : float
        Variance of the bias that its prior expects.
    """

    name: str
    coef: float
    se: float
    df: float
    effects: FloatArray
    used: FloatArray
    bias: float


def row_effects(result: Inference) -> FloatArray:
    """Return what every row contributes to the coefficients, (r, q); a mean over repetitions."""
    each = [_of_one(part.all_rows("a comparison"), result) for part in result.regressions]
    return np.asarray(np.mean(each, axis=0))


def _of_one(fit: ResidualRegression, result: Inference) -> FloatArray:
    if result.vcov_type == "full" and fit.influence is not None:
        return fit.influence * fit.residuals[:, None]
    return fit.contributions


def agreement(
    models: Mapping[str, Placed],
    n: int,
    treatments: Sequence[str],
    groups: IntArray | None = None,
) -> pd.DataFrame:
    """Test, for every treatment and for all together, that all models estimate the same.

    Parameters
    ----------
    models : mapping from str to Placed
    n : int
        Rows of the data.
    treatments : sequence of str
    groups : IntArray of shape (n, ways), optional
        Clusters of the rows.

    Returns
    -------
    DataFrame
        A row per treatment that at least two models estimate, and, if these are several, one for
        all of them. Columns: the largest difference, between which models and in standard errors
        of the less certain one, the statistic, its degrees of freedom, the p-value, and the
        verdict: "agree", or "differ" if the p-value is below 0.05.
    """
    found = {name: _estimates(models, name, n) for name in treatments}
    compared = {name: each for name, each in found.items() if len(each) > 1}
    sets = {name: [each] for name, each in compared.items()}
    if len(compared) > 1:
        sets["all"] = list(compared.values())
    rows = {name: _row(each, _test(each, groups)) for name, each in sets.items()}
    return pd.DataFrame.from_dict(rows, orient="index", columns=list(_COLUMNS))


def _estimates(models: Mapping[str, Placed], treatment: str, n: int) -> list[_Estimate]:
    """Return the estimates of a treatment by all models that have one."""
    found = []
    for name, placed in models.items():
        result = placed.result
        if treatment not in result.names:
            continue
        j = result.names.index(treatment)
        rows = np.arange(n) if placed.rows is None else placed.rows
        effects, used = np.zeros(n), np.zeros(n)
        effects[rows], used[rows] = row_effects(result)[:, j], 1.0
        biases = [bias[j, j] for bias in _biases(result)]
        found.append(
            _Estimate(
                name=name,
                coef=float(result.estimate[j]),
                se=float(np.sqrt(result.covariance[j, j])),
                df=result.df,
                effects=effects,
                used=used,
                bias=float(np.mean(biases)) if biases else 0.0,
            )
        )
    return found


def _biases(result: Inference) -> list[FloatArray]:
    found = [part.all_rows("a comparison").bias for part in result.regressions]
    return [bias for bias in found if bias is not None]


def _row(coefficients: list[list[_Estimate]], test: WaldTest) -> tuple[object, ...]:
    low, high = _farthest(coefficients)
    difference = high.coef - low.coef
    size = difference / max(high.se, low.se)
    verdict = "differ" if test.pvalue < _ERROR else "agree"
    verdict = "not known" if np.isnan(test.pvalue) else verdict
    return difference, f"{high.name} - {low.name}", size, *astuple(test), verdict


def _test(coefficients: list[list[_Estimate]], groups: IntArray | None) -> WaldTest:
    """Test the differences from the first model, for one or several coefficients at once."""
    differences, effects, biases = [], [], []
    for each in coefficients:
        first, *others = distinct = _distinct(each)
        shared = 1.0 + (np.sum([one.used for one in distinct], axis=0) > 1)
        differences += [other.coef - first.coef for other in others]
        effects += [np.sqrt(shared) * (other.effects - first.effects) for other in others]
        biases.append(np.diag([one.bias for one in others]) + first.bias)
    df, count = min(one.df for each in coefficients for one in each), len(differences)
    if not count:  # the same model several times
        return WaldTest(0.0, 0, df, 1.0)
    if count > df:  # more differences than clusters can tell apart
        return WaldTest(np.nan, count, df, np.nan)
    covariance = _gram(np.column_stack(effects), groups) + _blocks(biases)
    try:
        return wald_test(np.array(differences), covariance, df, np.eye(count), np.zeros(count))
    except CovarianceError:  # models that are nearly the same
        return WaldTest(np.nan, count, df, np.nan)


def _farthest(coefficients: list[list[_Estimate]]) -> tuple[_Estimate, _Estimate]:
    """Return the two models that differ most, in standard errors of the less certain one."""
    pairs = [(a, b) for each in coefficients for a in each for b in each if a.coef <= b.coef]
    return max(
        ((a, b) for a, b in pairs if a is not b),
        key=lambda pair: (pair[1].coef - pair[0].coef) / max(pair[0].se, pair[1].se, 1e-300),
    )


def _distinct(each: list[_Estimate]) -> list[_Estimate]:
    """Return the estimates without repetitions of the same model."""
    kept: list[_Estimate] = []
    for one in each:
        gaps = [np.linalg.norm(one.effects - other.effects) for other in kept]
        if all(gap > _SAME * np.linalg.norm(one.effects) for gap in gaps):
            kept.append(one)
    return kept


def _gram(terms: FloatArray, groups: IntArray | None) -> FloatArray:
    """Return the sum of outer products of rows, or of clusters, one- or two-way."""
    if groups is None:
        return terms.T @ terms
    columns = [np.unique(codes, return_inverse=True)[1] for codes in groups.T]
    total = sum(_summed(terms, codes) for codes in columns)
    if len(columns) > 1:
        both = np.unique(groups, axis=0, return_inverse=True)[1].ravel()
        total = total - _summed(terms, both)
    return np.asarray(total)


def _summed(terms: FloatArray, codes: IntArray) -> FloatArray:
    sums = np.zeros((int(codes.max()) + 1, terms.shape[1]))
    np.add.at(sums, codes, terms)
    return sums.T @ sums


def _blocks(parts: list[FloatArray]) -> FloatArray:
    """Return a matrix with these blocks on its diagonal."""
    return np.asarray(block_diag(*[part for part in parts if part.size]))
