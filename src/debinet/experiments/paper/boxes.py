"""Figure 4: the effect of income by method, over subsamples of the 401(k) data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from debinet.experiments.paper.drawing import Drawing
from debinet.experiments.paper.table3 import table3
from debinet.experiments.results import Results

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def figure4(*, quick: bool = False) -> Drawing:
    """Return the figure: box plots of Table 3's cells, which it shares."""
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
    from debinet.experiments.paper.published import TABLE_3
    from debinet.report.boxes import plot_boxes

    frame = results.to_frame().rename(columns={"coef": "value"})
    means = {method: figures["mean"].value for (_, method), figures in TABLE_3.items()}
    return plot_boxes(
        frame, label="net financial assets per dollar of income", marks=means, mark="paper's mean"
    )
