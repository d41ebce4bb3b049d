"""Table 5: an attack on a network through the column with the largest coefficient."""

from __future__ import annotations

from debinet.data.studies import fetch_credit_default
from debinet.experiments.comparison import Comparison, Metric
from debinet.experiments.paper.credit import ROWS, Victim, make_victim
from debinet.experiments.paper.credit_data import Payments
from debinet.experiments.paper.published import TABLE_5
from debinet.experiments.plan import Design, Experiment, Method

METRICS = (
    Metric("loss", "validation loss", "loss", target=None),
    Metric("accuracy", "accuracy", "accuracy", target=None),
    Metric("auc", "AUC", "auc", target=None),
    Metric("first", "attacks PAY_0", "first_repayment", target=None, form=".1f"),
)


def draw_victim(payments: Payments, *, random_state: int) -> Victim:
    """Split the clients, and train the network to be attacked."""
    return make_victim(fetch_credit_default(), random_state, payments=payments)


def table5(*, quick: bool = False) -> Comparison:
    """Return the experiment; `quick` has two splits and repayment statuses as numbers only."""
    designs = (
        Design("repayment as numbers", draw_victim, {"payments": "numbers"}),
        Design("repayment one-hot", draw_victim, {"payments": "one-hot"}),
    )
    methods = tuple(Method(name, run) for name, run in ROWS.items())
    return Comparison(
        "Table 5: attack on a network of credit card clients",
        Experiment("table5", designs[: 1 if quick else 2], methods, 2 if quick else 6),
        METRICS,
        TABLE_5,
        runs=1,
        judged=not quick,
        needs=fetch_credit_default,
        notes=(
            "Each run is a split of the clients, 80 % for training. The paper's values are taken "
            "as those of one split.",
            "Attacks raise the predicted chance of those who did not default and lower it for "
            "those who did.",
        ),
    )
