"""Simulations as data; the paper's tables and figures are such simulations.

Names are imported when first used: a worker process needs few of them.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from debinet.experiments.assess import Fit, SimulatedSample, draw_sample
    from debinet.experiments.comparison import Comparison, Metric, Published, compare
    from debinet.experiments.paper.reproduce import NAMES, Reproduced, Running, reproduce
    from debinet.experiments.plan import Cell, Design, Experiment, Method
    from debinet.experiments.results import Results
    from debinet.experiments.running import run_experiment
    from debinet.experiments.toml_plan import read_experiment

_NAMES = {
    "assess": ("Fit", "SimulatedSample", "draw_sample"),
    "comparison": ("Comparison", "Metric", "Published", "compare"),
    "paper.reproduce": ("NAMES", "Reproduced", "Running", "reproduce"),
    "plan": ("Cell", "Design", "Experiment", "Method"),
    "results": ("Results",),
    "running": ("run_experiment",),
    "toml_plan": ("read_experiment",),
}
_WHERE = {name: module for module, names in _NAMES.items() for name in names}

__all__ = [
    "NAMES",
    "Cell",
    "Comparison",
    "Design",
    "Experiment",
    "Fit",
    "Method",
    "Metric",
    "Published",
    "Reproduced",
    "Results",
    "Running",
    "SimulatedSample",
    "compare",
    "draw_sample",
    "read_experiment",
    "reproduce",
    "run_experiment",
]


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_WHERE[name]}"), name)
