"""How a result was computed, as data: learner, folds, method, selection, seed, versions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from platform import python_version
from typing import Literal, Self

import numpy as np

from debinet.data.arrays import require
from debinet.data.coded_treatment import CodedTreatment
from debinet.data.folds import Folds
from debinet.data.observed_dose import ObservedDose
from debinet.protocols import FloatArray, IntArray

_PACKAGES = ("debinet", "numpy", "scipy", "scikit-learn", "pandas")


@cache
def installed_versions() -> tuple[tuple[str, str], ...]:
    """Return the names and versions of Python and of the packages that results depend on."""
    found = [("Python", python_version())]
    for name in _PACKAGES:
        try:
            found.append((name, version(name)))
        except PackageNotFoundError:  # run from its source
            continue
    return tuple(found)


@dataclass(frozen=True)
class CrossFitting:
    """How rows were held out.

    Attributes
    ----------
    kind : {"leave-one-out", "folds", "none"}
        `"none"` stands for in-sample residuals.
    folds : int
        Number of folds.
    label : str
        How they were made, in words.
    repetitions : int
        How often they were drawn.
    """

    kind: Literal["leave-one-out", "folds", "none"]
    folds: int
    label: str
    repetitions: int = 1

    @classmethod
    def of(cls, repetitions: Sequence[Folds]) -> Self:
        """Return the record of some folds, one element per repetition."""
        folds = repetitions[0]
        kind: Literal["leave-one-out", "folds", "none"] = "folds"
        if folds.in_sample:
            kind = "none"
        elif folds.singletons:
            kind = "leave-one-out"
        return cls(kind, len(folds), folds.label, len(repetitions))


@dataclass(frozen=True)
class Selected:
    """How treatments were selected.

    Attributes
    ----------
    selector : str
        Name of its class.
    rows : int
        Number of rows that it was fitted to.
    same_rows : bool
        Whether coefficients were estimated on the same rows.
    chosen, offered : int
        Numbers of features.
    """

    selector: str
    rows: int
    same_rows: bool
    chosen: int
    offered: int


@dataclass(frozen=True)
class Clustered:
    """Clusters of rows.

    Attributes
    ----------
    numbers : tuple of int
        Number of clusters of each grouping.
    column : str, optional
        Name of their column.
    """

    numbers: tuple[int, ...]
    column: str | None = None

    @classmethod
    def of(cls, groups: IntArray | None, weights: FloatArray | None = None) -> Self | None:
        """Return the record of codes (n, ways) of rows that count; None if there are none."""
        if groups is None:
            return None
        groups = groups if weights is None else groups[weights > 0]
        return cls(tuple(int(np.unique(codes).size) for codes in groups.T))


@dataclass(frozen=True)
class Instrumented:
    """Which treatments have which instruments.

    Attributes
    ----------
    instruments : tuple of str
        Excluded ones.
    endogenous : tuple of str
        Treatments; the others are exogenous.
    """

    instruments: tuple[str, ...]
    endogenous: tuple[str, ...]


@dataclass(frozen=True)
class CorrectedErrors:
    """Errors in the residuals of D that the coefficients are corrected for.

    Attributes
    ----------
    variances : tuple of float
        Mean squared error of each treatment, averaged over repetitions.
    given : bool
        Whether the user gave them, or the learner.
    """

    variances: tuple[float, ...]
    given: bool


@dataclass(frozen=True)
class LassoPenalties:
    """How the desparsified Lasso was tuned.

    Attributes
    ----------
    penalty : float
        Of the Lasso of y.
    nonzero : int
        Number of its coefficients that are not zero.
    least_nodewise, most_nodewise : float
        Range of the penalties of the nodewise regressions.
    noise : float
        Standard deviation of the noise.
    """

    penalty: float
    nonzero: int
    least_nodewise: float
    most_nodewise: float
    noise: float


@dataclass(frozen=True)
class Provenance:
    """How a result was computed.

    The numbers of rows and of treatments are those of the result.

    Attributes
    ----------
    model : str
        Name of the model.
    outcome : str
        Name of y.
    formula : str, optional
        Of `plm`.
    source : str, optional
        Where the rows were streamed from.
    controls : int, optional
        Number of controls.
    control_columns : tuple of str
        Names of the columns that they are made of, of which a category has several controls.
    categories : tuple of CodedTreatment
        Treatments that are categories, each with several coefficients.
    doses : tuple of ObservedDose
        Treatments that are doses, each with several coefficients.
    learner : str, optional
        Name of its class.
    hidden_units : int, optional
        Of a streamed network.
    cross_fitting : CrossFitting, optional
    method : str, optional
        Of `PartiallyLinear`.
    selection : Selected, optional
        None if the user named the treatments.
    clusters : Clustered, optional
    errors : CorrectedErrors, optional
    huber : float, optional
        Tuning constant of Huber's M-estimator, if it was the last stage.
    lasso : LassoPenalties, optional
    instrumented : Instrumented, optional
        None if all treatments are exogenous.
    seed : int
        The `random_state` that repeats the fit. It also determines joint intervals.
    versions : tuple of (str, str)
        Names and versions of Python and packages.
    """

    model: str = "Residual regression"
    outcome: str = "y"
    source: str | None = None
    controls: int | None = None
    control_columns: tuple[str, ...] = ()
    categories: tuple[CodedTreatment, ...] = ()
    doses: tuple[ObservedDose, ...] = ()
    learner: str | None = None
    hidden_units: int | None = None
    cross_fitting: CrossFitting | None = None
    method: str | None = None
    selection: Selected | None = None
    clusters: Clustered | None = None
    errors: CorrectedErrors | None = None
    lasso: LassoPenalties | None = None
    huber: float | None = None
    instrumented: Instrumented | None = None
    seed: int = 0
    formula: str | None = None
    versions: tuple[tuple[str, str], ...] = field(default_factory=installed_versions)

    def __post_init__(self) -> None:
        require(self.seed >= 0, "seed")
