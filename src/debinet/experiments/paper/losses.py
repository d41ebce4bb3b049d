"""Figures 2, 5, 6 and 7: the loss of wide networks while they train, on a logarithmic scale."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from debinet.data.designs import make_table1, make_table4
from debinet.data.simulated import Simulated
from debinet.experiments.paper.drawing import Drawing
from debinet.experiments.plan import Design, Experiment, Method, Values
from debinet.experiments.results import Results, by_word
from debinet.protocols import FloatArray
from debinet.report.curves import loss_panels

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# The paper's step of 0.01 is for the sum of losses over its 100 rows; ours is for their mean.
_STEP = 1.0
_BATCH = 8
FIGURE_6: dict[str, dict[str, Any]] = {
    "Adam": {"optimizer": "adam", "learning_rate": 1e-3},
    "Nesterov": {"optimizer": "nesterov"},
    "SGD, batches of 8": {
        "optimizer": "sgd",
        "learning_rate": 0.01 * _BATCH,
        "batch_size": _BATCH,
    },
}
FIGURE_7: dict[str, dict[str, Any]] = {
    "Huber loss": {"loss": "huber"},
    "leaky ReLU": {"activation": "leaky_relu"},
    "tanh": {"activation": "tanh"},
}


class TrainingData(NamedTuple):
    """The training data of a network.

    Attributes
    ----------
    Z : FloatArray of shape (n, p)
        Rows of length one.
    M : FloatArray of shape (n, 2)
        y and D.
    """

    Z: FloatArray
    M: FloatArray


def draw_training_data(make: Any, n: int, *, random_state: int) -> TrainingData:
    """Draw rows of a design, each scaled to length one as the theorem requires."""
    from debinet.theory import normalize_rows

    data: Simulated = make(n, random_state=random_state)
    Z = normalize_rows(data.X.drop(columns="d1"))
    return TrainingData(np.asarray(Z), np.column_stack([data.y, data.X["d1"]]))


@dataclass(frozen=True)
class Losses:
    """A method: train a network on all rows and return its loss after every epoch.

    Attributes
    ----------
    width, epochs : int
    options : mapping
        What differs from gradient descent on the squared error with ReLU.
    """

    width: int
    epochs: int
    options: Mapping[str, Any] = field(default_factory=dict)

    def __call__(self, data: TrainingData, seed: int) -> Values:
        """Return the loss of y and of D by epoch."""
        from debinet.learners.net.net import Net

        plan = {"optimizer": "gd", "learning_rate": _STEP, "batch_size": None, **self.options}
        net = Net(
            self.width,
            standardize=True,
            epochs=self.epochs,
            validation_share=None,
            random_state=seed,
            **plan,
        ).fit(data.Z, data.M)
        return {
            f"{epoch} {output}": float(loss)
            for output, losses in zip(("y", "D"), net.history_.train_loss.T, strict=True)
            for epoch, loss in enumerate(losses, start=1)
        }


def curves(results: Results, method: str) -> pd.DataFrame:
    """Return the losses of y and D and their sum, a row per epoch, of the first replication."""
    record = next(r for r in results.records if r.method == method)
    frame = by_word(record.values or {}, ["y", "D"])
    frame.index = pd.Index(frame.index.astype(int), name="epoch")
    return frame.assign(both=frame.sum(axis=1))


def _experiment(name: str, make: Any, variants: Mapping[str, Any], quick: bool) -> Experiment:
    width, epochs = (1_000, 100) if quick else (10_000, 300)
    design = Design("100 rows", partial(draw_training_data, make), {"n": 100})
    methods = [
        Method(label, Losses(width, epochs, options), requires=("torch",))
        for label, options in variants.items()
    ]
    return Experiment(name, (design,), tuple(methods), 1)


def draw_losses(results: Results) -> Figure:
    """Draw a panel per method."""
    done = [record.method for record in results.records if record.values is not None]
    return loss_panels({name: curves(results, name) for name in done})


def figure2(*, quick: bool = False) -> Drawing:
    """Return Figure 2: gradient descent on Table 1's design."""
    plan = _experiment("figure2", make_table1, {"gradient descent": {}}, quick)
    return _drawing("Figure 2: gradient descent, Table 1's design", plan)


def figure5(*, quick: bool = False) -> Drawing:
    """Return Figure 5: gradient descent on Table 4's design."""
    plan = _experiment("figure5", make_table4, {"gradient descent": {}}, quick)
    return _drawing("Figure 5: gradient descent, Table 4's design", plan)


def figure6(*, quick: bool = False) -> Drawing:
    """Return Figure 6: other optimizers."""
    return _drawing("Figure 6: optimizers", _experiment("figure6", make_table1, FIGURE_6, quick))


def figure7(*, quick: bool = False) -> Drawing:
    """Return Figure 7: another loss, other activations."""
    plan = _experiment("figure7", make_table1, FIGURE_7, quick)
    return _drawing("Figure 7: losses and activations", plan)


def _drawing(title: str, plan: Experiment) -> Drawing:
    width = plan.methods[0].run.width  # type: ignore[attr-defined]
    note = (
        f"100 rows of length one, width {width:,}, outputs standardized; step sizes are the "
        "paper's, whose loss is a sum over rows."
    )
    return Drawing(title, plan, draw_losses, (note,))
