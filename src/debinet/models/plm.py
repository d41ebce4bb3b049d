"""`plm`: the formula front end of `PartiallyLinear`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from typing import Any, Self

from debinet.data.formula import (
    FormulaDesign,
    apply_formula,
    pick_columns,
    read_formula,
)
from debinet.data.frames import frame_parts, make_frame
from debinet.data.records import save_object
from debinet.data.safe_formula import require_safe_formula
from debinet.exceptions import FormulaError, StorageError
from debinet.inference.average_effects import AverageEffects
from debinet.inference.result import Inference
from debinet.inference.varying_effects import Effects
from debinet.models.effects_of import variables_of
from debinet.models.partially_linear import PartiallyLinear
from debinet.protocols import FloatArray


@dataclass(frozen=True, repr=False)
class FormulaFit:
    """A fitted formula: a `PartiallyLinear` that takes data frames with the formula's variables.

    Attributes
    ----------
    formula : str
        As given.
    model : PartiallyLinear
        The fitted model of the formula's columns.
    design : FormulaDesign
        How the formula turns data into columns.
    """

    formula: str
    model: PartiallyLinear
    design: FormulaDesign

    @property
    def result_(self) -> Inference:
        """Coefficients, covariance, intervals, tests, tables."""
        return self.model.result_

    def predict(self, data: Any) -> FloatArray:
        """Predict the outcome for new data, which need not have it."""
        return self.model.predict(apply_formula(self.design, data))

    def nuisance(self, data: Any) -> FloatArray:
        """Return the estimate of f(Z) for new data."""
        return self.model.nuisance(apply_formula(self.design, data))

    def summary(self, level: float = 0.95, joint: bool = False) -> str:
        """Return the result as text."""
        return f"{self.formula}\n\n{self.result_.summary(level, joint)}"

    def effects(self, by: Any, *, bins: Any = None, df: int | None = None) -> Effects:
        """Return effects that vary with variables of the formula's controls.

        Parameters
        ----------
        by, bins, df
            As in `PartiallyLinear.effects`.
        """
        return self.model.effects(variables_of(self.design, by), bins=bins, df=df)

    def average_effects(self, treatment: Any = None, **options: Any) -> AverageEffects:
        """Return average effects of 0/1 treatments; see `PartiallyLinear.average_effects`."""
        if self.model._fitted.rows is None or self.model._fitted.rows.data is None:
            options = {"X": self.design.X, "y": self.design.y, **options}
        return self.model.average_effects(treatment, **options)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the formula, its model and the columns it uses to one file, for `dn.load`."""
        save_object(self, path)

    def to_parts(self) -> Mapping[str, Any]:
        """Return the formula, the model and the columns that the formula uses, for files."""
        try:
            require_safe_formula(self.formula, self.design.source.columns)
        except FormulaError as error:
            raise StorageError(
                "a formula that a file can hold: " + error.expected,
                error.came,
                "Compute the column first and name it in the formula.",
            ) from error
        data = frame_parts(self.design.source)
        return {"formula": self.formula, "model": self.model, "data": data}

    @classmethod
    def from_parts(cls, parts: dict[str, Any]) -> Self:
        """Apply the formula of a file to its columns again."""
        frame = make_frame(parts["data"])
        require_safe_formula(parts["formula"], frame.columns)
        return cls(parts["formula"], parts["model"], read_formula(parts["formula"], frame))

    def __repr__(self) -> str:
        return f"<FormulaFit: {self.formula!r}, n={self.result_.n}>"

    def __str__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str:
        return self.result_.to_html()


def plm(
    formula: str,
    data: Any,
    learner: Any = "wide",
    *,
    groups: Any = None,
    sample_weight: Any = None,
    **options: Any,
) -> FormulaFit:
    """Fit a partially linear model given by a formula.

    Parameters
    ----------
    formula : str
        `"outcome ~ treatments | controls"`. Anything that formulaic supports: `C(region)`,
        `log(x)`, `a:b`, `bs(x, df=4)`; `.` stands for all columns not used otherwise. Like R's,
        formulas may call Python functions: do not run untrusted ones.
    data : data frame
        pandas, polars or arrow.
    learner : str or regressor
        As for `PartiallyLinear`.
    groups, sample_weight : column name(s) of data, or arrays, optional
        As for `PartiallyLinear.fit`.
    **options
        Further parameters of `PartiallyLinear`.

    Examples
    --------
    >>> import debinet as dn
    >>> from sklearn.linear_model import LassoCV
    >>> X, y, _ = dn.datasets.make_sparse_linear(n=500, random_state=0)
    >>> fit = dn.plm("y ~ d1 + d2 | z1 + z2 + z3", X.assign(y=y), LassoCV(), random_state=0)
    >>> list(fit.result_.names)
    ['d1', 'd2']
    """
    apart = [*_names(data, groups), *_names(data, sample_weight)]
    design = read_formula(formula, data, apart)
    model = PartiallyLinear(list(design.treatments), learner, **options)
    model.fit(
        design.X,
        design.y,
        groups=_column(data, groups),
        sample_weight=_column(data, sample_weight),
    )
    return FormulaFit(formula, model, design)


def _names(data: Any, wanted: Any) -> list[str]:
    """Return the columns that `wanted` names; labels or weights given as such name none."""
    names = [wanted] if isinstance(wanted, str) else wanted
    if not isinstance(names, (list, tuple)) or not all(isinstance(v, str) for v in names):
        return []
    # A list of texts as long as the data holds labels.
    return [] if len(names) > 2 and len(names) == len(data) else list(names)


def _column(data: Any, wanted: Any) -> Any:
    """Look names up in the data; arrays pass through."""
    names = _names(data, wanted)
    return pick_columns(data, names) if names else wanted
