"""`DebiNet`: select features, then estimate their coefficients with everything else learned."""

from __future__ import annotations

from dataclasses import dataclass, replace
from os import PathLike
from typing import Any, Self

import numpy as np
from joblib import delayed
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from debinet._random import RandomState, named_generator, named_seed, root_seed
from debinet.data.candidates import CandidateRows, read_candidate_rows
from debinet.data.options import switch
from debinet.data.records import save_object
from debinet.data.rowsplit import RowSplit, read_plan, split_rows
from debinet.data.same_columns import read_same_columns
from debinet.exceptions import EmptyInputError
from debinet.inference.multisplit import MultiSplit
from debinet.inference.varying_effects import Effects
from debinet.learners.progress import Progress, run_counted
from debinet.models.effects_of import effects_of
from debinet.models.estimate import require_options
from debinet.models.estimation import Options
from debinet.models.selected import (
    MODEL,
    Estimated,
    Selection,
    estimate_selected,
    require_selector,
    select,
)
from debinet.protocols import BoolArray, FloatArray, IntArray
from debinet.selection.named import resolve_selector


class DebiNet(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Coefficients of selected features in `y = D coef + f(Z) + e`.

    A selector chooses D among the columns of X on some of the rows; on the others,
    `PartiallyLinear` estimates the coefficients of D with the remaining columns as Z. The selection
    therefore does not bias the intervals.

    Parameters
    ----------
    selector : str or selector
        `"lasso"`, `"adaptive_lasso"`, `"elastic_net"`, `"slope"`, `"forward_backward"`, one of this
        library's selectors, or any object with `fit(X, y)` and `get_support()`, such as
        scikit-learn's `SelectFromModel`.
    learner, crossfit, method, n_jobs
        As in `PartiallyLinear`. `method="auto"` is `"joint"` for the smooth network, which
        `"wide"` is if at most 100 controls are left, and `"structured"` otherwise. With several
        splits, `n_jobs` of them run at the same time.
    selection_share : float, (float, int) or None
        Share of the rows used for selection; the others are used for estimation. A pair (share,
        repeats) draws that many random splits: `result_` is that of the first, `splits_` aggregates
        all. None selects and estimates on the same rows, as the paper does; intervals then cover
        less often than their level.
    random_state : int, numpy random generator, or None
        Decides the split, the folds and every random state left open.
    verbose : bool
        As in `PartiallyLinear`. With several splits, those that are done are counted.

    Attributes
    ----------
    result_ : Inference
        Coefficients of the selected features. If nothing was selected it is empty, and predictions
        are the mean of the outcome. If everything was, it is ordinary least squares.
    splits_ : MultiSplit or None
        Selection frequencies and aggregated p-values and intervals, if there were several splits.
    selector_ : selector
        As fitted on the rows of selection.
    selection_rows_, estimation_rows_ : IntArray
        Row numbers.
    coef_ : FloatArray of shape (q,)
        Coefficients of the selected features.

    References
    ----------
    Meinshausen, Meier and Buehlmann (2009), p-values for high-dimensional regression, JASA 104.

    Examples
    --------
    >>> import debinet as dn
    >>> data = dn.datasets.make_table2(n=200, p=50, k=3, random_state=0)
    >>> model = dn.DebiNet(dn.Lasso(penalty=0.5), random_state=0).fit(data.X, data.y)
    >>> model.result_.coef.round(1).to_dict()
    {'x0': 1.1, 'x1': 1.1, 'x2': 0.9}
    """

    def __init__(
        self,
        selector: Any = "lasso",
        learner: Any = "wide",
        *,
        selection_share: float | tuple[float, int] | None = 0.4,
        crossfit: Any = "auto",
        method: str = "auto",
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: bool = False,
    ) -> None:
        self.selector = selector
        self.learner = learner
        self.selection_share = selection_share
        self.crossfit = crossfit
        self.method = method
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any, *, groups: Any = None, sample_weight: Any = None) -> Self:
        """Select, then estimate.

        Parameters
        ----------
        X : array or data frame of shape (n, p)
            numpy, pandas, polars or arrow; p may exceed n. Text and categorical columns are
            one-hot encoded and always controls.
        y : array or series of shape (n,)
            Outcome.
        groups : array or series of shape (n,), or two columns, optional
            Clusters, never divided between selection and estimation.
        sample_weight : array or series of shape (n,), optional
            Weights of the rows, for the selector, the learner and the regression on residuals.
        """
        sample = read_candidate_rows(X, y, groups, sample_weight)
        plan, seed = read_plan(self.selection_share), root_seed(self.random_state)
        selector = resolve_selector(self.selector)
        require_selector(selector)
        progress = Progress(switch("verbose", self.verbose))
        options = Options(self.learner, self.method, self.crossfit, self.n_jobs, seed, progress)
        require_options(options)
        splits = [
            split_rows(plan, sample.y.size, sample.groups, named_generator(seed, "rows", k))
            for k in range(plan.repeats)
        ]
        done = _run_all(_Procedure(sample, selector, options), splits)
        # The seed that repeats the whole fit, not only what follows the split of the rows.
        first = _with_seed(done.first, seed)
        several = _aggregate(sample, [_row(first), *done.others]) if done.others else None
        # Nothing is set before everything has succeeded: a failed fit leaves the old one unchanged.
        validate_data(self, X, skip_check_array=True)
        self._candidates, self._estimated = sample.candidates, first
        self.selector_, self.splits_, self.result_ = done.selection.selector, several, first.result
        self.selection_rows_, self.estimation_rows_ = splits[0].selection, splits[0].estimation
        self.coef_ = first.result.estimate.copy()
        return self

    def get_support(self, indices: bool = False) -> BoolArray | IntArray:
        """Return the mask over the columns of X that were selected, or their positions."""
        check_is_fitted(self, "result_")
        mask = np.zeros(self.n_features_in_, dtype=np.bool_)
        mask[self._candidates.source[self._estimated.selected]] = True
        return np.flatnonzero(mask) if indices else mask

    def predict(self, X: Any) -> FloatArray:
        """Return `E(y|Z) + (D - E(D|Z)) coef` for the rows of X."""
        return self._predict(X, linear=True)

    def nuisance(self, X: Any) -> FloatArray:
        """Return the estimate of `f(Z) = E(y|Z) - E(D|Z) coef` for the rows of X."""
        return self._predict(X, linear=False)

    def effects(
        self, by: Any, *, bins: Any = None, df: int | None = None, X: Any = None
    ) -> Effects:
        """Return effects of the selected features that vary with the others.

        Parameters
        ----------
        by, bins, df, X
            As in `PartiallyLinear.effects`. Columns that are passed as data have a row for every
            one of `estimation_rows_`; X has all rows of fit.
        """
        check_is_fitted(self, "result_")
        found = self._estimated
        if found.fitted is None:
            raise EmptyInputError(
                "selected features, whose effects may vary",
                "none, as nothing was selected",
                "Use a smaller penalty, or PartiallyLinear with treatments that you name.",
            )
        given = None
        if X is not None:
            every = self._candidates.read(read_same_columns(self, X, self._candidates.schema.names))
            used = every[self.estimation_rows_[self.estimation_rows_ < len(every)]]
            given = used[:, found.selected], used[:, found.kept & ~found.selected]
        return effects_of(found.fitted, by, given, bins=bins, df=df)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the fitted model and its result to one file, for `dn.load`; no pickle."""
        check_is_fitted(self, "result_")
        save_object(self, path)

    def _predict(self, X: Any, *, linear: bool) -> FloatArray:
        check_is_fitted(self, "result_")
        values = self._candidates.read(read_same_columns(self, X, self._candidates.schema.names))
        found = self._estimated
        if found.fitted is None:
            return np.full(len(values), found.mean)
        D = values[:, found.selected]
        Z = np.ascontiguousarray(values[:, found.kept & ~found.selected])
        return found.fitted.predict(D, Z) if linear else found.fitted.nuisance(Z)


@dataclass(frozen=True)
class _Procedure:
    """All that the splits have in common."""

    sample: CandidateRows
    selector: Any
    options: Options

    def run(self, split: RowSplit, number: int) -> tuple[Selection, Estimated]:
        own = named_seed(self.options.seed, "split", number)
        what = f"{type(self.selector).__name__} selects"
        with self.options.progress.count(what, 1, "selection"):
            selection = select(self.selector, self.sample.of(split.selection), own)
        options = replace(self.options, seed=own)
        return selection, estimate_selected(self.sample, split, selection, options)


@dataclass(frozen=True)
class _Row:
    """What the aggregation needs of one split: fitted models are large."""

    selected: BoolArray
    coef: FloatArray
    se: FloatArray
    df: float


@dataclass(frozen=True)
class _AllSplits:
    """The first split, and what is kept of the others."""

    selection: Selection
    first: Estimated
    others: list[_Row]


def _run_all(procedure: _Procedure, splits: list[RowSplit]) -> _AllSplits:
    if len(splits) == 1:
        return _AllSplits(*procedure.run(splits[0], 0), [])
    options = procedure.options
    # Splits are counted, not what happens within them, perhaps in other processes.
    quiet = replace(procedure, options=replace(options, progress=Progress()))
    alone = replace(quiet, options=replace(quiet.options, n_jobs=None))
    with options.progress.count(MODEL, len(splits), "split") as counter:
        selection, first = quiet.run(splits[0], 0)
        counter.advance()
        work = (delayed(_estimates)(alone, split, k) for k, split in enumerate(splits[1:], start=1))
        return _AllSplits(selection, first, run_counted(work, counter, n_jobs=options.n_jobs))


def _with_seed(estimated: Estimated, seed: int) -> Estimated:
    provenance = replace(estimated.result.provenance, seed=seed)
    result = replace(estimated.result, provenance=provenance)
    fitted = None if estimated.fitted is None else replace(estimated.fitted, result=result)
    return replace(estimated, result=result, fitted=fitted)


def _estimates(procedure: _Procedure, split: RowSplit, number: int) -> _Row:
    return _row(procedure.run(split, number)[1])


def _row(estimated: Estimated) -> _Row:
    result = estimated.result
    return _Row(estimated.selected, result.estimate, result.se.to_numpy(), result.df)


def _aggregate(sample: CandidateRows, rows: list[_Row]) -> MultiSplit:
    p = len(sample.candidates.names)
    coef, se = np.full((len(rows), p), np.nan), np.full((len(rows), p), np.nan)
    for k, row in enumerate(rows):
        coef[k, row.selected], se[k, row.selected] = row.coef, row.se
    offered = sample.candidates.selectable
    names = tuple(np.array(sample.candidates.names, dtype=object)[offered])
    df = np.array([row.df for row in rows])
    return MultiSplit(names, coef[:, offered], se[:, offered], df)
