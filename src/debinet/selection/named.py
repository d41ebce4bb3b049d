"""Selectors by name."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from debinet.exceptions import OptionError
from debinet.selection.adaptive_lasso import AdaptiveLasso
from debinet.selection.categories import CATEGORIES
from debinet.selection.elastic_net import ElasticNet
from debinet.selection.forward_backward import ForwardBackward
from debinet.selection.group_lasso import GroupLasso
from debinet.selection.lasso import Lasso
from debinet.selection.slope import Slope
from debinet.selection.sparse_group_lasso import SparseGroupLasso

# The group selectors select the 0-1 columns of a category together.
NAMED: dict[str, Callable[[], Any]] = {
    "lasso": Lasso,
    "adaptive-lasso": AdaptiveLasso,
    "elastic-net": ElasticNet,
    "group-lasso": partial(GroupLasso, CATEGORIES),
    "sparse-group-lasso": partial(SparseGroupLasso, CATEGORIES),
    "slope": Slope,
    "forward-backward": ForwardBackward,
}


def resolve_selector(selector: Any) -> Any:
    """Return the selector that a name stands for, or the selector itself.

    Names may have underscores in the place of hyphens, and capital letters.
    """
    if not isinstance(selector, str):
        return selector
    name = selector.lower().replace("_", "-")
    if name not in NAMED:
        raise OptionError(
            f"selector to be one of {list(NAMED)}, or a selector",
            repr(selector),
            "Use selector='lasso' if in doubt; GroupLasso(groups) for groups of columns.",
        )
    return NAMED[name]()
