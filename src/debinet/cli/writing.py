"""Outputs of a fit: written atomically, and overwritten only if asked."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from debinet.data.atomic_write import write_atomically
from debinet.exceptions import MissingDependencyError, OptionError
from debinet.inference.result import Inference
from debinet.report.spreadsheet import plain_cells

if TYPE_CHECKING:
    import pandas as pd

TABLES: dict[str, Callable[[Inference, float, bool], str]] = {
    ".csv": lambda result, level, joint: _cells(result, level, joint).to_csv(index_label="term"),
    ".md": lambda result, level, joint: result.to_markdown(level, joint) + "\n",
    ".tex": lambda result, level, joint: result.to_latex(level, joint) + "\n",
    ".html": lambda result, level, joint: result.to_html(level, joint) + "\n",
}
SHEET = ".xlsx"

FRAMES: dict[str, Callable[[pd.DataFrame, Path], Any]] = {
    ".csv": lambda frame, path: plain_cells(frame).to_csv(path, index=False),
    ".tsv": lambda frame, path: plain_cells(frame).to_csv(path, index=False, sep="\t"),
    SHEET: lambda frame, path: _write_sheet(plain_cells(frame), path, index=False),
    ".parquet": lambda frame, path: frame.to_parquet(path, index=False),
    ".feather": lambda frame, path: frame.to_feather(path),
}


def _cells(result: Inference, level: float, joint: bool) -> pd.DataFrame:
    return plain_cells(result.to_frame(level, joint))


def _write_sheet(frame: pd.DataFrame, path: Path, **options: Any) -> None:
    # A stream, as the draft that is written first has another ending.
    with path.open("wb") as stream:
        frame.to_excel(stream, engine="openpyxl", **options)


def require_free(paths: list[Path], force: bool, inputs: Sequence[Path] = ()) -> None:
    """Require, before anything is computed, that every output can be written, each to its file."""
    seen = {path.resolve() for path in inputs}
    for path in paths:
        if path.is_dir() or not path.absolute().parent.is_dir():
            raise OptionError(
                "outputs in folders that exist", str(path), "Create the folder, or give a file."
            )
        if path.resolve() in seen:
            raise OptionError(
                "a file of its own for each output",
                f"{path}, which is also the input or another output",
                "Choose another name.",
            )
        seen.add(path.resolve())
        if path.exists() and not force:
            raise OptionError(
                "outputs that do not exist yet", str(path), "Use --force to replace it."
            )


def require_tables(paths: tuple[Path, ...]) -> None:
    """Require endings of known kinds of tables."""
    for path in paths:
        if path.suffix.lower() not in {*TABLES, SHEET}:
            raise OptionError(
                f"tables that end in {', '.join([*TABLES, SHEET])}",
                str(path),
                "Choose one of these.",
            )


def require_frame_file(path: Path) -> None:
    """Require an ending that a data frame can be written to."""
    if path.suffix.lower() not in FRAMES:
        raise OptionError(f"outputs that end in {', '.join(FRAMES)}", str(path), "Choose one.")


def write_frame(frame: pd.DataFrame, path: Path) -> None:
    """Write a data frame in the format of the file's ending."""
    with write_atomically(path) as draft, _installed(path):
        FRAMES[path.suffix.lower()](frame, draft)


@contextmanager
def _installed(path: Path) -> Iterator[None]:
    try:
        yield
    except ImportError as error:
        raise MissingDependencyError(
            f"the package that writes {path.suffix} files", str(error), "Write a .csv file."
        ) from error


def write_table(result: Inference, path: Path, level: float, joint: bool) -> None:
    """Write the coefficients in the format of the file's ending."""
    with write_atomically(path) as draft, _installed(path):
        if path.suffix.lower() == SHEET:
            _write_sheet(_cells(result, level, joint), draft, index_label="term")
        else:
            text = TABLES[path.suffix.lower()](result, level, joint)
            draft.write_text(text, encoding="utf-8")


def as_json(result: Inference, level: float, joint: bool) -> str:
    """Return the result as JSON, for other programs."""
    frame = result.to_frame(level, joint)
    coefficients = [
        {"term": str(term), **{key: _finite(value) for key, value in row.items()}}
        for term, row in frame.to_dict("index").items()
    ]
    trust = result.trust()
    content: dict[str, Any] = {
        "model": result.provenance.model,
        "outcome": result.outcome,
        "rows": result.n,
        "level": level,
        "joint": joint,
        "covariance": result.vcov_type,
        "seed": result.seed,
        "provenance": asdict(result.provenance),
        "notes": list(result.notes),
        "coefficients": coefficients,
        "trust": {
            "verdict": trust.verdict,
            "checks": [vars(check) for check in trust.checks],
        },
    }
    return json.dumps(content, indent=2, ensure_ascii=False)


def _finite(value: Any) -> float | None:
    number = float(value)
    return number if abs(number) < float("inf") else None  # JSON has neither NaN nor infinity
