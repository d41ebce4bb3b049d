"""Data frames, and objects of other packages, as parts that files can hold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from debinet.exceptions import FileFormatError, StorageError


def frame_parts(frame: pd.DataFrame) -> dict[str, Any]:
    """Return names, columns and, for categories, their levels."""
    columns: list[Any] = []
    levels: dict[str, Any] = {}
    for name in frame.columns:
        column = frame[name]
        if isinstance(column.dtype, pd.CategoricalDtype):
            levels[name] = {
                "levels": _values(column.cat.categories, name),
                "ordered": bool(column.cat.ordered),
            }
            columns.append(column.cat.codes.to_numpy())
        else:
            columns.append(_values(column, name))
    return {"names": list(frame.columns), "columns": columns, "categories": levels}


def make_frame(parts: dict[str, Any]) -> pd.DataFrame:
    """Return the frame of `frame_parts`."""
    made: dict[str, Any] = {}
    for name, column in zip(parts["names"], parts["columns"], strict=True):
        if name in parts["categories"]:
            kind = parts["categories"][name]
            made[name] = pd.Categorical.from_codes(
                column, categories=kind["levels"], ordered=kind["ordered"]
            )
        else:
            made[name] = column
    return pd.DataFrame(made)


def _values(column: Any, name: str) -> Any:
    values = np.asarray(column)
    if values.dtype.kind in "biuf":
        return values
    if values.dtype.kind in "OU" and all(isinstance(value, str) for value in values):
        return values.astype(object)
    raise StorageError(
        "columns of numbers, texts or categories",
        f"column {name!r} of {column.dtype}",
        "Convert the column before the fit.",
    )


def foreign_parts(value: Any) -> dict[str, Any]:
    """Return an object of another package as bytes, or raise an error if it cannot be written."""
    from skops import io

    try:
        data = io.dumps(value)
    except Exception as error:  # whatever goes wrong, it cannot be written
        raise StorageError(
            "a model whose parts can be written without pickle",
            f"{type(value).__module__}.{type(value).__name__} ({type(error).__name__}: {error})",
            "Save only the result, result_.save(path), which needs no learner.",
        ) from error
    return {"bytes": np.frombuffer(data, dtype=np.uint8)}


def make_foreign(parts: dict[str, Any], trusted: bool) -> Any:
    """Return the object; `trusted` allows classes that skops does not trust."""
    from skops import io

    data = np.asarray(parts["bytes"], dtype=np.uint8).tobytes()
    unknown = io.get_untrusted_types(data=data)
    if unknown and not trusted:
        raise FileFormatError(
            "a file of plain data, or trusted=True",
            f"one with objects of {', '.join(unknown)}",
            "If you trust whoever made the file, use dn.load(path, trusted=True), or --trusted on "
            "the command line. A file made to do harm could then run code.",
        )
    return io.loads(data, trusted=unknown)
