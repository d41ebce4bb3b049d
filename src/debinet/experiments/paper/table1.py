"""Tables 1 and 4: partially linear models on two designs with known effects."""

from __future__ import annotations

from functools import partial

from debinet.data.designs import TABLE4_INPUTS, make_table1, make_table4
from debinet.experiments.assess import Fit, draw_sample
from debinet.experiments.comparison import Comparison, Metric
from debinet.experiments.paper.plm_rows import (
    TREE,
    dml,
    dml_forest,
    dml_lasso,
    dml_tree,
    early_stopped,
    five_epochs,
    plm_nn,
    plm_nw,
    wide_kernel,
)
from debinet.experiments.paper.published import TABLE_1, TABLE_4
from debinet.experiments.plan import Design, Experiment, Method
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
_WIDTH = 1_000  # the paper does not print it
_LEFT_OUT = {"DML RF", "PLM-NW, leave-one-out", "WideNet, gls"}


def table1(*, quick: bool = False) -> Comparison:
    """Return the experiment; `quick` has 1,000 rows, networks of 1,000 units and three runs."""
    n, width, runs = (1_000, 1_000, 3) if quick else (10_000, 10_000, 12)
    design = Design(f"n = {n:,}", partial(draw_sample, make_table1), {"n": n, "new": n})
    return Comparison(
        "Table 1: partially linear models",
        Experiment("table1", (design,), simulated_rows(width, 10), runs),
        METRICS,
        TABLE_1,
        against=AGAINST,
        judged=not quick,
        notes=("Our own rows are compared with the corresponding rows of the paper.",),
    )


def simulated_rows(width: int, features: int) -> tuple[Method, ...]:
    """Return the paper's rows, with a learner for each column as DML prescribes, and our own."""
    trained, from_zero = (plm_nn("d1", make(width)) for make in (early_stopped, five_epochs))
    return (
        Method("PLM-NN", Fit(trained, vcov="iid"), requires=("torch",)),
        Method("PLM-NW", Fit(plm_nw("d1", wide_kernel(features)), vcov="iid")),
        Method("DML Lasso", Fit(dml_lasso("d1"))),
        Method("DML DT", Fit(dml_tree("d1"))),
        Method("DML RF", Fit(dml_forest("d1"))),
        Method("PLM-NN, start at zero", Fit(from_zero, vcov="iid"), requires=("torch",)),
        Method("PLM-NW, leave-one-out", Fit(plm_nw("d1", NadarayaWatson()), vcov="iid")),
        Method("DML DT, shared splits", Fit(dml("d1", TREE))),
        Method("WideNet (our default)", Fit(PartiallyLinear(["d1"]))),
        Method("WideNet, gls", Fit(PartiallyLinear(["d1"], method="gls"))),
    )


ROWS = tuple(row for row in simulated_rows(_WIDTH, 5) if row.name not in _LEFT_OUT)


def table4(*, quick: bool = False) -> Comparison:
    """Return the experiment; `quick` has 2,000 rows and three runs."""
    return _comparison("table4", ["folded"], 3 if quick else 50, quick)


def table4_inputs(*, quick: bool = False) -> Comparison:
    """Return the same with other distributions of T; `quick` has one of them and two runs."""
    others = [kind for kind in TABLE4_INPUTS if kind != "folded"]
    return _comparison("table4_inputs", others[: 1 if quick else None], 2 if quick else 6, quick)


def _comparison(name: str, kinds: list[str], runs: int, quick: bool) -> Comparison:
    n = 2_000 if quick else 10_000
    designs = tuple(
        Design(kind, partial(draw_sample, make_table4), {"n": n, "new": n, "inputs": kind})
        for kind in kinds
    )
    return Comparison(
        f"Table 4: the complementary design, T {' or '.join(kinds)}",
        Experiment(name, designs, ROWS, runs),
        METRICS,
        TABLE_4,
        against=AGAINST,
        judged=not quick,
        notes=(
            "The paper does not say how T is distributed. folded: standard normal, T_2 and T_3 in "
            "absolute value; dropped: standard normal, rows with T_2 below -1 left out; truncated: "
            "T_3 too; half-normal: all five in absolute value; uniform: on (0, 3).",
        ),
    )
