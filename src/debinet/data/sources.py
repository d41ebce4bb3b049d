"""Open files, frames, iterators and lazy tables as data that can be read several times."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from hashlib import file_digest
from inspect import signature
from itertools import chain
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import Any
from weakref import finalize

import narwhals as nw
import pandas as pd

from debinet.data.parquet import ParquetFiles, ParquetPiece, find_files, parquet_source
from debinet.data.pieces import (
    Source,
    digest,
    frame_names,
    frames_source,
    import_arrow,
    is_frame,
    require_rows,
    same_kinds,
)
from debinet.data.tables import require_distinct_names
from debinet.exceptions import ColumnTypeError, EmptyInputError, InputError, OptionError

_GROUP_ROWS = 2**18
_GROUP_BYTES = 2**27  # tables with many columns get fewer rows per group
_READERS = ("to_arrow_reader", "fetch_record_batch")  # of DuckDB, new and old


def open_source(data: Any) -> Source:
    """Open data that may be larger than memory.

    Parameters
    ----------
    data : path, data frame, list of either, iterator, function or lazy table
        A Parquet file, a folder (searched recursively) or a pattern such as
        ``"data/**/*.parquet"``; folders named ``key=value`` become a column ``key``. A pandas,
        polars or arrow table. Iterators of tables, functions without arguments that return one,
        lazy polars frames and DuckDB relations are read once, into a temporary Parquet file in
        `tempfile.gettempdir()`.

    Returns
    -------
    source : Source
        To be used in a `with` statement, which removes the temporary file.
    """
    if isinstance(data, (str, os.PathLike)):
        return parquet_source(find_files([data]), str(data))
    if isinstance(data, (list, tuple)):
        return _open_list(list(data))
    if is_frame(data):
        return frames_source([data], f"a {type(data).__name__}")
    write = _writer(data)
    if write is None:
        raise _not_data(f"a {type(data).__name__} of {type(data).__module__}")
    return _spool(f"a {type(data).__name__}", write)


def _writer(data: Any) -> Callable[[Path], None] | None:
    """Return a function that writes data which can be read only once to a file, or None."""
    reader = next((getattr(data, name) for name in _READERS if hasattr(data, name)), None)
    if reader is not None:
        return lambda file: _write(reader(), file)
    if _is_lazy_polars(data):
        return lambda file: _sink(data, file)
    if hasattr(data, "__next__"):
        return lambda file: _write(data, file)
    if callable(data) and _takes_nothing(data):
        return lambda file: _write(_call(data), file)
    return None


def _open_list(items: list[Any]) -> Source:
    if items and all(isinstance(item, (str, os.PathLike)) for item in items):
        files = find_files(items)
        many = len(files.paths) != 1
        return parquet_source(files, f"{len(files.paths)} Parquet file{'s' if many else ''}")
    if items and all(is_frame(item) for item in items):
        return frames_source(items, f"{len(items)} data frame{'s' if len(items) > 1 else ''}")
    kinds = sorted({type(item).__name__ for item in items})
    raise _not_data(f"a list of {', '.join(kinds)}" if kinds else "an empty list")


def _not_data(came: str) -> OptionError:
    return OptionError(
        "the path of a Parquet file, a folder or a pattern; a pandas, polars or arrow table; a "
        "list of paths or of tables; an iterator of tables or a function without arguments that "
        "returns one; a lazy polars frame or a DuckDB relation",
        came,
        "Pass one of these.",
    )


def _is_lazy_polars(data: Any) -> bool:
    native = nw.from_native(data, pass_through=True)
    return isinstance(native, nw.LazyFrame) and native.implementation.is_polars()


def _takes_nothing(function: Callable[..., Any]) -> bool:
    try:
        signature(function).bind()
    except TypeError:
        return False
    except ValueError:  # a built-in function without a signature
        pass
    return True


def _call(function: Callable[[], Any]) -> Iterable[Any]:
    result = function()
    if is_frame(result):
        return [result]
    if isinstance(result, (str, bytes, dict)) or not hasattr(result, "__iter__"):
        raise _not_data(f"a function that returns a {type(result).__name__}")
    frames: Iterator[Any] = iter(result)
    return frames


def _spool(label: str, write: Callable[[Path], None]) -> Source:
    """Write data to a temporary file and open it; remove the file if anything goes wrong."""
    import_arrow("pyarrow")
    folder = Path(mkdtemp(prefix="debinet-"))
    try:
        file = folder / "rows.parquet"
        write(file)
        written = parquet_source(ParquetFiles((file,), folder), label)
        with file.open("rb") as stream:
            content = file_digest(stream, "sha256").hexdigest()
    except BaseException:
        rmtree(folder, ignore_errors=True)
        raise
    pieces = tuple(
        replace(piece, where=f"rows {piece.offset} to {piece.offset + piece.rows - 1} of {label}")
        for piece in written.pieces
        if isinstance(piece, ParquetPiece)
    )
    source = Source(written.names, pieces, digest(content), label, folder)
    finalize(source, _remove, folder, os.getpid())  # in case it is not closed
    return source


def _remove(folder: Path, process: int) -> None:
    if os.getpid() == process:  # a forked child must not remove its parent's files
        rmtree(folder, ignore_errors=True)


def _group_rows(columns: int) -> int:
    return max(1, min(_GROUP_ROWS, _GROUP_BYTES // (8 * max(columns, 1))))


def _sink(lazy: Any, file: Path) -> None:
    rows = _group_rows(len(lazy.collect_schema()))
    lazy.sink_parquet(file, compression="zstd", compression_level=1, row_group_size=rows)


def _write(frames: Iterable[Any], file: Path) -> None:
    """Write data frames, holding one of them and at most one row group in memory."""
    pa, pq = import_arrow("pyarrow"), import_arrow("pyarrow.parquet")
    tables = _alike(frames)
    first = next(tables, None)
    if first is None:
        raise EmptyInputError("data frames with rows", "none", "Check the iterator or function.")
    group = _group_rows(first.num_columns)
    repeating = [f.name for f in first.schema if not pa.types.is_floating(f.type)]
    with pq.ParquetWriter(
        file,
        first.schema,
        compression="zstd",
        compression_level=1,
        use_dictionary=repeating,  # useless for floats, and it doubles the time
        write_page_checksum=True,
    ) as writer:
        waiting, rows = [], 0
        for table in chain([first], tables):
            waiting.append(table)
            rows += table.num_rows
            if rows >= group:
                joined = pa.concat_tables(waiting)
                whole = rows // group * group
                writer.write_table(joined.slice(0, whole), row_group_size=group)
                waiting, rows = [joined.slice(whole)], rows - whole
        if rows:
            writer.write_table(pa.concat_tables(waiting), row_group_size=group)


def _alike(frames: Iterable[Any]) -> Iterator[Any]:
    """Yield arrow tables with the columns and types of the first, skipping empty ones."""
    schema = types = None
    for number, frame in enumerate(frames):
        where = f"data frame {number}"
        table = _as_arrow(frame, where)
        if not len(frame):
            continue
        require_rows(len(frame), table.num_columns, where)
        current = dict(nw.from_native(table).schema)
        if schema is None or types is None:
            schema, types = _plain(table.schema), current
        added = [name for name in current if name not in types]
        if added:
            raise InputError(
                f"the {len(types)} columns of the first data frame in every other",
                f"{where} with a column {added[0]!r} as well",
                "Give all data frames the same columns.",
            )
        same_kinds(types, current, where)
        columns = [_cast(table.column(field.name), field, where) for field in schema]
        yield import_arrow("pyarrow").Table.from_arrays(columns, schema=schema)


def _as_arrow(frame: Any, where: str) -> Any:
    pa = import_arrow("pyarrow")
    if not is_frame(frame):
        raise InputError(
            "an iterator of pandas, polars or arrow tables",
            f"a {type(frame).__name__} as {where}",
            "Convert each to a data frame; for paths, give a list.",
        )
    names = [str(name) for name in frame_names(frame)]
    require_distinct_names(names, where)
    if isinstance(frame, pa.RecordBatch):
        return pa.Table.from_batches([frame])
    if not isinstance(frame, pd.DataFrame):
        return nw.from_native(frame, eager_only=True).to_arrow()
    try:
        return pa.Table.from_pandas(frame.set_axis(names, axis=1), preserve_index=False)
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise ColumnTypeError(
            f"columns of one type each in {where}", str(error), "Convert or drop the column."
        ) from error


def _plain(schema: Any) -> Any:
    """Return a schema with categories as text, since their codes may differ between frames."""
    pa = import_arrow("pyarrow")
    fields = [
        pa.field(field.name, pa.string() if pa.types.is_dictionary(field.type) else field.type)
        for field in schema
    ]
    return pa.schema(fields)


def _cast(column: Any, field: Any, where: str) -> Any:
    """Return a column in the type of the first frame, if no information is lost."""
    pa = import_arrow("pyarrow")
    try:
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        floats = pa.types.is_floating(column.type) and pa.types.is_floating(field.type)
        if not (floats and column.type.bit_width > field.type.bit_width):
            return column.cast(field.type)
        reason = "which has more digits"
    except pa.ArrowException as error:
        reason = str(error).splitlines()[0]
    raise ColumnTypeError(
        f"column {field.name!r} to be {field.type} in every data frame, as in the first",
        f"{column.type} in {where} ({reason})",
        "Give the column one type everywhere, for example with `dtype` of pandas.read_csv.",
    )
