"""Another covariance of the same estimates, with the clusters of the fit or with new ones."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from debinet.data.labels import read_groups
from debinet.exceptions import OptionError
from debinet.inference.covariance import spread, vcov_name
from debinet.inference.provenance import Clustered

if TYPE_CHECKING:
    from debinet.inference.result import Inference


def change_vcov(result: Inference, kind: str, groups: Any) -> Inference:
    """Return the result with the covariance named `kind`; `groups` are read and checked."""
    kind = vcov_name(kind)
    if groups is None:
        return replace(result, **vars(spread(result.regressions, kind, result.groups)))
    if not isinstance(kind, str) or kind not in ("cluster", "full"):
        raise OptionError("groups only for 'cluster' and 'full'", repr(kind), "Leave groups out.")
    rows = result.regressions[0].all_rows("clusters after the fit").R_y.size
    codes = read_groups(groups, rows)
    return replace(
        result,
        **vars(spread(result.regressions, kind, codes)),
        provenance=replace(result.provenance, clusters=Clustered.of(codes)),
        groups=codes,
        notes=(*result.notes, "clusters were given after the fit, whose folds may split them"),
    )
