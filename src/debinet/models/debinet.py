"""`DebiNet`: select features, then estimate their coefficients with everything else learned."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self, overload

import numpy as np
import pandas as pd
from joblib import delayed
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from debinet._random import RandomState, named_generator, named_seed, root_seed
from debinet.data.candidates import CandidateRows, Candidates, read_candidate_rows
from debinet.data.options import switch
from debinet.data.rowsplit import RowSplit, read_plan, split_rows
from debinet.data.same_columns import read_same_columns
from debinet.data.schema import unknown_column
from debinet.exceptions import EmptyInputError
from debinet.inference.multisplit import MultiSplit
from debinet.inference.split_result import SplitInference
from debinet.inference.varying_effects import Effects
from debinet.learners.progress import Progress, run_counted
from debinet.models.effects_of import effects_of
from debinet.models.estimate import require_options
from debinet.models.estimation import Options
from debinet.models.prediction_intervals import interval_frame, mean_interval, predict_interval
from debinet.models.result_mixin import ResultMixin
from debinet.models.roles import assign_roles, label_list, name_clusters, pick_used
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


class DebiNet(ResultMixin, RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Coefficients of selected features in `y = D coef + f(Z) + e`.

    A selector chooses D among the columns of X on some of the rows; on the others,
    `PartiallyLinear` estimates the coefficients of D with the remaining columns as Z. The selection
    therefore does not bias the intervals.

    Parameters
    ----------
    selector : str or selector
        `"lasso"`, `"adaptive-lasso"`, `"elastic-net"`, `"slope"`, `"forward-backward"`;
        `"group-lasso"`, `"sparse-group-lasso"`, which select the 0-1 columns of a category
        together; one of this library's selectors; or any object with `fit(X, y)` and
        `get_support()`, such as scikit-learn's `SelectFromModel`.
    learner, crossfit, method, n_jobs
        As in `PartiallyLinear`. `method="auto"` is `"joint"` for the smooth network, which
        `"wide"` is if at most 100 controls are left, and `"structured"` otherwise. With several
        splits, `n_jobs` of them run at the same time.
    selection_share : float, (float, int) or None
        Share of the rows used for selection; the others are used for estimation. A pair (share,
        repeats) draws that many random splits, which `result_` aggregates. None selects and
        estimates on the same rows, as the paper does; intervals then cover less often than their
        level.
    random_state : int, numpy random generator, or None
        Decides the split, the folds and every random state left open.
    verbose : bool
        As in `PartiallyLinear`. With several splits, those that are done are counted.

    Attributes
    ----------
    result_ : Inference or SplitInference
        Coefficients of the selected features. If nothing was selected it is empty, and predictions
        are the mean of the outcome. If everything was, it is ordinary least squares. With several
        splits their aggregate; `result_.first` is the result of the first split, whose model
        predicts, and of which the other attributes are.
    splits_ : MultiSplit or None
        The estimates of every split, if there were several.
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

    # For files of versions that did not have it.
    _used: tuple[Any, ...] | None = None

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

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        controls: Any = None,
        groups: Any = None,
        sample_weight: Any = None,
    ) -> Self:
        """Select, then estimate.

        Parameters
        ----------
        X : array or data frame of shape (n, p)
            numpy, pandas, polars or arrow; p may exceed n. Text and categorical columns are
            one-hot encoded and always controls.
        y : array or series of shape (n,)
            Outcome.
        controls : sequence of str, optional
            Columns of X that are controls whatever the selector would say: they are not offered
            to it.
        groups : array or series of shape (n,), or two columns, or names of columns of X, optional
            Clusters, never divided between selection and estimation.
        sample_weight : array or series of shape (n,), or the name of a column of X, optional
            Weights of the rows, for the selector, the learner and the regression on residuals.
        """
        roles = assign_roles(X, groups=groups, sample_weight=sample_weight)
        sample = read_candidate_rows(roles.X, y, roles.groups, roles.sample_weight)
        sample = replace(sample, candidates=_without(sample.candidates, controls))
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
        first = _with_seed(done.first, seed, roles.clusters)
        several = _aggregate(sample, [_row(first), *done.others]) if done.others else None
        # Nothing is set before everything has succeeded: a failed fit leaves the old one unchanged.
        validate_data(self, roles.X, skip_check_array=True)
        self._candidates, self._estimated, self._used = sample.candidates, first, roles.used
        self.selector_, self.splits_ = done.selection.selector, several
        self.result_ = SplitInference(several, first.result) if several else first.result
        self.selection_rows_, self.estimation_rows_ = splits[0].selection, splits[0].estimation
        self.coef_ = first.result.estimate.copy()
        return self

    def get_support(self, indices: bool = False) -> BoolArray | IntArray:
        """Return the mask over the columns of X that were selected, or their positions."""
        check_is_fitted(self, "result_")
        mask = np.zeros(self.n_features_in_, dtype=np.bool_)
        mask[self._candidates.source[self._estimated.selected]] = True
        return np.flatnonzero(mask) if indices else mask

    @overload
    def predict(self, X: Any, interval: None = None) -> FloatArray: ...

    @overload
    def predict(self, X: Any, interval: float) -> pd.DataFrame: ...

    def predict(self, X: Any, interval: float | None = None) -> FloatArray | pd.DataFrame:
        """Return `E(y|Z) + (D - E(D|Z)) coef` for the rows of X.

        Parameters
        ----------
        X : array or data frame of shape (r, p)
        interval : float, optional
            As in `PartiallyLinear.predict`, for new rows that are like those of estimation.

        Returns
        -------
        FloatArray of shape (r,)
            Or, with `interval`, a data frame with the columns prediction, lower and upper.
        """
        prediction = self._predict(X, linear=True)
        if interval is None:
            return prediction
        found = self._estimated
        if found.fitted is None:
            fit = found.result.regressions[0].all_rows("prediction intervals")
            bounds = mean_interval(fit, len(prediction), found.mean, interval)
        else:
            bounds = predict_interval(found.fitted, *self._columns(X), interval)
        return interval_frame(X, prediction, bounds)

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
            As in `PartiallyLinear.effects`; data have the rows `estimation_rows_`, X all of fit.
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

    def _predict(self, X: Any, *, linear: bool) -> FloatArray:
        check_is_fitted(self, "result_")
        D, Z = self._columns(X)
        found = self._estimated
        if found.fitted is None:
            return np.full(len(D), found.mean)
        return found.fitted.predict(D, Z) if linear else found.fitted.nuisance(Z)

    def _columns(self, X: Any) -> tuple[FloatArray, FloatArray]:
        """Return the selected columns of X and the other columns that the model uses."""
        X = pick_used(X, self._used)
        values = self._candidates.read(read_same_columns(self, X, self._candidates.schema.names))
        found = self._estimated
        Z = np.ascontiguousarray(values[:, found.kept & ~found.selected])
        return values[:, found.selected], Z


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


def _without(candidates: Candidates, controls: Any) -> Candidates:
    """Return candidates among which the controls are not offered to a selector."""
    if controls is None:
        return candidates
    names = candidates.schema.names
    wanted = label_list(controls)
    for name in wanted:
        if str(name) not in names:
            raise unknown_column(str(name), names, "controls that are columns of X")
    fixed = [names.index(str(name)) for name in wanted]
    return replace(
        candidates, selectable=candidates.selectable & ~np.isin(candidates.source, fixed)
    )


def _with_seed(estimated: Estimated, seed: int, clusters: str | None) -> Estimated:
    """Return the record of the whole fit, with the seed that repeats it."""
    provenance = replace(estimated.result.provenance, seed=seed)
    result = name_clusters(replace(estimated.result, provenance=provenance), clusters)
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
