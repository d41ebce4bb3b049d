"""A trained network in a file of plain arrays, and back."""

from __future__ import annotations

from dataclasses import asdict
from os import PathLike
from typing import Any

import numpy as np

from debinet.data.archive import Kind, read_archive, require, write_archive
from debinet.exceptions import OptionError
from debinet.learners.moments import Moments
from debinet.learners.net.architecture import NetArchitecture
from debinet.learners.net.fitting import Blueprint, TrainedNetwork, make_module
from debinet.learners.net.history import History
from debinet.learners.net.outputs import Outputs
from debinet.learners.net.sample import Inputs

KIND = Kind("debinet-net", 1, "Net.save")


def save_net(net: Any, path: str | PathLike[str]) -> None:
    """Write a fitted `Net`. Options that are no plain data (module, generators) are left out."""
    write_archive(path, KIND, *net_parts(net))


def net_parts(net: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what makes up a fitted `Net`: plain values, and arrays."""
    network, history = net._network, net.history_
    options = {
        name: _plain(value)
        for name, value in net.get_params(deep=False).items()
        if name != "module"
    }
    plain = {
        name: value
        for name, value in options.items()
        if isinstance(value, (str, int, float, bool, tuple, list, type(None)))
    }
    architecture = network.blueprint.architecture
    header = {
        "options": plain,
        "architecture": None if architecture is None else asdict(architecture),
        "flat": net._flat,
        "n_features": net.n_features_in_,
        "names": list(map(str, getattr(net, "feature_names_in_", []))),
        "constant": network.inputs.constant,
        "stopped": history.stopped,
        "epochs": sorted(network.states),
    }
    arrays = {
        "train_loss": history.train_loss,
        "best_epoch": history.best_epoch,
        "logistic": network.outputs.logistic,
        "centre": network.outputs.centre,
        "scale": network.outputs.scale,
        **{
            f"weights/{epoch}/{name}": value
            for epoch, state in network.states.items()
            for name, value in state.items()
        },
    }
    if history.held_loss is not None:
        arrays["held_loss"] = history.held_loss
    if network.inputs.moments is not None:
        arrays |= {"mean": network.inputs.moments.mean, "sd": network.inputs.moments.sd}
    return header, arrays


def _plain(value: Any) -> Any:
    """Return numbers of numpy as Python's, which JSON knows."""
    if isinstance(value, np.generic):
        return value.item()
    return [_plain(one) for one in value] if isinstance(value, (tuple, list)) else value


def load_net(kind: Any, path: str | PathLike[str], module: Any) -> Any:
    """Read a `Net`; `module` is needed for one that was made from a module."""
    header = read_archive(path, KIND, lambda header, _: header)
    if header.get("architecture") is None and module is None:
        raise OptionError(
            "the module whose weights the file holds",
            "module=None",
            "Pass the module, or the function that made it, as in Net.load(path, module=...).",
        )
    return read_archive(
        path, KIND, lambda header, archive: rebuild_net(kind, header, archive, module)
    )


def rebuild_net(kind: Any, header: dict[str, Any], archive: Any, module: Any = None) -> Any:
    """Return the network that `net_parts` took apart, or raise if something is amiss."""
    options = dict(header["options"])
    if isinstance(options.get("hidden"), list):
        options["hidden"] = tuple(options["hidden"])
    net = kind(**options, module=module)
    inputs, outputs = _inputs(header, archive), _outputs(archive)
    p, m = int(header["n_features"]), outputs.centre.size
    blueprint = _blueprint(header, module, p + inputs.constant, m)
    states = {int(epoch): _state(archive, int(epoch)) for epoch in header["epochs"]}
    best = archive["best_epoch"]
    require(best.shape == (m,) and set(best.tolist()) == set(states), "epochs")
    held = archive.get("held_loss", None)
    history = History(archive["train_loss"], held, best, str(header["stopped"]))
    network = TrainedNetwork(inputs, outputs, states, history, blueprint)
    if module is not None:
        _require_module_of(network, m)
    require(network.predict(np.zeros((2, p)), "cpu").shape == (2, m), "weights")
    net._take(network, bool(header["flat"]))
    net.n_features_in_ = p
    if header["names"]:
        net.feature_names_in_ = np.array(header["names"], dtype=object)
    return net


def _require_module_of(network: TrainedNetwork, m: int) -> None:
    try:
        for state in network.states.values():
            network.blueprint.restore(state, m, "cpu")
    except (RuntimeError, KeyError) as error:
        raise OptionError(
            "the module whose weights the file holds",
            f"another one: {str(error).splitlines()[0]}",
            "Pass the module that was trained, or the function that made it.",
        ) from error


def _inputs(header: dict[str, Any], archive: Any) -> Inputs:
    moments = None
    if "mean" in archive:
        moments = Moments(archive["mean"], archive["sd"])
        require(moments.mean.shape == moments.sd.shape == (header["n_features"],), "moments")
    return Inputs(moments, bool(header["constant"]))


def _outputs(archive: Any) -> Outputs:
    logistic, centre, scale = (archive[name] for name in ("logistic", "centre", "scale"))
    require(logistic.dtype == bool and logistic.shape == centre.shape == scale.shape, "outputs")
    return Outputs(logistic, centre, scale)


def _blueprint(header: dict[str, Any], module: Any, inputs: int, outputs: int) -> Blueprint:
    if header["architecture"] is None:
        return Blueprint(None, make_module(module, inputs, outputs))
    parts = dict(header["architecture"])
    parts["hidden"] = tuple(parts["hidden"])
    return Blueprint(NetArchitecture(**parts), None)


def _state(archive: Any, epoch: int) -> dict[str, Any]:
    prefix = f"weights/{epoch}/"
    return {name.removeprefix(prefix): archive[name] for name in archive if name.startswith(prefix)}
