"""Estimators from names and options in a TOML file; nothing else can be made."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from difflib import get_close_matches
from functools import cache
from typing import Any

import debinet
from debinet.exceptions import OptionError


def build(value: Any) -> Any:
    """Return what a value of the file means.

    A table with one capitalized key, such as `{ Lasso = { penalty = 0.1 } }`, is an estimator;
    lists and tables are read element by element.
    """
    if isinstance(value, Mapping):
        (name, *others) = value or ("",)
        if not others and name[:1].isupper():
            return estimator(name, value[name])
        return {key: build(item) for key, item in value.items()}
    if isinstance(value, list):
        return [build(item) for item in value]
    return value


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
    """Call a class or function with options that it knows.

    `false` stands for None, which TOML does not have, where the option is not a switch. Seeds come
    from names; `memory` names a folder of pickled objects, which could hold any code.
    """
    parameters = inspect.signature(make).parameters
    known = [name for name in parameters if name not in {"random_state", "memory"}]
    for key in options:
        if key not in known:
            near = get_close_matches(key, known, n=1)
            raise OptionError(
                f"options of {make.__name__}: {', '.join(known)}",
                repr(key),
                f"Did you mean {near[0]}?" if near else "Leave it out.",
            )
    switches = {name for name in known if isinstance(parameters[name].default, bool)}
    given = {
        key: None if value is False and key not in switches else value
        for key, value in options.items()
    }
    try:
        return make(**given)
    except (TypeError, ValueError, MemoryError) as error:
        raise OptionError(
            f"options that {make.__name__} can use, and all that it needs",
            f"{type(error).__name__}: {error}",
            "See its documentation.",
        ) from error


@cache
def known_classes() -> dict[str, Any]:
    """Return the classes by name; if a name is in both, this library's."""
    from sklearn.utils import all_estimators

    own = {name: getattr(debinet, name) for name in debinet.__all__ if name[0].isupper()}
    estimators = {name: found for name, found in own.items() if hasattr(found, "fit")}
    return {**dict(all_estimators()), **estimators}
