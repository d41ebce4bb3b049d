"""`PartiallyLinear`: effects of named features, everything else learned."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from debinet._random import RandomState, root_seed
from debinet.data.dataset import Dataset
from debinet.data.options import switch
from debinet.data.records import save_object
from debinet.data.same_columns import read_same_columns
from debinet.exceptions import OptionError
from debinet.inference.average_effects import AverageEffects
from debinet.inference.individual_effects import IndividualEffects
from debinet.inference.varying_effects import Effects
from debinet.learners.progress import Progress
from debinet.models.average_effects_of import average_effects_of, rows_of
from debinet.models.effects_of import effects_of
from debinet.models.estimate import estimate
from debinet.models.estimation import Fitted, Options
from debinet.models.individual_effects_of import individual_effects_of
from debinet.protocols import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class PartiallyLinear(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Coefficients of the partially linear model `y = D coef + f(Z) + e`.

    A learner estimates `E(y|Z)` and `E(D|Z)`; each row is predicted by models that did not see
    it; least squares of the residual of y on the residuals of D gives the coefficients. The wide
    network, the default, has a mixed model, in which they are generalized least squares.

    Parameters
    ----------
    treatments : str, int or sequence of them
        Columns of X that make up D, by name or position. All other columns are Z.
    learner : str or regressor
        Learns the conditional means. `"wide"` is an over-parameterized network in its
        infinite-width limit, `"lasso"` a cross-validated Lasso (`LassoLearner`),
        `"spline"` a sum of curves (`SplineSmoother`), `"net"` a trained network (`Net`);
        `"forest"`, `"boosting"` and `"linear"` are scikit-learn's. `"mean"` predicts the mean
        (ordinary least squares of y on D), and any scikit-learn regressor can be used.

        `"wide"` is `WideNet(activation="erf")` with at least 100 rows, 2 to 100 controls and at
        most one control for three rows; beyond about 1,300 rows the same network is solved on
        landmarks (`TangentNet`). With fewer rows or more controls it is the ReLU network
        `WideNet()`, in which all controls have the same weight. In the last two cases a note
        says so.
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
    n_features_in_ : int
        Number of columns of X.
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

    def __init__(
        self,
        treatments: str | int | Sequence[str | int],
        learner: Any = "wide",
        *,
        crossfit: Any = "auto",
        method: str = "auto",
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: bool = False,
    ) -> None:
        self.treatments = treatments
        self.learner = learner
        self.crossfit = crossfit
        self.method = method
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any, *, groups: Any = None, sample_weight: Any = None) -> Self:
        """Estimate the coefficients.

        Parameters
        ----------
        X : array or data frame of shape (n, p)
            numpy, pandas, polars or arrow. Text and categorical columns outside of `treatments`
            are one-hot encoded; missing values are an error.
        y : array or series of shape (n,)
            Outcome.
        groups : array or series of shape (n,), or two columns, optional
            Clusters. A cluster is never split between training and held-out rows, and the
            covariance allows for dependence within it.
        sample_weight : array or series of shape (n,), optional
            Weights of the rows, for the learner and for the regression on residuals.
        """
        data = Dataset.from_any(
            X,
            y,
            self.treatments,
            groups=groups,
            sample_weight=sample_weight,
        )
        fitted = estimate(data, self._options())
        # Nothing is set before everything has succeeded: a failed fit leaves the old one unchanged.
        validate_data(self, X, skip_check_array=True)
        self._take(fitted)
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
        `"auto"`, `"joint"`, `"structured"`, `"robinson"` and `"dml2"`. The first pass draws 2,000
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
        from debinet.models.streamed import StreamedTable

        if checkpoint is not None and self.random_state is None:
            raise OptionError(
                "random_state=0 or another number, so that a checkpoint can be resumed",
                "random_state=None, which is another seed in every call",
                "Set random_state, or leave checkpoint out.",
            )
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

    def predict(self, X: Any) -> FloatArray:
        """Return `E(y|Z) + (D - E(D|Z)) coef` for the rows of X."""
        D, Z = self._split(X)
        return self._fitted.predict(D, Z)

    def nuisance(self, X: Any) -> FloatArray:
        """Return the estimate of `f(Z) = E(y|Z) - E(D|Z) coef` for the rows of X."""
        _, Z = self._split(X)
        return self._fitted.nuisance(Z)

    def effects(
        self, by: Any, *, bins: Any = None, df: int | None = None, X: Any = None
    ) -> Effects:
        """Return effects that vary with controls; nothing is learned again.

        Parameters
        ----------
        by : str, sequence of str, series or data frame
            Controls by name; or a column per row of fit that is computed from controls, such as
            `pd.cut(X["age"], 4)`. Columns of text, and of at most six different numbers, have an
            effect for every value, and other columns a curve. Several columns of groups have an
            effect for every combination; with curves the effect is a sum of functions of each.
        bins : int or sequence of float, optional
            Groups instead of a curve: how many with about as many rows each, or the cuts between
            them.
        df : int, optional
            Degrees of freedom of a curve, a natural cubic spline, beside its constant: 1 is a
            straight line. By default 3.
        X : array or data frame, optional
            The X of fit, for models from files, which do not contain it.

        Returns
        -------
        Effects
            With a table, a test of whether effects are the same for all, differences, a plot.
        """
        check_is_fitted(self, "result_")
        given = None if X is None else self._split(X)
        return effects_of(self._fitted, by, given, bins=bins, df=df)

    def individual_effects(
        self, treatment: str | None = None, *, X: Any = None, y: Any = None
    ) -> IndividualEffects:
        """Return the effect of a treatment in every row, by the wide network, and tests of it.

        Parameters
        ----------
        treatment : str, optional
            Which, if there are several.
        X, y : optional
            The X and y of fit, for models from files, which do not contain them.
        """
        check_is_fitted(self, "result_")
        given = None if X is None else self._split(X)
        return individual_effects_of(self._fitted, treatment, rows_of(self._fitted, given, y))

    def average_effects(
        self,
        treatment: str | Sequence[str] | None = None,
        *,
        learner: Any = None,
        propensity: Any = None,
        crossfit: Any = "auto",
        X: Any = None,
        y: Any = None,
    ) -> AverageEffects:
        """Return average effects of 0/1 treatments: over all rows, the treated, the untreated.

        Doubly robust, with the outcome in each arm and the probability of each arm learned from the
        controls. The coefficient of this model is shown beside them: it is another average.

        Parameters
        ----------
        treatment : str or sequence of str, optional
            A 0/1 treatment, or several of which a row has at most one (arms). Treatments that are
            not named are controls. By default all treatments.
        learner : str or regressor, optional
            Learns the outcome in each arm; by default that of this model.
        propensity : classifier, optional
            Learns the probabilities: any of scikit-learn's with `predict_proba`. By default the
            wide network with a logistic link (`LogisticNet`).
        crossfit : {"auto"}, int, splitter, or list of (train, test) pairs
            How rows are held out; `"auto"` as in fit.
        X, y : optional
            The X and y of fit, for models from files, which do not contain them.
        """
        check_is_fitted(self, "result_")
        given = None if X is None else self._split(X)
        return average_effects_of(
            self._fitted,
            treatment,
            rows_of(self._fitted, given, y),
            learner=self.learner if learner is None else learner,
            propensity=propensity,
            crossfit=crossfit,
        )

    def save(self, path: str | PathLike[str]) -> None:
        """Write the fitted model and its result to one file, for `dn.load`; no pickle."""
        check_is_fitted(self, "result_")
        save_object(self, path)

    @property
    def relevance_(self) -> pd.Series | pd.DataFrame:
        """Weights that the learner gives the controls, by name; see `WideNet`.

        With `relevance="per-output"` a frame, with a column for y and for every treatment.
        """
        check_is_fitted(self, "result_")
        learner = self._fitted.means[0].joint.fits[0].models[0]
        scale: FloatArray = learner.relevance_  # AttributeError for learners that have none
        features = list(self._fitted.schema.control_names)
        if scale.ndim == 1:
            return pd.Series(scale, index=features, name="relevance")
        return pd.DataFrame(scale, index=features, columns=["y", *self.result_.names])

    def plot_relevance(self, ax: Axes | None = None) -> Axes:
        """Draw `relevance_` as bars and return the axes."""
        from debinet.report.diagnostics import relevance_plot

        return relevance_plot(self.relevance_, ax)

    def _split(self, X: Any) -> tuple[FloatArray, FloatArray]:
        check_is_fitted(self, "result_")
        table = read_same_columns(self, X, self._fitted.schema.names)
        return self._fitted.schema.split(table)

    def _take(self, fitted: Fitted) -> None:
        self._fitted = fitted
        self.result_, self.coef_ = fitted.result, fitted.result.estimate.copy()
