"""The same data without some controls."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import numpy as np

from debinet.data.dataset import Dataset
from debinet.data.schema import Schema, unknown_column
from debinet.exceptions import OptionError


def without_controls(data: Dataset, names: Collection[str]) -> Dataset:
    """Return the data without these columns of X, all their categories included."""
    schema = data.schema
    for name in names:
        if name not in schema.names:
            raise unknown_column(name, schema.names, "controls that are columns of X")
        if schema.names.index(name) in schema.treatments:
            raise OptionError("controls to leave out", f"the treatment {name!r}", "Name controls.")
    left_out = {j for j, name in enumerate(schema.names) if name in names}
    kept = [k for k, (j, _) in enumerate(schema.control_columns) if j not in left_out]
    Z = np.ascontiguousarray(data.Z[:, kept])
    return replace(data, Z=Z, schema=_without(schema, left_out))


def _without(schema: Schema, left_out: Collection[int]) -> Schema:
    kept = [j for j in range(len(schema.names)) if j not in left_out]
    place = {j: k for k, j in enumerate(kept)}
    return replace(
        schema,
        names=tuple(schema.names[j] for j in kept),
        treatments=tuple(place[j] for j in schema.treatments),
        levels={place[j]: levels for j, levels in schema.levels.items() if j in place},
        codes=tuple(place[j] for j in schema.codes),
    )
