"""Files for readers: self-contained HTML pages, and figures."""

from __future__ import annotations

import base64
import html
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from debinet.data.atomic_write import write_atomically
from debinet.report.page_parts import SCRIPT, STYLE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# A date would make every file different.
_FORMATS: Mapping[str, Mapping[str, Any]] = {
    ".png": {"dpi": 200},
    ".svg": {"metadata": {"Date": None}},
}


@dataclass(frozen=True)
class Section:
    """One part of a page.

    Attributes
    ----------
    title : str
        Heading.
    text : str
        Shown as it is, in a fixed-width font; may be empty.
    table : str
        An HTML table from `debinet.report.tables`; may be empty.
    figure : matplotlib Axes or Figure, optional
        Drawn below.
    caption : str
        Text alternative of the figure.
    """

    title: str
    text: str = ""
    table: str = ""
    figure: Axes | Figure | None = None
    caption: str = ""


def write_page(path: Path, title: str, sections: Sequence[Section]) -> None:
    """Write a page that needs no other file and no network, whole or not at all."""
    parts = [
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        # Nothing in the page may load anything, whatever names the data have.
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
        "img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'\">",
        f"<title>{html.escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>",
        f"<main>\n<h1>{html.escape(title)}</h1>",
        *[_section(section) for section in sections],
        f"</main>\n<script>{SCRIPT}</script>\n</body>\n</html>\n",
    ]
    with write_atomically(path) as draft:
        draft.write_text("\n".join(parts), encoding="utf-8")


def _section(section: Section) -> str:
    parts = [f"<section>\n<h2>{html.escape(section.title)}</h2>"]
    if section.table:
        parts.append(f'<div class="wide">{section.table}</div>')
    if section.text:
        parts.append(f"<pre>{html.escape(section.text)}</pre>")
    if section.figure is not None:
        alternative = html.escape(section.caption or section.title, quote=True)
        parts.append(f'<img alt="{alternative}" src="{_embedded(section.figure)}">')
    return "\n".join([*parts, "</section>"])


def _embedded(drawn: Axes | Figure) -> str:
    import matplotlib.pyplot as plt

    figure = drawn.get_figure(root=True)
    assert figure is not None
    stream = io.BytesIO()
    figure.savefig(stream, format="png", dpi=150)
    plt.close(figure)
    return "data:image/png;base64," + base64.b64encode(stream.getvalue()).decode()


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
