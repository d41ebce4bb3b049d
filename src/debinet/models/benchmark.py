"""Controls as benchmarks: the model is fitted again without them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from debinet.data.dataset import Dataset
from debinet.data.fewer_controls import without_controls
from debinet.data.formula import FormulaDesign
from debinet.data.formula_controls import control_terms
from debinet.data.options import one_of
from debinet.data.schema import Schema
from debinet.exceptions import InputError, LengthError, OptionError
from debinet.inference.benchmarks import RULES, Benchmark, Benchmarks
from debinet.inference.result import Inference
from debinet.inference.sensitivity_rows import sensitive_rows
from debinet.learners.mean import MeanLearner
from debinet.learners.named import resolve_learner
from debinet.models.estimate import estimate
from debinet.models.estimation import Options

# What users may give: names of columns, groups of them, or groups by label.
Wanted = str | Sequence[str | Sequence[str]] | Mapping[str, str | Sequence[str]]


@dataclass(frozen=True)
class LongFit:
    """A fit with all controls, and how to repeat it.

    Attributes
    ----------
    result : Inference
    schema : Schema
        The columns of X.
    options : Options
        Learner and method are replaced by those that the fit used.
    ref : mapping or category, optional
        References of treatments that are categories.
    """

    result: Inference
    schema: Schema
    options: Options
    ref: Any = None

    def read(self, X: Any, y: Any) -> Dataset:
        """Return the data of the fit, with its clusters and weights."""
        if X is None or y is None:
            raise OptionError(
                "X and y, the data of fit, which the model does not keep",
                "none",
                "Use model.benchmark(controls, X, y).",
            )
        first = sensitive_rows(self.result).fits[0]
        treatments, groups = list(self.schema.treatments), self.result.groups
        weights = first.weights
        if not len(X) == len(y) == first.R_y.size:
            raise LengthError(
                f"the data of fit, {first.R_y.size} rows",
                f"{len(X)} rows of X and {len(y)} of y",
                "Pass the same X and y as to fit.",
            )
        data = Dataset.from_any(
            X, y, treatments, ref=self.ref, groups=groups, sample_weight=weights
        )
        if data.schema != self.schema:
            raise InputError(
                "the columns of fit, in the same order",
                f"{list(data.schema.names)[:8]}",
                "Pass the same X and y as to fit.",
            )
        return data


def benchmark_controls(
    fit: LongFit, wanted: Wanted, X: Any, y: Any, rule: str = RULES[0]
) -> Benchmarks:
    """Return how strong controls are: the model is fitted again without each of them.

    Parameters
    ----------
    fit : LongFit
    wanted : str, sequence or mapping
        Columns, or groups of columns that are left out together, perhaps with labels.
    X, y
        The data of the fit.
    rule : {"gains", "partial-r2"}
    """
    one_of("rule", rule, RULES)
    groups, long = read_control_groups(wanted), sensitive_rows(fit.result)
    data = fit.read(X, y)
    options = _same_choices(fit, data)
    shorter = {label: without_controls(data, names) for label, names in groups.items()}
    items = tuple(
        Benchmark(label, groups[label], sensitive_rows(_refit(short, options)).explained())
        for label, short in shorter.items()
    )
    return Benchmarks(long.names, long.explained(), items, rule)


def _same_choices(fitted: LongFit, data: Dataset) -> Options:
    """Return options in which nothing is left to be chosen by the number of controls."""
    learner = resolve_learner(fitted.options.learner, *data.Z.shape).learner
    provenance = fitted.result.provenance
    method = provenance.method or fitted.options.method
    return replace(fitted.options, learner=learner, method=method, seed=provenance.seed)


def _refit(data: Dataset, options: Options) -> Inference:
    if data.Z.shape[1] == 0:
        # Without controls, the conditional means are the means.
        options = replace(options, learner=MeanLearner(), method="robinson")
    return estimate(data, options).result


def term_groups(design: FormulaDesign, wanted: Wanted) -> dict[str, tuple[str, ...]]:
    """Return the columns of a formula to leave out together, by label."""
    return {
        label: tuple(column for name in names for column in control_terms(design, name))
        for label, names in read_control_groups(wanted).items()
    }


def read_control_groups(wanted: Wanted) -> dict[str, tuple[str, ...]]:
    """Return the controls to leave out together, by label."""
    if isinstance(wanted, Mapping):
        found = {str(label): _names(columns) for label, columns in wanted.items()}
    else:
        listed = [wanted] if isinstance(wanted, str) or not _iterable(wanted) else list(wanted)
        found = {" + ".join(_names(columns)): _names(columns) for columns in listed}
    if not found or not all(found.values()):
        raise OptionError(
            "names of controls, or groups of them",
            "none" if not found else "an empty group",
            "For example benchmark(['inc', ['educ', 'age']], X, y).",
        )
    return found


def _names(columns: Any) -> tuple[str, ...]:
    names = (columns,) if isinstance(columns, str) or not _iterable(columns) else tuple(columns)
    for name in names:
        if not isinstance(name, str):
            raise OptionError(
                "controls by name", repr(name), "Columns of arrays are named x0, x1 and so on."
            )
    return names


def _iterable(value: Any) -> bool:
    return isinstance(value, Iterable)
