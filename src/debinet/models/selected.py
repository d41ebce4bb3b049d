"""From a selection to coefficients: the part of DebiNet that happens once per split of the rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from debinet.data.candidates import CandidateRows, usable_columns
from debinet.data.checks import SPARE_ROWS
from debinet.data.rowsplit import RowSplit
from debinet.exceptions import TooFewRowsError
from debinet.inference.infer import infer
from debinet.inference.provenance import Clustered, Provenance, Selected
from debinet.inference.regression import ResidualRegression
from debinet.inference.result import Inference
from debinet.models.estimate import Fitted, Options, estimate
from debinet.models.selecting import Selection
from debinet.protocols import BoolArray

MODEL = "DebiNet"


@dataclass(frozen=True)
class Estimated:
    """Coefficients of one selection.

    Attributes
    ----------
    selected : BoolArray of shape (P,)
        Columns that have a coefficient.
    kept : BoolArray of shape (P,)
        Columns that the model saw.
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
    provenance = replace(result.provenance, model=MODEL, selection=record)
    result = replace(result, provenance=provenance, notes=(*notes, *result.notes))
    return Estimated(selected, kept, replace(fitted, result=result), mean, result)


def _empty(
    part: CandidateRows, mean: float, selected: Selected, notes: Sequence[str], seed: int
) -> Inference:
    n = part.y.size
    regression = ResidualRegression(part.y - mean, np.zeros((n, 0)), np.zeros(0), part.weights)
    note = "nothing was selected: the table is empty and predictions are the mean of the outcome"
    return infer(
        [regression],
        (),
        "HC3",
        Provenance(
            model=MODEL,
            outcome=part.outcome,
            selection=selected,
            clusters=Clustered.of(part.groups),
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
            "often than they say; selection_share=0.4 keeps the two apart"
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
