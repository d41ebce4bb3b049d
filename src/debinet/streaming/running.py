"""Passes over the data on this machine: read batches, work in threads, add up in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Protocol, Self, TypeVar

from threadpoolctl import threadpool_limits

from debinet.data.pieces import Piece
from debinet.learners.progress import Progress
from debinet.streaming.checkpoint import Checkpoint
from debinet.streaming.layout import Layout, RawRows, read_rows

# Rows that are read at a time; each batch costs one addition of its sums.
BATCH = 65_536


class Additive(Protocol):
    """Sums over rows."""

    def __add__(self, other: Self) -> Self:
        """Add up."""


Sums = TypeVar("Sums", bound=Additive)


@dataclass(frozen=True)
class Job:
    """Where the rows are and how they are read.

    Attributes
    ----------
    pieces : sequence of Piece
    layout : Layout
    """

    pieces: Sequence[Piece]
    layout: Layout


class Runner(Protocol):
    """Adds up sums over all rows."""

    def run(self, job: Job, work: Callable[[RawRows], Sums], name: str) -> Sums:
        """Return the sum of `work` over all batches of all pieces."""


@dataclass(frozen=True)
class LocalRunner:
    """Threads of this process, each with one thread of the numerical libraries.

    Sums are added in the order of the data, so they do not depend on the number of threads.

    Attributes
    ----------
    workers : int
    show : bool
        Whether to show a progress bar.
    checkpoint : Checkpoint, optional
        Where sums are kept, so that an interrupted pass can be resumed.
    """

    workers: int
    show: bool
    checkpoint: Checkpoint | None = None

    def run(self, job: Job, work: Callable[[RawRows], Sums], name: str) -> Sums:
        """Return the sum of `work` over all batches of all pieces."""
        total: Sums | None = None
        done = 0
        if self.checkpoint is not None:
            total, done = self.checkpoint.load(name)
        rows = [piece.rows for piece in job.pieces]
        counter = Progress(self.show, delay=0.0).count(name, sum(rows), "row", sum(rows[:done]))
        try:
            with counter, threadpool_limits(1), ThreadPoolExecutor(self.workers) as pool:
                for piece in job.pieces[done:]:
                    for part in _ordered(pool, work, _batches(job, piece), self.workers):
                        total = part if total is None else total + part
                    done += 1
                    counter.advance(piece.rows)
                    if self.checkpoint is not None:
                        self.checkpoint.keep(name, total, done)
        finally:
            # Sums of whole pieces only: a piece that was not finished is read again.
            if self.checkpoint is not None:
                self.checkpoint.flush()
        assert total is not None  # a source has rows
        return total


def run_pieces(job: Job, work: Callable[[RawRows], Sums]) -> Sums:
    """Return the sum of `work` over some pieces, one batch after another: a worker's task."""
    total: Sums | None = None
    with threadpool_limits(1):
        for piece in job.pieces:
            for rows in _batches(job, piece):
                part = work(rows)
                total = part if total is None else total + part
    assert total is not None
    return total


def _batches(job: Job, piece: Piece) -> Iterator[RawRows]:
    for first, frame in piece.batches(job.layout.columns, BATCH):
        yield read_rows(job.layout, frame, piece, first)


def _ordered(
    pool: ThreadPoolExecutor, work: Callable[[RawRows], Sums], items: Iterator[RawRows], ahead: int
) -> Iterator[Sums]:
    """Yield results in the order of the items, with at most `ahead` + 1 in memory.

    joblib's generators would keep working while their results accumulate in memory.
    """
    waiting: deque[Future[Sums]] = deque()
    for item in items:
        waiting.append(pool.submit(work, item))
        if len(waiting) > ahead:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()
