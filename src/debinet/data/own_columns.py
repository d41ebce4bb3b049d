"""Columns that a user passes beside X, and controls by name as they were before coding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np

from debinet.data.checks import require_length
from debinet.data.schema import Schema, unknown_column
from debinet.data.tables import Table, read_table
from debinet.exceptions import OptionError
from debinet.protocols import FloatArray


def read_own_columns(columns: Any, n: int, name: str) -> Table:
    """Read a series, an array or a data frame of n rows; `name` is that of an unnamed column."""
    series = nw.from_native(columns, allow_series=True, pass_through=True)
    if isinstance(series, nw.Series):
        own = series.name
        columns = series.alias(name if own is None or own == "" else str(own)).to_frame()
        columns = columns.to_native()
    elif np.ndim(columns) == 1:
        columns = np.asarray(columns)[:, None]
        table = read_table(columns)
        table = Table((name,), table.values, table.text)
        require_length(table.n, n, name)
        return table
    table = read_table(columns)
    require_length(table.n, n, name)
    return table


def controls_by_name(schema: Schema, Z: FloatArray, names: Sequence[str]) -> Table:
    """Return controls with these names, texts decoded, from coded rows (n, p)."""
    values = np.zeros((len(Z), len(names)))
    text = {}
    for k, name in enumerate(names):
        j = _find_control(schema, name)
        own = [c for c, (source, _) in enumerate(schema.control_columns) if source == j]
        if j in schema.levels:
            levels = np.array(schema.levels[j], dtype=object)
            # Of two categories only the second has a column.
            code = Z[:, own].argmax(axis=1) if len(own) > 1 else Z[:, own[0]].astype(np.int64)
            text[k] = levels[code]
        else:
            values[:, k] = Z[:, own[0]]
    return Table(tuple(names), values, text)


def _find_control(schema: Schema, name: str) -> int:
    if name in schema.treatment_names:
        raise OptionError(
            "controls for effects to vary with",
            f"the treatment {name!r}",
            "Name a column that is not among the treatments.",
        )
    if name not in schema.names:
        controls = [one for one in schema.names if one not in schema.treatment_names]
        raise unknown_column(name, controls, "names of controls")
    return schema.names.index(name)
