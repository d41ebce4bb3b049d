"""Predictions after every epoch of training, not only the best."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from debinet.data.folds import Fold, Folds
from debinet.learners.net.fitting import fit_network, forward
from debinet.learners.net.options import make_samples, read_blueprint, read_plan
from debinet.learners.net.program import Program
from debinet.learners.net.sample import TrainingSample
from debinet.protocols import FloatArray, IntArray


def trace_predictions(
    net: Any,
    Z: FloatArray,
    M: FloatArray,
    folds: Folds,
    *,
    seeds: Sequence[int],
    weight: FloatArray,
    groups: IntArray | None = None,
) -> FloatArray:
    """Return predictions (epochs, n, m) of all rows by networks that did not see their fold.

    Training runs for all epochs of `net`, without early stopping. With in-sample folds the
    predictions are those of the training rows.
    """
    rows = [fold.train(len(Z)) for fold in folds]
    blueprint, plan = read_blueprint(net), read_plan(net)
    samples = make_samples(net, Z, M, rows, seeds=seeds, weight=weight, groups=groups)
    found = np.empty((plan.epochs, *M.shape))
    for fold, sample in zip(folds, samples, strict=True):
        record = _recorder(found, fold, sample, Z, plan.device)
        endless = replace(plan, patience=plan.epochs, watch=record)
        network = fit_network(sample, blueprint, endless)
        if network.history.stopped == "interrupted":
            raise KeyboardInterrupt
    return found


def _recorder(
    found: FloatArray, fold: Fold, sample: TrainingSample, Z: FloatArray, device: str
) -> Callable[[int, Program], None]:
    """Return a function that records, after each epoch, the predictions of held-out rows."""
    encoded = sample.inputs.encode(Z[fold.test]).astype(np.float32)

    def record(epoch: int, stack: Program) -> None:
        found[epoch - 1, fold.test] = sample.outputs.decode(forward(stack, encoded, device))

    return record
