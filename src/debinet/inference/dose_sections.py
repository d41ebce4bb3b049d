"""The doses of a result on its page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from debinet.inference.dose_curve import DoseCurve
from debinet.inference.summary_lines import wald_words
from debinet.report.page import Section
from debinet.report.tables import format_number

if TYPE_CHECKING:
    from debinet.inference.result import Inference


def dose_sections(result: Inference, level: float) -> list[Section]:
    """Return a section for every dose: its curve, mean derivative and test of a straight line."""
    return [
        _section(result.dose(observed.basis.name), level) for observed in result.provenance.doses
    ]


def _section(dose: DoseCurve, level: float) -> Section:
    mean = dose.average_derivative(level)
    text = (
        f"Mean derivative {format_number(mean.estimate)}, {100 * level:g} % interval from "
        f"{format_number(mean.lower)} to {format_number(mean.upper)}\n"
        f"Straight line: {wald_words(dose.result, dose.terms[1:])}"
    )
    caption = (
        f"Effect of {dose.name} on {dose.result.outcome} against its median, with {100 * level:g} "
        "% bands, pointwise and joint; below, the doses of the data; grey beyond their 1 % and 99 "
        "% quantiles"
    )
    return Section(f"Dose: {dose.name}", text, figure=dose.plot(level=level), caption=caption)
