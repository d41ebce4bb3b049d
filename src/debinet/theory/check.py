"""Check whether Theorem 1 holds on given data, by training a network.

Theorem 1 is about gradient flow, `dW/dt = -dL/dW`; a run takes small steps along it. Steps below
`1 / lambda_max` shrink residuals a little faster than the flow, as `(1 - x)^2 <= exp(-2 x)`, and
as fast in the slow directions, on which the bound depends. The outputs act on each other: in

    d/dt F_s = sum_h H_sh (M_h - F_h)

the paper's vectorized formula has `M_s - F_s` in place of `M_h - F_h`. Gradient descent is not
affected; `linearized_errors` solves the correct equation.
"""

from __future__ import annotations

from math import ceil
from typing import Any

import numpy as np

from debinet._random import RandomState, root_seed
from debinet.data.options import positive_number, share, whole_number
from debinet.exceptions import OptionError
from debinet.theory.convergence import Convergence, trace_frame
from debinet.theory.inputs import read_rows, read_targets, require_memory
from debinet.theory.limit import Rate, kernel_and_rate
from debinet.theory.network import NEURONS, draw_network
from debinet.theory.trajectory import DescentPlan, Trajectory, record_trajectory

# Default step in units of 1 / lambda_max, and default time in units of 1 / lambda_0.
_STEP, _TIME = 0.1, 3.0
# A nearly singular kernel would need millions of steps: the default run ends here.
_STEPS = 20_000
# With more steps than this, step or time is probably in the wrong units.
_LONGEST = 10_000_000


def check_convergence(
    Z: Any,
    M: Any,
    *,
    width: int = 10_000,
    step: float | None = None,
    time: float | None = None,
    activation: str = "relu",
    train: str = "first",
    delta: float = 0.1,
    snapshots: int = 10,
    progress: bool = False,
    random_state: RandomState = 0,
) -> Convergence:
    """Train the paper's network by gradient descent and compare it with Theorem 1.

    `F(z) = 1/sqrt(m) sum_r A_r a(w_r'z)` with `w_r ~ N(0, I)` and `A_rs` = 1 or -1 is trained on
    `sum_i 1/2 |F(z_i) - M_i|^2` with all rows in every step. The theorem says that, if m is large
    enough, `|F_s(t) - M_s|^2 <= exp(-lambda_0 t) |F_s(0) - M_s|^2` for every output s.

    Parameters
    ----------
    Z : array or data frame of shape (n, p)
        Rows of unit length, as for `convergence_rate`.
    M : array or data frame of shape (n, outputs) or (n,)
        Targets, `[y, D]` in the paper; best standardized, as the theorem needs bounded targets.
    width : int
        Neurons m.
    step : float, optional
        Learning rate; 0.1 / lambda_max if left out.
    time : float, optional
        Length of the run, `steps * step`; if left out 3 / lambda_0, or 20,000 steps if that is
        less.
    activation : str
        `"relu"`, `"leaky_relu"`, `"erf"` or `"tanh"`.
    train : str
        `"first"` layer only, as in the theorem, or `"all"`.
    delta : float
        Probability with which the bound may fail, for the width that the theorem requires.
    snapshots : int
        Number of times, after the start, at which kernel and weights are recorded; most are early.
    progress : bool
        Whether to show a bar.
    random_state : int, numpy random generator, or None
        Seed of the initial weights.

    Returns
    -------
    Convergence
        Ctrl-C returns the record so far, with a warning.

    Examples
    --------
    >>> import numpy as np
    >>> from debinet.theory import check_convergence, normalize_rows
    >>> rng = np.random.default_rng(0)
    >>> Z = normalize_rows(rng.normal(size=(10, 8)))
    >>> run = check_convergence(Z, rng.normal(size=(10, 2)), width=2000)
    >>> run.holds
    array([ True,  True])
    """
    rows, seed = read_rows(Z), root_seed(random_state)
    targets = read_targets(M, len(rows))
    width, outputs = whole_number("width", width, 1), targets.values.shape[1]
    share("delta", delta, "Pass, for example, 0.1.")
    H, rate = kernel_and_rate(rows, activation, train)
    plan = make_plan(rate, step, time, whole_number("snapshots", snapshots, 1))
    _require_room(len(rows), outputs, width)
    network = draw_network(rows.shape[1], outputs, width, activation, seed)
    trajectory = record_trajectory(network, rows, targets.values, H=H, plan=plan, progress=progress)
    return Convergence(
        names=targets.names,
        times=plan.step * np.arange(len(trajectory.errors), dtype=np.float64),
        errors=trajectory.errors,
        rate=rate,
        trace=trace_frame(trajectory),
        movement_bound=_movement_bound(trajectory, rate, width),
        width=width,
        step=plan.step,
        delta=delta,
        seed=seed,
        interrupted=trajectory.interrupted,
    )


def make_plan(rate: Rate, step: float | None, time: float | None, snapshots: int) -> DescentPlan:
    """Return the steps of a run; snapshots are at squares of equal shares of its length."""
    size = _STEP / rate.lambda_max if step is None else positive_number("step", step)
    if time is None:
        steps = min(ceil(_TIME / rate.lambda_0 / size), _STEPS)
    else:
        # rounding of an exact quotient must not add a step
        asked = positive_number("time", time) / size * (1 - 1e-12)
        if asked > _LONGEST:
            raise OptionError(
                f"a run of at most {_LONGEST:,} steps",
                f"time {time:g} at steps of {size:.3g}",
                "Use a shorter time or a larger step.",
            )
        steps = ceil(asked)
    # the kernel moves most while the error is large
    at = np.unique(np.rint(steps * np.linspace(0.0, 1.0, snapshots + 1) ** 2).astype(np.int64))
    return DescentPlan(size, steps, at, rate.train)


def _require_room(n: int, outputs: int, width: int) -> None:
    # rows x width: hidden, active, back, slopes; the kernel now, at the start, their difference
    require_memory(
        4 * n * width + 3 * (n * outputs) ** 2,
        f"{n} rows, {outputs} outputs and width {width:,}",
        "Take a random part of the rows, or a smaller width.",
    )


def _movement_bound(trajectory: Trajectory, rate: Rate, width: int) -> float:
    """Return R' of Lemma B.3, which assumes slopes of at most 1, times the largest slope."""
    distances = np.sqrt(trajectory.errors[0]).sum()
    steepest = NEURONS[rate.activation].steepest
    return float(steepest * np.sqrt(rate.n / width) / rate.lambda_0 * distances)
