"""A result as a page to look at and to send."""

from __future__ import annotations

import html
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from platform import python_version
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from debinet.inference.trust import Trust
from debinet.report.page import Section, write_page

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from debinet.inference.result import Inference

_CLASSES = {"ok": "ok", "not known": "", "look": "look", "do not trust": "bad"}
_PACKAGES = ("debinet", "numpy", "scipy", "scikit-learn", "pandas")
_CITATION = (
    "Xu, S., Bu, Z.: DebiNet: Debiasing Linear Models with Nonlinear Overparameterized Neural "
    "Networks. AISTATS 2021."
)
# More rows than this do not fit in a forest plot.
_FOREST = 60


def write_report(
    result: Inference, path: Path, *, level: float = 0.95, joint: bool = False, source: str = ""
) -> None:
    """Write a self-contained page: coefficients, pictures, trust, and what was run.

    Parameters
    ----------
    result : Inference
    path : Path
    level, joint
        As in `Inference.confint`.
    source : str
        Where the data came from.
    """
    sections = [*_coefficients(result, level, joint), _trust_section(result.trust())]
    sections += _pictures(result)
    sections.append(Section("What was run", text=_what_was_run(result, level, joint, source)))
    sections.append(Section("How to cite", text=_CITATION))
    write_page(path, f"{result.method} of {result.outcome}", sections)


def _coefficients(result: Inference, level: float, joint: bool) -> list[Section]:
    frame = result.to_frame(level, joint)
    shown = frame if len(frame) <= _FOREST else frame.loc[frame["pvalue"].nsmallest(_FOREST).index]
    section = Section(
        "Coefficients",
        table=result.to_html(level, joint),
        figure=None if frame.empty else _forest(result, shown, level, joint),
        caption=f"Forest plot of coefficients with {100 * level:g} % intervals; the numbers are in "
        "the table above",
    )
    return [section]


def _forest(result: Inference, frame: pd.DataFrame, level: float, joint: bool) -> Axes:
    from debinet.report.forest import forest_plot

    label = f"effect on {result.outcome}, {100 * level:g} % {'joint ' if joint else ''}intervals"
    return forest_plot(frame, label=label)


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
    R_D = pd.DataFrame(regression.R_D, columns=list(result.names))
    sections = [
        Section(
            "Residuals",
            figure=residual_plot(regression.R_y, R_D, result.coef),
            caption="What is left of the outcome against what is left of each treatment, with the "
            "coefficient as the slope of a line",
        )
    ]
    if result.evidence is not None:
        total = np.sqrt(result.evidence.get().total[1:])
        sections.append(
            Section(
                "Overlap",
                figure=overlap_plot(R_D, pd.Series(total, index=list(result.names))),
                caption="How far each treatment varies once the other features are taken out, in "
                "its own standard deviations",
            )
        )
        sections += _stopping(result) + _relevance(result)
    return sections


def _relevance(result: Inference) -> list[Section]:
    from debinet.report.diagnostics import relevance_plot

    evidence = None if result.evidence is None else result.evidence.get()
    if evidence is None or evidence.relevance is None:
        return []
    values = pd.Series(evidence.relevance, index=list(evidence.relevance_names))
    caption = "Weights that the network learned for the nuisance features, largest first"
    return [Section("Relevance", figure=relevance_plot(values), caption=caption)]


def _stopping(result: Inference) -> list[Section]:
    from debinet.report.diagnostics import stopping_plot

    stopping = None if result.evidence is None else result.evidence.get().stopping
    if stopping is None:
        return []
    names = [result.outcome, *result.names]
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


def _what_was_run(result: Inference, level: float, joint: bool, source: str) -> str:
    lines = [result.summary(level, joint).split("\n\n")[0]]
    lines += [f"note           {note}" for note in result.notes]
    lines += [f"data           {source}"] if source else []
    lines.append(f"seed           {result.seed}")
    lines.append(f"versions       Python {python_version()}, {', '.join(_versions())}")
    return "\n".join(lines)


def _versions() -> list[str]:
    found = []
    for name in _PACKAGES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:  # run from its source
            continue
    return found
