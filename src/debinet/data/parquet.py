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
    require_known,
    require_request,
    require_rows,
    same_kinds,
)
from debinet.data.tables import require_distinct_names
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
_BUFFER = 2**17  # bytes read ahead per column; without it, a whole column of the row group


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
        Size in bytes and time of the last change in nanoseconds when the file was opened first.
    folders : mapping from str to pyarrow.Scalar
        Columns that are not in the file but in the names of its folders, such as year=2020.
    """

    number: int
    offset: int
    rows: int
    where: str
    file: str
    group: int
    stamp: tuple[int, int]
    folders: Mapping[str, Any]

    def batches(self, columns: Sequence[str], size: int) -> Iterator[tuple[int, Any]]:
        """Read the row group, page by page; see `Piece.batches`."""
        require_request(columns, size)
        pa, pq = import_arrow("pyarrow"), import_arrow("pyarrow.parquet")
        if _stamp(self.file, self.where) != self.stamp:
            raise InputError(
                f"{self.where} to stay as it was when the data were opened",
                "a file that has been changed since",
                "Fit again, and leave the files alone until the fit is done.",
            )
        stored = [name for name in columns if name not in self.folders]
        start = 0
        try:
            # A scanner of pyarrow.dataset would hold the whole row group, not one batch of it.
            with pq.ParquetFile(
                self.file, pre_buffer=False, buffer_size=_BUFFER, page_checksum_verification=True
            ) as file:
                known = file.schema_arrow.names
                require_known(stored, known, self.where)
                for batch in file.iter_batches(size, [self.group], stored or known[:1]):
                    arrays = [
                        pa.repeat(self.folders[name], batch.num_rows)
                        if name in self.folders
                        else batch.column(name)
                        for name in columns
                    ]
                    if batch.num_rows:
                        yield start, pa.Table.from_arrays(arrays, names=list(columns))
                        start += batch.num_rows
        except DebiNetError:
            raise
        except MemoryError as error:
            raise MemoryLimitError(
                f"memory for {size} rows of {len(columns)} columns of {self.where}",
                f"less ({error})",
                "Read smaller batches; if they are small already, the file is damaged.",
            ) from error
        except Exception as error:  # a damaged page can fail in any way; all mean the same
            raise _damaged(self.where, f"{type(error).__name__}: {error}") from error
        if start != self.rows:
            raise _damaged(self.where, f"{start} rows instead of {self.rows}")


@dataclass(frozen=True)
class ParquetFiles:
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


def find_files(items: Sequence[str | os.PathLike[str]]) -> ParquetFiles:
    """Find the files that paths, folders and patterns refer to."""
    expanded = [_expand(item) for item in items]
    paths = [path for _, found in expanded for path in found]
    try:
        base = Path(os.path.commonpath([root for root, _ in expanded]))
    except ValueError:  # several drives
        base = Path(paths[0].anchor)
    (name, count), *_ = Counter(os.path.realpath(path) for path in paths).most_common(1)
    if count > 1:
        raise InputError(
            "every file once, since rows that count twice make intervals too short",
            f"{Path(name).name!r} {count} times",
            "Remove the repeated path or link.",
        )
    return ParquetFiles(tuple(sorted(paths, key=_natural)), base)


def _natural(path: Path) -> tuple[list[list[str | int]], str]:
    """Return a key that sorts part-2 before part-10."""
    split = [re.split(r"([0-9]+)", part) for part in path.parts]
    return [[int(s) if i % 2 else s for i, s in enumerate(part)] for part in split], str(path)


def _expand(item: str | os.PathLike[str]) -> tuple[Path, list[Path]]:
    """Return the folder a path, folder or pattern starts from, and the files it refers to."""
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
            "a Parquet file, a folder with Parquet files, or a pattern that matches some",
            f"{os.fspath(item)!r}, which gives none",
            f"Check the path. In folders, files that end in {', '.join(_ENDINGS)} are read, except "
            "those whose name, or folder's name, starts with _ or a dot. For data that are not in "
            "local files, pass a function that yields data frames.",
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
    """What is kept of a file's footer; `groups` has the rows of every row group."""

    file: Path
    where: str
    stamp: tuple[int, int]
    groups: tuple[int, ...]
    folders: Mapping[str, str]


def parquet_source(files: ParquetFiles, label: str) -> Source:
    """Return one piece per row group; only the footers are read and compared.

    The first file says which columns there are; columns that only later files have are ignored. A
    column of the file takes precedence over one of the same name in the path.
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
    return Source(names, tuple(_cut(footers)), digest(stamps, names), label)


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
    require_distinct_names(schema.names, where)
    parts = [part.split("=", 1) for part in relative.parts[:-1] if "=" in part]
    folders = {unquote(k): unquote(v) for k, v in parts if unquote(k) not in schema.names}
    return _Footer(file, where, stamp, groups, folders), schema


def _cut(footers: Sequence[_Footer]) -> Iterator[ParquetPiece]:
    """Yield the row groups that have rows; folders are int64 if all their values are integers."""
    pa = import_arrow("pyarrow")
    values = {pair for footer in footers for pair in footer.folders.items() if pair[1] != _NULL}
    texts = {name for name, value in values if not re.fullmatch(r"-?[0-9]{1,18}", value)}
    number = offset = 0
    for footer in footers:
        folders = {}
        for name, value in footer.folders.items():
            typed = value if name in texts or value == _NULL else int(value)
            kind = pa.string() if name in texts else pa.int64()
            folders[name] = pa.scalar(None if value == _NULL else typed, kind)
        for group, rows in enumerate(footer.groups):
            if rows:
                where = f"{footer.where}, row group {group}"
                place = (str(footer.file), group, footer.stamp, folders)
                yield ParquetPiece(number, offset, rows, where, *place)
                number, offset = number + 1, offset + rows


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
        f"{where} to be part of an undamaged Parquet file",
        came.splitlines()[0].rstrip("."),
        "Write the file again. For other formats, pass a function that yields data frames, such as "
        "lambda: pandas.read_csv(path, chunksize=100_000).",
    )
