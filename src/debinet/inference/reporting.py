"""A result as a self-contained HTML page."""

from __future__ import annotations

import html
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from debinet.exceptions import CovarianceError
from debinet.inference.dose_sections import dose_sections
from debinet.inference.overlap import EDGES
from debinet.inference.sensitivity_contours import sensitivity_sections
from debinet.inference.summary_lines import listed_controls
from debinet.inference.trust import Trust
from debinet.inference.trust_evidence import TrustEvidence
from debinet.protocols import StoppingCurve
from debinet.report.page import Section, write_page
from debinet.report.tables import labelled_lines

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from debinet.inference.result import Inference
    from debinet.inference.sensitivity import Sensitivity
    from debinet.inference.shown import Shown

_CLASSES = {"ok": "ok", "not known": "", "look": "look", "do not trust": "bad"}
_CITATION = (
    "Xu, S., Bu, Z.: DebiNet: Debiasing Linear Models with Nonlinear Overparameterized Neural "
    "Networks. AISTATS 2021."
)
# More rows than this do not fit in a forest plot.
_FOREST = 60


def write_report(
    result: Shown,
    path: Path,
    *,
    level: float = 0.95,
    joint: bool = False,
    source: str = "",
    sensitivity: Sensitivity | None = None,
) -> None:
    """Write a self-contained page: coefficients, pictures, trust, and what was run.

    Parameters
    ----------
    result : Shown
    path : Path
    level, joint
        As in `Inference.confint`.
    source : str
        Where the data came from.
    sensitivity : Sensitivity, optional
        What `result.sensitivity()` returned, to be part of the page.
    """
    sections = [_coefficients(result, level, joint), _trust_section(result.trust())]
    sections += dose_sections(result.one_fit(), level)
    sections += _pictures(result.one_fit())
    if sensitivity is not None:
        sections += sensitivity_sections(sensitivity)
    sections.append(Section("What was run", text=_what_was_run(result, level, joint, source)))
    sections += _folded_controls(result.provenance.control_columns)
    sections.append(Section("How to cite", text=_CITATION))
    write_page(path, result.title, sections)


def _coefficients(result: Shown, level: float, joint: bool) -> Section:
    frame = result.to_frame(level, joint)
    shown = frame if len(frame) <= _FOREST else frame.loc[frame["pvalue"].nsmallest(_FOREST).index]
    label = f"effect on {result.outcome}, {100 * level:g} % {'joint ' if joint else ''}intervals"
    return Section(
        "Coefficients",
        table=result.to_html(level, joint),
        figure=None if frame.empty else _forest(result, shown, level, label),
        caption=f"Forest plot of coefficients with {100 * level:g} % intervals; the numbers are in "
        "the table above",
    )


def _forest(result: Shown, shown: pd.DataFrame, level: float, label: str) -> Axes:
    """Draw the intervals; with instruments, with Anderson-Rubin sets beside them."""
    from debinet.report.forest import forest_plot

    if result.provenance.instrumented is not None:
        with suppress(CovarianceError):  # too few clusters for the sets
            return result.one_fit().iv.plot(level)
    return forest_plot(shown, label=label)


def _trust_section(trust: Trust) -> Section:
    rows = [
        f'<tr><th scope="row">{html.escape(check.name)}</th>'
        f'<td class="verdict {_CLASSES[check.verdict]}">{check.verdict}</td>'
        f"<td>{html.escape(check.finding)}"
        + (f"<br>→ {html.escape(check.advice)}" if check.advice else "")
        + "</td></tr>"
        for check in trust.checks
    ]
    head = "".join(f'<th scope="col">{text}</th>' for text in ("check", "verdict", "finding"))
    table = (
        f'<table class="words"><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table>'
    )
    return Section(f"Can it be trusted? {trust.verdict}", table=table)


