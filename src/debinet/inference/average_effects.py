"""`AverageEffects`: doubly robust average effects of 0/1 treatments, beside the coefficient."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from debinet.data.arrays import freeze_arrays, require
from debinet.data.options import positive_number
from debinet.data.records import save_object
from debinet.exceptions import OptionError, TooFewRowsError
from debinet.inference.arms import LEAST_ROWS, ArmRows, averages
from debinet.inference.combinations import Combinations
from debinet.inference.covariance import clustered_sum
from debinet.inference.overlap import EDGES
from debinet.inference.policy import policy_frame
from debinet.inference.trimming import crump_rows
from debinet.protocols import BoolArray, FloatArray, IntArray
from debinet.report import tables

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

AVERAGES = ("ATE", "ATT", "ATC")
COEFFICIENT = "overlap-weighted"


@dataclass(frozen=True)
class CoefficientTerms:
    """The coefficients of the partially linear model, and what each row adds to them.

    Attributes
    ----------
    estimate : FloatArray of shape (k,)
    terms : FloatArray of shape (n, k)
        The sums of their squares and products are the covariance.
    """

    estimate: FloatArray
    terms: FloatArray

    def __post_init__(self) -> None:
        freeze_arrays(self, estimate="k", terms="n k")


@dataclass(frozen=True, repr=False, eq=False)
class AverageEffects:
    """Average effects of 0/1 treatments (arms), compared with rows that have none.

    With outcome models g and probabilities p of the arms, all held out, the mean outcome in an arm
    is estimated by the mean of `g + 1{arm} (y - g) / p` (augmented inverse probability weighting).
    It is right if either g or p is, and its error is the product of theirs.

    - ATE: the average effect over all rows; ATT: over the treated; ATC: over the untreated.
    - overlap-weighted: the coefficient of the partially linear model, an average in which rows
      count by `p (1 - p)`, the variance of the treatment. If the effect is the same for all, it is
      the most precise estimate of all averages; otherwise it is another average.

    Attributes
    ----------
    treatments : tuple of str
        The k arms.
    outcome : str
    rows : ArmRows
    coefficient : CoefficientTerms, optional
        Not of trimmed rows.
    groups : IntArray of shape (n, ways), optional
        Clusters.
    seed : int
        On which joint intervals depend.
    learners : tuple of str
        Names of the learners of outcomes and of probabilities, and how rows were held out.
    notes : tuple of str
    dropped : int
        Number of rows that trimming dropped.
    """

    treatments: tuple[str, ...]
    outcome: str
    rows: ArmRows
    coefficient: CoefficientTerms | None
    groups: IntArray | None
    seed: int
    learners: tuple[str, ...]
    notes: tuple[str, ...] = ()
    dropped: int = 0

    def __post_init__(self) -> None:
        freeze_arrays(self, groups="n ways")
        require(self.rows.outcomes.shape[1] == len(self.treatments) + 1, "number of arms")
        require(len(self.learners) == 3, "learners")

    @property
    def n(self) -> int:
        """Number of rows of positive weight."""
        return int(np.count_nonzero(self.rows.w))

    @cached_property
    def estimates(self) -> Combinations:
        """All estimates, in the order of `to_frame`, with their covariance."""
        parts = [averages(self.rows, arm) for arm in range(1, len(self.treatments) + 1)]
        estimate = np.array([part[0] for part in parts])
        terms = np.stack([part[1] for part in parts], axis=1)
        if self.coefficient is not None:
            estimate = np.column_stack([estimate, self.coefficient.estimate])
            terms = np.concatenate([terms, self.coefficient.terms[:, :, None]], axis=2)
        return self._combined(estimate.ravel(), terms.reshape(len(terms), -1))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the estimates."""
        kinds = (*AVERAGES, *((COEFFICIENT,) if self.coefficient is not None else ()))
        if len(self.treatments) == 1:
            return kinds
        return tuple(f"{arm}: {kind}" for arm in self.treatments for kind in kinds)

    def to_frame(self, level: float = 0.95, joint: bool = False) -> pd.DataFrame:
        """Return coef, se, statistic, pvalue, lower and upper of every average."""
        frame = self.estimates.to_frame(level, joint)
        return frame.set_index(pd.Index(self.names, dtype=object))

    def differences(self, level: float = 0.95) -> pd.DataFrame:
        """Return how much each average differs from the coefficient, a row per average.

        A difference says that effects vary with the controls, and with the probability of the
        treatment; the coefficient is then not the average that is asked for.
        """
        if self.coefficient is None:
            raise OptionError(
                "all rows, of which the coefficient was estimated",
                "trimmed rows",
                "Take the differences of the averages before trimming.",
            )
        k = len(self.treatments)
        R = np.kron(np.eye(k), np.hstack([np.eye(len(AVERAGES)), -np.ones((len(AVERAGES), 1))]))
        found = Combinations(
            R @ self.estimates.estimate,
            R @ self.estimates.covariance @ R.T,
            self.estimates.df,
            self.seed,
        )
        kept = [name for name in self.names if not name.endswith(COEFFICIENT)]
        index = pd.Index([f"{name} - {COEFFICIENT}" for name in kept], dtype=object)
        return found.to_frame(level).set_index(index)

    def trimmed(self, rule: str | float = "crump") -> AverageEffects:
        """Return the averages over rows in which every arm is probable enough.

        Parameters
        ----------
        rule : "crump" or float
            The rule of Crump, Hotz, Imbens and Mitnik (2009), by which the average over the rows
            that are kept has the least variance; or the least probability of an arm, such as 0.1.
        """
        rows = self.rows
        if isinstance(rule, str) and rule == "crump":
            kept = crump_rows(rows.probabilities, rows.w)
        else:
            least = positive_number("rule", rule, 0.5, words=("crump",))
            kept = np.asarray((rows.probabilities >= least).all(axis=1))
        self._require_arms(kept)
        dropped = int(np.count_nonzero(~kept & (rows.w > 0)))
        least = rows.probabilities[kept].min()
        note = (
            f"{dropped} of {self.n} rows dropped, as one of their arms is improbable: the averages "
            f"are over rows in which every arm has a probability of at least {least:.3g}"
        )
        return replace(
            self,
            rows=rows.of(np.flatnonzero(kept)),
            coefficient=None if dropped else self.coefficient,
            groups=None if self.groups is None else self.groups[kept],
            notes=(*self.notes, note),
            dropped=self.dropped + dropped,
        )

    def policy_value(self, cost: Any = 0.0, level: float = 0.95) -> pd.DataFrame:
        """Return what treating nobody, everybody, or those who gain more than `cost` is worth.

        Who gains is decided by the held-out outcome models: a row is given the arm whose outcome,
        less its cost, is highest. The value is the mean outcome less the cost, doubly robust.

        Parameters
        ----------
        cost : float or array of shape (k,)
            Of each arm, in units of the outcome.
        level : float
            Confidence level.

        Returns
        -------
        DataFrame
            With columns `treated` (share of rows), `value`, `se`, `lower`, `upper`, and `gain` and
            `gain_se` over treating nobody.
        """
        return policy_frame(self, cost, level)

    def summary(self, level: float = 0.95, joint: bool = False) -> str:
        """Return the averages as text."""
        counts = np.bincount(self.rows.code[self.rows.w > 0], minlength=len(self.treatments) + 1)
        arms = [f"{count} {name}" for name, count in zip(self.treatments, counts[1:], strict=True)]
        outcomes, probabilities, folds = self.learners
        lines = {
            "rows": f"{self.n}: {', '.join(arms)}, {counts[0]} without",
            "outcomes": f"{outcomes}, for each arm",
            "probabilities": f"{probabilities}, {self.rows.probabilities.min():.3g} to "
            f"{self.rows.probabilities.max():.3g}",
            "cross-fitting": folds,
            "covariance": "cluster" if self.groups is not None else "of the scores of rows",
            "intervals": f"{100 * level:g} %, {'joint' if joint else 'pointwise'}",
        }
        return tables.summary_text(self.title, lines, self.to_frame(level, joint), self._told())

    @property
    def title(self) -> str:
        """Heading of tables."""
        return f"Average effects of {', '.join(self.treatments)} on {self.outcome}"

    def to_markdown(self, level: float = 0.95, joint: bool = False) -> str:
        """Return the table in Markdown."""
        return tables.markdown_table(self.to_frame(level, joint))

    def to_latex(self, level: float = 0.95, joint: bool = False, caption: str | None = None) -> str:
        """Return the table in LaTeX (booktabs)."""
        return tables.latex_table(self.to_frame(level, joint), caption)

    def to_html(self, level: float = 0.95, joint: bool = False) -> str:
        """Return the table in HTML."""
        return tables.html_table(self.to_frame(level, joint), f"{self.title}; n = {self.n}")

    def plot(self, level: float = 0.95, joint: bool = False, *, ax: Axes | None = None) -> Axes:
        """Draw the averages with their intervals and return the axes."""
        from debinet.report.forest import forest_plot

        label = f"effect on {self.outcome}, {100 * level:g} % intervals"
        return forest_plot(self.to_frame(level, joint), ax=ax, label=label)

    def plot_overlap(self) -> Axes | Figure:
        """Draw how probable each arm is, for its own rows above and for rows of no arm below."""
        from debinet.report.trust_plots import plot_overlap

        counts = {}
        for arm, name in enumerate(self.treatments, start=1):
            chance = self.rows.probabilities[:, arm]
            both = [np.histogram(chance[self.rows.code == a], EDGES)[0] for a in (0, arm)]
            counts[name] = pd.DataFrame({"0": both[0], "1": both[1]}, EDGES[:-1])
        return plot_overlap(counts)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the averages to `path`: JSON and arrays in one file, no pickle. See `dn.load`."""
        save_object(self, path)

    def __repr__(self) -> str:
        return f"<AverageEffects: {self.title}, n={self.n}>"

    def __str__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str:
        return self.to_html()

    def _told(self) -> list[str]:
        """Return the notes, with what a difference from the coefficient means."""
        notes = list(self.notes)
        if self.coefficient is None:
            return notes
        frame = self.differences()
        apart = [str(name) for name in frame.index[frame["pvalue"] < 0.05]]
        if apart:
            kinds = ", ".join(name.removesuffix(f" - {COEFFICIENT}") for name in apart)
            notes.append(
                f"{kinds} differ from the coefficient of the model, which is the overlap-weighted "
                "average: effects vary, so say which average is meant"
            )
        return notes

    def means(self, scores: FloatArray) -> Combinations:
        """Return weighted means of scores (n, m)."""
        share = self.rows.w / self.rows.w.sum()
        mean = share @ scores
        return self._combined(mean, share[:, None] * (scores - mean))

    def _combined(self, estimate: FloatArray, terms: FloatArray) -> Combinations:
        """Return estimates with the covariance of the sums of `terms` (n, m)."""
        if self.groups is None:
            return Combinations(estimate, terms.T @ terms, self.n - 1.0, self.seed)
        counted = self.rows.w > 0
        groups = self.groups[counted]
        covariance = clustered_sum(terms[counted], groups, self.n - 1.0)
        df = min(np.unique(codes).size for codes in groups.T) - 1.0
        return Combinations(estimate, covariance, df, self.seed)

    def _require_arms(self, kept: BoolArray) -> None:
        used = kept & (self.rows.w > 0)
        counts = np.bincount(self.rows.code[used], minlength=len(self.treatments) + 1)
        if counts.min() < LEAST_ROWS:
            raise TooFewRowsError(
                f"at least {LEAST_ROWS} rows in every arm after trimming",
                f"{counts.min()}",
                "Use a smaller least probability, or the averages of all rows.",
            )
