"""Follow a network through training: errors at every step, the kernel and the weights at some."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from itertools import islice

import numpy as np
from scipy.linalg import eigvalsh

from debinet.exceptions import TrainingError
from debinet.learners.progress import counted
from debinet.protocols import FloatArray, IntArray
from debinet.theory.descent import descend
from debinet.theory.finite import finite_kernel, kernel_distance
from debinet.theory.network import Network

# Below the stable step the loss never rises, so this is divergence and not a bad stretch.
_DIVERGED = 10.0


@dataclass(frozen=True)
class Plan:
    """How a network is trained and when it is looked at.

    Attributes
    ----------
    step : float
        Learning rate.
    steps : int
        Number of steps.
    looks : IntArray of shape (k,)
        Steps after which kernel and weights are recorded, increasing, the first 0.
    train : str
        `"first"` layer or `"all"`.
    """

    step: float
    steps: int
    looks: IntArray
    train: str


@dataclass(frozen=True)
class Look:
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
class Course:
    """What was seen of a run.

    Attributes
    ----------
    errors : FloatArray of shape (steps + 1, outputs)
        Squared errors `|F_s - M_s|^2`, the first row before training.
    looks : tuple of Look
    interrupted : bool
        Whether the run was stopped by hand, so that it has fewer steps than planned.
    """

    errors: FloatArray
    looks: tuple[Look, ...]
    interrupted: bool


def follow(
    network: Network, Z: FloatArray, M: FloatArray, *, H: FloatArray, plan: Plan, progress: bool
) -> Course:
    """Train and record; Ctrl-C ends the run early and keeps what was recorded.

    Parameters
    ----------
    network : Network
        The start.
    Z, M, H : FloatArray of shapes (n, p), (n, outputs), (n, n)
        Rows, targets, limiting kernel.
    plan : Plan
    progress : bool
        Whether to show a bar.
    """
    errors = np.empty((plan.steps + 1, M.shape[1]))
    looks: list[Look] = []
    done = 0
    reference = _Reference(network, Z, H, finite_kernel(network, Z, plan.train))
    states = islice(descend(network, Z, M, plan.step, plan.train), plan.steps + 1)
    interrupted = False
    try:
        # a diverging run overflows before it is noticed
        with np.errstate(over="ignore", invalid="ignore"):
            for k, state in enumerate(counted(states, progress, "step", plan.steps + 1)):
                errors[k] = (state.residuals**2).sum(axis=0)
                _require_descent(errors[0], errors[k], k, plan.step)
                done = k + 1
                if k in plan.looks:
                    looks.append(_look(state.network, reference, k * plan.step, plan.train))
    except KeyboardInterrupt:
        if not looks:
            raise
        interrupted = True
        warnings.warn(
            f"The run was interrupted after {done - 1} of {plan.steps} steps; the record "
            "covers what was done.",
            stacklevel=3,
        )
    return Course(errors[:done].copy(), tuple(looks), interrupted)


@dataclass(frozen=True)
class _Reference:
    """What a network on its way is compared with.

    Attributes
    ----------
    network : Network
        The start.
    Z, H : FloatArray of shapes (n, p), (n, n)
        Rows and their limiting kernel.
    blocks : FloatArray of shape (outputs, outputs, n, n)
        Kernel of the start.
    """

    network: Network
    Z: FloatArray
    H: FloatArray
    blocks: FloatArray


def _look(network: Network, reference: _Reference, time: float, train: str) -> Look:
    blocks = finite_kernel(network, reference.Z, train)
    outputs, _, n, _ = blocks.shape
    whole = blocks.transpose(0, 2, 1, 3).reshape(outputs * n, outputs * n)
    distance = kernel_distance(blocks, reference.H)
    moved = np.linalg.norm(blocks - reference.blocks) / np.linalg.norm(reference.blocks)
    return Look(
        time=time,
        diagonal=distance.diagonal,
        off_diagonal=distance.off_diagonal,
        whole=distance.whole,
        from_start=float(moved),
        least_eigenvalue=float(eigvalsh(whole, subset_by_index=(0, 0))[0]),
        movement=float(np.linalg.norm(network.W - reference.network.W, axis=0).max()),
    )


def _require_descent(start: FloatArray, now: FloatArray, k: int, step: float) -> None:
    if not now.sum() <= _DIVERGED * start.sum():
        raise TrainingError(
            "a loss that falls",
            f"one that grew from {start.sum() / 2:.3g} to {now.sum() / 2:.3g} in {k} steps of "
            f"{step:.3g}",
            "Use a smaller step, below Rate.largest_step = 2 / lambda_max, or leave step out.",
        )
