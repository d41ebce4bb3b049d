"""An experiment as data: designs, methods and the number of replications."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from debinet._random import named_seed
from debinet.exceptions import OptionError
from debinet.experiments.describing import describe

Values = Mapping[str, float]


@dataclass(frozen=True)
class Design:
    """Where the data of a replication come from.

    Attributes
    ----------
    name : str
        Its name in tables and in the seeds.
    make : callable
        `make(**options, random_state=seed)` returns the data, in any form that the methods accept.
    options : mapping
        Arguments of `make`.
    """

    name: str
    make: Callable[..., Any]
    options: Mapping[str, Any] = field(default_factory=dict)

    def draw(self, seed: int) -> Any:
        """Return the data that belong to a seed."""
        return self.make(**self.options, random_state=seed)

    @cached_property
    def text(self) -> str:
        """What determines the data, as text."""
        return f"{self.name}: {describe(self.make)}({describe(self.options)})"


@dataclass(frozen=True)
class Method:
    """What is done with the data of a replication.

    Attributes
    ----------
    name : str
        Its name in tables and in the seeds.
    run : callable
        `run(data, seed)` returns the values of one replication by name. A dataclass, a partial
        or a function of a module, as it is sent to worker processes.
    designs : tuple of str or None
        Names of the designs it is run on; all if None.
    requires : tuple of str
        Packages it imports beyond the core.
    """

    name: str
    run: Callable[[Any, int], Values]
    designs: tuple[str, ...] | None = None
    requires: tuple[str, ...] = ()

    @cached_property
    def text(self) -> str:
        """What determines the values, as text."""
        return f"{self.name}: {describe(self.run)}"


@dataclass(frozen=True)
class Experiment:
    """Designs x methods x replications.

    Attributes
    ----------
    name : str
        Its name in files and in the seeds.
    designs : tuple of Design
    methods : tuple of Method
    runs : int
        Number of replications, unless the run gives another.
    """

    name: str
    designs: tuple[Design, ...]
    methods: tuple[Method, ...]
    runs: int = 50

    def __post_init__(self) -> None:
        _require_names("designs", [design.name for design in self.designs])
        _require_names("methods", [method.name for method in self.methods])
        known = {design.name for design in self.designs}
        for method in self.methods:
            if method.designs == ():
                raise OptionError(
                    f"designs that method {method.name!r} is run on",
                    "none",
                    "Leave `designs` out to run it on all.",
                )
            if strange := set(method.designs or ()) - known:
                raise OptionError(
                    f"method {method.name!r} to name designs of the experiment ({_list(known)})",
                    _list(strange),
                    "Use the names that the experiment gives its designs.",
                )

    def cells(self, runs: int, seed: int) -> Iterator[Cell]:
        """Return every cell; the methods of a replication follow each other."""
        for design in self.designs:
            methods = [m for m in self.methods if m.designs is None or design.name in m.designs]
            for replication in range(runs):
                for method in methods:
                    yield Cell(self.name, design, method, replication, seed)


@dataclass(frozen=True)
class Cell:
    """One method on one replication of one design.

    Attributes
    ----------
    experiment : str
    design : Design
    method : Method
    replication : int
        Counted from 0.
    seed : int
        Seed of the whole experiment.
    """

    experiment: str
    design: Design
    method: Method
    replication: int
    seed: int

    @property
    def data_seed(self) -> int:
        """The same for all methods of the replication."""
        return named_seed(self.seed, self.experiment, self.design.name, self.replication)

    @property
    def method_seed(self) -> int:
        """Different for every method."""
        names = (self.experiment, self.design.name, self.replication, self.method.name)
        return named_seed(self.seed, *names)

    @cached_property
    def key(self) -> str:
        """Digest of all that determines the values, except the code itself."""
        parts = (self.experiment, self.design.text, self.method.text, self.replication, self.seed)
        return hashlib.sha256("\n".join(map(str, parts)).encode()).hexdigest()[:24]


def _require_names(what: str, names: list[str]) -> None:
    if not names:
        raise OptionError(f"one or more {what}", "none", f"Add some {what}.")
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise OptionError(
            f"{what} with different names",
            f"{_list(twice)} more than once",
            "Seeds come from names: give each one a different name.",
        )


def _list(names: set[str]) -> str:
    return ", ".join(sorted(names))
