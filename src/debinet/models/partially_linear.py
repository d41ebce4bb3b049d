"""`PartiallyLinear`: effects of named features, everything else learned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any, Self, overload

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from debinet._random import RandomState, root_seed
from debinet.data.dataset import Dataset
from debinet.data.options import switch
from debinet.data.same_columns import read_same_columns
from debinet.data.schema import Treatments
from debinet.inference.result import Inference
from debinet.learners.progress import Progress
from debinet.models.benchmarked import Benchmarked
from debinet.models.effects_mixin import EffectsMixin
from debinet.models.estimate import estimate
from debinet.models.estimation import Fitted, Options
from debinet.models.prediction_intervals import interval_frame, predict_interval
from debinet.models.relevance import ShowsRelevance
from debinet.models.result_mixin import ResultMixin
from debinet.models.roles import assign_roles, name_clusters, pick_used, require_instruments
from debinet.protocols import FloatArray

if TYPE_CHECKING:
    from debinet.models.formula_columns import FormulaColumns


class PartiallyLinear(
    EffectsMixin,
    ShowsRelevance,
    ResultMixin,
    Benchmarked,
    RegressorMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    """Coefficients of the partially linear model `y = D coef + f(Z) + e`.

    A learner estimates `E(y|Z)` and `E(D|Z)`; each row is predicted by models that did not see
    it; least squares of the residual of y on the residuals of D gives the coefficients. The wide
    network, the default, has a mixed model, in which they are generalized least squares.

    Parameters
    ----------
    treatments : str, int, Dose or sequence of them
        Columns of X that make up D, by name or position. All other columns are Z. A text or
        categorical column `arm` becomes one column for each category but the reference: `arm[b]`,
        `arm[c]`. The summary has a joint test of them. `Dose("educ", df=4)` is a column whose
        effect is a curve: see `Inference.dose`.
    learner : str or regressor
        Learns the conditional means. `"wide"` is an over-parameterized network in its
        infinite-width limit, `"lasso"` a cross-validated Lasso (`LassoLearner`),
        `"spline"` a sum of curves (`SplineSmoother`), `"net"` a trained network (`Net`);
        `"forest"` and `"boosting"` are scikit-learn's, `"linear"` is least squares. `"mean"`
        predicts the mean (ordinary least squares of y on D), and any scikit-learn regressor can be
        used.

        `"wide"` is `WideNet(activation="erf")` with at least 100 rows, 2 to 100 controls and at
        most one control for three rows; beyond about 1,300 rows the same network is solved on
        landmarks (`TangentNet`). With fewer rows or more controls it is the ReLU network
        `WideNet()`, in which all controls have the same weight. In the last two cases a note
        says so.
    ref : mapping from str to category, or category, optional
        The reference categories, such as `{"arm": "control"}`; the name may be left out if there is
        one treatment. By default the first: of a categorical column by its own order, of text by
        the alphabet. A column of whole numbers is a category only if it is named here.
    crossfit : {"auto", "loo"}, int, (int, int), splitter, list of (train, test) pairs, or None
        How rows are held out. A pair is (folds, repetitions). `"auto"` is exact leave-one-out for
        learners that have it in closed form and 5 folds for others; None is the paper's in-sample
        residuals, for learners that cannot overfit.
    method : str
        `"auto"` is `"joint"` for smooth networks (`WideNet` and `TangentNet` with
        `activation="erf"` and `tune="reml"`) and `"structured"` for all other learners. `"joint"`
        is the estimate of the network's mixed model in which f may be related to `E(D|Z)`, as it
        is if Z contains confounders; `"gls"` is that of the model in which they are unrelated,
        which is biased where they are not. `"robinson"` regresses residuals on residuals;
        `"three-step"` does so, too, and predicts by `D coef + f(Z)` with a third regression for f,
        the paper's Algorithm 3. `"structured"` learns the outcome's mean as `g(Z) + E(D|Z) coef`,
        which is more precise when D explains much of y. `"dml1"` and `"dml2"` are
        double machine learning as published; `"iv-type"`, from the same paper, takes the residuals
        of D as instruments for D and learns `g(Z) = E(y - D coef | Z)` at the estimate of `"dml2"`.
        With `instruments` it is one of `"2sls"`, `"liml"`, `"fuller"` and `"jive"`.
    instruments : str, int or sequence of them, optional
        Columns of X that move endogenous treatments, and the outcome only through these. Their
        means given Z are learned with the others, and the coefficients are estimated on held-out
        residuals. `method` is then `"2sls"` (which is what `"auto"` means), `"liml"`, `"fuller"`,
        or `"jive"`, for many instruments: what all of them say about a treatment in the other rows
        becomes its one instrument.
        `result_.iv` has tests of their strength and sets that do not rely on it.
    endogenous : str, int or sequence of them, optional
        The treatments that have instruments, by name or by position in `treatments`; by default
        all. The others are exogenous: their own instruments.
    n_jobs : int, optional
        Folds fitted at the same time, and in `fit_stream` batches of rows: None is 1 (unless a
        `joblib.parallel_config` says otherwise), -1 all cores, -2 all but one. The result does not
        depend on it.
    random_state : int, numpy random generator, or None
        Decides the folds and every random state of the learner that was left open.
    verbose : bool
        Whether a `fit` that takes more than 5 seconds, or is expected to, shows on stderr how many
        of its fits or repetitions are done and about how much time is left. Quick fits show
        nothing. (`fit_stream` has `progress`.)

    Attributes
    ----------
    result_ : Inference
        Coefficients, covariance, intervals, tests, tables.
    coef_ : FloatArray of shape (q,)
        The coefficients as an array.
    relevance_ : Series
        Weights of the controls, for learners that have them.
    formula_ : FormulaColumns or None
        Of a model that `plm` fitted.
    n_features_in_ : int
        Number of columns of X that are used.
    feature_names_in_ : array of shape (n_features_in_,)
        Their names, if X had names.

    References
    ----------
    Robinson (1988), Root-N-consistent semiparametric regression, Econometrica 56.
    Chernozhukov et al. (2018), Double/debiased machine learning, Econometrics Journal 21.

    Examples
    --------
    >>> import debinet as dn
    >>> from sklearn.linear_model import LassoCV
    >>> X, y, truth = dn.datasets.make_sparse_linear(n=500, random_state=0)
    >>> model = dn.PartiallyLinear(["d1", "d2"], LassoCV(), random_state=0).fit(X, y)
    >>> model.result_.coef.round(2).to_dict(), truth.to_dict()
    ({'d1': 0.95, 'd2': -0.55}, {'d1': 1.0, 'd2': -0.5})
    """

    result_: Inference
    # For files of versions that did not have them.
    formula_: FormulaColumns | None = None
    _used: tuple[Any, ...] | None = None

    def __init__(
        self,
        treatments: Treatments,
        learner: Any = "wide",
        *,
        ref: Any = None,
        crossfit: Any = "auto",
        method: str = "auto",
        instruments: Any = None,
        endogenous: Any = None,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: bool = False,
    ) -> None:
        self.treatments = treatments
        self.learner = learner
        self.ref = ref
        self.crossfit = crossfit
        self.method = method
        self.instruments = instruments
        self.endogenous = endogenous
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
        """Estimate the coefficients.

        Parameters
        ----------
        X : array or data frame of shape (n, p)
            numpy, pandas, polars or arrow. Text and categorical columns outside of `treatments`
            are one-hot encoded; missing values are an error.
        y : array or series of shape (n,)
            Outcome.
        controls : sequence of str, optional
            The columns of X that are controls, by default all that are neither treatments nor named
            as groups or weights.
        groups : array or series of shape (n,), or two columns, or names of columns of X, optional
            Clusters. A cluster is never split between training and held-out rows, and the
            covariance allows for dependence within it.
        sample_weight : array or series of shape (n,), or the name of a column of X, optional
            Weights of the rows, for the learner and for the regression on residuals.
        """
        roles = assign_roles(
            X,
            treatments=self.treatments,
            controls=controls,
            groups=groups,
            sample_weight=sample_weight,
            instruments=require_instruments(self.instruments, self.endogenous),
        )
        data = Dataset.from_any(
            roles.X,
            y,
            roles.treatments,
            ref=self.ref,
            groups=roles.groups,
            sample_weight=roles.sample_weight,
            instruments=roles.instruments,
            endogenous=self.endogenous,
        )
        fitted = estimate(data, self._options())
        fitted = replace(fitted, result=name_clusters(fitted.result, roles.clusters))
        # Nothing is set before everything has succeeded: a failed fit leaves the old one unchanged.
        X = roles.X if self.instruments is None else pick_used(roles.X, roles.used)
        validate_data(self, X, skip_check_array=True)
        self._take(fitted, roles.used)
        return self

    def fit_stream(
        self,
        data: Any,
        outcome: str,
        *,
        controls: Sequence[str] | None = None,
        groups: str | None = None,
        sample_weight: str | None = None,
        client: Any = None,
        checkpoint: str | PathLike[str] | None = None,
        progress: bool = False,
    ) -> Self:
        """Estimate the coefficients from a table that need not fit in memory.

        The data are read three times, piece by piece, with exact cross-fitting; memory does not
        grow with the number of rows. For `learner="wide"` and `TangentNet`, and the methods
        `"auto"`, `"joint"`, `"structured"`, `"robinson"` and `"dml2"`. The first pass draws 40,000
        rows at random, from which the network learns the relevance of the controls and among which
        its landmarks are chosen. With `TangentNet(features="units")` the coefficients are those of
        `fit` with the same folds.

        Parameters
        ----------
        data : path, data frame, list of them, iterator, function or lazy table
            Parquet files, a folder of them or a pattern such as `"data/*.parquet"`; frames; a
            function that returns an iterator of frames; lazy polars frames, DuckDB relations;
            Dask data frames.
        outcome : str
            Its column. `treatments` must be columns, too.
        controls : sequence of str, optional
            The controls, by default all other columns.
        groups, sample_weight : str, optional
            Columns of clusters and of weights.
        client : str or distributed.Client, optional
            A Dask cluster, or the address of its scheduler, that does the work.
        checkpoint : path, optional
            A file for finished work, from which the same call resumes after an interruption. It is
            removed at the end.
        progress : bool
            Whether to show a bar for each pass.

        Notes
        -----
        Without a client, `n_jobs` threads work on batches at the same time, each with one thread
        of BLAS: use `n_jobs=-1` for all cores. Results are the same to the last bit.
        """
        from debinet.models.streamed import StreamedTable, require_streamable

        require_streamable(self, checkpoint)
        table = StreamedTable(
            data,
            self.treatments,
            outcome,
            controls,
            groups,
            sample_weight,
            client,
            checkpoint,
            progress,
        )
        fitted = estimate(table, self._options())
        self.n_features_in_ = len(fitted.schema.names)
        self.feature_names_in_ = np.array(fitted.schema.names, dtype=object)
        self._take(fitted)
        return self

    def _options(self) -> Options:
        seed = root_seed(self.random_state)
        progress = Progress(switch("verbose", self.verbose))
        return Options(self.learner, self.method, self.crossfit, self.n_jobs, seed, progress)

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
            Probability, such as 0.95, with which intervals contain the outcomes of new rows:
            jackknife+ for exact wide networks, CV+ for learners that are fitted fold by fold.

        Returns
        -------
        FloatArray of shape (r,)
            Or, with `interval`, a data frame with the columns prediction, lower and upper.
        """
        D, Z = self._split(X)
        prediction = self._fitted.predict(D, Z)
        if interval is None:
            return prediction
        return interval_frame(X, prediction, predict_interval(self._fitted, D, Z, interval))

    def nuisance(self, X: Any) -> FloatArray:
        """Return the estimate of `f(Z) = E(y|Z) - E(D|Z) coef` for the rows of X."""
        _, Z = self._split(X)
        return self._fitted.nuisance(Z)

    def _with_formula(self, formula: FormulaColumns, clusters: str | None = None) -> Self:
        """Make `predict` take data frames with the variables of a formula; for `plm`."""
        provenance = replace(
            self.result_.provenance, formula=formula.formula, categories=formula.categories
        )
        result = name_clusters(replace(self.result_, provenance=provenance), clusters)
        self._take(replace(self._fitted, result=result))
        self.formula_ = formula
        return self

    def _split(self, X: Any) -> tuple[FloatArray, FloatArray]:
        check_is_fitted(self, "result_")
        X = pick_used(X, self._used) if self.formula_ is None else self.formula_.read(X)
        table = read_same_columns(self, X, self._fitted.schema.names)
        return self._fitted.schema.split(table)

    def _take(self, fitted: Fitted, used: tuple[Any, ...] | None = None) -> None:
        self._fitted, self._used, self.formula_ = fitted, used, None
        self.result_, self.coef_ = fitted.result, fitted.result.estimate.copy()
