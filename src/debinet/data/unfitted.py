"""Estimators that say that they have not been fitted, when asked for what only a fit gives."""

from __future__ import annotations

from typing import Any

from sklearn.exceptions import NotFittedError

from debinet.exceptions import UnfittedError


class NotFittedYetError(UnfittedError, NotFittedError):  # type: ignore[misc]
    """The same as scikit-learn's error: it looks for this type."""


class SaysUnfitted:
    """Raise a typed error for `result_` and other results of a fit, before it."""

    def __getattr__(self, name: str) -> Any:
        """Return nothing: Python asks here for what it did not find."""
        if name.endswith("_") and not name.startswith("_") and "result_" not in vars(self):
            raise NotFittedYetError(
                f"a fitted {type(self).__name__}, which has {name}",
                "one that is not fitted yet",
                "Call fit(X, y) first.",
            )
        # also repeats what was wrong with a property
        return object.__getattribute__(self, name)
