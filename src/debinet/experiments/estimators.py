"""Estimators from names and options, as a TOML file can have them; nothing else can be made."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from difflib import get_close_matches
from functools import cache
from typing import Any

import debinet
from debinet.exceptions import OptionError


def build(value: Any) -> Any:
    """Return what a value of the file stands for.

    A table with one capitalized key, such as `{ Lasso = { penalty = 0.1 } }`, is an estimator;
    `false` stands for None, which TOML does not have; lists and tables are built through.
    """
    if isinstance(value, Mapping):
        (name, *others) = value or ("",)
        if not others and name[:1].isupper():
            return estimator(name, value[name])
        return {key: build(item) for key, item in value.items()}
    if isinstance(value, list):
        return [build(item) for item in value]
    return None if value is False else value


def estimator(name: str, options: Any) -> Any:
    """Return an estimator of this library or of scikit-learn by its class name."""
    classes = known_classes()
    if name not in classes:
        near = get_close_matches(name, classes, n=1)
        raise OptionError(
            "the name of an estimator of debinet or scikit-learn",
            repr(name),
            f"Did you mean {near[0]}?" if near else "For example RandomForestRegressor.",
        )
    if not isinstance(options, Mapping):
        raise OptionError(
            f"the options of {name} as a table", repr(options), f"Write {{ {name} = {{}} }}."
        )
    return construct(classes[name], {key: build(value) for key, value in options.items()})


def construct(make: Any, options: Mapping[str, Any]) -> Any:
    """Call a class or function with options that it has."""
    known = [name for name in inspect.signature(make).parameters if name != "random_state"]
    for key in options:
        if key not in known:
            near = get_close_matches(key, known, n=1)
            raise OptionError(
                f"options of {make.__name__}: {', '.join(known)}",
                repr(key),
                f"Did you mean {near[0]}?" if near else "Seeds come from names: none can be given.",
            )
    try:
        return make(**options)
    except TypeError as error:
        raise OptionError(
            f"all that {make.__name__} needs", str(error), "Give every option without a default."
        ) from error


@cache
def known_classes() -> dict[str, Any]:
    """Return the classes by name; this library's count where scikit-learn has the same name."""
    from sklearn.utils import all_estimators

    own = {name: getattr(debinet, name) for name in debinet.__all__ if name[0].isupper()}
    estimators = {name: found for name, found in own.items() if hasattr(found, "fit")}
    return {**dict(all_estimators()), **estimators}
