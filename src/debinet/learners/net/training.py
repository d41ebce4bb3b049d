"""Train K networks of one shape as one program, and stop each one early."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch

from debinet.exceptions import TrainingError
from debinet.learners.net.history import BestWeights, History
from debinet.learners.net.losses import Loss, mean_over_rows
from debinet.learners.net.optimizers import Optimizer
from debinet.learners.net.program import Program, State
from debinet.learners.net.sample import EncodedRows, TrainingSample
from debinet.learners.progress import counted
from debinet.protocols import FloatArray

# Hidden values (networks x rows x units) held at a time outside of training.
VALUES = 2**24


@dataclass(frozen=True)
class TrainingPlan:
    """How a network is trained.

    Attributes
    ----------
    optimizer : Optimizer
    loss : str
    epochs : int
    patience : int
        Epochs without improvement of any output after which training stops.
    device : str
    progress : bool
        Whether to show a progress bar.
    watch : callable, optional
        Called after each epoch with its number and the stack.
    """

    optimizer: Optimizer
    loss: str
    epochs: int
    patience: int
    device: str
    progress: bool = False
    watch: Callable[[int, Program], None] | None = None


@dataclass(frozen=True)
class TrainingResult:
    """A trained network.

    Attributes
    ----------
    states : dict from int to State
        Weights of the epochs that `history.best_epoch` names.
    history : History
    """

    states: dict[int, State]
    history: History


@dataclass(frozen=True)
class _Tensors:
    """Rows of K networks, padded to the longest with rows of weight 0.

    `Z` (K, n, p), `M` (K, n, m), `weight` (K, n), `sizes` the rows of each.
    """

    Z: Any
    M: Any
    weight: Any
    sizes: tuple[int, ...]


def train(
    stack: Program, samples: Sequence[TrainingSample], plan: TrainingPlan
) -> list[TrainingResult]:
    """Train the K networks of `stack`, each on its own sample.

    An interruption (Ctrl-C) ends training early; the histories say so, and the caller decides.
    """
    rows = _stacked([sample.train for sample in samples], plan.device)
    held_rows = [sample.held for sample in samples if sample.held is not None]
    held = _stacked(held_rows, plan.device) if held_rows else None
    loss = _loss(samples, plan)
    run = _Run([BestWeights(rows.M.shape[2]) for _ in samples])
    optimizer = plan.optimizer.start(stack.parameters())
    generators = [torch.Generator().manual_seed(sample.seed) for sample in samples]
    if held is not None:
        run.update(0, _evaluate(stack, held, loss), stack)
    try:
        for epoch in counted(range(1, plan.epochs + 1), plan.progress, "epoch"):
            batches = _batches(rows, plan, generators)
            run.train.append(_run_epoch(stack, loss, optimizer, batches))
            if held is not None:
                run.held.append(_evaluate(stack, held, loss))
            _require_finite(run, epoch, plan.optimizer.rate)
            if held is not None:
                run.update(epoch, run.held[-1], stack)
            if plan.watch is not None:
                plan.watch(epoch, stack)
            if held is not None and run.finished(epoch, plan.patience):
                break
    except KeyboardInterrupt:
        run.interrupted = True
    return run.results(stack, held is not None)


class _Run:
    """What training has found so far; updated after every epoch."""

    def __init__(self, best: list[BestWeights]) -> None:
        self.best = best
        self.train: list[FloatArray] = []
        self.held: list[FloatArray] = []
        # The epoch at which each network ran out of patience, 0 before it has.
        self.ended = [0] * len(best)
        self.interrupted = False

    def update(self, epoch: int, losses: FloatArray, stack: Program) -> None:
        for k, best in enumerate(self.best):
            if not self.ended[k]:
                best.update(epoch, losses[k], partial(stack.state, k))

    def finished(self, epoch: int, patience: int) -> bool:
        for k, best in enumerate(self.best):
            if not self.ended[k] and best.idle(epoch) >= patience:
                self.ended[k] = epoch
        return all(self.ended)

    def results(self, stack: Program, stops: bool) -> list[TrainingResult]:
        epochs = len(self.held) if stops else len(self.train)
        if not stops:
            for k, best in enumerate(self.best):
                best.set_all(epochs, stack.state(k))
        shape = (0, len(self.best), self.best[0].best_epoch.size)
        curves = np.array(self.train[:epochs]) if epochs else np.empty(shape)
        held = np.array(self.held) if epochs else np.empty(shape)
        found = []
        for k, best in enumerate(self.best):
            own = slice(self.ended[k] or epochs)
            held_loss = held[own, k] if stops else None
            history = History(curves[own, k], held_loss, best.best_epoch, self._why(k))
            found.append(TrainingResult(best.states, history))
        return found

    def _why(self, k: int) -> str:
        if self.ended[k]:
            return "patience"
        return "interrupted" if self.interrupted else "epochs"


def _run_epoch(
    stack: Program, loss: Loss, optimizer: Any, batches: Iterator[tuple[Any, Any, Any]]
) -> FloatArray:
    """Go through the rows once and return their losses (K, m)."""
    stack.set_training(True)
    total: Any = 0.0
    visited: Any = 0.0
    for Z, M, weight in batches:
        optimizer.zero_grad()
        average = mean_over_rows(loss.of_rows(stack(Z), M), weight)
        average.sum().backward()
        optimizer.step()
        count = (weight > 0).sum(dim=1, keepdim=True)
        total, visited = total + average.detach() * count, visited + count
    return np.asarray((total / visited).cpu().double().numpy())


def _batches(
    rows: _Tensors, plan: TrainingPlan, generators: Sequence[Any]
) -> Iterator[tuple[Any, Any, Any]]:
    """Yield inputs, targets and weights of the steps of one epoch.

    Every network draws its own order, so it gets the same batches whether trained alone or not.
    """
    longest = max(rows.sizes)
    size = plan.optimizer.batch
    if size is None or size >= longest:
        yield rows.Z, rows.M, rows.weight
        return
    order = torch.zeros(len(rows.sizes), longest, dtype=torch.int64)
    for k, (n, generator) in enumerate(zip(rows.sizes, generators, strict=True)):
        order[k, :n] = torch.randperm(n, generator=generator)
        order[k, n:] = torch.arange(n, longest)
    order = order.to(plan.device)
    networks = torch.arange(len(rows.sizes), device=plan.device)[:, None]
    count = _steps(longest, size)
    for step in range(count):
        end = longest if step == count - 1 else (step + 1) * size
        chosen = order[:, step * size : end]
        yield rows.Z[networks, chosen], rows.M[networks, chosen], rows.weight[networks, chosen]


def _steps(n: int, batch: int) -> int:
    """Return the number of batches of n rows; a single last row joins the batch before it.

    Layers such as batch normalization need more than one row.
    """
    return max(1, -(-(n - 1) // batch))


def same_steps(samples: Sequence[TrainingSample], batch: int | None) -> bool:
    """Return whether all samples have equally many batches and can be trained together."""
    if batch is None:
        return True
    return len({_steps(len(sample.train.M), batch) for sample in samples}) == 1


def _evaluate(stack: Program, held: _Tensors, loss: Loss) -> FloatArray:
    """Return the losses (K, m) of the held-out rows."""
    stack.set_training(False)
    K, n, m = held.M.shape
    total = torch.zeros(K, m, dtype=torch.float32, device=held.M.device)
    # A guess of the width suffices to bound the memory.
    step = max(1, VALUES // max(1, K * 10_000))
    with torch.no_grad():
        for start in range(0, n, step):
            part = slice(start, start + step)
            losses = loss.of_rows(stack(held.Z[:, part]), held.M[:, part])
            total += (losses * held.weight[:, part, None]).sum(dim=1)
    return np.asarray((total / held.weight.sum(dim=1, keepdim=True)).cpu().double().numpy())


def _stacked(parts: Sequence[EncodedRows], device: str) -> _Tensors:
    sizes = tuple(len(part.M) for part in parts)

    def padded(values: Sequence[FloatArray]) -> Any:
        out = np.zeros((len(values), max(sizes), *values[0].shape[1:]), dtype=np.float32)
        for k, value in enumerate(values):
            out[k, : len(value)] = value
        return torch.from_numpy(out).to(device)

    return _Tensors(
        padded([part.Z for part in parts]),
        padded([part.M for part in parts]),
        padded([part.weight for part in parts]),
        sizes,
    )


def _loss(samples: Sequence[TrainingSample], plan: TrainingPlan) -> Loss:
    def tensor(values: list[Any]) -> Any:
        return torch.from_numpy(np.array(values)[:, None]).to(plan.device)

    offsets = [sample.outputs.centre.astype(np.float32) for sample in samples]
    return Loss(plan.loss, tensor([sample.outputs.logistic for sample in samples]), tensor(offsets))


def _require_finite(run: _Run, epoch: int, rate: float) -> None:
    latest = [run.train[-1], *run.held[-1:]]
    if not all(np.isfinite(losses).all() for losses in latest):
        raise TrainingError(
            "a finite loss",
            f"NaN or infinity in epoch {epoch} at learning rate {rate:g}",
            "Use a smaller learning_rate, or standardize=True.",
        )
