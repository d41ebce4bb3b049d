"""Which cells make up the dashboard, and which stored ones still belong to it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from functools import cache

from debinet.exceptions import OptionError
from debinet.experiments.dashboard.designs import DESIGNS, SIZES
from debinet.experiments.dashboard.estimates import Recorded
from debinet.experiments.dashboard.methods import METHODS
from debinet.experiments.plan import Cell, Design, Experiment, Method
from debinet.experiments.store import Record

NAME = "dashboard"
RUNS = 100
_SEPARATOR = ", n = "


def plan(
    designs: Sequence[str] = (), sizes: Sequence[int] = (), methods: Sequence[str] = ()
) -> Experiment:
    """Return the experiment; what is left empty means all.

    A method is left out of sizes that it cannot do.
    """
    _require_known("designs", designs, DESIGNS)
    _require_known("methods", methods, METHODS)
    grid = [(design, n) for design in designs or DESIGNS for n in sizes or SIZES]
    return Experiment(
        NAME,
        tuple(_design(design, n) for design, n in grid),
        tuple(_method(name, grid) for name in methods or METHODS if _names(name, grid)),
        RUNS,
    )


def design_and_size(name: str) -> tuple[str, int]:
    """Return the design and the number of rows that the name of a cell's design tells."""
    design, _, n = name.rpartition(_SEPARATOR)
    return design, int(n)


def still_valid(records: Iterable[Record], seed: int) -> list[Record]:
    """Return the records whose design and method are still defined as they were when it was run."""
    return [record for record in records if _key(record, seed) == record.key]


def _key(record: Record, seed: int) -> str | None:
    design, n = design_and_size(record.design)
    if design not in DESIGNS or record.method not in METHODS:
        return None
    method = _plain_method(record.method)
    return Cell(NAME, _design(design, n), method, record.replication, seed).key


# Kept, because each describes itself once, for the keys of all its cells.
@cache
def _design(name: str, n: int) -> Design:
    return Design(f"{name}{_SEPARATOR}{n}", DESIGNS[name].make, {"n": n})


@cache
def _plain_method(name: str) -> Method:
    chosen = METHODS[name]
    return Method(name, Recorded(chosen.estimate), requires=chosen.requires)


def _method(name: str, grid: list[tuple[str, int]]) -> Method:
    plain = _plain_method(name)
    return Method(name, plain.run, _names(name, grid), plain.requires)


def _names(method: str, grid: list[tuple[str, int]]) -> tuple[str, ...]:
    return tuple(_design(design, n).name for design, n in grid if METHODS[method].runs_on(n))


def _require_known(what: str, names: Sequence[str], known: Iterable[str]) -> None:
    if strange := [name for name in names if name not in known]:
        near = get_close_matches(strange[0], list(known), n=1)
        raise OptionError(
            f"{what} of the dashboard: {', '.join(known)}",
            ", ".join(strange),
            f"Did you mean {near[0]}?" if near else "Leave the option out to run all.",
        )
