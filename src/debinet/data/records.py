"""Objects as plain JSON and named arrays, and back; only for classes of the registry.

Every record is written once, however often it is referred to, and refers to records before it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from os import PathLike
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np

from debinet.data.archive import write_archive
from debinet.data.arrays import require
from debinet.data.frames import foreign_parts, make_foreign
from debinet.data.registry import CLASSES, FINITE, find_class, name_of

FOREIGN = "foreign"
# What predictions do not need.
_LEFT_OUT = {"selector_"}


@runtime_checkable
class CustomRecord(Protocol):
    """A class that defines which of its parts are saved."""

    def to_parts(self) -> Mapping[str, Any]:
        """Return what is to be written, by name."""

    @classmethod
    def from_parts(cls, parts: dict[str, Any]) -> Self:
        """Return the object, or raise if the parts are not valid."""


def save_object(value: Any, path: str | PathLike[str]) -> None:
    """Write an object, whole or not at all."""
    header, arrays = pack(value)
    write_archive(path, header, arrays)


def pack(value: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a header of plain JSON, and arrays."""
    packer = _Packer()
    root = packer.pack(value)
    return {"root": root, "records": packer.records}, packer.arrays


def unpack(header: Mapping[str, Any], arrays: Any, trusted: bool = False) -> Any:
    """Return the object from which `pack` made `header` and `arrays`.

    Parameters
    ----------
    header : mapping
    arrays : mapping from str to array
    trusted : bool
        Whether objects of other packages that are more than plain data may be created.
    """
    return Unpacker(header["records"], arrays, trusted).unpack(header["root"])


def estimator_parts(value: Any) -> dict[str, Any]:
    """Return the parameters of an estimator and what fit has set.

    A generator has advanced since the fit: the seed that repeats the fit, if known, replaces it.
    """
    parameters = value.get_params(deep=False)
    state = {k: v for k, v in vars(value).items() if k not in {*parameters, *_LEFT_OUT}}
    seed = getattr(state.get("result_"), "seed", None)
    generators = (np.random.Generator, np.random.RandomState)
    kept = {k: seed if isinstance(v, generators) else v for k, v in parameters.items()}
    return {"parameters": kept, "state": state}


def make_estimator(kind: Any, parts: Mapping[str, Any]) -> Any:
    """Return the estimator of `estimator_parts`."""
    estimator = kind(**parts["parameters"])
    for name, value in parts["state"].items():
        # Never what the class itself defines, such as a method.
        defined = inspect.getattr_static(kind, name, None)
        allowed = name.isidentifier() and not name.startswith("__") and not callable(defined)
        require(allowed, f"attribute {name!r}")
        setattr(estimator, name, value)
    return estimator


class _Packer:
    def __init__(self) -> None:
        self.records: list[dict[str, Any]] = []
        self.arrays: dict[str, Any] = {}
        # By identity; the objects are kept too, as Python reuses the identities of deleted ones.
        self._seen: dict[int, tuple[Any, Any]] = {}

    def pack(self, value: Any) -> Any:
        if isinstance(value, np.generic):
            value = value.item()
        if value is None or isinstance(value, (bool, int, str)):
            return value
        if isinstance(value, float):
            # JSON has no infinity, and its readers need not keep every digit.
            return {"float": value.hex()}
        if isinstance(value, dict):
            return {"map": [[self.pack(part) for part in pair] for pair in value.items()]}
        if isinstance(value, (list, tuple, range)):
            kind = "tuple" if isinstance(value, tuple) else "list"
            return {kind: [self.pack(part) for part in value]}
        if id(value) not in self._seen:
            add = self._add_array if isinstance(value, np.ndarray) else self._add_record
            self._seen[id(value)] = (value, add(value))
        return self._seen[id(value)][1]

    def _add_array(self, value: Any) -> dict[str, str]:
        name = f"array{len(self.arrays)}"
        if value.dtype.kind != "O":
            self.arrays[name] = value
            return {"array": name}
        if not all(isinstance(one, str) for one in value.flat):
            raise TypeError("an array of Python objects")
        self.arrays[name] = value.astype(str)
        return {"texts": name}

    def _add_record(self, value: Any) -> dict[str, int]:
        name = name_of(value)
        if name is None:
            parts: Mapping[str, Any] = foreign_parts(value)
        elif isinstance(value, CustomRecord):
            parts = value.to_parts()
        elif is_dataclass(value):
            parts = {field.name: getattr(value, field.name) for field in fields(value)}
        else:
            parts = estimator_parts(value)
        packed = {part: self.pack(content) for part, content in parts.items()}
        self.records.append({"class": name or FOREIGN, "parts": packed})
        return {"record": len(self.records) - 1}


