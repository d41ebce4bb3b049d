"""What it is worth to treat nobody, everybody, or those who gain more than a treatment costs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from debinet.data.options import is_number, number_array
from debinet.protocols import FloatArray, IntArray

if TYPE_CHECKING:
    from debinet.inference.average_effects import AverageEffects


def policy_frame(effects: AverageEffects, cost: Any, level: float) -> pd.DataFrame:
    """Return the table of `AverageEffects.policy_value`."""
    rows, k = effects.rows, len(effects.treatments)
    own = np.full(k, float(cost)) if is_number(cost) else number_array("cost", cost, (k,))
    costs = np.append(0.0, own)
    policies = _policies(effects.treatments, rows.outcomes - costs)
    scores = rows.scores - costs
    each = np.arange(len(scores))
    values = np.column_stack([scores[each, chosen] for chosen in policies.values()])
    value, gain = effects.means(values), effects.means(values - values[:, :1])
    frame = value.to_frame(level)[["coef", "se", "lower", "upper"]].rename(
        columns={"coef": "value"}
    )
    share = rows.w / rows.w.sum()
    frame.insert(0, "treated", [float(share @ (chosen > 0)) for chosen in policies.values()])
    frame["gain"], frame["gain_se"] = gain.estimate, gain.se
    return frame.set_index(pd.Index(list(policies), dtype=object))


def _policies(treatments: tuple[str, ...], worth: FloatArray) -> dict[str, IntArray]:
    """Return the arm (n,) that each policy gives each row; `worth` (n, arms) decides the last."""
    n, one = len(worth), len(treatments) == 1
    policies = {"treat none": np.zeros(n, np.int64)}
    for arm, name in enumerate(treatments, start=1):
        policies["treat all" if one else f"{name} for all"] = np.full(n, arm)
    policies["treat if effect > cost" if one else "best arm"] = worth.argmax(axis=1)
    return policies
