"""An experiment from a TOML file."""

from __future__ import annotations

import inspect
import tomllib
from collections.abc import Mapping
from difflib import get_close_matches
from functools import cache, partial
from inspect import signature
from pathlib import Path
from typing import Any

import debinet
from debinet import datasets
from debinet.data.options import one_of, share, whole_number
from debinet.exceptions import FileFormatError, OptionError
from debinet.experiments.assess import Fit, draw_sample
from debinet.experiments.plan import Design, Experiment, Method
from debinet.models.debiased_lasso import DebiasedLasso
from debinet.models.debinet import DebiNet
from debinet.models.partially_linear import PartiallyLinear

MODELS = {
    "PartiallyLinear": PartiallyLinear,
    "DebiNet": DebiNet,
    "DebiasedLasso": DebiasedLasso,
}
_NEW_ROWS = 500


def read_experiment(file: Path | str) -> Experiment:
    """Read an experiment from a TOML file.

    The file has a `name`, `runs`, tables `[[designs]]` and tables `[[methods]]`. A design has
    `make`, the name of a design of `debinet.datasets` without `make_`, the options of that
    function, `new` (rows to predict, 500 if left out) and perhaps a `name`. A method has a `name`,
    perhaps `model` (PartiallyLinear, DebiNet or DebiasedLasso) and its options, `vcov`, `level`,
    and `designs`, the names of those it is run on. Estimators are tables such as
    `{ Lasso = { penalty = 0.1 } }`; `false` stands for None where an option is not a switch.
    """
    path = Path(file)
    try:
        plan = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise FileFormatError(
            f"{path} to be a TOML file", str(error), "See `debinet simulate --help` for an example."
        ) from error
    _require_keys("the file", plan, {"name", "runs", "designs", "methods"})
    return Experiment(
        _name(plan.get("name", path.stem)),
        tuple(_design(table) for table in _tables(plan, "designs")),
        tuple(_method(table) for table in _tables(plan, "methods")),
        whole_number("runs", plan.get("runs", 50), 1),
    )


def _design(table: Mapping[str, Any]) -> Design:
    options = dict(table)
    kind = options.pop("make", None)
    makers = {
        name.removeprefix("make_"): getattr(datasets, name)
        for name in datasets.__all__
        if name.startswith("make_")
    }
    if kind not in makers:
        near = get_close_matches(str(kind), makers, n=1)
        raise OptionError(
            f"a design with make = one of {', '.join(makers)}",
            repr(kind),
            f"Did you mean {near[0]!r}?" if near else "Name a design of debinet.datasets.",
        )
    new = whole_number("new", options.pop("new", _NEW_ROWS), 1)
    shown = ", ".join(f"{key} = {value}" for key, value in options.items() if key != "name")
    name = str(options.pop("name", f"{kind}, {shown}" if shown else kind))
    make = makers[kind]
    rows = {"n": whole_number("n", options.get("n", _default_rows(make)), 1), "new": new}
    built = {key: tuple(v) if isinstance(v, list) else v for key, v in options.items()}
    construct(make, {**built, "n": 10})  # raises an error if it cannot be drawn
    return Design(name, partial(draw_sample, make), {**built, **rows})


def _default_rows(make: Any) -> int:
    return int(signature(make).parameters["n"].default)


def _method(table: Mapping[str, Any]) -> Method:
    options = dict(table)
    name, kind = options.pop("name", None), options.pop("model", "PartiallyLinear")
    if not isinstance(name, str):
        raise OptionError("every method to have a name", repr(name), 'Add name = "...".')
    one_of("model", kind, MODELS)
    designs = options.pop("designs", None)
    vcov, level = options.pop("vcov", None), options.pop("level", 0.95)
    built = {key: build(value) for key, value in options.items()}
    if kind == "PartiallyLinear":
        built.setdefault("treatments", ())  # those of the design
    model = construct(MODELS[kind], built)
    if designs is not None and not isinstance(designs, list):
        raise OptionError("designs to be a list of names", repr(designs), 'Write ["..."].')
    return Method(name, _fit(model, vcov, level), None if designs is None else tuple(designs))


def _fit(model: Any, vcov: Any, level: Any) -> Fit:
    return Fit(model, vcov, share("level", level, "Write level = 0.95."))


def _tables(plan: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    tables = plan.get(key)
    if not isinstance(tables, list) or not all(isinstance(table, Mapping) for table in tables):
        raise OptionError(f"tables [[{key}]]", repr(tables), f"Add at least one [[{key}]].")
    return tables


def _require_keys(what: str, table: Mapping[str, Any], known: set[str]) -> None:
    if strange := sorted(set(table) - known):
        raise OptionError(
            f"{what} to have {', '.join(sorted(known))}",
            ", ".join(strange),
            "Put options of designs and methods below [[designs]] and [[methods]].",
        )


def _name(value: Any) -> str:
    """Return a name that can name a file."""
    if not isinstance(value, str) or not value.strip() or set(value) & set('/\\:*?"<>|\0'):
        raise OptionError(
            "name to be a text that can name a file", repr(value), 'For example name = "small".'
        )
    return value.strip()


def build(value: Any) -> Any:
    """Return the Python value for a value of the file.

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
    """Call a class or function with options that it accepts.

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