def _pictures(result: Inference) -> list[Section]:
    from debinet.report.diagnostics import overlap_plot, residual_plot

    if not result.names:
        return []
    regression = result.regressions[0]
    names = list(result.names)
    R_D = pd.DataFrame(regression.R_D, columns=names)
    sections = [
        Section(
            "Residuals",
            figure=residual_plot(regression.R_y, R_D, result.coef),
            caption="Residuals of the outcome against residuals of each treatment, with the "
            "coefficient as the slope of a line",
        )
    ]
    evidence = None if result.evidence is None else result.evidence.get()
    if isinstance(evidence, TrustEvidence):
        sd = pd.Series(np.sqrt(evidence.total[1:]), index=names)
        sections.append(
            Section(
                "Overlap",
                figure=overlap_plot(R_D, sd),
                caption="Residuals of each treatment given the controls, in its own standard "
                "deviations",
            )
        )
        sections += _propensities(evidence, names) + _penalty_path(evidence, names)
        sections += _stopping(evidence.stopping, [result.outcome, *names]) + _relevance(evidence)
    return sections


def _propensities(evidence: TrustEvidence, names: list[str]) -> list[Section]:
    from debinet.report.trust_plots import plot_overlap

    if not evidence.overlap:
        return []
    counts = {
        names[one.column]: pd.DataFrame({"0": one.counts[0], "1": one.counts[1]}, EDGES[:-1])
        for one in evidence.overlap
    }
    caption = "Predicted probabilities of each 0/1 treatment, for rows of 1 above and of 0 below"
    return [Section("Overlap of the arms", figure=plot_overlap(counts), caption=caption)]


def _penalty_path(evidence: TrustEvidence, names: list[str]) -> list[Section]:
    from debinet.report.trust_plots import plot_penalty_path

    path = evidence.path
    if path is None:
        return []
    figure = plot_penalty_path(
        pd.DataFrame(path.coef, path.factor, names),
        pd.DataFrame(path.se_difference, path.factor, names),
    )
    caption = (
        "Coefficients with all penalties multiplied by a factor, and the 95 % band of the "
        "difference that noise explains"
    )
    return [Section("Coefficients along the penalty", figure=figure, caption=caption)]


def _relevance(evidence: TrustEvidence) -> list[Section]:
    from debinet.report.diagnostics import relevance_plot

    if evidence.relevance is None:
        return []
    values = pd.Series(evidence.relevance, index=list(evidence.relevance_names))
    caption = "Weights that the network learned for the controls, largest first"
    return [Section("Relevance", figure=relevance_plot(values), caption=caption)]


def _stopping(stopping: StoppingCurve | None, names: list[str]) -> list[Section]:
    from debinet.report.diagnostics import stopping_plot

    if stopping is None:
        return []
    figure = stopping_plot(
        pd.DataFrame(stopping.x, columns=names),
        pd.DataFrame(stopping.value, columns=names),
        pd.Series(stopping.chosen, index=names),
        along=stopping.along,
        measure=stopping.measure,
    )
    caption = (
        f"The learner's criterion ({stopping.measure}) along {stopping.along}, for the outcome and "
        "each treatment; a line marks where it stopped"
    )
    return [Section("Stopping path", figure=figure, caption=caption)]


def _folded_controls(names: Sequence[str]) -> list[Section]:
    """Return the list of all controls, to be unfolded, if "What was run" shows only some."""
    if ", ".join(names) == (listed_controls(names) or ""):
        return []
    listed = html.escape(", ".join(names))
    table = f"<details><summary>All {len(names)} columns</summary><p>{listed}</p></details>"
    return [Section("Controls", table=table)]


def _what_was_run(result: Shown, level: float, joint: bool, source: str) -> str:
    versions = ", ".join(" ".join(pair) for pair in result.provenance.versions)
    lines = [
        *result.lines(level, joint).items(),
        *(("note", note) for note in result.notes),
        *([("data", source)] if source else []),
        ("seed", str(result.seed)),
        ("versions", versions),
    ]
    return "\n".join(labelled_lines(lines))
