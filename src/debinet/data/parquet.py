"""Parquet files: found, compared by their footers, read row group by row group."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from glob import glob
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import narwhals as nw

from debinet.data.pieces import (
    Source,
    digest,
    import_arrow,
    missing_column,
    require_distinct,
    require_known,
    require_request,
    require_rows,
    same_kinds,
)
from debinet.exceptions import (
    DataNotFoundError,
    DebiNetError,
    FileFormatError,
    InputError,
    MemoryLimitError,
)

_ENDINGS = (".parquet", ".parq", ".pq")
_NULL = "__HIVE_DEFAULT_PARTITION__"
_PANDAS_INDEX = re.compile(r"__index_level_\d+__")  # row labels without a name, not data
_BUFFER = 2**17  # bytes per column that are read ahead; without it, a whole column of the group


@dataclass(frozen=True)
class Constant:
    """A column that is the name of a folder, such as year=2020.

    Attributes
    ----------
    value : int, str or None
        The same in every row.
    type : str
        "int64" or "string", in arrow's words.
    """

    name: str
    value: int | str | None
    type: str


@dataclass(frozen=True)
class ParquetPiece:
    """A row group of a file; see `Piece`.

    Attributes
    ----------
    file : str
        Absolute path.
    group : int
        Row group, from 0.
    stamp : tuple of (int, int)
        Bytes and nanoseconds of the last change when the file was opened first.
    constants : tuple of Constant
        Columns that are not in the file.
    """

    number: int
    offset: int
    rows: int
    where: str
    file: str
    group: int
    stamp: tuple[int, int]
    constants: tuple[Constant, ...] = ()

    def batches(self, columns: Sequence[str], size: int) -> Iterator[tuple[int, Any]]:
        """Stream the row group, page by page; see `Piece.batches`."""
        require_request(columns, size)
        if _stamp(self.file, self.where) != self.stamp:
            raise InputError(
                f"{self.where} to stay as it was when the data were opened",
                "a file that was changed since",
                "Fit again, and leave the files alone until the fit is done.",
            )
        folders = {constant.name for constant in self.constants}
        stored = [name for name in columns if name not in folders]
        start = 0
        for rows, frame in self._stored(stored, size) if stored else self._none_stored(size):
            yield start, self._arrange(frame, rows, columns)
            start += rows
        if start != self.rows:
            raise _damaged(self.where, f"{start} rows instead of {self.rows}")

    def _stored(self, names: Sequence[str], size: int) -> Iterator[tuple[int, Any]]:
        """Yield numbers of rows and record batches of columns that are in the file."""
        pq = import_arrow("pyarrow.parquet")
        try:
            with pq.ParquetFile(
                self.file, pre_buffer=False, buffer_size=_BUFFER, page_checksum_verification=True
            ) as parquet:
                require_known(names, parquet.schema_arrow.names, self.where)
                for batch in parquet.iter_batches(size, [self.group], list(dict.fromkeys(names))):
                    if batch.num_rows:
                        yield batch.num_rows, batch
        except DebiNetError:
            raise
        except MemoryError as error:
            raise MemoryLimitError(
                f"memory for {size} rows of {len(names)} columns of {self.where}",
                f"less ({error})",
                "Read smaller batches; if they are small already, the file is damaged.",
            ) from error
        except Exception as error:  # damaged pages can fail in any way; all mean the same
            raise _damaged(self.where, f"{type(error).__name__}: {error}") from error

    def _none_stored(self, size: int) -> Iterator[tuple[int, Any]]:
        for start in range(0, self.rows, size):
            yield min(size, self.rows - start), None

    def _arrange(self, frame: Any, rows: int, columns: Sequence[str]) -> Any:
        """Return a table with the columns in the order that was asked for."""
        pa = import_arrow("pyarrow")
        arrays = {
            c.name: pa.repeat(pa.scalar(c.value, getattr(pa, c.type)()), rows)
            for c in self.constants
            if c.name in columns
        }
        chosen = [arrays[name] if name in arrays else frame.column(name) for name in columns]
        return pa.Table.from_arrays(chosen, names=list(columns))


@dataclass(frozen=True)
class Files:
    """Parquet files that are one table.

    Attributes
    ----------
    paths : tuple of Path
        Absolute, sorted, numbers in names by their value.
    base : Path
        Folder below which key=value in a path is a column; names in errors start there.
    """

    paths: tuple[Path, ...]
    base: Path


def find_files(items: Sequence[str | os.PathLike[str]]) -> Files:
    """Find the files that paths, folders and patterns mean."""
    roots, paths = [], []
    for item in items:
        root, found = _expand(item)
        roots.append(root)
        paths += found
    try:
        base = Path(os.path.commonpath(roots))
    except ValueError:  # several drives
        base = Path(paths[0].anchor)
    (name, count), *_ = Counter(os.path.realpath(path) for path in paths).most_common(1)
    if count > 1:
        raise InputError(
            "every file once, since rows that count twice make intervals too short",
            f"{Path(name).name!r} {count} times",
            "Remove the repeated path or link.",
        )
    return Files(tuple(sorted(paths, key=_natural)), base)


def _natural(path: Path) -> tuple[list[list[str | int]], str]:
    """Return a key that sorts part-2 before part-10."""
    split = [re.split(r"([0-9]+)", part) for part in path.parts]
    return [[int(s) if i % 2 else s for i, s in enumerate(part)] for part in split], str(path)


def _expand(item: str | os.PathLike[str]) -> tuple[Path, list[Path]]:
    """Return the folder a path, folder or pattern starts from, and the files it means."""
    path = Path(os.path.abspath(os.path.expanduser(os.fspath(item))))
    if path.is_dir():
        root, found = path, _in_folder(path)
    elif path.exists():
        root, found = path.parent, [path]
    else:
        root = path
        while set("*?[") & set(str(root)):
            root = root.parent
        matches = [Path(match) for match in glob(str(path), recursive=True)] if root != path else []
        seen = [match for match in matches if not _hidden(match.relative_to(root))]
        both = [[match] if not match.is_dir() else _in_folder(match) for match in seen]
        found = list(dict.fromkeys(file for files in both for file in files))
    if not found:
        raise DataNotFoundError(
            "a Parquet file, a folder with some, or a pattern that matches some",
            f"{os.fspath(item)!r}, which gives none",
            f"Check the path. Of folders, files that end in {', '.join(_ENDINGS)} are read, and "
            "names that start with _ or . never. Data that are elsewhere than in local files: "
            "pass a function that yields data frames.",
        )
    return root, found


def _in_folder(folder: Path) -> list[Path]:
    files, visited = [], set()
    for place, folders, names in os.walk(folder, followlinks=True):
        visited.add(os.path.realpath(place))
        folders[:] = [
            name
            for name in folders
            if not _hidden(Path(name))
            and os.path.realpath(os.path.join(place, name)) not in visited  # links in a circle
        ]
        wanted = [name for name in names if name.lower().endswith(_ENDINGS)]
        files += [Path(place, name) for name in wanted if not _hidden(Path(name))]
    return files


def _hidden(path: Path) -> bool:
    return any(part[0] == "." or (part[0] == "_" and "=" not in part) for part in path.parts)


@dataclass(frozen=True)
class _Footer:
    """What the end of a file tells; `groups` has the rows of every row group."""

    file: Path
    where: str
    stamp: tuple[int, int]
    groups: tuple[int, ...]
    folders: Mapping[str, str]


def parquet_source(files: Files, label: str) -> Source:
    """Return one piece per row group, having read and compared the footers only.

    The first file says which columns there are; others that only later files have are ignored. A
    column of the file goes before one of the same name in the path.
    """
    kinds: dict[str, nw.dtypes.DType] = {}
    names: tuple[str, ...] = ()
    footers: list[_Footer] = []
    last = None
    for path in files.paths:
        footer, schema = _read_footer(path, files.base)
        own = [name for name in schema.names if not _PANDAS_INDEX.fullmatch(name)]
        if not names:
            names = (*own, *footer.folders)
        lacking = set(names) - set(own) - set(footer.folders)
        if lacking:
            raise missing_column(min(lacking, key=names.index), footer.where)
        if last is None or not schema.equals(last):
            types = dict(nw.from_native(schema.empty_table()).schema)
            shared = {name: kinds[name] for name in kinds if name in types}
            kinds.update(same_kinds(shared, types, footer.where))
            kinds.update({name: types[name] for name in own if name in names and name not in kinds})
            last = schema
        footers.append(footer)
    require_rows(sum(sum(footer.groups) for footer in footers), len(names), label)
    stamps = [(footer.where, footer.stamp, footer.groups) for footer in footers]
    return Source(names, tuple(_cut(footers, names)), digest(stamps, names), label)


def _read_footer(file: Path, base: Path) -> tuple[_Footer, Any]:
    """Return what is kept of a footer, and the schema."""
    pq = import_arrow("pyarrow.parquet")
    relative = file.relative_to(base)
    where = relative.as_posix()
    stamp = _stamp(str(file), where)
    try:
        metadata = pq.read_metadata(file)
        schema = metadata.schema.to_arrow_schema()
        groups = tuple(metadata.row_group(g).num_rows for g in range(metadata.num_row_groups))
    except Exception as error:  # a damaged file can fail in any way; all mean the same
        raise _damaged(where, f"{type(error).__name__}: {error}") from error
    require_distinct(schema.names, where)
    parts = [part.split("=", 1) for part in relative.parts[:-1] if "=" in part]
    folders = {unquote(k): unquote(v) for k, v in parts if unquote(k) not in schema.names}
    return _Footer(file, where, stamp, groups, folders), schema


def _cut(footers: Sequence[_Footer], names: Sequence[str]) -> Iterator[ParquetPiece]:
    """Yield the row groups that have rows."""
    texts = {v for footer in footers for v in footer.folders.items() if not _is_integer(v[1])}
    textual = {name for name, value in texts if value != _NULL}
    number = offset = 0
    for footer in footers:
        constants = tuple(
            Constant(
                name,
                None if value == _NULL else value if name in textual else int(value),
                "string" if name in textual else "int64",
            )
            for name, value in footer.folders.items()
            if name in names
        )
        for group, rows in enumerate(footer.groups):
            if rows:
                where = f"{footer.where}, row group {group}"
                place = (str(footer.file), group, footer.stamp, constants)
                yield ParquetPiece(number, offset, rows, where, *place)
                number, offset = number + 1, offset + rows


def _is_integer(text: str) -> bool:
    return re.fullmatch(r"-?[0-9]{1,18}", text) is not None


def _stamp(file: str, where: str) -> tuple[int, int]:
    try:
        stat = os.stat(file)
    except OSError as error:
        raise DataNotFoundError(
            f"the file of {where}",
            f"none that can be read ({error.strerror})",
            "Do not move or remove files while they are read; workers on other machines need the "
            "same paths.",
        ) from error
    return stat.st_size, stat.st_mtime_ns


def _damaged(where: str, came: str) -> FileFormatError:
    return FileFormatError(
        f"{where} to be of an undamaged Parquet file",
        came.splitlines()[0].rstrip("."),
        "Write the file again. Of other formats, pass a function that yields data frames, such as "
        "lambda: pandas.read_csv(path, chunksize=100_000).",
    )
