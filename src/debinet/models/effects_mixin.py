"""Effects of a fitted model that are not one number: by groups, by rows, on average."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sklearn.utils.validation import check_is_fitted

from debinet.inference.average_effects import AverageEffects
from debinet.inference.individual_effects import IndividualEffects
from debinet.inference.varying_effects import Effects
from debinet.models.average_effects_of import average_effects_of, rows_of
from debinet.models.effects_of import effects_of, variables_of
from debinet.models.estimation import Fitted
from debinet.models.individual_effects_of import individual_effects_of
from debinet.protocols import FloatArray

if TYPE_CHECKING:
    from debinet.models.formula_columns import FormulaColumns


class EffectsMixin:
    """Gives a fitted model the methods `effects`, `individual_effects` and `average_effects`."""

    learner: Any
    formula_: FormulaColumns | None
    _fitted: Fitted

    if TYPE_CHECKING:

        def _split(self, X: Any) -> tuple[FloatArray, FloatArray]: ...

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
        if self.formula_ is not None:
            by = variables_of(self.formula_.design, by)
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
        return individual_effects_of(self._fitted, treatment, self._rows(X, y))

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
        return average_effects_of(
            self._fitted,
            treatment,
            self._rows(X, y),
            learner=self.learner if learner is None else learner,
            propensity=propensity,
            crossfit=crossfit,
        )

    def _rows(self, X: Any, y: Any) -> Any:
        """Return the rows of fit: those given, or those that the model or its formula keeps."""
        rows = self._fitted.rows
        if X is None and self.formula_ is not None and (rows is None or rows.data is None):
            X, y = self.formula_.design.source, self.formula_.design.y
        return rows_of(self._fitted, None if X is None else self._split(X), y)
