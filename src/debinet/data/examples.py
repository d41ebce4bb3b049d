"""Example files: simulated tables whose effects are known, for trying commands out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np
import pandas as pd

from debinet._random import named_generator

_ROWS = 600
_FIRMS = 60


def make_wages() -> pd.DataFrame:
    """Return 600 people in 60 firms: log wages, and what acts on them.

    The effects on `lwage` are 0.08 for a year of education (`educ`), 0.10 for a union member
    (`union`), 0.05 for a short and 0.12 for a long training against none (`training`). Experience
    acts as a curve, and regions differ; firms share a part of the noise. `person` is an identifier.
    """
    rng = named_generator(0, "example", "wages")
    age = rng.integers(20, 65, _ROWS)
    female = rng.integers(0, 2, _ROWS)
    region = rng.choice(["east", "north", "south", "west"], _ROWS)
    firm = rng.integers(1, _FIRMS + 1, _ROWS)
    educ = np.clip(np.round(13 - 0.04 * (age - 40) + rng.normal(0, 2.5, _ROWS)), 8, 20)
    exper = np.maximum(age - educ - 6, 0)
    tenure = np.round(exper * rng.random(_ROWS) ** 2, 1)
    union = (rng.random(_ROWS) < 0.15 + 0.3 * (region == "north") + 0.005 * exper).astype(int)
    inclined = rng.normal(0, 1, _ROWS) + 0.08 * (educ - 13)
    training = np.select([inclined > 1.0, inclined > 0.2], ["long", "short"], "none")
    noise = rng.normal(0, 0.12, _FIRMS)[firm - 1] + rng.normal(0, 0.3, _ROWS)
    lwage = (
        1.0
        + 0.08 * educ
        + 0.10 * union
        + 0.05 * (training == "short")
        + 0.12 * (training == "long")
        + 0.4 * np.sqrt(exper / 10)
        - 0.03 * (exper / 10) ** 2
        - 0.1 * female
        + 0.15 * (region == "west")
        + 0.05 * np.log1p(tenure)
        + noise
    )
    return pd.DataFrame(
        {
            "person": np.arange(1001, 1001 + _ROWS),
            "lwage": lwage.round(3),
            "educ": educ.astype(int),
            "union": union,
            "training": training,
            "exper": exper.astype(int),
            "tenure": tenure,
            "female": female,
            "region": region,
            "firm": firm,
        }
    )


EXAMPLES: Mapping[str, Callable[[], pd.DataFrame]] = MappingProxyType(
    {"wages.csv": make_wages, "wages.parquet": make_wages, "wages.xlsx": make_wages}
)
