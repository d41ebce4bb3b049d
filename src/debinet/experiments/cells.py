"""One cell: draw its data, run its method, and record what happens."""

from __future__ import annotations

import math
import pickle
import sys
import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from threading import Lock
from typing import Any

from joblib import parallel_config
from threadpoolctl import threadpool_limits

from debinet.experiments.plan import Cell
from debinet.experiments.store import Record

_WARNINGS_KEPT = 5
_FAILURE_LENGTH = 500


# Numbers of threads and caught warnings are settings of the whole process.
_LOCK = Lock()


def run_cell(cell: Cell, token: str = "") -> Record:
    """Return the values of a cell, or the reason why there are none.

    Parameters
    ----------
    cell : Cell
    token : str
        The same for all cells of a run; data are not carried over to another run.
    """
    with _LOCK:
        return _run(cell, token)


def _run(cell: Cell, token: str) -> Record:
    values: dict[str, float] | None = None
    failure = None
    with warnings.catch_warnings(record=True) as caught, _one_thread(cell.method.requires):
        warnings.simplefilter("always")
        start = time.perf_counter()
        try:
            data = _draw(cell, token)
            start = time.perf_counter()
            values = _checked(cell.method.run(data, cell.method_seed))
        except Exception as error:
            failure = f"{type(error).__name__}: {error}"[:_FAILURE_LENGTH]
        seconds = time.perf_counter() - start
    texts = list(dict.fromkeys(f"{w.category.__name__}: {w.message}" for w in caught))
    return Record(
        cell.key,
        cell.design.name,
        cell.method.name,
        cell.replication,
        values,
        failure,
        round(seconds, 4),
        texts[:_WARNINGS_KEPT],
    )


# The methods of a replication run one after the other, so one draw at a time is enough. Each gets
# a copy of its own, so that none can change the data of the next.
_LAST_DRAW: dict[tuple[str, str, int], bytes] = {}


def _draw(cell: Cell, token: str) -> Any:
    key = (token, cell.design.text, cell.data_seed)
    if key not in _LAST_DRAW:
        _LAST_DRAW.clear()
        _LAST_DRAW[key] = pickle.dumps(
            cell.design.draw(cell.data_seed), protocol=pickle.HIGHEST_PROTOCOL
        )
    return pickle.loads(_LAST_DRAW[key])


@contextmanager
def _one_thread(requires: tuple[str, ...]) -> Iterator[None]:
    """Run on one thread, so that the last digits do not depend on the number of workers.

    Packages with threads of their own must be loaded before these can be limited. Estimators that
    would use the workers of the experiment (as forests use Dask's) run alone.
    """
    for name in requires:
        try:
            import_module(name)
        except ImportError:
            continue  # the method itself raises an error
    with threadpool_limits(limits=1), parallel_config(backend="sequential"), _one_torch_thread():
        yield


@contextmanager
def _one_torch_thread() -> Iterator[None]:
    torch: Any = sys.modules.get("torch")
    if torch is None:
        yield
        return
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def _checked(values: Mapping[str, float]) -> dict[str, float]:
    found = {name: float(value) for name, value in values.items()}
    strange = [name for name, value in found.items() if not math.isfinite(value)]
    if strange:
        raise ArithmeticError(f"{', '.join(strange)} not finite")
    return found