class Unpacker:
    """Creates objects from the records of a file when they are needed."""

    def __init__(self, records: list[Any], arrays: Any, trusted: bool = False) -> None:
        self.records, self._arrays, self._trusted = records, arrays, trusted
        self._made: dict[int, Any] = {}

    def unpack(self, tree: Any) -> Any:
        """Return the object that a part of the header stands for."""
        if not isinstance(tree, dict):
            require(tree is None or isinstance(tree, (bool, int, str)), "part")
            return tree
        ((kind, content),) = tree.items()
        require(kind in _READERS, f"kind {kind!r}")
        return _READERS[kind](self, content)

    def array(self, name: str) -> Any:
        """Return an array."""
        return self._arrays[name]

    def record(self, number: int) -> Any:
        """Return a record, the same object every time."""
        if number not in self._made:
            record = self.records[number]
            parts = {name: self.unpack(part) for name, part in record["parts"].items()}
            self._made[number] = self._make(str(record["class"]), parts)
        return self._made[number]

    def _make(self, name: str, parts: dict[str, Any]) -> Any:
        if name == FOREIGN:
            return make_foreign(parts, self._trusted)
        kind = find_class(name)
        if issubclass(kind, CustomRecord):
            return kind.from_parts(parts)
        if not is_dataclass(kind):
            return make_estimator(kind, parts)
        for field in fields(kind):
            if field.name in parts:
                _require_type(f"{name}: {field.name}", str(field.type), parts[field.name])
        made: Any = kind(**parts)  # type: ignore[operator]
        for part, value in parts.items() if name in FINITE else ():
            values = value.values() if isinstance(value, dict) else (value,)
            require(all(map(_is_finite, values)), f"number in {part}")
        return made


_READERS: dict[str, Callable[[Unpacker, Any], Any]] = {
    "float": lambda _, content: float.fromhex(content),
    "list": lambda self, content: [self.unpack(part) for part in content],
    "tuple": lambda self, content: tuple(self.unpack(part) for part in content),
    "map": lambda self, content: {self.unpack(k): self.unpack(v) for k, v in content},
    "array": lambda self, content: self.array(content),
    "texts": lambda self, content: np.array(self.array(content).tolist(), dtype=object),
    "record": lambda self, content: self.record(content),
}


def _array_of(kinds: str) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, np.ndarray) and value.dtype.kind in kinds


def _tuple_of(*types: type) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, tuple) and all(isinstance(one, types) for one in value)


# Annotations of fields, and what values must be; others are not checked.
_TYPES: dict[str, Callable[[Any], bool]] = {
    "None": lambda value: value is None,
    "bool": lambda value: isinstance(value, bool),
    "str": lambda value: isinstance(value, str),
    "int": lambda value: isinstance(value, int),
    "float": lambda value: isinstance(value, (float, int)),
    "tuple[str, ...]": _tuple_of(str),
    "tuple[int, ...]": _tuple_of(int),
    "tuple[float, ...]": _tuple_of(float, int),
    "FloatArray": _array_of("f"),
    "IntArray": _array_of("iu"),
    "BoolArray": _array_of("b"),
}


def _require_type(what: str, annotation: str, value: Any) -> None:
    """Require the type that a field declares."""
    options = annotation.split(" | ")
    records = {where.partition(":")[2] for where in CLASSES.values()}
    if all(option in _TYPES or option in records for option in options):
        fits = any(option in _TYPES and _TYPES[option](value) for option in options)
        require(fits or type(value).__name__ in options, what)


def _is_finite(value: Any) -> bool:
    number = isinstance(value, float) or (isinstance(value, np.ndarray) and value.dtype.kind == "f")
    return not number or bool(np.isfinite(value).all())
