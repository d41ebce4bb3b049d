"""Coefficients that can be defended, from models good enough to predict.

Partially linear models `y = D coef + f(Z) + e` with any learner for f, held-out residuals and
honest intervals. Names are imported when first used, so `import debinet` is fast.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from debinet import datasets, exceptions, experiments, testing, theory
    from debinet.data.dose import Dose
    from debinet.inference.result import Inference
    from debinet.learners.columns import Columns
    from debinet.learners.lasso import LassoLearner
    from debinet.learners.mean import MeanLearner
    from debinet.learners.net.net import Net
    from debinet.learners.smoothers import LocalLinear, NadarayaWatson
    from debinet.learners.splines import SplineSmoother
    from debinet.learners.stacking import Stack, stack
    from debinet.learners.tangent import TangentNet
    from debinet.learners.wide import WideNet
    from debinet.models.coefficient_path import coefficient_path
    from debinet.models.compare import compare
    from debinet.models.comparison import ModelComparison
    from debinet.models.debiased_lasso import DebiasedLasso
    from debinet.models.debinet import DebiNet
    from debinet.models.partially_linear import PartiallyLinear
    from debinet.models.plm import plm
    from debinet.models.storing import load
    from debinet.report.curves import plot_coefficient_path
    from debinet.report.intervals import plot_intervals
    from debinet.report.model_table import ModelTable, table
    from debinet.selection.adaptive_lasso import AdaptiveLasso
    from debinet.selection.elastic_net import ElasticNet
    from debinet.selection.forward_backward import ForwardBackward
    from debinet.selection.group_lasso import GroupLasso
    from debinet.selection.lasso import Lasso
    from debinet.selection.slope import Slope
    from debinet.selection.sparse_group_lasso import SparseGroupLasso

__version__ = "0.2.0"

_WHERE = {
    "AdaptiveLasso": "debinet.selection.adaptive_lasso",
    "Columns": "debinet.learners.columns",
    "ModelComparison": "debinet.models.comparison",
    "DebiNet": "debinet.models.debinet",
    "DebiasedLasso": "debinet.models.debiased_lasso",
    "Dose": "debinet.data.dose",
    "ElasticNet": "debinet.selection.elastic_net",
    "ForwardBackward": "debinet.selection.forward_backward",
    "GroupLasso": "debinet.selection.group_lasso",
    "Inference": "debinet.inference.result",
    "Lasso": "debinet.selection.lasso",
    "LassoLearner": "debinet.learners.lasso",
    "LocalLinear": "debinet.learners.smoothers",
    "MeanLearner": "debinet.learners.mean",
    "ModelTable": "debinet.report.model_table",
    "Net": "debinet.learners.net.net",
    "NadarayaWatson": "debinet.learners.smoothers",
    "PartiallyLinear": "debinet.models.partially_linear",
    "Slope": "debinet.selection.slope",
    "SparseGroupLasso": "debinet.selection.sparse_group_lasso",
    "SplineSmoother": "debinet.learners.splines",
    "Stack": "debinet.learners.stacking",
    "TangentNet": "debinet.learners.tangent",
    "WideNet": "debinet.learners.wide",
    "coefficient_path": "debinet.models.coefficient_path",
    "compare": "debinet.models.compare",
    "load": "debinet.models.storing",
    "plm": "debinet.models.plm",
    "plot_coefficient_path": "debinet.report.curves",
    "plot_intervals": "debinet.report.intervals",
    "stack": "debinet.learners.stacking",
    "table": "debinet.report.model_table",
}
_MODULES = ("datasets", "exceptions", "experiments", "testing", "theory")

__all__ = [
    "AdaptiveLasso",
    "Columns",
    "DebiNet",
    "DebiasedLasso",
    "Dose",
    "ElasticNet",
    "ForwardBackward",
    "GroupLasso",
    "Inference",
    "Lasso",
    "LassoLearner",
    "LocalLinear",
    "MeanLearner",
    "ModelComparison",
    "ModelTable",
    "NadarayaWatson",
    "Net",
    "PartiallyLinear",
    "Slope",
    "SparseGroupLasso",
    "SplineSmoother",
    "Stack",
    "TangentNet",
    "WideNet",
    "coefficient_path",
    "compare",
    "datasets",
    "exceptions",
    "experiments",
    "load",
    "plm",
    "plot_coefficient_path",
    "plot_intervals",
    "stack",
    "table",
    "testing",
    "theory",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"debinet.{name}")
    if name in _WHERE:
        return getattr(import_module(_WHERE[name]), name)
    raise AttributeError(f"module 'debinet' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
