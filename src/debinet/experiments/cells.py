"""Run one cell: draw its data, run its method, and turn whatever happens into a record."""

from __future__ import annotations

import math
import pickle
import sys
import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from importlib import import_module
from threading import Lock
from typing import Any

from joblib import parallel_config
from threadpoolctl import threadpool_limits

from debinet.experiments.plan import Cell, Design
from debinet.experiments.store import Record

_WARNINGS_KEPT = 5
_FAILURE_LENGTH = 500


# Threads, and warnings to be caught, are settings of the whole process.
_LOCK = Lock()


def run_cell(cell: Cell, token: str = "") -> Record:
    """Return the figures of a cell, or the reason why there are none.

    Parameters
    ----------
    cell : Cell
    token : str
        The same for all cells of one run: data are not carried over from one to the next.
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
            data = pickle.loads(_drawn(_Drawing(cell, token)))
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


class _Drawing:
    """A design and a seed that are equal to others of the same text."""

    def __init__(self, cell: Cell, token: str) -> None:
        self.design: Design = cell.design
        self.seed = cell.data_seed
        self._key = (token, cell.design.text, self.seed)

    def __hash__(self) -> int:
        return hash(self._key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Drawing) and self._key == other._key


# The methods of a replication stand together, so one drawing at a time is enough. Each gets a copy
# of its own, so that none can change what the next one sees.
@lru_cache(maxsize=1)
def _drawn(drawing: _Drawing) -> bytes:
    return pickle.dumps(drawing.design.draw(drawing.seed), protocol=pickle.HIGHEST_PROTOCOL)


@contextmanager
def _one_thread(requires: tuple[str, ...]) -> Iterator[None]:
    """Run on one thread, so that the last digits do not depend on the number of workers.

    What brings threads of its own has to be loaded before they can be limited; estimators that
    would share their work with the workers of the experiment (as forests do with Dask's) do it
    alone.
    """
    for name in requires:
        try:
            import_module(name)
        except ImportError:
            continue  # the method says itself what is missing
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
