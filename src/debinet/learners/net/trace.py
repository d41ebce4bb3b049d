"""Predictions after every epoch of training, not only the best."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from debinet.data.folds import Fold, Folds
from debinet.learners.net.fitting import fit_network, forward
from debinet.learners.net.prepare import prepare
from debinet.learners.net.program import Program
from debinet.learners.net.sample import Sample
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

    Training goes on for all epochs of `net`: nothing stops it early. With in-sample folds the
    predictions are those of the training rows.
    """
    rows = [fold.train(len(Z)) for fold in folds]
    prepared = prepare(net, Z, M, rows, seeds=seeds, weight=weight, groups=groups)
    plan = replace(prepared.plan, patience=prepared.plan.epochs)
    found = np.empty((plan.epochs, *M.shape))
    for fold, sample in zip(folds, prepared.samples, strict=True):
        look = _watcher(found, fold, sample, Z, plan.device)
        network = fit_network(sample, prepared.blueprint, replace(plan, watch=look))
        if network.history.stopped == "interrupted":
            raise KeyboardInterrupt
    return found


def _watcher(
    found: FloatArray, fold: Fold, sample: Sample, Z: FloatArray, device: str
) -> Callable[[int, Program], None]:
    """Return what notes, after each epoch, the predictions of a fold's held-out rows."""
    encoded = sample.inputs.encode(Z[fold.test]).astype(np.float32)

    def look(epoch: int, stack: Program) -> None:
        found[epoch - 1, fold.test] = sample.outputs.decode(forward(stack, encoded, device))

    return look
