"""The three passes: from a source of rows to coefficients, covariances and fitted features."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from debinet._random import named_seed
from debinet.data.free_memory import require_free
from debinet.data.schema import Schema
from debinet.exceptions import FoldError, OptionError
from debinet.inference.methods import MODELS, Solved, first_estimate, solve
from debinet.inference.penalty_path import FEWER_FACTORS, solve_along
from debinet.learners.spectral.summed import decompose_sums
from debinet.learners.tangent import TangentNet
from debinet.protocols import FloatArray, HeldOut
from debinet.streaming.drawn import first_pass, require_distinct
from debinet.streaming.grams import FoldGrams, RowMap, fold_grams
from debinet.streaming.layout import Layout, RawRows, make_block
from debinet.streaming.moments import (
    control_moments,
    read_schema,
    target_moments,
)
from debinet.streaming.nuisances import GramRows, SummedNuisances, require_identified
from debinet.streaming.running import Job, Runner
from debinet.streaming.scoring import ScoreSums, Scoring, score_sums

METHODS = ("joint", "structured", "robinson", "dml2")
# Rows that are kept for inspection.
_SAMPLE = 4000
# Rows that networks learn their inputs from, and landmarks are chosen among.
_DRAWN = 40_000


@dataclass(frozen=True)
class StreamOptions:
    """What is to be fitted.

    Attributes
    ----------
    network : callable
        From the numbers of rows and controls to a `TangentNet` with a random state.
    method : callable
        From the network to the name of a method.
    """

    network: Callable[[int, int], TangentNet]
    method: Callable[[TangentNet], str]


@dataclass(frozen=True)
class StreamFit:
    """The results of the passes.

    Attributes
    ----------
    schema : Schema
    n : int
        Rows of positive weight.
    method : str
    nuisances : SummedNuisances
    joint : HeldOut
        Of outcome and treatments.
    R : FloatArray of shape (K, s, 1 + q)
        Their held-out residuals, as maps of a row.
    gram : FloatArray of shape (q, q)
        `R_D'W R_D`.
    solved : Solved
    along : tuple of Solved
        With smaller penalties, where the full procedure is linear in y.
    scores : ScoreSums
    """

    schema: Schema
    n: int
    method: str
    nuisances: SummedNuisances
    joint: HeldOut
    R: FloatArray
    gram: FloatArray
    solved: Solved
    along: tuple[Solved, ...]
    scores: ScoreSums


def fit_stream(job: Job, options: StreamOptions, runner: Runner) -> StreamFit:
    """Read the data three times: columns, Gram matrices, scores."""
    layout = job.layout
    seed = named_seed(layout.seed, "drawn")
    first = runner.run(job, partial(first_pass, most=_DRAWN, seed=seed), "columns")
    schema = read_schema(first.columns, layout)
    Z, targets, weight = first.drawn.read(schema)
    require_distinct(
        np.hstack([Z, targets[:, 1:]]), (*schema.control_names, *schema.treatment_names)
    )
    net = options.network(first.columns.n, len(schema.control_names))
    method = options.method(net)
    require_stream_method(method)
    most = net.width + len(schema.control_names) + 2 + layout.treatments
    _require_memory(most, layout.folds, len(net.skip_weights()))
    moments = control_moments(first.columns, schema)
    units, skips = net.feature_map(Z, targets, weight, moments)
    row_map = RowMap(units, target_moments(first.columns, schema))
    take = partial(_grams_of, schema=schema, row_map=row_map, folds=layout.folds)
    grams = runner.run(job, take, "grams")
    _require_training(grams, row_map.features, layout)
    _require_independent(grams, schema.treatment_names)
    spectra = decompose_sums(grams.G, grams.n, units.width, row_map.features, skips)
    nuisances = SummedNuisances(net, row_map, grams.G, spectra)
    M, rows = nuisances.targets(), GramRows(grams.G)
    joint = nuisances.hold_out(M, "joint")
    R = M - joint.predictions
    gram, sd = rows.inner(R[..., 1:], R[..., 1:]), row_map.targets.sd[1:]
    require_identified(gram / nuisances.weight / np.outer(sd, sd), schema.treatment_names)
    pilot = first_estimate(method, nuisances, M)
    solved = solve(method, nuisances, rows, M, R, pilot=pilot)
    influence = solved.influence
    along: tuple[Solved, ...] = ()
    if influence is not None:
        along = solve_along(method, nuisances, rows, M, FEWER_FACTORS, joint=joint, pilot=pilot)
    scoring = Scoring(
        row_map,
        R[..., 1:],
        solved.R_y - R[..., 1:] @ solved.coef,
        influence,
        _moved(influence, along),
        solved.noise,
        np.asarray(np.linalg.inv(gram)),
        method not in MODELS,
        sampled=min(1.0, _SAMPLE / grams.n),
        seed=named_seed(layout.seed, "sample"),
    )
    scores = runner.run(job, partial(_scores_of, schema=schema, scoring=scoring), "scores")
    return StreamFit(schema, grams.n, method, nuisances, joint, R, gram, solved, along, scores)


def _moved(influence: FloatArray | None, along: tuple[Solved, ...]) -> FloatArray | None:
    """Return the differences of the influence along the penalty, side by side."""
    others = [one.influence for one in along if one.influence is not None]
    if influence is None or not others:
        return None
    return np.concatenate([other - influence for other in others], axis=2)


def require_stream_method(method: str) -> None:
    """Require a method that needs only sums over rows."""
    if method not in METHODS:
        raise OptionError(
            f"method to be one of {list(METHODS)} for streamed data",
            repr(method),
            "Use method='auto' if in doubt.",
        )


def _grams_of(rows: RawRows, schema: Schema, row_map: RowMap, folds: int) -> FoldGrams:
    return fold_grams(make_block(rows, schema), row_map, folds)


def _scores_of(rows: RawRows, schema: Schema, scoring: Scoring) -> ScoreSums:
    return score_sums(make_block(rows, schema), scoring)


def _require_training(grams: FoldGrams, intercept: int, layout: Layout) -> None:
    """Require that no fold has all rows."""
    if np.count_nonzero(grams.G[:, intercept, intercept]) < 2:
        of = "rows" if layout.groups is None else f"groups of {layout.groups!r}"
        raise FoldError(
            f"{of} in at least two of the {layout.folds} folds, which are drawn at random",
            "all in one" if layout.groups is None else "all in one: one group, or very few",
            "Use more folds or another random_state; leave groups out if rows are independent.",
        )


def _require_independent(grams: FoldGrams, names: Sequence[str]) -> None:
    """Require that no treatment is a linear combination of the others and a constant."""
    q = len(names)
    total = grams.G.sum(axis=0)[-q:, -q:]
    sd = np.sqrt(np.diag(total))
    require_identified(total / np.outer(sd, sd), names)


def _require_memory(size: int, folds: int, skips: int) -> None:
    """Raise MemoryLimitError if the Gram matrices, and what is made of them, would not fit."""
    matrices = 4 * folds + skips * (folds + 4)
    require_free(
        8 * matrices * size**2,
        f"for Gram matrices of {size} columns in {folds} folds",
        "Use fewer hidden units, TangentNet(width=...), or fewer folds.",
    )


def job_label(layout: Layout) -> str:
    """Return how rows are held out, for the summary."""
    by = "rows" if layout.groups is None else f"groups of {layout.groups!r}"
    return f"{layout.folds} folds, {by} at random"
