"""What a fitted model tells about the weights of its controls."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
from sklearn.utils.validation import check_is_fitted

from debinet.inference.result import Inference
from debinet.models.estimation import Fitted
from debinet.protocols import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class ShowsRelevance:
    """`relevance_` of models whose learner weighs the controls."""

    _fitted: Fitted
    result_: Inference

    @property
    def relevance_(self) -> pd.Series | pd.DataFrame:
        """Weights that the learner gives the controls, by name; see `WideNet`.

        With `relevance="per-output"` a frame: a column for y, every treatment and every instrument.
        """
        check_is_fitted(self, "result_")
        learner = self._fitted.means[0].joint.fits[0].models[0]
        scale: FloatArray = learner.relevance_  # AttributeError for learners that have none
        features = list(self._fitted.schema.control_names)
        if scale.ndim == 1:
            return pd.Series(scale, index=features, name="relevance")
        found = self.result_.provenance.instrumented
        apart = () if found is None else found.instruments
        return pd.DataFrame(scale, index=features, columns=["y", *self.result_.names, *apart])

    def plot_relevance(self, ax: Axes | None = None) -> Axes:
        """Draw `relevance_` as bars and return the axes."""
        from debinet.report.diagnostics import relevance_plot

        return relevance_plot(self.relevance_, ax)
