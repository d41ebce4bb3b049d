"""`compare`: several learners, methods or models on the same data in one call."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import pandas as pd
from sklearn.base import clone

from debinet._random import RandomState, root_seed
from debinet.data.dataset import read_outcome
from debinet.data.labels import read_groups
from debinet.data.options import share
from debinet.exceptions import InputError, OptionError
from debinet.inference.agreement import Placed, agreement
from debinet.inference.methods import METHODS
from debinet.inference.result import Inference
from debinet.learners.named import NAMES
from debinet.models.comparison import ModelComparison
from debinet.models.debinet import DebiNet
from debinet.models.partially_linear import PartiallyLinear
from debinet.models.result_mixin import ResultMixin
from debinet.models.roles import Roles, assign_roles

_COLUMNS = ("treatment", "model", "coef", "se", "lower", "upper", "trust", "seconds", "reason")


def compare(
    models: Any,
    X: Any,
    y: Any,
    *,
    treatments: Any = None,
    controls: Any = None,
    groups: Any = None,
    sample_weight: Any = None,
    level: float = 0.95,
    n_jobs: int | None = None,
    random_state: RandomState = None,
    verbose: bool = False,
) -> ModelComparison:
    """Fit several models to the same data and put their estimates side by side.

    A model that fails has rows that say why; the others are compared.

    Parameters
    ----------
    models : mapping from str to model, or sequence of them
        Each a model, such as `PartiallyLinear(...)`, `DebiNet(...)` or `DebiasedLasso(...)`; a
        learner or its name, such as `"forest"`; or the name of a method, such as `"robinson"`, with
        the default learner. Learners and methods become `PartiallyLinear(treatments, ...)`. In a
        sequence, names are those given, or the names of classes.
    X : data frame or array of shape (n, p)
    y : array or series of shape (n,)
    treatments : str, int or sequence of them, optional
        The coefficients to compare. By default those of the first model that names its own.
    controls, groups, sample_weight
        As in `PartiallyLinear.fit`, for all models.
    level : float
        Of the intervals.
    n_jobs, random_state, verbose
        Of the models that are made here, and `random_state` of those that have none: the same for
        all, so that equal numbers of folds are the same folds.

    Returns
    -------
    ModelComparison

    Examples
    --------
    >>> import debinet as dn
    >>> X, y, truth = dn.datasets.make_sparse_linear(n=300, random_state=0)
    >>> found = dn.compare(["lasso", "spline"], X, y, treatments=["d1"], random_state=0)
    >>> found.frame[["model", "coef", "trust"]].round(2)
        model  coef trust
    0   lasso  1.04    ok
    1  spline  1.03    ok
    """
    named = _named(models)
    share("level", level, "Use level=0.95 for 95 % intervals.")
    own = [model.treatments for model in named.values() if isinstance(model, PartiallyLinear)]
    if treatments is None and own:
        treatments = own[0]
    options = {"n_jobs": n_jobs, "random_state": root_seed(random_state), "verbose": verbose}
    made = {name: _made(model, treatments, options) for name, model in named.items()}
    arguments = {"controls": controls, "groups": groups, "sample_weight": sample_weight}
    data = _Data(X, y, arguments, _roles(X, treatments, arguments))
    tries = {name: _try(model, data, level) for name, model in made.items()}
    _require_any(list(tries.values()))
    names = _treatment_names(tries, treatments)
    rows = [_row(treatment, name, one) for treatment in names for name, one in tries.items()]
    outcome, label = read_outcome(y)
    return ModelComparison(
        frame=pd.DataFrame(rows, columns=list(_COLUMNS)),
        agreement=_agreement(tries, names, data.roles, outcome.size),
        models={name: one.model for name, one in tries.items() if one.frame is not None},
        outcome=label or "y",
        n=outcome.size,
        level=level,
    )


@dataclass(frozen=True)
class _Data:
    """What all models are fitted to.

    Attributes
    ----------
    X, y
        As given.
    arguments : dict
        Controls, groups and weights, as given.
    roles : Roles
        For models without treatments of their own.
    """

    X: Any
    y: Any
    arguments: dict[str, Any]
    roles: Roles


@dataclass(frozen=True)
class _Try:
    """A model that was fitted, or why it was not.

    Attributes
    ----------
    model : model
    frame : DataFrame, optional
        Its coefficients.
    trust : str
        The verdict.
    seconds : float
        Of the fit.
    error : Exception, optional
    """

    model: Any
    frame: pd.DataFrame | None
    trust: str
    seconds: float
    error: Exception | None = None


def _named(models: Any) -> dict[str, Any]:
    """Return models by name."""
    if isinstance(models, Mapping):
        named = {str(name): model for name, model in models.items()}
    elif isinstance(models, Iterable) and not isinstance(models, str):
        each = list(models)
        names = [one if isinstance(one, str) else type(one).__name__ for one in each]
        named = dict(zip(names, each, strict=True))
        if len(named) < len(each):
            raise OptionError(
                "models with names of their own",
                f"{names}",
                "Name them: compare({'small': ..., 'large': ...}, X, y).",
            )
    else:
        raise OptionError(
            "models by name, or a list of them",
            repr(models),
            "For example {'forest': 'forest', 'mine': PartiallyLinear(...)}.",
        )
    if not named:
        raise InputError("at least one model to fit", "none", "For example ['wide', 'forest'].")
    return named


def _made(model: Any, treatments: Any, options: dict[str, Any]) -> Any:
    """Return a model that can be fitted: a copy of one, or one of this learner or method."""
    if isinstance(model, ResultMixin):
        fresh: Any = clone(model)
        if fresh.get_params(deep=False).get("random_state", 0) is None:
            fresh.set_params(random_state=options["random_state"])
        return fresh
    if isinstance(model, str) and model not in {*NAMES, *METHODS}:
        raise OptionError(
            f"names of learners, {', '.join(NAMES)}, or of methods, {', '.join(METHODS)}",
            repr(model),
            "Or pass a model or a regressor.",
        )
    if treatments is None:
        raise OptionError(
            "treatments, whose coefficients are compared",
            "none, and no model that names its own",
            "For example treatments=['educ'].",
        )
    if isinstance(model, str) and model in METHODS:
        return PartiallyLinear(treatments, method=model, **options)
    return PartiallyLinear(treatments, model, **options)


def _roles(X: Any, treatments: Any, arguments: dict[str, Any]) -> Roles:
    """Return the columns that models without treatments of their own are given."""
    if treatments is None and arguments["controls"] is not None:
        raise OptionError("treatments beside controls", "controls alone", "Name the treatments.")
    return assign_roles(X, treatments=() if treatments is None else treatments, **arguments)


def _try(model: Any, data: _Data, level: float) -> _Try:
    start = perf_counter()
    try:
        if isinstance(model, PartiallyLinear):
            model.fit(data.X, data.y, **data.arguments)
        else:
            roles = data.roles
            given = {"groups": roles.groups, "sample_weight": roles.sample_weight}
            model.fit(roles.X, data.y, **_accepted(model, given))
        seconds = perf_counter() - start
        return _Try(model, model.result_.to_frame(level), model.trust().verdict, seconds)
    except Exception as error:
        return _Try(model, None, "failed", perf_counter() - start, error)


def _accepted(model: Any, given: dict[str, Any]) -> dict[str, Any]:
    """Return what was given of groups and weights, if the model's fit takes it."""
    wanted = {name: value for name, value in given.items() if value is not None}
    unknown = set(wanted) - set(inspect.signature(model.fit).parameters)
    if unknown:
        raise OptionError(
            f"a model whose fit takes {' and '.join(sorted(unknown))}",
            type(model).__name__,
            "Compare it without them.",
        )
    return wanted


