"""Texts that identify definitions and are the same in every process: the keys of cells."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from debinet.exceptions import OptionError


def describe(value: Any) -> str:
    """Return a text that describes a value and all its parts.

    Estimators are described by their parameters, functions by their names, not by their code.
    """
    if isinstance(value, (np.ndarray, pd.DataFrame, pd.Series)):
        return _array(value)
    if isinstance(value, (Mapping, list, tuple, set, frozenset)):
        return _container(value)
    if isinstance(value, partial):
        return f"partial{describe([value.func, value.args, value.keywords])}"
    if callable(value) and hasattr(value, "__qualname__"):
        return _name(value)
    parts = _parts(value)
    return _plain(value) if parts is None else f"{_name(type(value))}{_container(parts)}"


def _container(value: Any) -> str:
    kind = type(value).__name__
    if isinstance(value, Mapping):
        kind = "mapping"
        items = sorted(f"{describe(key)}: {describe(item)}" for key, item in value.items())
    else:
        items = [describe(item) for item in value]
        items = sorted(items) if isinstance(value, (set, frozenset)) else items
    return f"{kind}({', '.join(items)})"


def _parts(value: Any) -> dict[str, Any] | None:
    """Return the parts of a dataclass or estimator, None for anything else."""
    if is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    if hasattr(value, "get_params"):
        found: dict[str, Any] = value.get_params(deep=False)
        return found
    return None


def _name(thing: Any) -> str:
    if "<lambda>" in thing.__qualname__:
        raise OptionError(
            "functions with names, by which stored results are found",
            f"a lambda in {thing.__module__}",
            "Write it as def.",
        )
    return f"{thing.__module__}.{thing.__qualname__}"


def _array(value: Any) -> str:
    array = np.ascontiguousarray(value.to_numpy() if hasattr(value, "to_numpy") else value)
    content = array.tobytes() if array.dtype != object else repr(array.tolist()).encode()
    digest = hashlib.sha256(content).hexdigest()
    return f"array({array.dtype}, {array.shape}, {digest})"


def _plain(value: Any) -> str:
    text = repr(value)
    if " at 0x" in text:
        raise OptionError(
            "values that can be described in another process: numbers, texts, estimators, "
            "dataclasses, functions with names",
            f"{type(value).__name__}, which shows only its address",
            "Give its class a __repr__, or make it a dataclass.",
        )
    return text
