"""The simulated designs of the dashboard, and what each may be used for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from debinet import datasets
from debinet.data.simulated import Noise, Simulated

Use = Literal["tuning", "held aside", "neither"]
SIZES = (250, 500, 1000, 5000, 10_000, 20_000, 50_000)
_TABLE2_TREATMENTS = 5


@dataclass(frozen=True)
class DashboardDesign:
    """Where the data of a design come from.

    Attributes
    ----------
    make : callable
        `make(n=n, random_state=seed)` returns a `Simulated`.
    use : "tuning", "held aside" or "neither"
        Whether options may be chosen on it (docs/decisions/0021).
    """

    make: Callable[..., Simulated]
    use: Use = "held aside"


def draw_table2(n: int, *, random_state: Any) -> Simulated:
    """Draw from Table 2's design with 100 features, 10 active; the first 5 are the treatments."""
    X, y, truth = datasets.make_table2(n, p=100, k=10, random_state=random_state)
    known = truth.iloc[:_TABLE2_TREATMENTS]
    return Simulated(X, y, known, Noise(X[known.index].to_numpy()))


DESIGNS: dict[str, DashboardDesign] = {
    "shared_functions": DashboardDesign(datasets.make_shared_functions, "tuning"),
    "single_index": DashboardDesign(datasets.make_single_index, "tuning"),
    "smooth_nonlinear": DashboardDesign(datasets.make_smooth_nonlinear, "tuning"),
    "mixed_controls": DashboardDesign(datasets.make_mixed_controls, "tuning"),
    "sparse_linear": DashboardDesign(datasets.make_sparse_linear, "tuning"),
    "ccddhnr2018": DashboardDesign(datasets.make_ccddhnr2018, "tuning"),
    "table1": DashboardDesign(datasets.make_table1, "tuning"),
    "multi": DashboardDesign(datasets.make_multi, "tuning"),
    "steps": DashboardDesign(datasets.make_steps, "tuning"),
    "friedman": DashboardDesign(datasets.make_friedman),
    "binary_treatment": DashboardDesign(datasets.make_binary_treatment),
    "heavy_tails": DashboardDesign(datasets.make_heavy_tails),
    "radial": DashboardDesign(datasets.make_radial),
    "chirp": DashboardDesign(datasets.make_chirp),
    "waves": DashboardDesign(datasets.make_waves, "tuning"),
    "oblique": DashboardDesign(datasets.make_oblique, "tuning"),
    "brackets": DashboardDesign(datasets.make_brackets, "tuning"),
    "kinks": DashboardDesign(datasets.make_kinks),
    "seasons": DashboardDesign(datasets.make_seasons, "tuning"),
    "clock": DashboardDesign(datasets.make_clock, "tuning"),
    "labour": DashboardDesign(datasets.make_labour),
    "clinic": DashboardDesign(datasets.make_clinic),
    "housing": DashboardDesign(datasets.make_housing),
    "marketing": DashboardDesign(datasets.make_marketing, "tuning"),
    "schools": DashboardDesign(datasets.make_schools, "tuning"),
    "energy": DashboardDesign(datasets.make_energy),
    "credit": DashboardDesign(datasets.make_credit),
    "ecology": DashboardDesign(datasets.make_ecology),
    "hospitals": DashboardDesign(datasets.make_hospitals),
    "transport": DashboardDesign(datasets.make_transport),
    "survey": DashboardDesign(datasets.make_survey, "neither"),
    "enrolment": DashboardDesign(datasets.make_enrolment, "neither"),
    "table2": DashboardDesign(draw_table2, "neither"),
}