def _require_any(tries: list[_Try]) -> None:
    """Raise what all models failed with, if they all failed with the same."""
    errors = [one.error for one in tries]
    first = errors[0]
    if first is not None and {str(error) for error in errors} == {str(first)}:
        raise first


def _treatment_names(tries: Mapping[str, _Try], treatments: Any) -> list[str]:
    """Return the coefficients to compare: those of the treatments, or all that any model has."""
    fitted = [one for one in tries.values() if one.frame is not None]
    if treatments is not None:
        fitted = [one for one in fitted if isinstance(one.model, PartiallyLinear)] or fitted
    found = [str(name) for one in fitted if one.frame is not None for name in one.frame.index]
    given = [treatments] if isinstance(treatments, (str, int)) else list(treatments or ())
    return list(dict.fromkeys(found)) or [str(label) for label in given]


def _row(treatment: str, name: str, one: _Try) -> dict[str, Any]:
    row: dict[str, Any] = {
        "treatment": treatment,
        "model": name,
        "trust": one.trust,
        "seconds": one.seconds,
        "reason": "" if one.error is None else f"{type(one.error).__name__}: {one.error}",
    }
    if one.frame is not None and treatment in one.frame.index:
        found = one.frame.loc[treatment]
        return {**row, **{str(column): found[column] for column in found.index}}
    if one.frame is not None:
        selects = isinstance(one.model, DebiNet)
        row["reason"] = f"{treatment} was not selected" if selects else f"no {treatment} in it"
        row["trust"] = "not selected" if selects else "none"
    return row


def _agreement(tries: Mapping[str, _Try], names: list[str], roles: Roles, n: int) -> pd.DataFrame:
    """Test whether the models agree; the aggregate of several splits has no contributions."""
    placed = {
        name: Placed(one.model.result_, getattr(one.model, "estimation_rows_", None))
        for name, one in tries.items()
        if one.frame is not None and isinstance(one.model.result_, Inference)
    }
    groups = None if roles.groups is None else read_groups(roles.groups, n)
    return agreement(placed, n, names, groups)
