"""Table 4: the complementary design, with several distributions, as the paper gives none."""

from __future__ import annotations

from functools import partial

from debinet.data.designs import TABLE4_INPUTS, make_table4
from debinet.experiments.assess import draw_sample
from debinet.experiments.comparison import Comparison
from debinet.experiments.paper.published import TABLE_4
from debinet.experiments.paper.table1 import AGAINST, METRICS, simulated_rows
from debinet.experiments.plan import Design, Experiment

_WIDTH = 1_000  # the paper does not print it
_LEFT_OUT = {"DML RF", "PLM-NW, leave-one-out", "WideNet, gls"}
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
