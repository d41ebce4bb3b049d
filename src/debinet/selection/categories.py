"""Groups of columns that code one category, found by their values and names."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from debinet.exceptions import OptionError
from debinet.protocols import BoolArray, FloatArray
from debinet.selection.problem import LinearProblem

CATEGORIES = "categories"
# `region_north`, `region=north`, `region[T.north]`, `region.north`: the variable comes first.
_LEVEL = re.compile(r"(.+?)(?:\[.*\]|[_=.:][^_=.:]*)$")


def find_groups(groups: Any, problem: LinearProblem) -> Any:
    """Return the groups of columns, those that code a category if this is asked for."""
    return category_groups(problem) if isinstance(groups, str) and groups == CATEGORIES else groups


def category_groups(problem: LinearProblem) -> list[str]:
    """Return a label of its group for every column.

    Columns of zeros and ones whose names begin with the same variable, and of which no row has two
    ones, are a group; every other column is one by itself.
    """
    X = problem.X
    high = X > 0  # of a 0-1 column, which is centred
    labels = [f"column {j}" for j in range(problem.p)]
    members: dict[str, list[int]] = {}
    for j in np.flatnonzero(_are_indicators(problem, high)).tolist():
        match = _LEVEL.match(problem.names[j])
        if match is not None:
            members.setdefault(match[1], []).append(j)
    for variable, columns in members.items():
        if len(columns) > 1 and high[:, columns].sum(axis=1).max() <= 1:
            for j in columns:
                labels[j] = f"variable {variable}"
    if len(set(labels)) == problem.p:
        raise OptionError(
            "0-1 columns of a category, named such as 'region_north' and 'region_south', for the "
            f"groups {CATEGORIES!r}",
            f"none among {problem.p} columns",
            "Pass the groups, GroupLasso(groups), or use Lasso().",
        )
    return labels


def _are_indicators(problem: LinearProblem, high: BoolArray) -> BoolArray:
    values: FloatArray = problem.X * problem.scale + problem.centre
    # The columns were centred and scaled before, so zeros and ones are only so up to rounding.
    return np.asarray((np.abs(values - high) < 1e-9).all(axis=0))
