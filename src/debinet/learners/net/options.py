"""Options of a network, checked before anything is trained, and its training samples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from debinet.data.options import one_of, positive_number, share, whole_number
from debinet.exceptions import OptionError
from debinet.learners.net.architecture import ACTIVATIONS, NetArchitecture, read_hidden
from debinet.learners.net.fitting import Blueprint
from debinet.learners.net.losses import LOSSES
from debinet.learners.net.optimizers import Optimizer, default_batch, default_rate
from debinet.learners.net.sample import Scaling, TrainingSample, make_sample, zeros_and_ones
from debinet.learners.net.training import TrainingPlan
from debinet.protocols import BoolArray, FloatArray, IntArray

_WORDS = {
    "activation": tuple(ACTIVATIONS),
    "parametrization": ("paper", "standard"),
    "train": ("all", "first"),
    "start": ("mean", "random"),
    "loss": tuple(LOSSES),
    "binary": ("logistic", "squared"),
    "optimizer": ("adam", "sgd", "gd", "nesterov"),
}


def read_blueprint(net: Any) -> Blueprint:
    """Return the network that the options describe: a module or fully connected layers."""
    for option, words in _WORDS.items():
        one_of(option, getattr(net, option), words)
    if net.module is not None:
        return Blueprint(None, net.module)
    hidden = read_hidden(net.hidden)
    options = (net.activation, net.parametrization, net.train, net.start)
    return Blueprint(NetArchitecture(hidden, *options), None)


def read_scaling(net: Any, zero_one: BoolArray) -> Scaling:
    """Return how rows are scaled; `zero_one` (m,) are the columns of zeros and ones."""
    word = net.standardize
    if not (isinstance(word, (bool, np.bool_)) or (isinstance(word, str) and word == "inputs")):
        raise OptionError(
            "standardize to be True, False or 'inputs'",
            repr(net.standardize),
            "Leave it at True unless the columns have one scale.",
        )
    constant = net.module is None and net.parametrization == "paper"
    both = isinstance(word, (bool, np.bool_)) and bool(word)
    logistic = zero_one & (net.binary == "logistic")
    return Scaling(bool(both or word == "inputs"), both, constant, logistic)


def read_plan(net: Any) -> TrainingPlan:
    """Return how the network is trained."""
    rate, batch = net.learning_rate, net.batch_size
    if isinstance(rate, str) and rate == "auto":
        paper = net.module is None and net.parametrization == "paper"
        rate = default_rate(net.optimizer, paper)
    rate = positive_number("learning_rate", rate, words=["auto"])
    if isinstance(batch, str) and batch == "auto":
        batch = default_batch(net.optimizer)
    elif batch is not None:
        batch = whole_number("batch_size", batch, 1)
    return TrainingPlan(
        Optimizer(net.optimizer, rate, batch),
        net.loss,
        whole_number("epochs", net.epochs, 1),
        whole_number("patience", net.patience, 1),
        read_device(net.device),
        bool(net.progress),
    )


def read_device(device: Any) -> str:
    """Return a device that is there: the first graphics card for `"auto"`, else the processor."""
    if isinstance(device, str) and device == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    try:
        torch.zeros(1, device=device)
    except Exception as error:  # torch raises many kinds, AssertionError among them
        raise OptionError(
            "device to be 'auto', 'cpu' or a device that this torch can use",
            f"{device!r} ({type(error).__name__}: {str(error).splitlines()[0][:80]})",
            "Use device='auto'.",
        ) from error
    return str(device)


def make_samples(
    net: Any,
    Z: FloatArray,
    M: FloatArray,
    rows: Sequence[IntArray],
    *,
    seeds: Sequence[int],
    weight: FloatArray,
    groups: IntArray | None = None,
) -> list[TrainingSample]:
    """Split and scale each of the `rows` of Z and M (n, m), as the options of `net` say.

    `groups` are codes (n,) of rows that are held out together.
    """
    scaling = read_scaling(net, zeros_and_ones(M[weight > 0]))
    held_share, remedy = 0.0, "Use 0.1, or None to train for all epochs."
    if net.validation_share is not None:
        held_share = share("validation_share", net.validation_share, remedy)
    return [
        make_sample(
            Z[part],
            M[part],
            weight[part],
            scaling,
            held_share=held_share,
            seed=seed,
            groups=None if groups is None else groups[part],
        )
        for part, seed in zip(rows, seeds, strict=True)
    ]
