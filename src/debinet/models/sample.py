"""Data before it is known which columns are of interest."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from debinet.data.candidates import Candidates, make_candidates
from debinet.data.checks import require_sound
from debinet.data.dataset import read_outcome, read_weights
from debinet.data.labels import read_groups, require_length
from debinet.data.tables import read_table
from debinet.protocols import BoolArray, FloatArray, IntArray


@dataclass(frozen=True)
class Sample:
    """Validated rows.

    Attributes
    ----------
    candidates : Candidates
    X : FloatArray of shape (n, P)
        All columns, coded.
    y : FloatArray of shape (n,)
    outcome : str
    groups : IntArray of shape (n, ways), optional
    weights : FloatArray of shape (n,), optional
    """

    candidates: Candidates
    X: FloatArray
    y: FloatArray
    outcome: str
    groups: IntArray | None
    weights: FloatArray | None

    def of(self, rows: IntArray) -> Sample:
        """Return some of the rows."""
        return replace(
            self,
            X=self.X[rows],
            y=self.y[rows],
            groups=None if self.groups is None else self.groups[rows],
            weights=None if self.weights is None else self.weights[rows],
        )

    def frame(self, columns: BoolArray) -> pd.DataFrame:
        """Return some of the columns by name."""
        names = [self.candidates.names[j] for j in np.flatnonzero(columns)]
        return pd.DataFrame(self.X[:, columns], columns=names)


def read_sample(X: Any, y: Any, groups: Any = None, sample_weight: Any = None) -> Sample:
    """Validate at the door; raise a typed error or return a sound record."""
    table = read_table(X)
    outcome, name = read_outcome(y)
    require_length(outcome.size, table.n, "y")
    candidates = make_candidates(table)
    values = candidates.read(table)
    require_sound(values, candidates.names, outcome)
    return Sample(
        candidates,
        values,
        outcome,
        name or "y",
        None if groups is None else read_groups(groups, table.n),
        None if sample_weight is None else read_weights(sample_weight, table.n),
    )
