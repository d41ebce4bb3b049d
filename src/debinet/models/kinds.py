"""Which classes the files of models may name, and how each is taken apart and made again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from debinet.data.archive import require
from debinet.data.records import Known, known_record
from debinet.models.foreign import Foreign
from debinet.models.taking_apart import SPECIAL, estimator_parts, find_class, make_estimator

# Name in files: where the class is today. Names stay when classes move.
RECORDS = {
    "schema": "data.schema:Schema",
    "candidates": "data.candidates:Candidates",
    "means": "models.partialled:ConditionalMeans",
    "averaged": "learners.crossfitting:Averaged",
    "weighted": "learners.crossfitting:Weighted",
    "fitted learner": "learners.adapter:FittedLearner",
    "moments": "learners.moments:Moments",
    "wide architecture": "learners.wide.kernels:Architecture",
    "wide predictor": "learners.wide.predictor:Predictor",
    "wide stopping path": "learners.wide.tuning:StoppingPath",
    "tangent units": "learners.tangent.features:HiddenUnits",
    "tangent predictor": "learners.tangent.predictor:Predictor",
    "kernel rows": "learners.smoothers.rows:StandardizedRows",
    "local averages": "learners.smoothers.averages:LocalAverages",
    "local lines": "learners.smoothers.lines:LocalLines",
    "multi-split": "inference.multisplit:MultiSplit",
    "desparsified design": "selection.problem:LinearProblem",
    "desparsified lasso": "desparsified.lasso:LassoFit",
}
ESTIMATORS = {
    "WideNet": "learners.wide.wide_net:WideNet",
    "TangentNet": "learners.tangent.tangent_net:TangentNet",
    "SplineSmoother": "learners.splines.spline_smoother:SplineSmoother",
    "NadarayaWatson": "learners.smoothers.nadaraya_watson:NadarayaWatson",
    "LocalLinear": "learners.smoothers.local_linear:LocalLinear",
    "MeanLearner": "learners.mean:MeanLearner",
    "Stack": "learners.stacking:Stack",
    "Columns": "learners.columns:Columns",
    "PartiallyLinear": "models.partially_linear:PartiallyLinear",
    "DebiasedLasso": "models.debiased_lasso:DebiasedLasso",
    "Lasso": "selection.lasso:Lasso",
    "AdaptiveLasso": "selection.adaptive_lasso:AdaptiveLasso",
    "ElasticNet": "selection.elastic_net:ElasticNet",
    "GroupLasso": "selection.group_lasso:GroupLasso",
    "SparseGroupLasso": "selection.sparse_group_lasso:SparseGroupLasso",
    "Slope": "selection.slope:Slope",
    "ForwardBackward": "selection.forward_backward:ForwardBackward",
}


@dataclass(frozen=True)
class Kinds:
    """The classes of this library, and others through `Foreign`.

    Attributes
    ----------
    trusted : bool
        Whether a file may name classes of other packages that are more than plain data.
    """

    trusted: bool = False

    def of(self, value: Any) -> Known:
        """Return the entry for an object."""
        where = f"{type(value).__module__.removeprefix('debinet.')}:{type(value).__name__}"
        name = _NAMES.get(where)
        return Foreign(self.trusted).known if name is None else _known(name)

    def named(self, name: str) -> Known:
        """Return the entry that a file names."""
        if name == Foreign.name:
            return Foreign(self.trusted).known
        require(name in _NAMES.values(), f"class {name!r}")
        return _known(name)


_NAMES = {
    where: name
    for table in (RECORDS, ESTIMATORS, {name: where for name, (where, _) in SPECIAL.items()})
    for name, where in table.items()
}


def _known(name: str) -> Known:
    if name in SPECIAL:
        return SPECIAL[name][1]()
    return (
        known_record(name, find_class(RECORDS[name]))
        if name in RECORDS
        else _estimator(name, ESTIMATORS[name])
    )


def _estimator(name: str, where: str) -> Known:
    """Return the entry of an estimator: its parameters and what fit has set."""
    kind = find_class(where)

    return Known(name, estimator_parts, lambda parts: make_estimator(kind, parts))
