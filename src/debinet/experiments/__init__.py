"""Simulations as data; the paper's tables and figures are such simulations."""

from debinet.experiments.assess import Fit, SimulatedSample, draw_sample
from debinet.experiments.comparison import Comparison, Metric, Published, compare
from debinet.experiments.paper.reproduce import NAMES, Reproduced, Running, reproduce
from debinet.experiments.plan import Cell, Design, Experiment, Method
from debinet.experiments.results import Results
from debinet.experiments.running import run_experiment
from debinet.experiments.toml_plan import read_experiment

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
