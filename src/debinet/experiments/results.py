"""Results of an experiment as frames and files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import pandas as pd

from debinet.data.atomic_write import write_atomically
from debinet.experiments.plan import Experiment
from debinet.experiments.store import Record

_KEYS = ["design", "method", "replication"]


@dataclass(frozen=True)
class Results:
    """Every cell of an experiment, in the experiment's order.

    Attributes
    ----------
    experiment : Experiment
    records : tuple of Record
    broken : int
        Lines of the store that could not be read; their cells were computed again.
    """

    experiment: Experiment
    records: tuple[Record, ...]
    broken: int = 0

    def to_frame(self) -> pd.DataFrame:
        """Return a row per cell: design, method, replication, the values, failure."""
        rows = [
            {
                "design": record.design,
                "method": record.method,
                "replication": record.replication,
                **(record.values or {}),
                "failure": record.failure,
            }
            for record in self.records
        ]
        frame = pd.DataFrame(rows)
        values = [name for name in frame.columns if name not in {*_KEYS, "failure"}]
        return frame[[*_KEYS, *values, "failure"]]

    def seconds(self) -> pd.DataFrame:
        """Return a row per cell with the seconds its method took."""
        rows = [(r.design, r.method, r.replication, r.seconds) for r in self.records]
        return pd.DataFrame(rows, columns=[*_KEYS, "seconds"])

    def remarks(self, most: int = 10) -> list[str]:
        """Return what to print below a table: failures with reasons, warnings, unreadable lines."""
        lines = []
        if self.broken:
            lines.append(f"{self.broken} lines of the store could not be read and were not used.")
        warned = Counter((r.method, text) for r in self.records for text in r.warnings)
        lines += [f"{k} cells of {m} warned: {text}" for (m, text), k in warned.most_common(most)]
        if failed := self.failures:
            lines.append(f"{len(failed)} cells failed (--retry runs them again):")
            reasons = (f"{r.design}, {r.method}, run {r.replication}: {r.failure}" for r in failed)
            lines += islice(reasons, most)
        return ["", *lines] if lines else []

    def median_seconds(self) -> pd.Series:
        """Return the median seconds of a run by (design, method)."""
        grouped = self.seconds().groupby(["design", "method"], sort=False)
        medians: pd.Series = grouped["seconds"].median()
        return medians

    @property
    def failures(self) -> tuple[Record, ...]:
        """Cells with a reason in place of values."""
        return tuple(record for record in self.records if record.failure is not None)


def by_word(values: Mapping[str, float], words: Sequence[str]) -> pd.DataFrame:
    """Return values named "x1 coef", "x1 lower", ... with a row per name, a column per word.

    For methods that return many values, such as intervals or losses.
    """
    rows: dict[str, dict[str, float]] = {}
    for key, value in values.items():
        name, _, word = key.rpartition(" ")
        rows.setdefault(name, {})[word] = value
    return pd.DataFrame.from_dict(rows, orient="index", columns=list(words), dtype=float)


def write_results(results: Results, folder: Path) -> None:
    """Write `<name>-results.csv` and `<name>-seconds.csv`, each whole or not at all."""
    name = results.experiment.name
    write_text(folder / f"{name}-results.csv", results.to_frame().to_csv(index=False))
    write_text(folder / f"{name}-seconds.csv", results.seconds().to_csv(index=False))


def write_text(path: Path, text: str) -> None:
    """Replace a file by a text, whole or not at all."""
    with write_atomically(path) as draft:
        draft.write_text(text, encoding="utf-8")
