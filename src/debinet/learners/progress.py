"""Progress of long work on stderr: how much is done, and about how much time is left."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from threading import Event, Lock, Thread
from time import monotonic
from types import TracebackType
from typing import Any, Self, TypeVar

from joblib import Parallel

Item = TypeVar("Item")

# Name of the thread that updates what is shown.
WATCHER = "debinet progress"
# Share of the delay after which an estimate of the total time is believed: the first unit may
# import packages and compile, and would make quick work look long.
_BELIEVED = 0.2
# Seconds between two updates, for readers and for logs.
_LIVE, _LOG = 1.0, 10.0


@dataclass(frozen=True)
class Progress:
    """Whether, and from when on, work shows how far it is.

    Attributes
    ----------
    show : bool
    delay : float
        Seconds: nothing is shown before the work has taken this long, or is expected to.
    """

    show: bool = False
    delay: float = 5.0

    def count(self, what: str, total: int, unit: str, done: int = 0) -> Counter:
        """Return a counter of `total` units of work, `done` of which need not be done again.

        Parameters
        ----------
        what : str
            What is being done, for the reader.
        total : int
            Units of about the same length.
        unit : str
            Name of one, in the singular.
        done : int
        """
        return Counter(self, Pace(what, unit, total, done, done))


@dataclass(frozen=True)
class Pace:
    """How far work is, and how fast it was so far.

    Attributes
    ----------
    what, unit : str
    total : int
        Units.
    first : int
        Units that tell nothing about the speed of the others: done before the start, or special.
    done : int
        Units that are done, those included.
    seconds : float
        From the start to the end of the last unit that is done.
    first_seconds : float
        From the start to the end of the first units.
    """

    what: str
    unit: str
    total: int
    first: int
    done: int
    seconds: float = 0.0
    first_seconds: float = 0.0

    def expected(self, now: float) -> float | None:
        """Return the seconds from start to end if units go on as before; None if none is done.

        `now` is in seconds from the start, too: a unit that takes longer than those before slows
        the pace before it is done.
        """
        measured = self.done - self.first
        if not measured:
            return None
        each = max(
            (self.seconds - self.first_seconds) / measured,
            (now - self.first_seconds) / (measured + 1),
        )
        return self.first_seconds + each * (self.total - self.first)

    def advanced(self, units: int, now: float, *, typical: bool) -> Pace:
        """Return the pace after more units, as in `Counter.advance`."""
        done = self.done + units
        if typical:
            return replace(self, done=done, seconds=now)
        return replace(self, done=done, seconds=now, first=done, first_seconds=now)

    def text(self, now: float) -> str:
        """Describe the state of the work, `now` seconds after its start."""
        counted = f": {self.done:,} of {self.total:,} {self.unit}s" if self.total > 1 else ""
        expected = self.expected(now)
        if expected is None:
            return f"{self.what}{counted}, {in_words(now)} so far"
        return f"{self.what}{counted}, about {in_words(max(expected - now, 1.0))} left"


def in_words(seconds: float) -> str:
    """Return a length of time in seconds, minutes or hours."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes = seconds / 60
    return f"{minutes:.0f} min" if minutes < 100 else f"{minutes / 60:.1f} h"


class Counter:
    """Counts finished units of work, and shows them once the work turns out to be long.

    A context manager. A thread updates what is shown while a unit takes long.

    Attributes
    ----------
    pace : Pace
        What is done so far.
    shows : bool
        Whether anything may be shown.
    """

    def __init__(self, progress: Progress, pace: Pace) -> None:
        self.shows = progress.show and sys.stderr is not None
        self._delay, self.pace = progress.delay, pace
        self._start = self._updated = monotonic()
        self._every = _LIVE if _is_live() else _LOG
        self._bar: Any = None
        self._lock, self._end = Lock(), Event()
        self._thread = Thread(target=self._watch, name=WATCHER, daemon=True)

    def __enter__(self) -> Self:
        self._start = self._updated = monotonic()
        if self.shows:
            if self._delay <= 0:
                self._update()
            self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._end.set()
        if self.shows:
            self._thread.join()
        if self._bar is not None:
            self._bar.close()

    def advance(self, units: int = 1, *, typical: bool = True) -> None:
        """Count units that were finished; `typical` if those to come will take as long."""
        now = monotonic()
        self.pace = self.pace.advanced(units, now - self._start, typical=typical)
        if not self.shows or self.pace.done >= self.pace.total:
            return
        waited = now - self._updated
        if self._is_long(now - self._start) if self._bar is None else waited >= self._every:
            self._update()

    def _is_long(self, seconds: float) -> bool:
        expected = self.pace.expected(seconds) or 0.0
        return seconds >= self._delay * _BELIEVED and max(seconds, expected) >= self._delay

    def _watch(self) -> None:
        pause = self._delay if self._delay > 0 else self._every
        while not self._end.wait(pause):
            self._update()
            pause = self._every

    def _update(self) -> None:
        with self._lock:
            pace, self._updated = self.pace, monotonic()
            text = pace.text(self._updated - self._start)
            if self._bar is None:
                self._bar = _open_bar(pace, text)
            else:
                self._bar.n = pace.done
                self._bar.set_description_str(text)


def counted(
    items: Iterable[Item], show: bool, unit: str, total: int | None = None, what: str = "training"
) -> Iterator[Item]:
    """Yield the items, each of them a unit of work; if `show`, count them from the start."""
    if total is None:
        assert isinstance(items, Collection)
        total = len(items)
    with Progress(show, delay=0.0).count(what, total, unit) as counter:
        for item in items:
            yield item
            counter.advance()


def run_counted(
    tasks: Iterable[Any], counter: Counter | None, *, n_jobs: int | None, prefer: str | None = None
) -> list[Any]:
    """Run tasks of joblib, and count those that are finished in the process that waits for them.

    Parameters
    ----------
    tasks : iterable
        Made by `joblib.delayed`.
    counter : Counter, optional
    n_jobs, prefer
        As in `joblib.Parallel`.
    """
    # Not all backends of joblib return generators: without a bar, all can be used.
    shows = counter is not None and counter.shows
    pool = Parallel(n_jobs=n_jobs, prefer=prefer, return_as="generator" if shows else "list")
    results = []
    for result in pool(tasks):
        results.append(result)
        if counter is not None:
            counter.advance()
    return results


def _is_live() -> bool:
    """Whether someone reads what is shown: a terminal or a notebook, not a log."""
    terminal = sys.stderr is not None and sys.stderr.isatty()
    return terminal or "ipykernel" in sys.modules


def _open_bar(pace: Pace, text: str) -> Any:
    from tqdm.auto import tqdm

    shape = "{desc} |{bar}|" if pace.total > 1 else "{desc}"
    return tqdm(desc=text, initial=pace.done, total=pace.total, leave=False, bar_format=shape)
