"""Networks made from a user's module in files: the weights are saved, the module is not."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np

from debinet.data.arrays import require
from debinet.exceptions import OptionError
from debinet.learners.net.fitting import Blueprint, TrainedNetwork, make_module


def without_module(net: Any) -> Any:
    """Return a fitted `Net` that a file can hold."""
    if net.module is None:
        return net
    twin = copy(net)
    twin.module, twin._network = None, replace(net._network, blueprint=Blueprint(None, None))
    return twin


def attach_module(net: Any, module: Any) -> Any:
    """Return a `Net` of a file with the module whose weights it has, if it was made from one."""
    network: TrainedNetwork = net._network
    if network.blueprint.architecture is not None:
        return net
    if module is None:
        raise OptionError(
            "the module whose weights the file holds",
            "module=None",
            "Pass the module, or the function that made it, as in Net.load(path, module=...).",
        )
    inputs, m = net.n_features_in_ + network.inputs.constant, network.outputs.centre.size
    made = replace(network, blueprint=Blueprint(None, make_module(module, inputs, m)))
    try:
        for state in made.states.values():
            made.blueprint.restore(state, m, "cpu")
    except (RuntimeError, KeyError) as error:
        raise OptionError(
            "the module whose weights the file holds",
            f"another one: {str(error).splitlines()[0]}",
            "Pass the module that was trained, or the function that made it.",
        ) from error
    net.module, net._network = module, made
    return net


def require_sound(network: TrainedNetwork, p: int) -> None:
    """Require parts of a network of p inputs that fit together, so that it can predict."""
    outputs, best = network.outputs, network.history.best_epoch
    require(outputs.logistic.shape == outputs.centre.shape == outputs.scale.shape, "outputs")
    require(best.shape == outputs.centre.shape, "epochs")
    require(set(best.tolist()) == set(network.states), "epochs")
    if network.blueprint.architecture is not None:
        predictions = network.predict(np.zeros((2, p)), "cpu")
        require(predictions.shape == (2, best.size), "weights")
