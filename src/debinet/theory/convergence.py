"""The record of a run of gradient descent, and the bounds of Theorem 1 and its lemmas."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from debinet.data.options import one_of
from debinet.protocols import BoolArray, FloatArray
from debinet.theory.limit import Rate
from debinet.theory.trajectory import Trajectory

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# At time 0 error and bound are equal, up to rounding. The error itself cannot fall below the
# rounding of predictions as large as the targets.
_ROUNDING = 1e-12
_FLOOR = 1e-28
_DISTANCES = {
    "diagonal": "diagonal blocks, to limit",
    "off_diagonal": "off-diagonal blocks, to 0",
    "whole": "whole, to limit",
    "from_start": "whole, to start",
}


@dataclass(frozen=True, repr=False, eq=False)
class Convergence:
    """Gradient descent against Theorem 1, from `check_convergence`.

    Attributes
    ----------
    names : tuple of str
        Names of the outputs.
    times : FloatArray of shape (k,)
        Step number times step.
    errors : FloatArray of shape (k, outputs)
        Squared errors `|F_s(t) - M_s|^2` over the n rows.
    rate : Rate
        Eigenvalues of the limiting kernel.
    trace : DataFrame
        Kernel and weights at some of the times, which are the index. Columns: `diagonal`,
        `off_diagonal`, `whole` (relative distance from the limiting kernel), `from_start`
        (relative distance from the kernel at the start), `least_eigenvalue` (of H_whole),
        `movement` (`max_r |w_r(t) - w_r(0)|`).
    movement_bound : float
        R' of Lemma B.3, `sqrt(n) / (sqrt(m) lambda_0) sum_h |M_h - F_h(0)|`, times the largest
        slope of the activation.
    width : int
        Neurons m.
    step : float
        Learning rate.
    delta : float
        Probability with which Theorem 1 lets the bound fail.
    seed : int
        The `random_state` that repeats the run.
    interrupted : bool
        Whether the run was stopped by the user.
    """

    names: tuple[str, ...]
    times: FloatArray
    errors: FloatArray
    rate: Rate
    trace: pd.DataFrame
    movement_bound: float
    width: int
    step: float
    delta: float
    seed: int
    interrupted: bool = False

    @property
    def bounds(self) -> FloatArray:
        """`exp(-lambda_0 t) |F_s(0) - M_s|^2`, of the shape of `errors`."""
        bounds: FloatArray = self.rate.bound(self.times)[:, None] * self.errors[0]
        return bounds

    @property
    def holds(self) -> BoolArray:
        """Whether each output's error is below its bound over the whole run, (outputs,)."""
        return np.asarray(self._below(self.errors, self.bounds).all(axis=0))

    @property
    def holds_together(self) -> bool:
        """Whether the error of all outputs together is below the bound over the whole run."""
        return bool(self._below(self.errors.sum(axis=1), self.bounds.sum(axis=1)).all())

    @property
    def slopes(self) -> FloatArray:
        """Slope of each output's log error over its last factor of ten, (outputs,)."""
        return np.array([_last_slope(self.times, error) for error in self.errors.T])

    @property
    def slope_together(self) -> float:
        """Slope of the log error of all outputs together over its last factor of ten."""
        return _last_slope(self.times, self.errors.sum(axis=1))

    @property
    def movement(self) -> float:
        """Largest distance of a neuron's weights from their start, at the times of `trace`."""
        return float(self.trace["movement"].max())

    @property
    def movement_ratio(self) -> float:
        """`movement` as a share of `movement_bound`."""
        return self.movement / self.movement_bound if self.movement_bound else 0.0

    @property
    def asked_width(self) -> float:
        """Order of the width that Theorem 1 needs; its constant is unknown."""
        return self.rate.width(self.delta, len(self.names) - 1)

    def to_frame(self) -> pd.DataFrame:
        """Return one row per time and output: time, output, error, bound."""
        k, outputs = self.errors.shape
        return pd.DataFrame(
            {
                "time": np.repeat(self.times, outputs),
                "output": list(self.names) * k,
                "error": self.errors.ravel(),
                "bound": self.bounds.ravel(),
            }
        )

    def summary(self) -> str:
        """Return, in words and a table, whether the theorem holds on these data."""
        from debinet.theory.wording import convergence_summary

        return convergence_summary(self)

    def __repr__(self) -> str:
        return self.summary()

    def plot(self, kind: str = "loss", *, ax: Axes | None = None) -> Axes:
        """Plot the run and return the axes.

        Parameters
        ----------
        kind : str
            `"loss"`: errors and bounds over time. `"kernel"`: distances of the kernel from its
            limit and from its start. `"movement"`: movement of the weights and R'.
        ax : matplotlib Axes, optional
            Where to draw.
        """
        from debinet.report import curves

        one_of("kind", kind, ("loss", "kernel", "movement"))
        if kind == "loss":
            index = pd.Index(self.times, name="time")
            errors, bounds = (
                pd.DataFrame(values, index=index, columns=list(self.names))
                for values in (self.errors, self.bounds)
            )
            return curves.loss_plot(errors, bounds, ax=ax, label="squared error")
        if kind == "kernel":
            distances = self.trace[list(_DISTANCES)].rename(columns=_DISTANCES)
            return curves.kernel_distance_plot(distances, ax=ax)
        return curves.movement_plot(self.trace[["movement"]], self.movement_bound, ax=ax)

    def _below(self, errors: FloatArray, bounds: FloatArray) -> BoolArray:
        floor = _FLOOR * (1.0 + bounds[0])
        below: BoolArray = errors <= bounds * (1 + _ROUNDING) + floor
        return below


def trace_frame(trajectory: Trajectory) -> pd.DataFrame:
    """Return the snapshots of a run as a frame, indexed by time."""
    return pd.DataFrame([asdict(snapshot) for snapshot in trajectory.snapshots]).set_index("time")


def _last_slope(times: FloatArray, errors: FloatArray) -> float:
    """Return the slope of log errors from where they were ten times the last; nan if unknown."""
    above = errors > _FLOOR * 100 * (1.0 + errors[0])
    times, errors = times[above], errors[above]
    if errors.size < 2:
        return float("nan")
    larger = np.flatnonzero(errors > 10 * errors[-1])
    first = min(int(larger[-1]) + 1 if larger.size else 0, errors.size - 2)
    return float(np.polyfit(times[first:], np.log(errors[first:]), 1)[0])
