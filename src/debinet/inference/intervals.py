"""Half lengths of intervals: for each coefficient, for all at once, or for every f of a size."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

from debinet.data.options import share
from debinet.exceptions import OptionError
from debinet.inference.honest import honest_reach
from debinet.inference.simultaneous import critical_value
from debinet.protocols import FloatArray

if TYPE_CHECKING:
    from debinet.inference.result import Inference


def half_lengths(
    result: Inference,
    level: float,
    *,
    joint: bool = False,
    honest: bool = False,
    norm: float | None = None,
) -> FloatArray:
    """Return the half lengths (q,) of intervals; options as in `Inference.confint`."""
    share("level", level, "Use level=0.95 for 95 % intervals.")
    if norm is not None and not honest:
        raise OptionError("honest=True with a norm", "honest=False", "Pass honest=True, too.")
    if honest:
        return honest_reach(result, level, norm, joint=joint)
    if joint and result.names:
        reach = critical_value(result.covariance, result.df, level, result.seed)
    else:
        reach = float(stats.t.ppf((1 + level) / 2, result.df))
    return np.asarray(reach * np.sqrt(np.diag(result.covariance)))
