"""Run a selector on some rows and say what it chose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from debinet.data.candidates import CandidateRows, usable_columns
from debinet.exceptions import DebiNetError, LearnerError, OptionError, SelectorError
from debinet.learners.adapter import seeded, weight_arguments
from debinet.protocols import BoolArray, FloatArray


@dataclass(frozen=True)
class Selection:
    """What a selector chose.

    Attributes
    ----------
    selector : selector
        Fitted.
    columns : BoolArray of shape (P,)
        Chosen columns.
    idle : BoolArray of shape (P,)
        Columns it could not look at: constant, or copies of another, in its rows.
    """

    selector: Any
    columns: BoolArray
    idle: BoolArray


def select(selector: Any, part: CandidateRows, seed: int) -> Selection:
    """Fit a copy of the selector to the rows of selection.

    Raises
    ------
    SelectorError
        If it fails, or answers with anything but a mask of its columns.
    """
    candidates = part.candidates
    offered = candidates.selectable & usable_columns(part.X)
    idle = candidates.selectable & ~offered
    columns = np.zeros(offered.size, dtype=np.bool_)
    if not offered.any():
        return Selection(None, columns, idle)
    fresh = seeded(selector, seed, "selector")
    if idle.any() and getattr(selector, "groups", None) is not None:
        names = [candidates.names[j] for j in np.flatnonzero(idle)[:5]]
        raise SelectorError(
            "columns that vary in the rows of selection, as the groups name all of them",
            f"only one value, or a copy of another column, in {names}",
            "Drop those columns, or use a selector without groups.",
        )
    mask = _fit(fresh, part.frame(offered), part.y, part.weights)
    if mask.shape != (int(offered.sum()),):
        raise SelectorError(
            f"get_support() to be a mask of {int(offered.sum())} columns",
            f"an array of shape {mask.shape} from {type(selector).__name__}",
            "Use a scikit-learn selector, or one of this library.",
        )
    columns[offered] = mask
    return Selection(fresh, columns, idle)


def require_selector(selector: Any) -> None:
    """Require `fit` and `get_support`."""
    if isinstance(selector, type) or not (
        callable(getattr(selector, "fit", None))
        and callable(getattr(selector, "get_support", None))
    ):
        raise OptionError(
            "a selector: an object with fit(X, y) and get_support()",
            repr(selector),
            "Use a name such as 'lasso', one of this library's selectors, or SelectFromModel(...).",
        )


def _fit(selector: Any, X: pd.DataFrame, y: FloatArray, weights: FloatArray | None) -> BoolArray:
    try:
        arguments = weight_arguments(selector, weights)
    except LearnerError as error:
        raise SelectorError(
            "a selector whose fit takes sample_weight, as weights were given",
            type(selector).__name__,
            "Use one of scikit-learn's that does, or leave sample_weight out.",
        ) from error
    try:
        selector.fit(X, y, **arguments)
        return np.asarray(selector.get_support(), dtype=np.bool_)
    except DebiNetError:
        raise
    except Exception as error:
        raise SelectorError(
            "a selector that can be fitted to these data",
            f"{type(selector).__name__} failing with {type(error).__name__}: {error}",
            "Check the selector's options.",
        ) from error
