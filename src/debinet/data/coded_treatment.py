"""The record of a treatment that is a category, which results keep, too."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class CodedTreatment:
    """A treatment that is a category.

    Attributes
    ----------
    name : str
        Of the column.
    reference : str, optional
        The category with which the others are compared; None for other contrasts of a formula.
    terms : tuple of str
        Names of its coefficients.
    """

    name: str
    reference: str | None
    terms: tuple[str, ...]
