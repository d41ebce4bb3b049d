"""Text in cells that spreadsheets would run as a formula."""

from __future__ import annotations

import re
from typing import Any

import pandas as pd

# How formulas begin in spreadsheets, also after a tab or a line's end; not those of numbers.
_FORMULA = re.compile(r"(?![+-]?[\d.,]+(?:[eE][+-]?\d+)?$)[=+\-@\t\r\n]")


def plain_cells(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame whose texts, names included, are no formulas: those get an apostrophe."""
    texts = frame.select_dtypes(exclude=["number", "bool", "datetime", "timedelta"]).columns
    made = frame.copy()
    for name in texts:
        made[name] = frame[name].astype(object).map(_plain)
    made.columns = pd.Index([_plain(name) for name in frame.columns])
    made.index = frame.index.map(_plain)
    return made


def _plain(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and _FORMULA.match(value) else value
