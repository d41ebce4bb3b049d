"""An experiment whose cells take as long as an environment variable says, for processes that are
killed."""

from __future__ import annotations

import os
import time

import numpy as np

from debinet.experiments.plan import Design, Experiment, Method


def draw(n, *, random_state):
    return np.random.default_rng(random_state).normal(size=n)


def slow(data, seed):
    time.sleep(float(os.environ.get("SECONDS_PER_CELL", "0")))
    return {"mean": data.mean(), "noise": np.random.default_rng(seed).normal()}


plan = Experiment(
    "killed", (Design("d", draw, {"n": 10}),), (Method("a", slow), Method("b", slow)), 20
)
