"""`PartiallyLinear.fit_stream`: tables of any size, read in passes, here or on a Dask cluster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from copy import copy
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from debinet._random import named_seed
from debinet.data.dose import require_no_doses
from debinet.data.pieces import Source, digest
from debinet.data.schema import find_columns, unknown_column
from debinet.data.sources import open_source
from debinet.data.workers import count_workers
from debinet.exceptions import EmptyInputError, OptionError
from debinet.inference.methods import AUTO, choose_method
from debinet.learners.adapter import FittedLearner, set_seeds
from debinet.learners.averages import Averaged
from debinet.learners.named import resolve_wide
from debinet.learners.tangent import TangentNet
from debinet.models.estimation import ConditionalMeans, Estimation, Options
from debinet.models.streamed_result import streamed_estimation
from debinet.protocols import HeldOut
from debinet.streaming.checkpoint import Checkpoint, frames_digest
from debinet.streaming.distributed import (
    DaskRunner,
    connected,
    is_dask_frame,
    open_dask_frame,
    running_client,
)
from debinet.streaming.fit import StreamOptions, fit_stream, require_stream_method
from debinet.streaming.layout import Layout, require_roles
from debinet.streaming.running import Job, LocalRunner, Runner

_FOLDS = 5


@dataclass(frozen=True)
class StreamedTable:
    """A table that is read in passes, and the roles of its columns.

    Attributes
    ----------
    data : object
        Any source of rows, as in `PartiallyLinear.fit_stream`.
    treatments : str, int or sequence of them
    outcome : str
    controls : sequence of str, optional
    groups, weight : str, optional
    client, checkpoint, progress
        As in `fit_stream`.
    """

    data: Any
    treatments: Any
    outcome: str
    controls: Sequence[str] | None
    groups: str | None
    weight: str | None
    client: Any
    checkpoint: Any
    progress: bool


def require_streamable(model: Any, checkpoint: Any) -> None:
    """Require parameters of a `PartiallyLinear` that streams can have."""
    if model.ref is not None:
        raise OptionError(
            "treatments of numbers, for streamed data",
            f"ref={model.ref!r}",
            "Code the categories as 0/1 columns, or use fit.",
        )
    if model.instruments is not None:
        raise OptionError(
            "no instruments, for streamed data",
            f"instruments={model.instruments!r}",
            "Fit in memory, on a sample of the rows if need be.",
        )
    if checkpoint is not None and model.random_state is None:
        raise OptionError(
            "random_state=0 or another number, so that a checkpoint can be resumed",
            "random_state=None, which is another seed in every call",
            "Set random_state, or leave checkpoint out.",
        )


def estimate_stream(table: StreamedTable, options: Options) -> Estimation:
    """Fit in passes over the data; a failed fit leaves only its checkpoint."""
    if options.method != AUTO:
        require_stream_method(options.method)
    _require_network(options.learner)
    with _cluster(table) as client, _open(table.data, client) as source:
        layout = _layout(table, options, source.names)
        plan = StreamOptions(
            partial(_network, options), lambda net: choose_method(options.method, net)
        )
        checkpoint = _checkpoint(table, source, layout, options, client)
        runner: Runner = (
            LocalRunner(count_workers(options.n_jobs), table.progress, checkpoint)
            if client is None
            else DaskRunner(client, table.progress)
        )
        fit = fit_stream(Job(source.pieces, layout), plan, runner)
        label = source.label
    g = None if fit.solved.g is None else _averaged(fit.solved.g)
    means = ConditionalMeans(_averaged(fit.joint), g, fit.solved.pilot)
    found = streamed_estimation(fit, layout, options, means, label)
    if checkpoint is not None:
        checkpoint.remove()
    return found


def _cluster(table: StreamedTable) -> AbstractContextManager[Any]:
    """Return the cluster that does the work, if any: Dask's data frames have their own."""
    if table.client is not None:
        return connected(table.client)
    return nullcontext(running_client() if is_dask_frame(table.data) else None)


