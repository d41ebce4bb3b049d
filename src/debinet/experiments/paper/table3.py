"""Table 3 and Figure 4: income and net financial assets, over subsamples of the 401(k) data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd
from sklearn.base import clone

from debinet._random import named_generator
from debinet.data.studies import fetch_401k
from debinet.experiments.comparison import Comparison, Metric
from debinet.experiments.paper.networks import early_stopped
from debinet.experiments.paper.plm_rows import (
    dml_forest,
    dml_lasso,
    dml_tree,
    plm_nn,
    plm_nw,
    wide_kernel,
)
from debinet.experiments.paper.published import TABLE_3
from debinet.experiments.plan import Design, Experiment, Method, Values
from debinet.models.partially_linear import PartiallyLinear

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


@dataclass(frozen=True)
class Effect:
    """The coefficient of income.

    Attributes
    ----------
    model : PartiallyLinear
        Cloned, given the seed and fitted.
    vcov : str or None
        Covariance, the model's own if None.
    """

    model: Any
    vcov: str | None = None

    def __call__(self, frame: pd.DataFrame, seed: int) -> Values:
        """Return the coefficient and its standard error."""
        model = clone(self.model).set_params(random_state=seed)
        result = model.fit(frame[[TREATMENT, *CONTROLS]], frame[OUTCOME]).result_
        if self.vcov is not None:
            result = result.with_vcov(self.vcov)
        return {"coef": result.coef[TREATMENT], "se": result.se[TREATMENT]}


METHODS = (
    Method(
        "PLM-NN",
        Effect(plm_nn(TREATMENT, early_stopped(1_000)), vcov="iid"),
        requires=("torch",),
    ),
    Method("PLM-NW", Effect(plm_nw(TREATMENT, wide_kernel(len(CONTROLS))), vcov="iid")),
    Method("DML Lasso", Effect(dml_lasso(TREATMENT))),
    Method("DML DT", Effect(dml_tree(TREATMENT))),
    Method("DML RF", Effect(dml_forest(TREATMENT))),
    Method("WideNet (our default)", Effect(PartiallyLinear([TREATMENT]))),
)


def table3(*, quick: bool = False) -> Comparison:
    """Return the experiment; `quick` has ten subsamples."""
    size = 500  # the paper's is not printed; with this one its standard errors come out
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
