"""What is said when a solver did not reach its tolerance."""

from __future__ import annotations

import warnings

from sklearn.exceptions import ConvergenceWarning


class NotConvergedWarning(ConvergenceWarning):  # type: ignore[misc]
    """The duality gap of a fit stayed above the tolerance: its coefficients are approximate."""


def warn_not_converged(name: str, penalty: float, gap: float, target: float) -> None:
    """Warn with the figures a user needs to judge."""
    warnings.warn(
        f"{name} at penalty {penalty:.4g} stopped with a duality gap of {gap:.2g}, above the "
        f"{target:.2g} that tol asks for: the coefficients, and with them the selection, are "
        "approximate. Use a larger penalty, a larger tol, or drop columns that nearly repeat "
        "each other.",
        NotConvergedWarning,
        stacklevel=3,
    )
