"""Many random splits into rows for selection and rows for estimation, aggregated.

After Meinshausen, Meier and Buehlmann (2009): a feature that a split did not select has p-value 1
there; the p-values of all splits are combined by their quantiles, which any dependence between
splits allows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats

from debinet.protocols import FloatArray

# The smallest quantile in use; p-values are multiplied by 1 - log of it.
LEAST_QUANTILE = 0.05
_BISECTIONS = 60


@dataclass(frozen=True)
class MultiSplit:
    """Estimates from B splits, each with its own selection.

    Attributes
    ----------
    names : tuple of str
        All p features.
    estimate, error : FloatArray of shape (B, p)
        Coefficients and standard errors; NaN where a split did not select the feature.
    df : FloatArray of shape (B,)
        Degrees of freedom of the t distribution in every split.

    References
    ----------
    Meinshausen, Meier and Buehlmann (2009), p-values for high-dimensional regression, JASA 104.
    """

    names: tuple[str, ...]
    estimate: FloatArray
    error: FloatArray
    df: FloatArray

    @property
    def splits(self) -> int:
        """Number of splits."""
        return int(self.estimate.shape[0])

    @property
    def frequency(self) -> pd.Series:
        """Share of the splits that selected each feature."""
        return self._series(np.isfinite(self.estimate).mean(axis=0), "frequency")

    @property
    def coef(self) -> pd.Series:
        """Median of the coefficients over the splits that selected the feature; else NaN."""
        chosen = np.isfinite(self.estimate).any(axis=0)
        middle = np.full(len(self.names), np.nan)
        middle[chosen] = np.nanmedian(self.estimate[:, chosen], axis=0)
        return self._series(middle, "coef")

    @property
    def pvalue(self) -> pd.Series:
        """P-values of `coef = 0`, adjusted so that the chance of any false rejection is bounded."""
        # In a split that selected nothing, p-values are 1, not 0.
        selected = np.maximum(np.isfinite(self.estimate).sum(axis=1, keepdims=True), 1)
        adjusted = np.minimum(self._pvalues(np.zeros(len(self.names))) * selected, 1.0)
        return self._series(aggregate(adjusted), "pvalue")

    def confint(self, level: float = 0.95) -> pd.DataFrame:
        """Return the values that the aggregated test does not reject, feature by feature.

        Without adjustment for the number of features; infinite where too few splits selected one.
        """
        centre = self.coef.to_numpy()
        bounds = {
            "lower": self._bound(centre, -1.0, level),
            "upper": self._bound(centre, 1.0, level),
        }
        return pd.DataFrame(bounds, index=self._index())

    def to_frame(self, level: float = 0.95) -> pd.DataFrame:
        """Return frequency, coef, pvalue, lower and upper of all features ever selected."""
        return self.ranked().join(self.confint(level))

    def ranked(self) -> pd.DataFrame:
        """Return frequency, coef and pvalue of all features ever selected, most evidence first."""
        frame = pd.concat([self.frequency, self.coef, self.pvalue], axis=1)
        frame = frame[frame["frequency"] > 0]
        return frame.sort_values(["pvalue", "frequency"], ascending=[True, False], kind="stable")

    def _bound(self, centre: FloatArray, sign: float, level: float) -> FloatArray:
        bound = np.full(centre.shape, sign * np.inf)
        often = self.frequency.to_numpy() >= _least_count(self.splits) / self.splits
        if not often.any():
            return bound
        part = MultiSplit(
            tuple(np.array(self.names)[often]),
            self.estimate[:, often],
            self.error[:, often],
            self.df,
        )
        # No value beyond all splits' intervals of a much higher level is accepted.
        reach = np.asarray(stats.t.ppf(1 - (1 - level) / 200, self.df))[:, None] * part.error
        inner, outer = centre[often], sign * np.nanmax(sign * part.estimate + reach, axis=0)
        for _ in range(_BISECTIONS):
            middle = (inner + outer) / 2
            inside = aggregate(part._pvalues(middle)) >= 1 - level
            inner, outer = np.where(inside, middle, inner), np.where(inside, outer, middle)
        bound[often] = outer
        return bound

    def _pvalues(self, null: FloatArray) -> FloatArray:
        """Return p-values (B, p) of `coef = null`; 1 where nothing was selected."""
        t = np.abs(self.estimate - null) / self.error
        return np.where(np.isfinite(t), 2 * stats.t.sf(t, self.df[:, None]), 1.0)

    def _series(self, values: FloatArray, name: str) -> pd.Series:
        return pd.Series(values, index=self._index(), name=name)

    def _index(self) -> pd.Index:
        return pd.Index(self.names, dtype=object)


def aggregate(pvalues: FloatArray) -> FloatArray:
    """Combine p-values (B, p) of B dependent tests into p: `min_k (1 - log g) p_(k) B / k`.

    The minimum is over `k / B >= g`, the quantiles not below `LEAST_QUANTILE`.
    """
    count = pvalues.shape[0]
    first = _least_count(count)
    ordered = np.sort(pvalues, axis=0)[first - 1 :]
    quantile = np.arange(first, count + 1)[:, None] / count
    price = 1.0 - np.log(LEAST_QUANTILE) if count > 1 else 1.0
    return np.asarray(np.minimum(price * (ordered / quantile).min(axis=0), 1.0))


def _least_count(splits: int) -> int:
    return max(1, int(np.ceil(LEAST_QUANTILE * splits)))
