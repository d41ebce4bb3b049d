"""Table 1: partially linear models on a design of sines and hyperbolic cosines."""

from __future__ import annotations

from functools import partial

from debinet.data.designs import make_table1
from debinet.experiments.assess import Fit
from debinet.experiments.comparison import Comparison, Metric
from debinet.experiments.paper.networks import early_stopped, five_epochs
from debinet.experiments.paper.plm_rows import (
    TREE,
    dml,
    dml_forest,
    dml_lasso,
    dml_tree,
    plm_nn,
    plm_nw,
    wide_kernel,
)
from debinet.experiments.paper.published import TABLE_1
from debinet.experiments.plan import Design, Experiment, Method
from debinet.experiments.samples import draw_sample
from debinet.learners.smoothers import NadarayaWatson
from debinet.models.partially_linear import PartiallyLinear

METRICS = (
    Metric("error", "estimation MSE", "error", form=".2e"),
    Metric("train", "train MSE", "train", target=None, form=".2f"),
    Metric("test", "test MSE", "test", form=".2f"),
    Metric("coverage", "coverage", "coverage", target=0.95, form=".2f"),
)
AGAINST = {
    "PLM-NN, start at zero": "PLM-NN",
    "PLM-NW, leave-one-out": "PLM-NW",
    "DML DT, shared splits": "DML DT",
    "WideNet (our default)": "PLM-NN",
    "WideNet, gls": "PLM-NN",
}


def table1(*, quick: bool = False) -> Comparison:
    """Return the experiment; `quick` has 1,000 rows, networks of 1,000 units and three runs."""
    n, width, runs = (1_000, 1_000, 3) if quick else (10_000, 10_000, 12)
    design = Design(f"n = {n:,}", partial(draw_sample, make_table1), {"n": n, "new": n})
    return Comparison(
        "Table 1: partially linear models",
        Experiment("table1", (design,), (*paper_rows(width), *own_rows(width)), runs),
        METRICS,
        TABLE_1,
        against=AGAINST,
        judged=not quick,
        notes=("Rows that are not the paper's are judged by the row of the paper they go with.",),
    )


def paper_rows(width: int) -> tuple[Method, ...]:
    """Return the paper's rows, with a learner for each column as DML prescribes."""
    network = Fit(plm_nn("d1", early_stopped(width)), vcov="iid")
    return (
        Method("PLM-NN", network, requires=("torch",)),
        Method("PLM-NW", Fit(plm_nw("d1", wide_kernel(10)), vcov="iid")),
        Method("DML Lasso", Fit(dml_lasso("d1"))),
        Method("DML DT", Fit(dml_tree("d1"))),
        Method("DML RF", Fit(dml_forest("d1"))),
    )


def own_rows(width: int) -> tuple[Method, ...]:
    """Return rows of our own."""
    network = Fit(plm_nn("d1", five_epochs(width)), vcov="iid")
    return (
        Method("PLM-NN, start at zero", network, requires=("torch",)),
        Method("PLM-NW, leave-one-out", Fit(plm_nw("d1", NadarayaWatson()), vcov="iid")),
        Method("DML DT, shared splits", Fit(dml("d1", TREE))),
        Method("WideNet (our default)", Fit(PartiallyLinear(["d1"]))),
        Method("WideNet, gls", Fit(PartiallyLinear(["d1"], method="gls"))),
    )
