"""Figures as files, whole or not at all, the same bytes for the same figure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from debinet.data.atomic_write import write_atomically

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# A date would make every file different.
_FORMATS: Mapping[str, Mapping[str, Any]] = {
    ".png": {"dpi": 200},
    ".svg": {"metadata": {"Date": None}},
}


def save_figure(draw: Callable[[], Figure], folder: Path, name: str) -> list[Path]:
    """Draw a figure and save it as `<name>.png` and `<name>.svg`."""
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    files = []
    # Identifiers inside an SVG are random unless they are salted.
    with mpl.rc_context({"svg.hashsalt": name}):
        figure = draw()
        for ending, options in _FORMATS.items():
            files.append(folder / f"{name}{ending}")
            with write_atomically(files[-1]) as draft:
                figure.savefig(draft, format=ending[1:], **options)
        plt.close(figure)
    return files
