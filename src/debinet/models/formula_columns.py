"""The formula of a model: how it turns data frames into columns, also after `dn.load`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import pandas as pd

from debinet.data.coded_treatment import CodedTreatment
from debinet.data.formula import FormulaDesign, apply_formula, read_formula
from debinet.data.formula_terms import coded_terms
from debinet.data.frames import frame_parts, make_frame
from debinet.data.safe_formula import require_safe_formula
from debinet.exceptions import FormulaError, StorageError


@dataclass(frozen=True, repr=False)
class FormulaColumns:
    """A formula that was applied to data, for new rows.

    Attributes
    ----------
    formula : str
        As given.
    design : FormulaDesign
        How it turns data into columns.
    """

    formula: str
    design: FormulaDesign

    @property
    def categories(self) -> tuple[CodedTreatment, ...]:
        """Treatments that are categories, with the names of their coefficients."""
        return coded_terms(self.design.specs[0])

    def read(self, data: Any) -> pd.DataFrame:
        """Return the columns for new rows, which need not have the outcome."""
        return apply_formula(self.design, data)

    def to_parts(self) -> Mapping[str, Any]:
        """Return the formula and the columns that it uses, for files."""
        try:
            require_safe_formula(self.formula, self.design.source.columns)
        except FormulaError as error:
            raise StorageError(
                "a formula that a file can hold: " + error.expected,
                error.came,
                "Compute the column first and name it in the formula.",
            ) from error
        return {"formula": self.formula, "data": frame_parts(self.design.source)}

    @classmethod
    def from_parts(cls, parts: dict[str, Any]) -> Self:
        """Apply the formula of a file to its columns again."""
        frame = make_frame(parts["data"])
        require_safe_formula(parts["formula"], frame.columns)
        return cls(parts["formula"], read_formula(parts["formula"], frame))

    def __repr__(self) -> str:
        return f"<FormulaColumns: {self.formula!r}>"
