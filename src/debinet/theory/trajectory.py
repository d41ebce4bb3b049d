"""A network during training: errors at every step, kernel and weights at some of them."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice

import numpy as np
from scipy.linalg import eigvalsh

from debinet.exceptions import TrainingError
from debinet.learners.progress import counted
from debinet.protocols import FloatArray, IntArray
from debinet.theory.finite import finite_kernel, kernel_distance
from debinet.theory.network import TwoLayerNetwork

# Below the largest stable step the loss never rises, so such a growth is divergence.
_DIVERGED = 10.0


def descend(
    start: TwoLayerNetwork, Z: FloatArray, M: FloatArray, step: float, train: str
) -> Iterator[tuple[TwoLayerNetwork, FloatArray]]:
    """Yield the network and its residuals `M - F` (n, outputs), at the start and after each step.

    The iterator does not end. The weights are updated in place by the next step.

    Parameters
    ----------
    start : TwoLayerNetwork
        Not changed.
    Z, M : FloatArray of shapes (n, p), (n, outputs)
    step : float
        Learning rate: the time of one step.
    train : str
        `"first"` layer only, or `"all"`.
    """
    network = TwoLayerNetwork(start.W.copy(), start.A.copy(), start.activation)
    W, A, neuron = network.W, network.A, network.neuron
    scale = 1.0 / np.sqrt(network.width)
    # Arrays of n x width take most of the memory, so three of them are reused.
    hidden = Z @ W
    active = neuron.value(hidden, None)
    back = np.empty_like(hidden)
    while True:
        residuals = M - scale * (active @ A)
        yield network, residuals
        # -dL/dF_is = residuals_is reaches neuron r through A_rs, and its weights through a' and Z
        np.matmul(residuals, A.T, out=back)
        back *= neuron.slope(hidden)
        if train == "all":
            A += (step * scale) * (active.T @ residuals)
        W += (step * scale) * (Z.T @ back)
        np.matmul(Z, W, out=hidden)
        neuron.value(hidden, active)


@dataclass(frozen=True)
class DescentPlan:
    """How a network is trained and when it is recorded.

    Attributes
    ----------
    step : float
        Learning rate.
    steps : int
        Number of steps.
    snapshots : IntArray of shape (k,)
        Steps after which kernel and weights are recorded, increasing, the first 0.
    train : str
        `"first"` layer or `"all"`.
    """

    step: float
    steps: int
    snapshots: IntArray
    train: str


@dataclass(frozen=True)
class Snapshot:
    """Kernel and weights at one time.

    Attributes
    ----------
    time : float
    diagonal, off_diagonal, whole : float
        `KernelDistance` from the limit.
    from_start : float
        `|H_whole(t) - H_whole(0)| / |H_whole(0)|`, Frobenius.
    least_eigenvalue : float
        Of H_whole(t).
    movement : float
        `max_r |w_r(t) - w_r(0)|`.
    """

    time: float
    diagonal: float
    off_diagonal: float
    whole: float
    from_start: float
    least_eigenvalue: float
    movement: float


@dataclass(frozen=True)
class Trajectory:
    """The record of a run.

    Attributes
    ----------
    errors : FloatArray of shape (steps + 1, outputs)
        Squared errors `|F_s - M_s|^2`, the first row before training.
    snapshots : tuple of Snapshot
    interrupted : bool
        Whether the run was stopped by the user before the last step.
    """

    errors: FloatArray
    snapshots: tuple[Snapshot, ...]
    interrupted: bool


def record_trajectory(
    network: TwoLayerNetwork,
    Z: FloatArray,
    M: FloatArray,
    *,
    H: FloatArray,
    plan: DescentPlan,
    progress: bool,
) -> Trajectory:
    """Train and record; Ctrl-C ends the run early and keeps the record so far.

    Parameters
    ----------
    network : TwoLayerNetwork
        The start.
    Z, M, H : FloatArray of shapes (n, p), (n, outputs), (n, n)
        Rows, targets, limiting kernel.
    plan : DescentPlan
    progress : bool
        Whether to show a bar.
    """
    errors = np.empty((plan.steps + 1, M.shape[1]))
    snapshots: list[Snapshot] = []
    done = 0
    blocks = finite_kernel(network, Z, plan.train)
    take = partial(_take_snapshot, start=network, start_blocks=blocks, Z=Z, H=H, plan=plan)
    states = islice(descend(network, Z, M, plan.step, plan.train), plan.steps + 1)
    interrupted = False
    try:
        # a diverging run overflows before it is detected
        with np.errstate(over="ignore", invalid="ignore"):
            for k, (now, residuals) in enumerate(counted(states, progress, "step", plan.steps + 1)):
                errors[k] = (residuals**2).sum(axis=0)
                _require_descent(errors[0], errors[k], k, plan.step)
                done = k + 1
                if k in plan.snapshots:
                    snapshots.append(take(now, k))
    except KeyboardInterrupt:
        if not snapshots:
            raise
        interrupted = True
        warnings.warn(
            f"The run was interrupted after {done - 1} of {plan.steps} steps; "
            "the record covers these.",
            stacklevel=3,
        )
    return Trajectory(errors[:done].copy(), tuple(snapshots), interrupted)


def _take_snapshot(
    now: TwoLayerNetwork,
    k: int,
    *,
    start: TwoLayerNetwork,
    start_blocks: FloatArray,
    Z: FloatArray,
    H: FloatArray,
    plan: DescentPlan,
) -> Snapshot:
    """Compare the network after k steps with its start and with the limiting kernel."""
    blocks = finite_kernel(now, Z, plan.train)
    outputs, _, n, _ = blocks.shape
    whole = blocks.transpose(0, 2, 1, 3).reshape(outputs * n, outputs * n)
    distance = kernel_distance(blocks, H)
    moved = np.linalg.norm(blocks - start_blocks) / np.linalg.norm(start_blocks)
    return Snapshot(
        time=k * plan.step,
        diagonal=distance.diagonal,
        off_diagonal=distance.off_diagonal,
        whole=distance.whole,
        from_start=float(moved),
        least_eigenvalue=float(eigvalsh(whole, subset_by_index=(0, 0))[0]),
        movement=float(np.linalg.norm(now.W - start.W, axis=0).max()),
    )


def _require_descent(start: FloatArray, now: FloatArray, k: int, step: float) -> None:
    if not now.sum() <= _DIVERGED * start.sum():
        raise TrainingError(
            "a loss that falls",
            f"one that grew from {start.sum() / 2:.3g} to {now.sum() / 2:.3g} in {k} steps of "
            f"{step:.3g}",
            "Use a smaller step, below Rate.largest_step = 2 / lambda_max, or leave step out.",
        )
