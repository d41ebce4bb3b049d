"""Coefficients that can be defended, from models good enough to predict.

Partially linear models `y = D coef + f(Z) + e` with any learner for f, held-out residuals and
honest intervals. Names are imported when first used, so `import debinet` costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from debinet import datasets, exceptions, testing
    from debinet.inference.loading import load
    from debinet.inference.result import Inference
    from debinet.learners.mean import MeanLearner
    from debinet.learners.tangent import TangentNet
    from debinet.learners.wide import WideNet
    from debinet.models.partially_linear import PartiallyLinear
    from debinet.models.plm import FormulaFit, plm

__version__ = "0.1.0"

_WHERE = {
    "FormulaFit": "debinet.models.plm",
    "Inference": "debinet.inference.result",
    "MeanLearner": "debinet.learners.mean",
    "PartiallyLinear": "debinet.models.partially_linear",
    "TangentNet": "debinet.learners.tangent",
    "WideNet": "debinet.learners.wide",
    "load": "debinet.inference.loading",
    "plm": "debinet.models.plm",
}
_MODULES = ("datasets", "exceptions", "testing")

__all__ = [
    "FormulaFit",
    "Inference",
    "MeanLearner",
    "PartiallyLinear",
    "TangentNet",
    "WideNet",
    "datasets",
    "exceptions",
    "load",
    "plm",
    "testing",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"debinet.{name}")
    if name in _WHERE:
        return getattr(import_module(_WHERE[name]), name)
    raise AttributeError(f"module 'debinet' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
