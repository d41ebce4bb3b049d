"""Fixtures and settings of all tests."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, settings

mpl.use("Agg")

# Fits take tens of milliseconds and the machine may be busy, so there is no deadline per example;
# derandomized, so that a run that passed passes again.
settings.register_profile(
    "tests",
    deadline=None,
    derandomize=True,
    max_examples=40,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("tests")

_BESIDE = Path(__file__).parents[2] / "shared" / "data"
if "DEBINET_DATA" not in os.environ and _BESIDE.is_dir():
    os.environ["DEBINET_DATA"] = str(_BESIDE)


# Examples in docstrings that need an extra, by the folder or file of the source that contains them.
_EXTRAS = {"src/debinet/learners/net/": "torch"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip examples whose extra is not installed."""
    for item in items:
        for place, extra in _EXTRAS.items():
            if item.nodeid.startswith(place) and find_spec(extra) is None:
                item.add_marker(pytest.mark.skip(reason=f"{extra} is not installed"))


@pytest.fixture
def data_folder() -> Path:
    """Folder of real data, found through DEBINET_DATA."""
    folder = os.environ.get("DEBINET_DATA")
    if folder is None:
        pytest.skip("DEBINET_DATA is not set: no real data")
    return Path(folder)


@pytest.fixture
def small() -> tuple[pd.DataFrame, pd.Series]:
    """Sixty rows, two treatments, three controls."""
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(60, 3))
    D = Z[:, :2] + rng.normal(size=(60, 2))
    y = D @ [1.0, -0.5] + Z.sum(axis=1) + rng.normal(size=60)
    X = pd.DataFrame(np.hstack([D, Z]), columns=["d1", "d2", "z1", "z2", "z3"])
    return X, pd.Series(y, name="y")
