"""Groups of columns, read from labels or lists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from debinet.data.options import is_whole, number_array
from debinet.exceptions import InputError, LengthError, MissingValueError, UnknownColumnError
from debinet.protocols import FloatArray, IntArray


@dataclass(frozen=True)
class Groups:
    """A partition of the columns.

    Attributes
    ----------
    codes : IntArray of shape (p,)
        Number of the group of every column.
    weights : FloatArray of shape (m,)
        Weight of every group in the penalty.
    """

    codes: IntArray
    weights: FloatArray

    def restrict(self, columns: IntArray) -> Groups:
        """Return the groups of `columns`, which must be unions of whole groups."""
        kept, codes = np.unique(self.codes[columns], return_inverse=True)
        return Groups(codes, self.weights[kept])


def make_groups(groups: Any, names: Sequence[str], weights: Any = None) -> Groups:
    """Read groups of the columns called `names`.

    Parameters
    ----------
    groups : sequence of p labels, sequence of sequences of columns, mapping to them, or None
        Columns by position or name. None makes every column a group.
    names : sequence of p str
    weights : sequence of m numbers, optional
        In the order in which groups are given or labels first appear; square roots of the sizes
        of the groups if left out.
    """
    p = len(names)
    if groups is None:
        codes = np.arange(p)
    elif isinstance(groups, str) or not np.iterable(groups):
        raise InputError(
            "groups to be labels of the columns, or lists of columns",
            repr(groups),
            "Pass one label per column, a list of lists of positions or names, or 'categories'.",
        )
    else:
        parts = list(groups.values()) if isinstance(groups, Mapping) else list(groups)
        nested = [np.iterable(part) and not isinstance(part, (str, bytes)) for part in parts]
        codes = _from_lists(parts, names) if nested and all(nested) else _from_labels(parts, p)
    sizes = np.bincount(codes)
    return Groups(codes, np.sqrt(sizes) if weights is None else _read_weights(weights, sizes.size))


def _from_labels(labels: list[Any], p: int) -> IntArray:
    if len(labels) != p:
        raise LengthError(
            f"one group label per column ({p})", f"{len(labels)}", "Pass a label for every column."
        )
    try:
        codes, _ = pd.factorize(pd.Series(labels, dtype=object))
    except TypeError as error:
        raise InputError(
            "group labels that are numbers or text", str(error), "Convert the labels to text."
        ) from error
    if (codes < 0).any():
        raise MissingValueError(
            "a group label for every column",
            f"none (NaN or None) for column {int((codes < 0).argmax())}",
            "Give every column without a group a label of its own.",
        )
    return np.asarray(codes, dtype=np.int64)


def _from_lists(parts: list[Any], names: Sequence[str]) -> IntArray:
    position = {name: j for j, name in enumerate(names)}
    codes = np.full(len(names), -1)
    for code, part in enumerate(parts):
        members = list(part)
        if not members:
            raise InputError(
                "groups of at least one column", f"none in group {code}", "Leave the group out."
            )
        for column in members:
            j = _position(column, position)
            if codes[j] >= 0:
                raise InputError(
                    "groups that do not overlap",
                    f"column {names[j]!r} in groups {codes[j]} and {code}",
                    "Put every column into one group.",
                )
            codes[j] = code
    left = [names[j] for j in np.flatnonzero(codes < 0).tolist()]
    if left:
        raise InputError(
            "groups that cover every column",
            f"{len(left)} columns in no group, such as {left[:3]}",
            "Give every such column a group of its own.",
        )
    return codes


def _position(column: Any, position: Mapping[str, int]) -> int:
    if isinstance(column, str) and column in position:
        return position[column]
    if is_whole(column) and 0 <= column < len(position):
        return int(column)
    raise UnknownColumnError(
        f"names of columns, or positions from 0 to {len(position) - 1}, in groups",
        repr(column),
        "Check the names against those of X.",
    )


def _read_weights(weights: Any, count: int) -> FloatArray:
    array = number_array("group_weights, one for each group,", weights, (count,))
    if not (array > 0).all():
        raise InputError(
            "group weights that are positive",
            f"{array.min():g} among them",
            "Use small positive weights for groups that should hardly be penalized.",
        )
    return array
