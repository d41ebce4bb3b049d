"""Read numpy, pandas, polars or arrow data into one table with named columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import sparse

from debinet.data.number_text import require_no_number_text
from debinet.exceptions import (
    ColumnTypeError,
    DuplicateColumnError,
    EmptyInputError,
    InputError,
    MissingValueError,
)
from debinet.protocols import FloatArray


@dataclass(frozen=True)
class Table:
    """A matrix X whose columns are numbers or text.

    Attributes
    ----------
    names : tuple of str
        Names of the `p` columns; `x0, x1, ...` when the data had none.
    values : FloatArray of shape (n, p)
        The numeric columns; the columns in `text` hold zeros here.
    text : mapping from int to object array of shape (n,)
        The categorical and text columns, by position, as strings.
    labels : tuple, optional
        The columns' own labels, which need not be strings, if the data had any.
    declared : mapping from int to tuple of str
        The categories of categorical columns, in their own order.
    """

    names: tuple[str, ...]
    values: FloatArray
    text: Mapping[int, npt.NDArray[np.object_]]
    labels: tuple[Any, ...] | None = None
    declared: Mapping[int, tuple[str, ...]] = field(default_factory=dict)

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.values)


def read_table(X: Any, *, copy: bool = True) -> Table:
    """Read a two-dimensional data set; every cell must be present and finite.

    Without `copy`, numbers may remain in the memory of X.
    """
    if sparse.issparse(X):
        raise ColumnTypeError(
            "a dense matrix or data frame",
            f"a sparse {type(X).__name__}",
            "Convert it with X.toarray(): sparse input is not supported.",
        )
    if not isinstance(X, np.ndarray) and hasattr(X, "num_columns") and hasattr(X, "to_pandas"):
        X = X.to_pandas()  # an arrow record batch, which narwhals does not read
    if isinstance(X, pd.DataFrame):
        require_distinct_names([str(label) for label in X.columns])  # narwhals would not name them
    native = nw.from_native(X, pass_through=True)
    if isinstance(native, nw.LazyFrame):
        raise ColumnTypeError(
            "data in memory", f"a lazy {type(X).__name__}", "Call .collect() on it first."
        )
    if isinstance(X, np.ndarray) or not isinstance(native, nw.DataFrame):
        table = _read_matrix(X, copy=copy)
    else:
        table = _read_frame(native, copy=copy)
    _require_finite(table)
    return table


def read_vector(v: Any, role: str) -> tuple[FloatArray, str | None]:
    """Read a numeric vector such as y, with its name if it has one."""
    series = nw.from_native(v, allow_series=True, pass_through=True)
    name = str(series.name) if isinstance(series, nw.Series) and series.name is not None else None
    if isinstance(series, nw.DataFrame) and len(series.columns) == 1:
        series = series[series.columns[0]]
        name = str(series.name)
    raw = series.to_numpy() if isinstance(series, nw.Series) else _as_array(v)
    if raw.ndim != 1:
        raise InputError(
            f"{role} to have one dimension",
            f"an array of shape {raw.shape}",
            "Pass a single column.",
        )
    values, text = _read_column(raw, role)
    if text is not None:
        require_no_number_text(text, role)
        raise ColumnTypeError(
            f"{role} to be numeric", "text", "Code it as numbers, for example 0 and 1."
        )
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        raise MissingValueError(
            f"finite values in {role}",
            f"NaN or infinity (inf) in {bad.size} rows, the first of them row {bad[0]}",
            "Drop or impute those rows first; nothing is dropped silently.",
        )
    return values, name


def _as_array(X: Any) -> npt.NDArray[Any]:
    if np.ma.isMaskedArray(X) and np.ma.getmaskarray(X).any():
        raise MissingValueError(
            "no missing values",
            f"{int(np.ma.getmaskarray(X).sum())} masked values (NaN)",
            "Drop or impute those rows first; nothing is dropped silently.",
        )
    try:
        array = np.asarray(X)
    except (ValueError, TypeError) as error:
        raise ColumnTypeError(
            "a rectangular array or a data frame",
            f"{type(X).__name__}: {error}",
            "Convert the data to a numpy array or a data frame first.",
        ) from error
    if np.iscomplexobj(array):
        raise ColumnTypeError(
            "real numbers", "complex numbers", "Complex data not supported: take real parts."
        )
    return array


def _read_matrix(X: Any, *, copy: bool) -> Table:
    array = _as_array(X)
    if array.ndim != 2:
        raise InputError(
            "X to be a 2D array or a data frame",
            f"an array of {array.ndim} dimensions",
            "Reshape your data, with one row per observation and one column per feature.",
        )
    n, p = array.shape
    _require_size(n, p)
    names = tuple(f"x{j}" for j in range(p))
    if array.dtype.kind in "biuf":
        return Table(names, array.astype(np.float64, copy=copy), {})
    return _assemble(names, [array[:, j] for j in range(p)], n)


def _read_frame(frame: nw.DataFrame[Any], *, copy: bool) -> Table:
    labels = list(frame.columns)
    names = tuple(str(label) for label in labels)
    _require_size(frame.shape[0], len(names))
    require_distinct_names(names)
    numbers = _all_numbers(frame, copy=copy)
    if numbers is not None:
        return Table(names, numbers, {}, tuple(labels))
    columns = []
    declared = {}
    for j, (name, series) in enumerate(zip(names, frame.iter_columns(), strict=True)):
        kind = series.dtype
        if kind == nw.Boolean or kind.is_numeric():
            columns.append(series.cast(nw.Float64).to_numpy())
        elif kind in (nw.Categorical, nw.Enum):
            columns.append(series.cast(nw.String).to_numpy())
            declared[j] = _categories(series)
        elif kind in (nw.String, nw.Object, nw.Unknown):
            columns.append(series.to_numpy())
        else:
            raise _not_a_column(name, str(kind))
    table = _assemble(names, columns, frame.shape[0])
    return replace(table, labels=tuple(labels), declared=declared)


def _categories(series: nw.Series[Any]) -> tuple[str, ...]:
    """Return the categories of a column in the order that was declared, if one was."""
    native = series.to_native()
    if isinstance(native, pd.Series):
        return tuple(map(str, native.cat.categories))
    if isinstance(series.dtype, nw.Enum):
        return tuple(series.dtype.categories)
    return ()


def _all_numbers(frame: nw.DataFrame[Any], *, copy: bool) -> FloatArray | None:
    """Return a frame of plain numbers in one step, which is fast for many columns, or None."""
    if not all(kind.is_float() or kind.is_integer() for kind in frame.schema.values()):
        return None
    values = frame.to_numpy()
    # columns with their own marker of missing values become objects
    return values.astype(np.float64, copy=copy) if values.dtype.kind in "iuf" else None


def _assemble(names: tuple[str, ...], columns: list[npt.NDArray[Any]], n: int) -> Table:
    values = np.zeros((n, len(names)))
    text = {}
    for j, (name, column) in enumerate(zip(names, columns, strict=True)):
        numbers, strings = _read_column(column, name)
        if strings is None:
            values[:, j] = numbers
        else:
            text[j] = strings
    return Table(names, values, text)


def _read_column(
    column: npt.NDArray[Any], name: str
) -> tuple[FloatArray, npt.NDArray[np.object_] | None]:
    """Return (numbers, None) or (anything, strings)."""
    if column.dtype.kind in "biuf":
        return column.astype(np.float64), None
    if column.dtype.kind == "c":
        raise _not_a_column(name, "complex numbers; Complex data not supported")
    if column.dtype.kind == "U":
        column = column.astype(object)
    if column.dtype.kind != "O":
        raise _not_a_column(name, str(column.dtype))
    missing = np.asarray(pd.isna(column))
    present = column[~missing]
    if all(isinstance(v, str) for v in present) and present.size:
        if missing.any():
            raise MissingValueError(
                f"no missing values in {name!r}",
                f"{int(missing.sum())} missing (NaN or None), first in row {missing.argmax()}",
                "Drop those rows, or give missing a category of its own.",
            )
        return np.zeros(0), column
    numbers = np.full(column.shape, np.nan)
    try:
        numbers[~missing] = [float(v) for v in present]
    except (TypeError, ValueError, OverflowError) as error:
        kinds = sorted({type(v).__name__ for v in present if not isinstance(v, Real)})
        raise _not_a_column(
            name, f"{', '.join(kinds)}: argument must be a string or a real number"
        ) from error
    return numbers, None


def _not_a_column(name: str, what: str) -> ColumnTypeError:
    return ColumnTypeError(
        f"column {name!r} to be numeric, boolean, categorical or text",
        what,
        "Convert it to numbers (dates, for example, to days since a start) or drop it.",
    )


def require_distinct_names(names: Sequence[str], where: str = "the data") -> None:
    """Require that no two columns share a name."""
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise DuplicateColumnError(
            f"every column of {where} to have its own name",
            f"repeated names {repeated[:5]}",
            "Rename or drop the repeated columns.",
        )


def _require_size(n: int, p: int) -> None:
    if n == 0 or p == 0:
        raise EmptyInputError(
            "data with rows and columns",
            f"{n} sample(s) and {p} feature(s) (shape=({n}, {p})) while a minimum of 1 is required",
            "Check how the data were read or filtered.",
        )


def _require_finite(table: Table) -> None:
    finite = np.isfinite(table.values)
    if finite.all():
        return
    columns = np.flatnonzero(~finite.all(axis=0))
    first = columns[0]
    rows = np.flatnonzero(~finite[:, first])
    named = ", ".join(repr(table.names[j]) for j in columns[:5])
    raise MissingValueError(
        "finite values everywhere",
        f"NaN or infinity (inf) in {columns.size} column(s): {named}; "
        f"in {table.names[first]!r} first in row {rows[0]} ({rows.size} rows)",
        "Drop or impute those rows first; nothing is dropped or imputed silently.",
    )


def require_numbers(table: Table) -> None:
    """Require that no column is text, for models with a coefficient per column."""
    if table.text:
        named = ", ".join(repr(table.names[j]) for j in list(table.text)[:5])
        raise ColumnTypeError(
            "columns of numbers, each of which has a coefficient",
            f"text in {named}",
            "Code the categories as 0-1 columns first, for example with pandas.get_dummies and "
            "drop_first=True; GroupLasso selects them together.",
        )
