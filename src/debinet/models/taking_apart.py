"""How fitted objects are taken apart for files, and made again from their parts."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from copy import copy
from importlib import import_module
from typing import Any

import numpy as np

from debinet.data.archive import require
from debinet.data.frames import make_frame, take_frame
from debinet.data.records import Known
from debinet.data.safe_formula import require_safe_formula
from debinet.exceptions import FormulaError, StorageError

# What learners keep for further fits in the same process; predictions need none of it.
_WORKING = {"_shared", "_learned", "_factorization"}


def find_class(where: str) -> Any:
    """Return a class of this library by its place, `module:name`."""
    module, _, name = where.partition(":")
    return getattr(import_module(f"debinet.{module}"), name)


def estimator_parts(value: Any) -> dict[str, Any]:
    """Return the parameters of an estimator and what fit has set."""
    parameters = value.get_params(deep=False)
    state = {k: v for k, v in vars(value).items() if k not in {*parameters, *_WORKING}}
    seed = getattr(state.get("result_"), "seed", None)
    return {"parameters": _without_generators(parameters, seed), "state": state}


def make_estimator(kind: Any, parts: Mapping[str, Any]) -> Any:
    """Return the estimator of `estimator_parts`."""
    estimator = kind(**parts["parameters"])
    for name, value in parts["state"].items():
        # Never what the class itself defines, such as a method.
        defined = inspect.getattr_static(kind, name, None)
        require(name.isidentifier() and not callable(defined), f"attribute {name!r}")
        setattr(estimator, name, value)
    if hasattr(estimator, "forget"):
        estimator.forget()
    return estimator


def _without_generators(parameters: Mapping[str, Any], seed: int | None = None) -> dict[str, Any]:
    """Put the seed that repeats the fit, if known, in the place of generators: they move on."""
    return {
        name: seed if isinstance(value, (np.random.Generator, np.random.RandomState)) else value
        for name, value in parameters.items()
    }


def _net() -> Known:
    """Return the entry of a trained network: the parts that `Net.save` writes."""
    from debinet.learners.net.net import Net
    from debinet.learners.net.storage import net_parts, rebuild_net

    def take(net: Any) -> Mapping[str, Any]:
        if net.module is not None:
            raise StorageError(
                "a network of this library's layers",
                "one made from a module, which only Python code can make again",
                "Save the result, result_.save(path), and the network itself, Net.save(path).",
            )
        fitted = hasattr(net, "history_")
        header, arrays = net_parts(net) if fitted else ({}, {})
        parameters = {k: v for k, v in net.get_params(deep=False).items() if k != "module"}
        plain = _without_generators(parameters)
        return {"header": header, "arrays": arrays, "parameters": plain, "fitted": fitted}

    def make(parts: dict[str, Any]) -> Any:
        if not parts["fitted"]:
            return Net(**parts["parameters"])
        return rebuild_net(Net, parts["header"], parts["arrays"])

    return Known("Net", take, make)


def _splines() -> Known:
    """Return the entry of B-splines: scikit-learn's transformer is made again from its knots."""
    from debinet.learners.splines.basis import Curves, place_splines

    def take(curves: Any) -> Mapping[str, Any]:
        return {
            "moments": curves.moments,
            "knots": curves.splines.knots,
            "degree": curves.splines.degree,
            "turn": curves.turn,
            "scale": curves.scale,
        }

    def make(parts: dict[str, Any]) -> Any:
        splines = place_splines(parts.pop("knots"), parts.pop("degree"))
        return Curves(splines=splines, **parts)

    return Known("spline curves", take, make)


def _inference() -> Known:
    """Return the entry of a result: the parts that `Inference.save` writes."""
    from debinet.inference.loading import rebuild
    from debinet.inference.storage import result_parts

    def take(result: Any) -> Mapping[str, Any]:
        header, arrays = result_parts(result)
        return {"header": header, "arrays": arrays}

    return Known("result", take, lambda parts: rebuild(parts["header"], parts["arrays"]))


def _debinet() -> Known:
    """Return the entry of a selection and its model; the fitted selector is not kept."""
    kind, record = find_class("models.debinet:DebiNet"), find_class("models.debiasing:Estimated")

    def take(value: Any) -> Mapping[str, Any]:
        parts, chosen = estimator_parts(value), value._estimated
        state = {k: v for k, v in parts["state"].items() if k not in {"selector_", "_estimated"}}
        return {
            **parts,
            "state": state,
            "selected": chosen.selected,
            "kept": chosen.kept,
            "mean": chosen.mean,
            "model": None if chosen.model is None else _without_result(chosen.model),
        }

    def make(parts: dict[str, Any]) -> Any:
        model, result = parts["model"], parts["state"]["result_"]
        if model is not None:
            model.result_ = result
        found = make_estimator(kind, parts)
        found._estimated = record(parts["selected"], parts["kept"], model, parts["mean"], result)
        return found

    return Known("DebiNet", take, make)


def _without_result(model: Any) -> Any:
    twin = copy(model)
    del twin.result_
    return twin


def _formula_fit() -> Known:
    """Return the entry of a formula with its data, to which it is applied again."""
    from debinet.data.formula import read_formula

    kind = find_class("models.plm:FormulaFit")

    def take(fit: Any) -> Mapping[str, Any]:
        source = fit.design.source
        try:
            require_safe_formula(fit.formula, source.columns)
        except FormulaError as error:
            raise StorageError(
                "a formula that a file can hold: " + error.expected,
                error.came,
                "Compute the column first and name it in the formula.",
            ) from error
        return {"formula": fit.formula, "model": fit.model, "data": take_frame(source)}

    def make(parts: dict[str, Any]) -> Any:
        frame = make_frame(parts["data"])
        require_safe_formula(parts["formula"], frame.columns)
        design = read_formula(parts["formula"], frame)
        return kind(parts["formula"], parts["model"], design)

    return Known("plm", take, make)


# Name in files: where the class is today, and how its entry is made.
SPECIAL: dict[str, tuple[str, Callable[[], Known]]] = {
    "Net": ("learners.net.net:Net", _net),
    "spline curves": ("learners.splines.basis:Curves", _splines),
    "result": ("inference.result:Inference", _inference),
    "DebiNet": ("models.debinet:DebiNet", _debinet),
    "plm": ("models.plm:FormulaFit", _formula_fit),
}
