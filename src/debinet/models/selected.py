"""One split of the rows: a selector chooses on some, coefficients are estimated on others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from debinet.data.candidates import CandidateRows, usable_columns
from debinet.data.checks import SPARE_ROWS
from debinet.data.rowsplit import RowSplit
from debinet.exceptions import (
    DebiNetError,
    LearnerError,
    OptionError,
    SelectorError,
    TooFewRowsError,
)
from debinet.inference.infer import infer
from debinet.inference.provenance import Clustered, Provenance, Selected
from debinet.inference.regression import ResidualRegression
from debinet.inference.result import Inference
from debinet.learners.adapter import seeded, weight_arguments
from debinet.models.estimate import estimate
from debinet.models.estimation import Fitted, Options
from debinet.protocols import BoolArray, FloatArray, GroupedSelector, Selector

MODEL = "DebiNet"


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
        Columns it could not use: constant, or copies of another, in its rows.
    """

    selector: Any
    columns: BoolArray
    idle: BoolArray


def select(selector: Any, part: CandidateRows, seed: int) -> Selection:
    """Fit a copy of the selector to the rows of selection.

    Raises
    ------
    SelectorError
        If it fails, or returns anything but a mask of its columns.
    """
    candidates = part.candidates
    offered = candidates.selectable & usable_columns(part.X)
    idle = candidates.selectable & ~offered
    columns = np.zeros(offered.size, dtype=np.bool_)
    if not offered.any():
        return Selection(None, columns, idle)
    fresh = seeded(selector, seed, "selector")
    named = isinstance(selector, GroupedSelector) and not isinstance(selector.groups, str | None)
    if idle.any() and named:
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
    if isinstance(selector, type) or not isinstance(selector, Selector):
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


@dataclass(frozen=True)
class Estimated:
    """Coefficients of one selection.

    Attributes
    ----------
    selected : BoolArray of shape (P,)
        Columns that have a coefficient.
    kept : BoolArray of shape (P,)
        Columns that the model used.
    fitted : Fitted, optional
        None if nothing was selected.
    mean : float
        Of the outcome: the prediction if nothing was selected.
    result : Inference
    """

    selected: BoolArray
    kept: BoolArray
    fitted: Fitted | None
    mean: float
    result: Inference


def estimate_selected(
    sample: CandidateRows, split: RowSplit, selection: Selection, options: Options
) -> Estimated:
    """Estimate the coefficients of the selected columns on the rows kept for it.

    Parameters
    ----------
    sample : CandidateRows
        All rows.
    split : RowSplit
    selection : Selection
        Made on `split.selection`.
    options : Options
    """
    part = sample.of(split.estimation)
    kept = usable_columns(part.X)
    # a selected column takes precedence over its copy: it is the one that was asked for
    selected = selection.columns & kept
    record = _selected(sample, split, selection, selected)
    notes = _notes(sample, split, selection, kept)
    mean = float(np.average(part.y, weights=part.weights))
    if not selected.any():
        result = _empty(part, mean, record, notes, options.seed)
        return Estimated(selected, kept, None, mean, result)
    _require_rows(part, int(selected.sum()))
    if (selected == kept).all():
        options = replace(options, learner="mean")
        notes.append("every feature was selected: nothing is left to learn, ordinary least squares")
    fitted = estimate(part.dataset(selected, kept), options)
    result = fitted.result
    provenance = replace(
        result.provenance,
        model=MODEL,
        control_columns=sample.columns_of(kept & ~selected),
        selection=record,
    )
    result = replace(result, provenance=provenance, notes=(*notes, *result.notes))
    return Estimated(selected, kept, replace(fitted, result=result), mean, result)


def _empty(
    part: CandidateRows, mean: float, selected: Selected, notes: Sequence[str], seed: int
) -> Inference:
    n = part.y.size
    regression = ResidualRegression(
        part.y - mean, np.zeros((n, 0)), np.zeros(0), part.weights, intercept=True
    )
    note = "nothing was selected: the table is empty and predictions are the mean of the outcome"
    return infer(
        [regression],
        (),
        "HC3",
        Provenance(
            model=MODEL,
            outcome=part.outcome,
            selection=selected,
            clusters=Clustered.of(part.groups, part.weights),
            seed=seed,
        ),
        notes=(note, *notes),
        groups=part.groups,
    )


def _require_rows(part: CandidateRows, q: int) -> None:
    n = part.y.size if part.weights is None else int(np.count_nonzero(part.weights))
    if n < q + SPARE_ROWS:
        raise TooFewRowsError(
            f"at least {SPARE_ROWS} rows more than selected features in the rows of estimation",
            f"{q} selected and {n} samples",
            "Use a larger penalty, penalty='plugin', or a smaller selection_share.",
        )


def _selected(
    sample: CandidateRows, split: RowSplit, selection: Selection, selected: BoolArray
) -> Selected:
    return Selected(
        selector="none" if selection.selector is None else type(selection.selector).__name__,
        rows=split.selection.size,
        same_rows=split.same,
        chosen=int(selected.sum()),
        offered=int(sample.candidates.selectable.sum()),
    )


def _notes(
    sample: CandidateRows, split: RowSplit, selection: Selection, kept: BoolArray
) -> list[str]:
    notes = []
    if split.same:
        notes.append(
            "features were selected on the rows they are estimated on: their intervals cover less "
            "often than their level; selection_share=0.4 keeps the two apart"
        )
    elif sample.groups is not None and sample.groups.shape[1] > 1:
        notes.append("rows for selection were set apart by the first of the two groupings only")
    for mask, where in ((selection.idle, "selection"), (~kept, "estimation")):
        idle = [sample.candidates.names[j] for j in np.flatnonzero(mask)]
        if idle:
            shown = ", ".join(map(repr, idle[:5])) + (", ..." if len(idle) > 5 else "")
            notes.append(
                f"constant, or a copy of another column, in the rows of {where}, so left out "
                f"there: {shown}"
            )
    return notes
