"""Run the dashboard, and remember the commands that made its results."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from debinet.experiments.dashboard.planning import plan
from debinet.experiments.results import Results, write_text
from debinet.experiments.running import run_experiment

COMMANDS = "dashboard-commands.txt"
_PACKAGES = ("debinet", "doubleml", "econml", "lightgbm", "scikit-learn", "numpy")


def run_dashboard(
    folder: Path | str,
    *,
    designs: Sequence[str] = (),
    sizes: Sequence[int] = (),
    methods: Sequence[str] = (),
    command: str = "",
    **options: Any,
) -> Results:
    """Run what is not stored yet.

    Parameters
    ----------
    folder : path
        Where cells are kept, as `dashboard.jsonl`.
    designs, sizes, methods : sequence of str, int, str
        What to run; all if empty.
    command : str
        The command, for the page.
    options
        Those of `run_experiment`.
    """
    experiment = plan(designs, sizes, methods)
    if command:
        _remember(Path(folder) / COMMANDS, f"{command}  # {', '.join(_versions())}")
    return run_experiment(experiment, folder, **options)


def read_commands(folder: Path) -> list[str]:
    """Return the commands that were run, each once, with the versions of packages."""
    path = folder / COMMANDS
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


def _remember(path: Path, line: str) -> None:
    lines = read_commands(path.parent)
    if line not in lines:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, "\n".join([*lines, line, ""]))


def _versions() -> list[str]:
    found = []
    for package in _PACKAGES:
        try:
            found.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            continue
    return found
