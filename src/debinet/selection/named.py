"""Selectors by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from debinet.exceptions import OptionError
from debinet.selection.adaptive_lasso import AdaptiveLasso
from debinet.selection.elastic_net import ElasticNet
from debinet.selection.forward_backward import ForwardBackward
from debinet.selection.lasso import Lasso
from debinet.selection.slope import Slope

# The group selectors have no names: they need the groups.
NAMED: dict[str, Callable[[], Any]] = {
    "lasso": Lasso,
    "adaptive_lasso": AdaptiveLasso,
    "elastic_net": ElasticNet,
    "slope": Slope,
    "forward_backward": ForwardBackward,
}


def resolve_selector(selector: Any) -> Any:
    """Return the selector that a name stands for, or the selector itself."""
    if not isinstance(selector, str):
        return selector
    if selector not in NAMED:
        raise OptionError(
            f"selector to be one of {list(NAMED)}, or a selector",
            repr(selector),
            "Use selector='lasso' if in doubt; GroupLasso(groups) for groups of columns.",
        )
    return NAMED[selector]()
