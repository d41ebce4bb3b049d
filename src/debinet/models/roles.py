"""Which columns of X are for what: controls, groups and weights that are given by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd

from debinet.data.dose import name_treatments
from debinet.data.schema import find_columns, unknown_column
from debinet.data.tables import require_distinct_names
from debinet.exceptions import OptionError
from debinet.inference.provenance import Clustered
from debinet.inference.result import Inference


@dataclass(frozen=True)
class Roles:
    """What `fit` was given, with names replaced by the columns that they name.

    Attributes
    ----------
    X : array or data frame
        Without columns that are only groups or weights, or are not asked for.
    treatments : str, int or sequence of them
        As given, or labels if columns were left out.
    groups, sample_weight : array, series or data frame, optional
    used : tuple, optional
        Labels of the columns of X; None if these are all that were given.
    clusters : str, optional
        The column of the groups, if it is one.
    instruments : str, int or sequence of them, optional
        As given, or labels if columns were left out. X has them.
    """

    X: Any
    treatments: Any
    groups: Any
    sample_weight: Any
    used: tuple[Any, ...] | None = None
    clusters: str | None = None
    instruments: Any = None


def assign_roles(
    X: Any, *, treatments: Any = (), controls: Any = None, groups: Any = None,
    sample_weight: Any = None, instruments: Any = None
) -> Roles:  # fmt: skip
    """Look up the columns that are named.

    Parameters
    ----------
    X : array or data frame
    treatments : str, int or sequence of them
        Never left out, whatever else they are.
    controls : str or sequence of str, optional
        The other columns that are used; by default all that are neither groups nor weights.
    groups, sample_weight : name(s) of columns, or arrays, optional
    instruments : str, int or sequence of them, optional
        Never left out, but predictions do not use them.
    """
    named = [*names_in(groups), *names_in(sample_weight)]
    if controls is None and not named:
        used = None if instruments is None else _without(X, instruments)
        return Roles(X, treatments, groups, sample_weight, used, instruments=instruments)
    labels = _labels(X)
    wanted = None if controls is None else label_list(controls)
    for name in [*named, *(wanted or ())]:
        if name not in labels:
            raise unknown_column(
                str(name), [str(v) for v in labels], "controls, groups and weights that X has"
            )
    doses = name_treatments(treatments)
    own = _treatment_labels(doses.columns, labels)
    apart = [] if instruments is None else _treatment_labels(instruments, labels, "instruments")
    for kind, found in (("treatments", own), ("instruments", apart)):
        both = [name for name in found if wanted is not None and name in wanted]
        if both:
            raise OptionError(
                f"controls that are not {kind}", f"{both[0]!r} as both", "Drop it from controls."
            )
    others = set(wanted) if wanted is not None else set(labels) - set(named)
    kept = tuple(label for label in labels if label in {*own, *apart} or label in others)
    used = tuple(label for label in kept if label not in apart)
    return Roles(
        pick_used(X, kept),
        [
            replace(doses.doses[k], column=label) if k in doses.doses else label
            for k, label in enumerate(own)
        ],
        named_column(X, groups),
        named_column(X, sample_weight),
        None if len(used) == len(labels) else used,
        groups if isinstance(groups, str) else None,
        apart or None,
    )


def require_instruments(instruments: Any, endogenous: Any) -> Any:
    """Return the instruments; without them no treatment can be endogenous."""
    if instruments is None and endogenous is not None:
        raise OptionError(
            "instruments for endogenous treatments",
            f"endogenous={endogenous!r} without any",
            "Name them: instruments=[...].",
        )
    if isinstance(instruments, (list, tuple)) and not instruments:
        raise OptionError("at least one instrument", "none", "Leave instruments out, or name one.")
    return instruments


def names_in(wanted: Any) -> list[str]:
    """Return the columns that `wanted` names; labels or weights given as such name none."""
    names = [wanted] if isinstance(wanted, str) else wanted
    if not isinstance(names, (list, tuple)) or not all(isinstance(v, str) for v in names):
        return []
    # There are at most two columns of clusters: more texts are labels of rows.
    return list(names) if len(names) <= 2 else []


def named_column(data: Any, wanted: Any) -> Any:
    """Look names up in the data; arrays pass through."""
    names = names_in(wanted)
    if not names:
        return wanted
    from debinet.data.formula import pick_columns  # imports formulaic, which takes its time

    return pick_columns(data, names)


def pick_used(X: Any, used: Sequence[Any] | None) -> Any:
    """Return the columns of a frame that a model uses, or X itself if it does not have them all.

    Of an array, whose columns have no names, `used` is a flag for each of its columns.
    """
    if used is None:
        return X
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        array, flags = np.asarray(X), np.array(used)
        whole = flags.dtype == np.bool_ and array.ndim == 2 and array.shape[1] == flags.size
        return array[:, flags] if whole else X
    labels = list(frame.columns)
    # By position: labels may be numbers.
    positions = [labels.index(label) for label in used if label in labels]
    return frame[:, positions].to_native() if len(positions) == len(used) else X


def name_clusters(result: Inference, column: str | None) -> Inference:
    """Return the result with the name of the column that its clusters are from."""
    clusters = result.provenance.clusters
    if column is None or clusters is None:
        return result
    named = Clustered(clusters.numbers, column)
    return replace(result, provenance=replace(result.provenance, clusters=named))


def _frame(X: Any) -> Any:
    """Return X for narwhals, if it is a data frame."""
    if isinstance(X, pd.DataFrame):
        require_distinct_names([str(label) for label in X.columns])
    return nw.from_native(X, eager_only=True, pass_through=True)


def _labels(X: Any) -> list[Any]:
    frame = _frame(X)
    if isinstance(frame, nw.DataFrame):
        return list(frame.columns)
    raise OptionError(
        "a data frame, in which controls, groups and weights can be named",
        f"X of type {type(X).__name__}",
        "Pass a data frame, or groups and weights as arrays and only the columns to use.",
    )


def label_list(controls: Any) -> list[Any]:
    """Return the names of controls as a list."""
    if isinstance(controls, str):
        return [controls]
    if isinstance(controls, (set, frozenset, dict)) or not hasattr(controls, "__iter__"):
        raise OptionError(
            "controls as a list of column names", repr(controls), "For example controls=['age']."
        )
    return list(controls)


def _without(X: Any, instruments: Any) -> tuple[Any, ...]:
    """Return what `pick_used` needs to leave out the instruments."""
    frame = _frame(X)
    if isinstance(frame, nw.DataFrame):
        labels = list(frame.columns)
        apart = _treatment_labels(instruments, labels, "instruments")
        return tuple(label for label in labels if label not in apart)
    columns = np.asarray(X).shape[1] if np.ndim(X) == 2 else 0
    positions = find_columns([f"x{j}" for j in range(columns)], instruments, None, "instruments")
    return tuple(j not in positions for j in range(columns))


def _treatment_labels(treatments: Any, labels: list[Any], role: str = "treatments") -> list[Any]:
    """Return the labels of treatments that are given by label or position."""
    if isinstance(treatments, (list, tuple)) and not treatments:
        return []
    names = [str(label) for label in labels]
    return [labels[j] for j in find_columns(names, treatments, labels, role)]
