"""Figure 3: intervals after the Lasso by method, against binary truth."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import pandas as pd

from debinet.data.designs import make_table2
from debinet.experiments.assess import Fit
from debinet.experiments.paper.drawing import Drawing
from debinet.experiments.paper.plm_rows import early_stopped
from debinet.experiments.paper.table2 import (
    FEWER_ROWS,
    ROWS,
    Penalized,
    PostLasso,
    draw_penalized,
    fit_debiased,
    kernels,
)
from debinet.experiments.plan import Design, Experiment, Method, Values
from debinet.experiments.results import Results, by_word

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Columns, signals, penalty.
SETTINGS = ((3000, 300, 2.0), (500, 100, 1.0), (500, 300, 1.0))
QUICK = ((600, 60, 1.0), *SETTINGS[1:])
_PAPERS = ("OLS post-Lasso", "debiased Lasso", "NW post-Lasso", "DebiNet")
_OURS = ("WideNet, same rows", "WideNet, honest selection")


def bounds(data: Penalized, seed: int, *, row: Any) -> Values:
    """Return coefficient and bounds of every selected column; `row` is one of Table 2."""
    row = kernels(data) if row == "kernels" else row
    fit = Fit(row.model(data.penalty), row.vcov)
    return _flat(fit.result(fit.fit(data.sample, seed)).to_frame())


def debiased_bounds(data: Penalized, seed: int) -> Values:
    """Return those of the debiased Lasso, for the columns that the Lasso selects."""
    model = fit_debiased(data, seed, noise=1.0)
    return _flat(model.result_.to_frame()[model.lasso_coef_ != 0])


def _flat(frame: pd.DataFrame) -> Values:
    return {
        f"{name} {what}": float(value)
        for what in ("coef", "lower", "upper")
        for name, value in frame[what].items()
    }


def figure3(*, quick: bool = False) -> Drawing:
    """Return the figure; `quick` has a fifth of the columns in the first setting."""
    designs = tuple(
        Design(f"p = {p}, k = {k}", draw_penalized, {**ROWS, "p": p, "k": k, "penalty": penalty})
        for p, k, penalty in (QUICK if quick else SETTINGS)
    )
    honest = PostLasso("wide", (), vcov=None, factor=FEWER_ROWS)
    methods = (
        Method("OLS post-Lasso", partial(bounds, row=PostLasso("mean"))),
        Method("debiased Lasso", debiased_bounds),
        Method("NW post-Lasso", partial(bounds, row="kernels")),
        Method(
            "DebiNet", partial(bounds, row=PostLasso(early_stopped(1_000))), requires=("torch",)
        ),
        Method(
            "WideNet, same rows",
            partial(bounds, row=PostLasso("wide", (("selection_share", None),), vcov=None)),
        ),
        Method("WideNet, honest selection", partial(bounds, row=honest)),
    )
    return Drawing(
        "Figure 3: intervals after the Lasso",
        Experiment("figure3", designs, methods, 1),
        draw_intervals,
        (
            "The two upper panels have the same data: the paper's methods, and our own.",
            "One draw of each setting, 800 rows.",
        ),
    )


def draw_intervals(results: Results) -> Figure:
    """Draw the four panels."""
    from debinet.report.panels import plot_interval_panels

    first, *others = [design.name for design in results.experiment.designs]
    chosen = [(first, _PAPERS), (first, _OURS), *((name, (*_PAPERS, *_OURS)) for name in others)]
    return plot_interval_panels([(name, _frames(results, name, rows)) for name, rows in chosen])


def _frames(results: Results, design: str, methods: tuple[str, ...]) -> dict[str, pd.DataFrame]:
    """Return coef, lower, upper and truth by method; a method that failed has no rows."""
    options = next(d.options for d in results.experiment.designs if d.name == design)
    truth = make_table2(1, options["p"], options["k"], random_state=0).truth
    frames = {}
    for record in results.records:
        if record.design == design and record.method in methods:
            frame = by_word(record.values or {}, ["coef", "lower", "upper"])
            frames[record.method] = frame.assign(truth=truth.reindex(frame.index))
    return frames
