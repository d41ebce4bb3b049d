"""Tables of models as files, also for word processors and spreadsheets."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from debinet.data.atomic_write import write_atomically
from debinet.exceptions import MissingDependencyError, OptionError

if TYPE_CHECKING:
    from debinet.report.model_table import ModelTable

_TEXTS: dict[str, Callable[[ModelTable, str | None], str]] = {
    ".txt": lambda table, _: table.to_text(),
    ".md": lambda table, _: table.to_markdown(),
    ".tex": lambda table, caption: table.to_latex(caption),
    ".html": lambda table, caption: table.to_html(caption),
    ".csv": lambda table, _: _safe(table).to_csv(lineterminator="\n").rstrip("\n"),
}
# A cell that begins with one of these is a formula for spreadsheets.
_FORMULA = ("=", "+", "@", "\t", "\r")


def write_table(table: ModelTable, path: str | PathLike[str], caption: str | None) -> None:
    """Write a table in the format of the file's ending, whole or not at all."""
    target = Path(path)
    ending = target.suffix.lower()
    if ending not in {*_TEXTS, ".docx", ".xlsx"}:
        known = ", ".join([*_TEXTS, ".docx", ".xlsx"])
        raise OptionError(f"a file that ends in {known}", repr(target.name), "Choose one of these.")
    with write_atomically(target.absolute()) as draft:
        if ending in _TEXTS:
            draft.write_text(_TEXTS[ending](table, caption) + "\n", encoding="utf-8")
        else:
            _document(table, draft, caption) if ending == ".docx" else _sheet(table, draft)


def _safe(table: ModelTable) -> Any:
    """Return the frame with names that no spreadsheet takes for formulas."""
    frame = table.frame.copy()
    frame.index = frame.index.map(_as_text)
    frame.columns = frame.columns.map(_as_text)
    return frame


def _as_text(name: str) -> str:
    return f"'{name}" if name.startswith(_FORMULA) else name


def _document(table: ModelTable, path: Path, caption: str | None) -> None:
    try:
        from maketables import MTable
    except ImportError as error:
        raise _missing("maketables") from error
    made = MTable(table.frame, notes=" ".join(table.notes), caption=caption)
    made.save("docx", file_name=str(path), show=False, replace=True)


def _sheet(table: ModelTable, path: Path) -> None:
    try:
        from openpyxl import Workbook
    except ImportError as error:
        raise _missing("openpyxl") from error
    book = Workbook()
    sheet = book.active
    frame = table.frame
    cells = frame.to_numpy(dtype=object).tolist()
    rows = [["", *frame.columns], *([n, *row] for n, row in zip(frame.index, cells, strict=True))]
    rows += [[note] for note in table.notes]
    for i, row in enumerate(rows, start=1):
        for j, value in enumerate(row, start=1):
            cell = sheet.cell(i, j, str(value))
            cell.data_type = "s"  # text, also where it begins as a formula does
    book.save(path)


def _missing(package: str) -> MissingDependencyError:
    return MissingDependencyError(
        f"the package {package}, which writes such files",
        "a Python without it",
        'Install it with pip install "debinet[tables]", or write another format.',
    )
