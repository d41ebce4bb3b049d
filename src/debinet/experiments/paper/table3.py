"""Table 3 and Figure 4: income and net financial assets, over subsamples of the 401(k) data."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import pandas as pd
from sklearn.base import clone

from debinet._random import named_generator
from debinet.data.studies import fetch_401k
from debinet.experiments.comparison import Comparison, Metric
from debinet.experiments.paper.drawing import Drawing
from debinet.experiments.paper.plm_rows import (
    dml_forest,
    dml_lasso,
    dml_tree,
    early_stopped,
    plm_nn,
    plm_nw,
    wide_kernel,
)
from debinet.experiments.paper.published import TABLE_3
from debinet.experiments.plan import Design, Experiment, Method, Values
from debinet.experiments.results import Results
from debinet.models.partially_linear import PartiallyLinear

if TYPE_CHECKING:
    from matplotlib.figure import Figure

OUTCOME, TREATMENT = "net_tfa", "inc"
CONTROLS = ("age", "fsize", "educ", "db", "marr", "twoearn", "e401", "pira", "hown")
METRICS = (
    Metric("mean", "mean", "coef", "mean", target=None),
    Metric("median", "median", "coef", "median", target=None),
    Metric("sd", "SE (sd over subsamples)", "coef", "sd", target=None),
    Metric("se", "its own standard error", "se", "mean", target=None),
)


def draw_households(size: int, *, random_state: int) -> pd.DataFrame:
    """Draw households without replacement."""
    frame = fetch_401k()[[OUTCOME, TREATMENT, *CONTROLS]]
    rows = named_generator(random_state, "401(k)").choice(len(frame), size, replace=False)
    return frame.iloc[rows].reset_index(drop=True)


def effect(frame: pd.DataFrame, seed: int, *, model: Any, vcov: str | None = None) -> Values:
    """Return the coefficient of income and its standard error; `vcov` None is the model's own."""
    fitted = clone(model).set_params(random_state=seed)
    result = fitted.fit(frame[[TREATMENT, *CONTROLS]], frame[OUTCOME]).result_
    if vcov is not None:
        result = result.with_vcov(vcov)
    return {"coef": result.coef[TREATMENT], "se": result.se[TREATMENT]}


METHODS = (
    Method(
        "PLM-NN",
        partial(effect, model=plm_nn(TREATMENT, early_stopped(1_000)), vcov="iid"),
        requires=("torch",),
    ),
    Method(
        "PLM-NW",
        partial(effect, model=plm_nw(TREATMENT, wide_kernel(len(CONTROLS))), vcov="iid"),
    ),
    Method("DML Lasso", partial(effect, model=dml_lasso(TREATMENT))),
    Method("DML DT", partial(effect, model=dml_tree(TREATMENT))),
    Method("DML RF", partial(effect, model=dml_forest(TREATMENT))),
    Method("WideNet (our default)", partial(effect, model=PartiallyLinear([TREATMENT]))),
)


def table3(*, quick: bool = False) -> Comparison:
    """Return the experiment; `quick` has ten subsamples."""
    size = 500  # the paper does not print it; 500 reproduces its standard errors
    design = Design(f"{size:,} households", draw_households, {"size": size})
    return Comparison(
        "Table 3: the effect of income on net financial assets",
        Experiment("table3", (design,), METHODS, 10 if quick else 100),
        METRICS,
        TABLE_3,
        judged=not quick,
        needs=fetch_401k,
        notes=(
            "The paper prints neither the number nor the size of its subsamples; verdicts take "
            "the number to be 50, and 500 households give about its standard errors.",
            "No truth is known here, so nothing is better or worse.",
        ),
    )


def figure4(*, quick: bool = False) -> Drawing:
    """Return the figure: box plots of the cells of Table 3."""
    table = table3(quick=quick)
    return Drawing(
        "Figure 4: the effect of income on net financial assets",
        table.experiment,
        draw_boxes,
        table.notes[:1],
        table.needs,
    )


def draw_boxes(results: Results) -> Figure:
    """Draw a box per method, with the paper's mean beside it."""
    from debinet.report.panels import plot_boxes

    frame = results.to_frame().rename(columns={"coef": "value"})
    means = {method: row["mean"].value for (_, method), row in TABLE_3.items()}
    return plot_boxes(
        frame, label="net financial assets per dollar of income", marks=means, mark="paper's mean"
    )
