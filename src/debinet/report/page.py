"""A self-contained HTML page of tables and figures."""

from __future__ import annotations

import base64
import html
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 52rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
caption { text-align: left; padding-bottom: .4rem; opacity: .75; }
th, td { padding: .25rem .8rem; text-align: right; border-bottom: 1px solid #8884; }
th:first-child { text-align: left; }
pre { overflow-x: auto; padding: .8rem; border: 1px solid #8884; border-radius: .4rem; }
img { max-width: 100%; background: white; }
div.wide { overflow-x: auto; }
"""


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
    figure : matplotlib Axes, optional
        Drawn below.
    caption : str
        Describes the figure to those who cannot see it.
    """

    title: str
    text: str = ""
    table: str = ""
    figure: Axes | None = None
    caption: str = ""


def write_page(path: Path, title: str, sections: Sequence[Section]) -> None:
    """Write a page that needs no other file and no network."""
    parts = [
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{html.escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>",
        f"<h1>{html.escape(title)}</h1>",
        *[_section(section) for section in sections],
        "</body>\n</html>\n",
    ]
    draft = path.with_suffix(path.suffix + ".tmp")
    draft.write_text("\n".join(parts), encoding="utf-8")
    draft.replace(path)


def _section(section: Section) -> str:
    parts = [f"<h2>{html.escape(section.title)}</h2>"]
    if section.table:
        parts.append(f'<div class="wide">{section.table}</div>')
    if section.text:
        parts.append(f"<pre>{html.escape(section.text)}</pre>")
    if section.figure is not None:
        alternative = html.escape(section.caption or section.title, quote=True)
        parts.append(f'<img alt="{alternative}" src="{_embedded(section.figure)}">')
    return "\n".join(parts)


def _embedded(ax: Axes) -> str:
    stream = io.BytesIO()
    ax.get_figure(root=True).savefig(stream, format="png", dpi=150)  # type: ignore[union-attr]
    return "data:image/png;base64," + base64.b64encode(stream.getvalue()).decode()
