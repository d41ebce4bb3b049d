"""A coefficient frame as text, Markdown, LaTeX or HTML. Names are data: they are escaped."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
import pandas as pd

_LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "[": "{[}",  # after a line's end it would begin an option
}
_CONTROL = re.compile(r"[\x00-\x1f\x7f\u2028\u2029]+")


def format_number(value: float, digits: int = 4) -> str:
    """Show `digits` significant digits, without exponents where they are not customary."""
    if not np.isfinite(value):
        return "nan" if np.isnan(value) else ("inf" if value > 0 else "-inf")
    if value == 0:
        return "0"
    if not 1e-4 <= abs(value) < 1e7:
        return f"{value:.{digits - 1}e}"
    decimals = max(0, digits - 1 - int(np.floor(np.log10(abs(value)))))
    return f"{value:.{decimals}f}"


def format_pvalue(value: float) -> str:
    """Show three decimals, as statisticians do."""
    if np.isnan(value):
        return "nan"
    return "<0.001" if value < 0.001 else f"{value:.3f}"


def text_table(frame: pd.DataFrame, rule: int | None = None) -> str:
    """Return aligned columns of plain text, with a line after `rule` rows if it is given."""
    header, rows = _cells(frame, _one_line)
    table = [header, *rows]
    widths = [max(len(row[j]) for row in table) for j in range(len(header))]
    lines = [
        "  ".join(
            cell.ljust(width) if j == 0 else cell.rjust(width)
            for j, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in table
    ]
    if rule is not None:
        lines.insert(1 + rule, "-" * max(map(len, lines)))
    return "\n".join(lines)


def markdown_table(frame: pd.DataFrame) -> str:
    """Return a GitHub-flavoured Markdown table."""
    header, rows = _cells(frame, escape_markdown)
    rule = [":--", *["--:"] * (len(header) - 1)]
    return "\n".join("| " + " | ".join(row) + " |" for row in [header, rule, *rows])


def latex_table(
    frame: pd.DataFrame,
    caption: str | None = None,
    *,
    rule: int | None = None,
    notes: Iterable[str] = (),
) -> str:
    """Return a booktabs table, with a line after `rule` rows and notes below if they are given."""
    header, rows = _cells(frame, _escape_latex)
    lines = [" & ".join(row) + r" \\" for row in rows]
    if rule is not None:
        lines.insert(rule, r"\midrule")
    below = [
        rf"\multicolumn{{{len(header)}}}{{l}}{{\footnotesize {_escape_latex(note)}}} \\"
        for note in notes
    ]
    body = [
        rf"\begin{{tabular}}{{l{'r' * (len(header) - 1)}}}",
        r"\toprule",
        " & ".join(header) + r" \\",
        r"\midrule",
        *lines,
        r"\bottomrule",
        *below,
        r"\end{tabular}",
    ]
    if caption is not None:
        body = [
            r"\begin{table}",
            r"\centering",
            *body,
            rf"\caption{{{_escape_latex(caption)}}}",
            r"\end{table}",
        ]
    return "\n".join(body)


def html_table(frame: pd.DataFrame, caption: str | None = None, *, sortable: bool = True) -> str:
    """Return a `<table>` with header cells marked as such, and numbers to sort by."""
    header, rows = _cells(frame, html.escape)
    lines = [f'<table class="debinet{" sortable" if sortable else ""}">']
    if caption is not None:
        lines.append(f"<caption>{html.escape(caption)}</caption>")
    columns = "".join(f'<th scope="col">{cell}</th>' for cell in header)
    lines.append(f"<thead><tr>{columns}</tr></thead>")
    lines.append("<tbody>")
    for (name, *cells), numbers in zip(rows, frame.to_numpy(dtype=object), strict=True):
        values = "".join(
            f"<td{_sorted_by(number)}>{cell}</td>"
            for cell, number in zip(cells, numbers, strict=True)
        )
        lines.append(f'<tr><th scope="row">{name}</th>{values}</tr>')
    lines += ["</tbody>", "</table>"]
    return "\n".join(lines)


def _sorted_by(value: object) -> str:
    return f' data-value="{float(value):.17g}"' if isinstance(value, (float, int)) else ""


def summary_text(
    title: str, facts: Mapping[str, str], frame: pd.DataFrame, notes: Iterable[str]
) -> str:
    """Return a title, labelled facts, the table, and notes."""
    lines = [title, "=" * len(title), *labelled_lines(facts.items()), "", text_table(frame)]
    notes = list(notes)
    if notes:
        lines += ["", *[f"Note: {_one_line(note)}." for note in notes]]
    return "\n".join(lines)


def labelled_lines(pairs: Iterable[tuple[str, str]]) -> list[str]:
    """Return labels and texts as aligned lines."""
    pairs = list(pairs)
    width = max((len(label) for label, _ in pairs), default=0)
    return [f"{label.ljust(width)}  {_one_line(text)}" for label, text in pairs]


def _cells(
    frame: pd.DataFrame, escape: Callable[[str], str]
) -> tuple[list[str], list[Sequence[str]]]:
    header = [escape(str(frame.index.name or "")), *[escape(str(c)) for c in frame.columns]]
    columns = [
        [escape(_formatted(str(label), v)) for v in column] for label, column in frame.items()
    ]
    names = [escape(str(name)) for name in frame.index]
    return header, [list(row) for row in zip(names, *columns, strict=True)]


def _formatted(label: str, value: float | int | str) -> str:
    if isinstance(value, (str, int, np.integer)):
        return str(value)
    return format_pvalue(value) if label.startswith("pvalue") else format_number(value)


def _one_line(text: str) -> str:
    return _CONTROL.sub(" ", text)


def escape_markdown(text: str) -> str:
    """Return text that Markdown shows as it is."""
    # HTML first: Markdown renderers pass raw HTML through.
    escaped = html.escape(_one_line(text), quote=False)
    return re.sub(r"([\\`*_{}\[\]()#+!|~$])", r"\\\1", escaped)


def _escape_latex(text: str) -> str:
    return "".join(_LATEX.get(character, character) for character in _one_line(text))