def _open(data: Any, client: Any) -> Source:
    return open_dask_frame(data, client) if is_dask_frame(data) else open_source(data)


def _layout(table: StreamedTable, options: Options, names: Sequence[str]) -> Layout:
    controls = [table.controls] if isinstance(table.controls, str) else table.controls
    roles = {"outcome": table.outcome, "groups": table.groups, "weight": table.weight}
    _require_names(roles, controls)
    wanted = [name for role, name in roles.items() if name is not None or role == "outcome"]
    listed = () if controls is None else controls
    for name in (*wanted, *(c for c in listed if isinstance(c, str))):
        if name not in names:
            raise unknown_column(str(name), names)
    if controls is not None and not len(controls):
        raise EmptyInputError(
            "at least one control", "none", "Leave controls out for all other columns."
        )
    require_no_doses(table.treatments)
    positions = find_columns(names, table.treatments)
    treatments = [names[j] for j in positions]
    apart = {table.outcome, table.weight, table.groups, *treatments}
    nuisance = (
        [name for name in names if name not in apart]
        if controls is None
        else [names[j] for j in find_columns(names, controls)]
    )
    layout = Layout(
        table.outcome,
        (*treatments, *nuisance),
        len(treatments),
        table.groups,
        table.weight,
        _read_folds(options.crossfit),
        named_seed(options.seed, "folds"),
    )
    require_roles(layout, names)
    return layout


def _require_names(roles: Mapping[str, Any], controls: Any) -> None:
    """Require names of columns: in a stream, there is nothing else to go by."""
    for role, name in roles.items():
        if name is not None and not isinstance(name, str):
            raise OptionError(
                f"{role} to be the name of a column, as the rows are streamed",
                repr(name),
                "Give the name of a column of the table.",
            )
    if controls is not None and not isinstance(controls, (list, tuple, np.ndarray, pd.Index)):
        raise OptionError(
            "controls to be names of columns, or None for all other columns",
            repr(controls),
            "For example controls=['age', 'educ'].",
        )


def _read_folds(crossfit: Any) -> int:
    if isinstance(crossfit, str) and crossfit == "auto":
        return _FOLDS
    if isinstance(crossfit, (int, np.integer)) and not isinstance(crossfit, bool) and crossfit >= 2:
        return int(crossfit)
    raise OptionError(
        "crossfit to be 'auto' or a number of folds for streamed data",
        repr(crossfit),
        "Use crossfit=5.",
    )


def _network(options: Options, n: int, p: int) -> TangentNet:
    """Return the network for n rows and p controls, seeded as one in memory would be."""
    learner = options.learner
    if isinstance(learner, str):
        learner = resolve_wide(n, p, exact=False).learner
    net: TangentNet = copy(learner)
    set_seeds(net, named_seed(named_seed(options.seed, 0), "joint"), "joint")
    return net


def _require_network(learner: Any) -> None:
    named = isinstance(learner, str) and learner == "wide"
    if not (named or type(learner) is TangentNet):
        raise OptionError(
            "learner='wide' or TangentNet(...) for streamed data",
            repr(learner),
            "Use one of these; other learners need all rows in memory.",
        )
    if not named:
        learner.check_options()


def _checkpoint(
    table: StreamedTable, source: Source, layout: Layout, options: Options, client: Any
) -> Checkpoint | None:
    if table.checkpoint is None:
        return None
    if client is not None or not source.fingerprint:
        raise OptionError(
            "a checkpoint or Dask", "both", "Leave checkpoint out: Dask repeats lost work."
        )
    path = Path(table.checkpoint)
    if path.is_dir() or not path.absolute().parent.is_dir():
        raise OptionError(
            "checkpoint to be a file in a folder that exists", str(path), "Give another path."
        )
    plan = (layout, repr(options.learner), options.method)
    data = (source.fingerprint, frames_digest(source, layout.columns))
    return Checkpoint(path, digest(data, plan, options.seed))


def _averaged(held: HeldOut) -> Averaged:
    return Averaged((FittedLearner(held.models, np.ones(held.fit.tuning.time.size)),))
