"""How strong controls that were measured are, as a measure of one that was not.

A model is fitted again without some controls. The shares of variance that they explain, beside all
others, are

    r2_y = (sigma2_short - sigma2_long) / sigma2_short,    r2_d = 1 - nu2_short / nu2_long,

"short" without them, "long" with them. A confounder that adds `k_y` and `k_d` times as much to what
is explained, relative to what is left now, has the strengths

    cf_y = k_y r2_y / (1 - r2_y),    cf_d = k_d r2_d / (1 - r2_d)

which are the gains of Chernozhukov et al. With `rule="partial-r2"`, `cf_y` is the bound of Cinelli
and Hazlett (2020), which allows for what the controls and the confounder have in common once the
treatment is held fixed; it is larger.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from debinet.data.arrays import freeze_arrays, require
from debinet.data.options import positive_number
from debinet.exceptions import OptionError
from debinet.inference.robustness import bias_strength
from debinet.protocols import FloatArray

RULES = ("gains", "partial-r2")


@dataclass(frozen=True)
class Explained:
    """What a model leaves unexplained, and its coefficients.

    Attributes
    ----------
    coef : FloatArray of shape (q,)
    sigma2 : float
        Variance of the noise of the outcome.
    S : FloatArray of shape (q, q)
        Second moments of the residuals of the treatments.
    """

    coef: FloatArray
    sigma2: float
    S: FloatArray

    def __post_init__(self) -> None:
        freeze_arrays(self, coef="q", S="q q")

    def nu2(self, A: FloatArray) -> FloatArray:
        """Return `a'S^-1 a` for every row of A (m, q)."""
        return np.asarray((A.T * np.linalg.solve(self.S, A.T)).sum(axis=0))


@dataclass(frozen=True)
class Benchmark:
    """One control, or a group of them, as a measure.

    Attributes
    ----------
    label : str
    controls : tuple of str
        What was left out.
    short : Explained
        The model without it.
    k_y, k_d : float
        How many times as strong the confounder is on each side.
    """

    label: str
    controls: tuple[str, ...]
    short: Explained
    k_y: float = 1.0
    k_d: float = 1.0


@dataclass(frozen=True)
class Strength:
    """Strengths of benchmarks for m combinations of coefficients.

    Attributes
    ----------
    cf_y, cf_d, rho : FloatArray of shape (b, m)
        `rho` is NaN where the data show no gain on one of the sides.
    change : FloatArray of shape (b, m)
        Estimate without the controls less that with them.
    """

    cf_y: FloatArray
    cf_d: FloatArray
    rho: FloatArray
    change: FloatArray

    def biases(self, rho: float) -> FloatArray:
        """Return the strengths (b, m) of the bias; NaN for what cannot be, `cf_d` of 1 or more."""
        strength = bias_strength(np.minimum(self.cf_y, 1.0), self.cf_d, rho)
        return np.asarray(np.where(self.cf_d < 1, strength, np.nan))


@dataclass(frozen=True)
class Benchmarks:
    """Controls that were left out, one at a time or in groups; see `PartiallyLinear.benchmark`.

    Attributes
    ----------
    names : tuple of str
        Names of the q coefficients.
    long : Explained
        The model with all controls.
    items : tuple of Benchmark
    rule : {"gains", "partial-r2"}
        How their strength becomes that of a confounder.
    """

    names: tuple[str, ...]
    long: Explained
    items: tuple[Benchmark, ...]
    rule: str = "gains"

    def __post_init__(self) -> None:
        require(self.rule in RULES, "rule")
        require(len(self.names) == self.long.coef.size, "names")

    def times(self, k_y: float, k_d: float | None = None) -> Benchmarks:
        """Return confounders `k_y` and `k_d` times as strong, by default the same on both sides."""
        k_y = positive_number("k_y", k_y)
        k_d = k_y if k_d is None else positive_number("k_d", k_d)
        items = tuple(replace(item, k_y=k_y, k_d=k_d) for item in self.items)
        return replace(self, items=items)

    def __add__(self, other: Benchmarks) -> Benchmarks:
        """Put the benchmarks of the same fit together."""
        same = self.names == other.names and np.array_equal(self.long.coef, other.long.coef)
        if not same or self.rule != other.rule:
            raise OptionError(
                "benchmarks of one fit by one rule",
                "those of two",
                "Add what the same model returned, such as inc + inc.times(2).",
            )
        return replace(self, items=(*self.items, *other.items))

    @property
    def labels(self) -> tuple[str, ...]:
        """What each is called, with its multiples."""
        return tuple(_label(item) for item in self.items)

    def strength(self, A: FloatArray) -> Strength:
        """Return the strengths for combinations A (m, q) of the coefficients."""
        found = [self._one(item, A) for item in self.items]
        shape = (0, len(A))
        columns = zip(*found, strict=True) if found else [[np.empty(shape)] for _ in range(4)]
        return Strength(*(np.vstack(list(column)) for column in columns))

    def joint_cf_d(self) -> FloatArray:
        """Return the largest squared canonical correlations (b,) with all treatments."""
        gains = [
            np.linalg.eigvals(np.linalg.solve(self.long.S, item.short.S)).real.max() - 1
            for item in self.items
        ]
        return np.array(
            [item.k_d * max(gain, 0.0) for item, gain in zip(self.items, gains, strict=True)]
        )

    def to_frame(self) -> pd.DataFrame:
        """Return cf_y, cf_d, rho, and estimates with and without, a row per benchmark and term."""
        found = self.strength(np.eye(len(self.names)))
        index = pd.MultiIndex.from_product([self.labels, self.names], names=["benchmark", "term"])
        columns = {
            "cf_y": found.cf_y,
            "cf_d": found.cf_d,
            "rho": found.rho,
            "coef": np.broadcast_to(self.long.coef, found.change.shape),
            "without": self.long.coef + found.change,
        }
        return pd.DataFrame({name: value.ravel() for name, value in columns.items()}, index=index)

    def __str__(self) -> str:
        return str(self.to_frame())

    def _repr_html_(self) -> str:
        return str(self.to_frame().to_html())

    def _one(self, item: Benchmark, A: FloatArray) -> tuple[FloatArray, ...]:
        long, short = self.long, item.short
        nu2, nu2_short = long.nu2(A), short.nu2(A)
        r2_y = max(1 - long.sigma2 / short.sigma2, 0.0)
        r2_d = np.maximum(1 - nu2_short / nu2, 0.0)
        cf_d = item.k_d * r2_d / (1 - r2_d)
        cf_y = _cf_y(self.rule, r2_y, r2_d, item)
        change = A @ (short.coef - long.coef)
        lost = max(short.sigma2 - long.sigma2, 0.0) * np.maximum(nu2 - nu2_short, 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            rho = np.where(lost > 0, np.clip(change / np.sqrt(lost), -1.0, 1.0), np.nan)
        return cf_y, cf_d, rho, change


def _cf_y(rule: str, r2_y: float, r2_d: FloatArray, item: Benchmark) -> FloatArray:
    """Return the strengths (m,) on the side of the outcome."""
    gain = r2_y / (1 - r2_y)
    if rule == "gains":
        return np.full(r2_d.shape, item.k_y * gain)
    # Partial R2 of the confounder and the control given the treatment: they are uncorrelated given
    # the other controls, and so are related once the treatment is held fixed.
    with np.errstate(divide="ignore", invalid="ignore"):
        common = item.k_d * r2_d**2 / ((1 - item.k_d * r2_d) * (1 - r2_d))
        found = ((np.sqrt(item.k_y) + np.sqrt(common)) / np.sqrt(1 - common)) ** 2 * gain
    possible = (item.k_d * r2_d < 1) & (common < 1)
    return np.asarray(np.where(possible, np.minimum(found, 1.0), 1.0))


def _label(item: Benchmark) -> str:
    if item.k_y == item.k_d == 1:
        return item.label
    name = f"({item.label})" if len(item.controls) > 1 else item.label
    times = f"{item.k_y:g}" if item.k_y == item.k_d else f"{item.k_y:g}/{item.k_d:g}"
    return f"{times} x {name}"
