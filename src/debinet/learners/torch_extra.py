"""The torch extra: imported where a network is trained; an error names it if it is missing."""

from __future__ import annotations

from importlib.util import find_spec

from debinet.exceptions import MissingDependencyError


def require_torch() -> None:
    """Require that torch can be imported."""
    try:
        found = find_spec("torch") is not None
    except (ImportError, ValueError):  # it is blocked, or its entry is not a module
        found = False
    if not found:
        raise MissingDependencyError(
            "the package torch, which trains networks",
            "a Python without it",
            "Install it with pip install 'debinet[torch]', or use WideNet, which does not need it.",
        )
