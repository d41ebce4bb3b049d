"""The verdict of a convergence check in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from debinet.report.tables import format_number, summary_text

if TYPE_CHECKING:
    from debinet.theory.convergence import Convergence


def convergence_summary(run: Convergence) -> str:
    """Return facts, a table with a row per output, and the verdict."""
    rate = run.rate
    layers = "first layer" if rate.train == "first" else "both layers"
    kind = f"{rate.activation}, {layers} trained"
    facts = {
        "network": f"width {run.width:,}, {kind}, random_state={run.seed}",
        "rows": f"{rate.n}",
        "lambda_0": f"{format_number(rate.lambda_0)} (largest: {format_number(rate.lambda_max)})",
        "step": f"{format_number(run.step)}, {run.times.size - 1} steps to time "
        f"{format_number(float(run.times[-1]))}",
    }
    text = summary_text("Gradient descent against Theorem 1", facts, _outputs_table(run), ())
    return "\n".join([text, "", *_verdict(run)])


def _outputs_table(run: Convergence) -> pd.DataFrame:
    bounds = run.bounds
    together = "all" if "all" not in run.names else "all outputs"
    return pd.DataFrame(
        {
            "error at start": [*run.errors[0], run.errors[0].sum()],
            "at end": [*run.errors[-1], run.errors[-1].sum()],
            "bound at end": [*bounds[-1], bounds[-1].sum()],
            "slope / -lambda_0": np.array([*run.slopes, run.slope_together]) / -run.rate.lambda_0,
            "holds": ["yes" if yes else "no" for yes in [*run.holds, run.holds_together]],
        },
        index=[*run.names, together],
    )


def _verdict(run: Convergence) -> list[str]:
    lines = [_bound_sentence(run)]
    inside = "less" if run.movement <= run.movement_bound else "MORE"
    alone = "" if run.rate.train == "first" else ", which is for the first layer alone"
    lines.append(
        f"Weights moved by at most {format_number(run.movement)}, {inside} than the "
        f"{format_number(run.movement_bound)} of Lemma B.3 (ratio "
        f"{format_number(run.movement_ratio)}){alone}."
    )
    trace = run.trace
    lines.append(
        f"The kernel is {_percent(trace['whole'].iloc[0])} from its limit at the start, "
        f"{_percent(trace['whole'].iloc[-1])} at the end, and moved by "
        f"{_percent(trace['from_start'].max())}."
    )
    share = trace["least_eigenvalue"].min() / run.rate.lambda_0
    needed = "as the proof needs" if share >= 0.5 else "while the proof needs 0.5"
    lines.append(
        f"Its least eigenvalue is never below {format_number(share, 3)} lambda_0, {needed}."
    )
    lines.append(
        f"Theorem 1 requires a width of the order {run.asked_width:.0e} at delta = {run.delta:g}; "
        "its constant is unknown."
    )
    if run.interrupted:
        lines.append("The run was interrupted: all of this refers to the steps until then.")
    return lines


def _bound_sentence(run: Convergence) -> str:
    failed = [name for name, yes in zip(run.names, run.holds, strict=True) if not yes]
    if not failed:
        return "The bound of Theorem 1 holds for every output over the whole run."
    named = ", ".join(map(repr, failed[:5])) + (" and others" if len(failed) > 5 else "")
    together = "holds" if run.holds_together else "fails"
    return (
        f"The bound of Theorem 1 FAILS for {named}; for all outputs together, which is what its "
        f"proof shows, it {together}."
    )


def _percent(share: float) -> str:
    return f"{format_number(100 * share, 3)} %"
