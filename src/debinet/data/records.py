"""Objects as a tree of plain JSON and named arrays, and back; only classes on a list take part."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Protocol

import numpy as np

from debinet.data.archive import require


@dataclass(frozen=True)
class Known:
    """A class that files may name.

    Attributes
    ----------
    name : str
        In files. It stays when the class moves or is renamed.
    take : callable
        From an object to its parts, by name.
    make : callable
        From these parts to an object.
    """

    name: str
    take: Callable[[Any], Mapping[str, Any]]
    make: Callable[[dict[str, Any]], Any]


def known_record(name: str, kind: Any) -> Known:
    """Return the entry of a dataclass: its fields."""
    names = [field.name for field in fields(kind)]
    return Known(
        name,
        lambda value: {field: getattr(value, field) for field in names},
        lambda parts: kind(**parts),
    )


class Registry(Protocol):
    """The classes that take part."""

    def of(self, value: Any) -> Known:
        """Return the entry for an object, or raise a typed error."""

    def named(self, name: str) -> Known:
        """Return the entry that a file names, or raise an error."""


def pack(value: Any, registry: Registry, arrays: dict[str, Any]) -> Any:
    """Return `value` as JSON; its arrays go to `arrays`, under names of their own."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, np.ndarray):
        return _pack_array(value, arrays)
    if isinstance(value, (float, list, tuple, range, dict)):
        return _pack_plain(value, lambda part: pack(part, registry, arrays))
    known = registry.of(value)
    parts = {name: pack(part, registry, arrays) for name, part in known.take(value).items()}
    return {"record": known.name, "parts": parts}


def unpack(tree: Any, registry: Registry, arrays: Any) -> Any:
    """Return the object that `pack` made `tree` and `arrays` of."""
    if not isinstance(tree, dict):
        require(tree is None or isinstance(tree, (bool, int, str)), "part")
        return tree
    if "record" in tree:
        parts = {name: unpack(part, registry, arrays) for name, part in tree["parts"].items()}
        return registry.named(str(tree["record"])).make(parts)
    ((kind, content),) = tree.items()
    if kind in {"array", "texts"}:
        found = arrays[content]
        return found if kind == "array" else np.array(found.tolist(), dtype=object)
    require(kind in _PLAIN, f"kind {kind!r}")
    return _PLAIN[kind](content, lambda part: unpack(part, registry, arrays))


def _pack_plain(value: Any, each: Callable[[Any], Any]) -> dict[str, Any]:
    if isinstance(value, float):
        # JSON has no infinity, and its readers need not keep every digit.
        return {"float": value.hex()}
    if isinstance(value, dict):
        return {"map": [[each(part) for part in pair] for pair in value.items()]}
    return {"tuple" if isinstance(value, tuple) else "list": [each(part) for part in value]}


_PLAIN: dict[str, Callable[[Any, Callable[[Any], Any]], Any]] = {
    "float": lambda content, _: float.fromhex(content),
    "list": lambda content, each: [each(part) for part in content],
    "tuple": lambda content, each: tuple(each(part) for part in content),
    "map": lambda content, each: {each(key): each(value) for key, value in content},
}


def _pack_array(value: Any, arrays: dict[str, Any]) -> dict[str, str]:
    name = f"array{len(arrays)}"
    if value.dtype.kind != "O":
        arrays[name] = value
        return {"array": name}
    if not all(isinstance(one, str) for one in value.flat):
        raise TypeError("an array of Python objects")
    arrays[name] = value.astype(str)
    return {"texts": name}
