"""Categories among the treatments of a formula, and the order of their levels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import narwhals as nw
import pandas as pd
from formulaic.transforms.contrasts import TreatmentContrasts

from debinet.data.categories import category_text, find_reference
from debinet.data.coded_treatment import CodedTreatment
from debinet.data.schema import unknown_column
from debinet.exceptions import OptionError


def coded_terms(spec: Any) -> tuple[CodedTreatment, ...]:
    """Return the terms of a formulaic ModelSpec that are one category each."""
    found = []
    for term, positions in spec.term_indices.items():
        factors = list(term.factors)
        state = spec.encoder_state.get(factors[0].expr) if len(factors) == 1 else None
        coding = None if state is None else state[1].get("contrasts")
        if coding is not None:
            terms = tuple(str(spec.column_names[j]) for j in positions)
            found.append(CodedTreatment(str(term), _reference(coding, len(terms)), terms))
    return tuple(found)


def _reference(coding: Any, columns: int) -> str | None:
    """Return the level without a column, if the others are compared with it."""
    levels = [str(level) for level in coding.levels]
    if not isinstance(coding.contrasts, TreatmentContrasts) or columns != len(levels) - 1:
        return None
    base = str(coding.contrasts.base)
    return base if base in levels else levels[0]


def order_levels(data: Any, ref: Any) -> Any:
    """Return data frames with columns as categories whose first level is the reference.

    `ref` is a mapping from columns to references, or None. What is not a data frame is returned as
    it is: the formula will refuse it.
    """
    if ref is None:
        return data
    native = nw.from_native(data, pass_through=True)
    if not isinstance(native, nw.DataFrame):
        return data
    frame = pd.DataFrame(native.to_pandas())
    if not isinstance(ref, Mapping):
        raise OptionError(
            "ref to be a mapping from columns to their reference categories",
            repr(ref),
            "For example ref={'arm': 'control'}.",
        )
    ordered = {}
    for name, reference in ref.items():
        if name not in frame.columns:
            raise unknown_column(str(name), frame.columns)
        column = frame[name].astype("category")
        levels = {category_text(level): level for level in column.cat.categories}
        first = levels[find_reference(category_text(reference), list(levels), str(name))]
        others = [level for level in levels.values() if level != first]
        ordered[name] = column.cat.set_categories([first, *others])
    return frame.assign(**ordered)
