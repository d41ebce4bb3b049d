"""`DebiasedLasso`: all coefficients of a sparse linear model, more columns than rows allowed."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from debinet._random import RandomState, named_generator, root_seed
from debinet.data.options import switch
from debinet.data.same_columns import read_same_columns
from debinet.data.tables import require_numbers
from debinet.desparsified.bootstrap import bootstrap
from debinet.desparsified.bootstrapped import Bootstrapped
from debinet.desparsified.compiling import compile_loops
from debinet.desparsified.evidence import lasso_evidence
from debinet.desparsified.gram import gram_matrix, shuffled_folds
from debinet.desparsified.lasso import LassoFit, initial_lasso, noise_level
from debinet.desparsified.nodewise import Projection, nodewise_penalties, project
from debinet.inference.infer import infer
from debinet.inference.provenance import LassoPenalties, Provenance
from debinet.inference.regression import ResidualRegression
from debinet.inference.trust_evidence import DeferredEvidence
from debinet.learners.progress import Progress
from debinet.models.result_mixin import ResultMixin
from debinet.protocols import FloatArray
from debinet.selection.problem import LinearProblem, read_problem


class DebiasedLasso(ResultMixin, RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Every coefficient of `y = X coef + e`, coef sparse, with intervals: the desparsified Lasso.

    The Lasso `t` is biased towards zero. What it leaves of y is projected, for each column, on
    what a Lasso of that column on all others leaves of it, `z_j`::

        coef_j = t_j + z_j'(y - X t) / (z_j'x_j)

    which is nearly normal with covariance `sigma^2 A A'`, `A_j = z_j / (z_j'x_j)`, as long as few
    coefficients matter. Quantiles are those of t with the degrees of freedom of `sigma`.

    Parameters
    ----------
    penalty : {"cv", "universal", "scaled"} or float
        Of the Lasso of y: chosen by 5-fold cross-validation; `sigma sqrt(2 log(p) / n)`; the scaled
        Lasso's own; or a number, in the scale of scikit-learn's Lasso with standardized columns.
    nodewise : {"quantile", "universal", "cv"} or float
        Of the Lasso of each column on all others, on standardized columns: that of Sun and Zhang
        (2013); the larger `sqrt(2 log(p) / n)`; one value for all by cross-validation; or a number
        between 0 and 1. Smaller penalties mean less bias, wider intervals and more work.
    projection : {"relaxed", "exact"}
        `"relaxed"` lowers the penalty of a column until its residuals are nearly uncorrelated
        with all others (0.7 times the nodewise penalty), or its variance has grown by a quarter;
        `"exact"` leaves penalties as they are, which is faster.
    noise : {"scaled"} or float
        Standard deviation of e: from the scaled Lasso, whose degrees of freedom the intervals use;
        or known.
    n_jobs : int, optional
        Threads for the regressions, by default all cores. The result does not depend on it.
    random_state : int, numpy random generator, or None
        Decides the folds of cross-validation, joint intervals and the bootstrap.
    verbose : bool
        Whether work that takes more than 5 seconds, or is expected to, shows on stderr how many of
        the regressions are done and about how much time is left.

    Attributes
    ----------
    result_ : Inference
        Coefficients, covariance, intervals, tests, tables. `with_vcov("full")` has the
        covariance `A diag(e^2) A'`, valid under heteroskedasticity.
    coef_ : FloatArray of shape (p,)
        The coefficients as an array.
    lasso_coef_ : FloatArray of shape (p,)
        Those of the Lasso, which predict better.
    intercept_ : float
        That of the Lasso.
    sigma_ : float
        Standard deviation of the noise.
    penalty_ : float
        Penalty of the Lasso.
    nodewise_penalty_ : FloatArray of shape (p,)
        Penalty of each column's regression.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : array of shape (n_features_in_,)
        Their names, if X had names.

    References
    ----------
    van de Geer, Buehlmann, Ritov and Dezeure (2014), On asymptotically optimal confidence regions
    and tests for high-dimensional models, Annals of Statistics 42.
    Zhang and Zhang (2014), Confidence intervals for low dimensional parameters in high dimensional
    linear models, JRSS B 76.

    Examples
    --------
    >>> import numpy as np
    >>> import debinet as dn
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 200))
    >>> y = 2 * X[:, 0] - X[:, 1] + rng.normal(size=100)
    >>> model = dn.DebiasedLasso(random_state=0).fit(X, y)
    >>> model.result_.confint().head(3).round(1)
        lower  upper
    x0    1.9    2.4
    x1   -1.2   -0.8
    x2   -0.4    0.1
    """

    def __init__(
        self,
        penalty: str | float = "cv",
        nodewise: str | float = "quantile",
        *,
        projection: str = "relaxed",
        noise: str | float = "scaled",
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: bool = False,
    ) -> None:
        self.penalty = penalty
        self.nodewise = nodewise
        self.projection = projection
        self.noise = noise
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any) -> Self:
        """Estimate all coefficients.

        Parameters
        ----------
        X : array or data frame of shape (n, p)
            numpy, pandas, polars or arrow; all columns numeric, missing values are an error.
        y : array or series of shape (n,)
            Outcome.
        """
        design = read_problem(X, y)
        progress = Progress(switch("verbose", self.verbose))
        compile_loops()
        seed = root_seed(self.random_state)
        folds = shuffled_folds(design.n, named_generator(seed, "folds"))
        gram = gram_matrix(design)
        level = noise_level(self.noise, design, gram)
        lasso = initial_lasso(self.penalty, design, gram, level.sigma, folds)
        each = nodewise_penalties(
            self.nodewise, design, gram, folds, self.n_jobs, progress=progress
        )
        projection = project(design, gram, each, self.projection, self.n_jobs, progress=progress)
        del gram  # as large as the covariance and the residuals of the columns
        regression = _regression(design, lasso, projection, level.sigma, level.df)
        notes, used = _notes(projection), projection.penalties
        evidence = DeferredEvidence(lasso_evidence(design, lasso, projection, level.sigma))
        del projection
        provenance = Provenance(
            model="Desparsified Lasso",
            outcome=design.outcome,
            lasso=LassoPenalties(
                lasso.penalty, lasso.size, float(used.min()), float(used.max()), level.sigma
            ),
            seed=seed,
        )
        result = infer(
            [regression], design.names, "iid", provenance, notes=notes, evidence=evidence
        )
        validate_data(self, X, skip_check_array=True)
        self._design, self._lasso = design, lasso
        self.result_, self.coef_ = result, result.estimate.copy()
        self.lasso_coef_ = lasso.coef / design.scale
        self.intercept_ = design.mean - float(design.centre @ self.lasso_coef_)
        self.sigma_, self.penalty_ = level.sigma, lasso.penalty
        self.nodewise_penalty_ = used
        return self

    def predict(self, X: Any) -> FloatArray:
        """Return the Lasso's prediction for the rows of X."""
        check_is_fitted(self, "result_")
        table = read_same_columns(self, X, self._design.names)
        require_numbers(table)
        return np.asarray(self.intercept_ + table.values @ self.lasso_coef_)

    def bootstrap(
        self, replications: int = 500, kind: str = "wild", random_state: RandomState = None
    ) -> Bootstrapped:
        """Bootstrap the studentized coefficients; the nodewise regressions are not repeated.

        Parameters
        ----------
        replications : int
            Number of refits of the Lasso, at the same penalty.
        kind : {"wild", "residual"}
            Residuals with random signs, which heteroskedasticity allows, or drawn with replacement.
        random_state : int, numpy random generator, or None
            Decides the draws; None repeats those of the fit's own random state.
        """
        check_is_fitted(self, "result_")
        return bootstrap(
            self._design,
            self._influence(),
            self._lasso,
            kind=kind,
            replications=replications,
            seed=self.result_.seed if random_state is None else root_seed(random_state),
            n_jobs=self.n_jobs,
            progress=Progress(switch("verbose", self.verbose)),
        )

    def _influence(self) -> FloatArray:
        """Return that of the standardized columns, (p, n); only the user's units are kept."""
        influence = self.result_.regressions[0].all_rows("the bootstrap").influence
        assert influence is not None  # `_regression` always gives it
        return np.ascontiguousarray(influence.T * self._design.scale[:, None])


def _regression(
    design: LinearProblem, lasso: LassoFit, projection: Projection, sigma: float, df: float
) -> ResidualRegression:
    """Put the estimate, on the user's scale, into the record that every covariance reads.

    Its residuals are those of the Lasso, `R_D` those of the columns.
    """
    coef = (lasso.coef + projection.influence @ lasso.residuals) / design.scale
    left = projection.influence * (design.scale / projection.precision)[:, None]
    return ResidualRegression(
        R_y=lasso.residuals + coef @ left,
        R_D=left.T,
        coef=coef,
        influence=(projection.influence / design.scale[:, None]).T,
        least_squares=False,
        noise=sigma,
        noise_df=df,
    )


def _notes(projection: Projection) -> tuple[str, ...]:
    failed = int(np.count_nonzero(~projection.done))
    if not failed:
        return ()
    note = f"{failed} nodewise regression(s) did not converge: use a larger nodewise penalty"
    warnings.warn(note, ConvergenceWarning, stacklevel=3)
    return (note,)
