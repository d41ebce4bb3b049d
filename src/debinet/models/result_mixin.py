"""What all models offer of their result: summary, trust, report, file, table in a notebook."""

from __future__ import annotations

from os import PathLike
from typing import Any

from sklearn import get_config
from sklearn.utils import estimator_html_repr

from debinet.data.records import save_object
from debinet.data.unfitted import SaysUnfitted
from debinet.inference.shown import Shown
from debinet.inference.trust import Trust


class ResultMixin(SaysUnfitted):
    """Passes questions about the result on to `result_`, or says that there is none yet."""

    result_: Any

    def summary(self, level: float = 0.95, joint: bool = False) -> str:
        """Return the result as text; see `Inference.summary`."""
        return self._result().summary(level, joint)

    def trust(self) -> Trust:
        """Return checks of whether the intervals can be trusted; see `Inference.trust`."""
        return self._result().trust()

    def report(
        self, path: str | PathLike[str], level: float = 0.95, joint: bool = False, source: str = ""
    ) -> None:
        """Write a self-contained HTML page about the result; see `Inference.report`."""
        self._result().report(path, level, joint, source)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the fitted model and its result to one file, for `dn.load`; no pickle."""
        self._result()
        save_object(self, path)

    def _result(self) -> Shown:
        result: Shown = self.result_
        return result

    def __str__(self) -> str:
        return self.summary() if hasattr(self, "result_") else repr(self)

    def _repr_html_(self) -> str:
        """Return the coefficients; before `fit`, scikit-learn's diagram."""
        if hasattr(self, "result_"):
            return self._result().to_html()
        return str(estimator_html_repr(self))

    # Notebooks ask for this first, and scikit-learn's would show the diagram of a fitted model too.
    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        shown = {"text/plain": repr(self)}
        if get_config()["display"] == "diagram":
            shown["text/html"] = self._repr_html_()
        return shown
