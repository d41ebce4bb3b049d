"""Models that can be fitted again without some of their controls, as a measure of confounders."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sklearn.utils.validation import check_is_fitted

from debinet.inference.benchmarks import Benchmarks
from debinet.inference.result import Inference
from debinet.models.estimation import Fitted, Options
from debinet.models.roles import pick_used

if TYPE_CHECKING:
    from debinet.models.formula_columns import FormulaColumns


class Benchmarked:
    """Gives a fitted model the method `benchmark`."""

    result_: Inference
    formula_: FormulaColumns | None
    ref: Any
    _used: tuple[Any, ...] | None
    _fitted: Fitted

    if TYPE_CHECKING:

        def _options(self) -> Options: ...

    def benchmark(
        self, controls: Any, X: Any = None, y: Any = None, *, rule: str = "gains"
    ) -> Benchmarks:
        """Return how strong controls are, as a measure of confounders that were not measured.

        The model is fitted again without them, with the same learner and all its penalties tuned
        again: each takes about as long as the fit.

        Parameters
        ----------
        controls : str, list or mapping
            Columns of X, or lists of columns to leave out together: `["inc", ["educ", "age"]]`, or
            `{"schooling": ["educ", "age"]}`. Of a formula, variables, which stand for all their
            terms, or single terms.
        X, y
            The data of fit, which a model keeps only if it has a formula. Clusters and weights are
            those of the fit.
        rule : {"gains", "partial-r2"}
            How explained variance becomes `cf_y`; see `Benchmarks`.
        """
        from debinet.models.benchmark import LongFit, benchmark_controls, term_groups

        check_is_fitted(self, "result_")
        fit = LongFit(self.result_, self._fitted.schema, self._options(), self.ref)
        if self.formula_ is not None and X is None:
            design = self.formula_.design
            return benchmark_controls(fit, term_groups(design, controls), design.X, design.y, rule)
        return benchmark_controls(fit, controls, pick_used(X, self._used), y, rule)
