"""Estimation: from validated data and options to a result and what predictions need."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from debinet._random import named_generator, named_seed
from debinet.data.crossfit import make_folds
from debinet.data.dataset import Dataset
from debinet.data.folds import Folds
from debinet.data.options import one_of
from debinet.data.workers import count_workers
from debinet.exceptions import EmptyInputError, OptionError
from debinet.inference.infer import infer
from debinet.inference.instrumented import InstrumentedRegression
from debinet.inference.k_class import IV_METHODS, require_iv_method
from debinet.inference.methods import AUTO, METHODS, choose_method
from debinet.inference.one_step import average_notes
from debinet.inference.perfect_fit import NOTE, is_perfect
from debinet.inference.provenance import Clustered, CrossFitting, Instrumented, Provenance
from debinet.inference.regression import ResidualRegression
from debinet.inference.trust_evidence import DeferredEvidence
from debinet.learners.adapter import guarded
from debinet.learners.crossfitting import CrossFitter, has_closed_form, make_cross_fitter
from debinet.learners.mean import MeanLearner
from debinet.learners.named import resolve_learner
from debinet.learners.threads import threads_for
from debinet.models.estimation import Estimation, Fitted, Options
from debinet.models.fitted_rows import FittedRows
from debinet.models.gather_trust_evidence import gather
from debinet.models.partialling import Repetition, count_fits, partial_out, require_folds
from debinet.models.partialling_instruments import partial_out_instruments

if TYPE_CHECKING:
    from debinet.models.streamed import StreamedTable

# More coefficients per row than this leave little information on the noise (docs/decisions/0011).
CROWDED = 0.25


def estimate(data: Dataset | StreamedTable, options: Options) -> Fitted:
    """Cross-fit, partial out, infer.

    Parameters
    ----------
    data : Dataset or StreamedTable
        Rows in memory, or a table that is read in passes.
    options : Options
    """
    require_options(options)
    instrumented = isinstance(data, Dataset) and data.instruments is not None
    if options.method in IV_METHODS and not instrumented:
        raise OptionError(
            f"instruments for method={options.method!r}", "none", "Name them: instruments=[...]."
        )
    if isinstance(data, Dataset):
        found = _estimate_rows(data, options)
    else:
        from debinet.models.streamed import estimate_stream

        found = estimate_stream(data, options)
    result = infer(
        found.regressions,
        found.schema.treatment_names,
        _default_vcov(found),
        found.provenance,
        notes=found.notes,
        groups=found.groups,
        evidence=found.evidence,
    )
    rows = FittedRows.of(data) if isinstance(data, Dataset) else None
    return Fitted(result, found.means, found.schema, found.folds, rows)


def require_options(options: Options) -> None:
    """Require a known method and a possible number of workers, before any work is done."""
    one_of(
        "method", options.method, (AUTO, *METHODS, *IV_METHODS), "Use method='auto' if in doubt."
    )
    if options.n_jobs is not None:
        count_workers(options.n_jobs)


def _estimate_rows(data: Dataset, options: Options) -> Estimation:
    resolved = resolve_learner(options.learner, *data.Z.shape)
    learner, seed = resolved.learner, options.seed
    if not (data.Z.shape[1] or isinstance(learner, MeanLearner)):
        raise EmptyInputError(
            "at least one column beside the treatments",
            f"{data.D.shape[1]} feature(s), all treatments",
            "Add controls, or use learner='mean' for ordinary least squares.",
        )
    # One row has no coefficients of its own to average.
    if data.instruments is not None:
        options = replace(options, method=require_iv_method(options.method))
    closed_form = has_closed_form(learner) and options.method != "dml1"
    repetitions = draw_folds(data, options, closed_form=closed_form)
    refits = not (repetitions[0].complementary or repetitions[0].in_sample)
    per_row = data.D.shape[1] / data.n
    method = choose_method(options.method, learner, per_row=per_row, refits=refits)
    options = replace(options, method=method)
    require_folds(options.method, repetitions)
    fresh = guarded(learner, lambda: clone(learner, safe=False))
    parts = _repeat(fresh, data, repetitions, options)
    first = (data, parts[0], repetitions[0], fresh, named_seed(seed, "evidence"))
    return Estimation(
        regressions=tuple(part.regression for part in parts),
        means=tuple(part.means for part in parts),
        schema=data.schema,
        provenance=Provenance(
            model="Partially linear model",
            outcome=data.outcome,
            controls=data.Z.shape[1],
            control_columns=data.schema.control_column_names,
            categories=data.schema.coded_treatments,
            doses=data.doses,
            learner=type(learner).__name__,
            cross_fitting=CrossFitting.of(repetitions),
            method=options.method,
            clusters=Clustered.of(data.groups, data.weights),
            instrumented=_instrumented(data),
            seed=seed,
        ),
        notes=(
            *_notes(data, repetitions, (resolved.note, parts[0].joint.note, _on_fit(data, parts))),
            *_average_notes(data, parts[0].regression),
        ),
        evidence=DeferredEvidence(partial(gather, *first)),
        linear=all(part.regression.influence is not None for part in parts),
        groups=data.groups,
        folds=None if repetitions[0].in_sample else tuple(folds.codes() for folds in repetitions),
    )


def _average_notes(data: Dataset, fit: ResidualRegression | InstrumentedRegression) -> list[str]:
    """Return notes on averages that differ from coefficients, which instruments do not give."""
    if isinstance(fit, InstrumentedRegression):
        return []
    return average_notes(data.D, fit, data.schema.treatment_names)


def draw_folds(data: Dataset, options: Options, *, closed_form: bool) -> tuple[Folds, ...]:
    """Return the folds of every repetition that `crossfit` asks for."""
    return make_folds(
        options.crossfit,
        data.n,
        named_generator(options.seed, "folds"),
        groups=data.groups,
        closed_form=closed_form,
        data=(data.D, data.Z, data.y),
    )


def _repeat(
    learner: Any, data: Dataset, repetitions: Sequence[Folds], options: Options
) -> list[Repetition]:
    before: CrossFitter | None = None
    parts = []
    fits = count_fits(learner, repetitions, options.method)
    units = (fits, "fit") if fits else (len(repetitions), "repetition")
    threads = threads_for(data.n) if has_closed_form(learner) else nullcontext()
    with options.progress.count(type(learner).__name__, *units) as counter, threads:
        for k, folds in enumerate(repetitions):
            fitter = make_cross_fitter(
                learner,
                data.Z,
                data.M,
                folds,
                seed=named_seed(options.seed, k),
                weights=data.weights,
                n_jobs=options.n_jobs,
                groups=data.groups,
                name="joint",
                before=before,
                counter=counter,
            )
            # The trust report is about the first repetition.
            if data.instruments is None:
                part = partial_out(fitter, data, options.method, with_path=k == 0)
            else:
                part = partial_out_instruments(fitter, data, data.instruments, options.method)
            parts.append(part)
            # Two decompositions may not fit: the old one is released before the next is made.
            before = fitter.reusable()
            del fitter
            if not fits:
                # The first repetition is the longest: others use its preparation, and no path.
                counter.advance(typical=k > 0)
    return parts


def _instrumented(data: Dataset) -> Instrumented | None:
    if data.instruments is None:
        return None
    names, flags = data.schema.treatment_names, data.instruments.endogenous
    endogenous = tuple(name for name, own in zip(names, flags, strict=True) if own)
    return Instrumented(data.instruments.names, endogenous)


def _default_vcov(found: Estimation) -> str:
    # The covariance of the full procedure where there is one (docs/decisions/0008).
    if found.linear:
        return "full"
    if found.provenance.clusters is not None:
        return "cluster"
    # Leaving a row out is not exact with instruments, as the first stage changes too.
    if found.provenance.instrumented is not None:
        return "HC1"
    # HC0 is the variance that double machine learning was published with.
    return "HC0" if found.provenance.method in {"dml1", "dml2", "iv-type"} else "HC3"


def _on_fit(data: Dataset, parts: Sequence[Repetition]) -> str:
    """Return a note if the first repetition leaves nothing of y."""
    fit, weights = parts[0].regression, data.weights
    total = float(np.average((data.y - np.average(data.y, weights=weights)) ** 2, weights=weights))
    return NOTE if is_perfect(fit.residuals, fit.w, total) else ""


def _notes(
    data: Dataset, repetitions: Sequence[Folds], of_learner: Sequence[str]
) -> tuple[str, ...]:
    notes = [*data.notes, *(note for note in of_learner if note)]
    if repetitions[0].in_sample:
        notes.append(
            "residuals are in-sample: intervals are too narrow if the learner fits noise; "
            "crossfit='auto' protects against that"
        )
    if data.weights is not None:
        notes.append("rows are weighted")
    if data.D.shape[1] > CROWDED * data.n and data.Z.shape[1]:
        notes.append(
            f"{data.D.shape[1]} coefficients from {data.n} rows: if much of f cannot be learned, "
            "intervals cover less often than their level"
        )
    return tuple(notes)
